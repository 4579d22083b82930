"""Three small deterministic text environments, in which agents act and learn, and what measures the gain."""
