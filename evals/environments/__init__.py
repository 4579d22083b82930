"""A small deterministic API in which agents act and learn, and an experiment that measures the gain by experience."""
