"""Arms of comparison: methods as their papers describe them, behind the interfaces of this package."""
