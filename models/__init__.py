"""The ground of the model tier: for now, counting tokens offline."""
