"""From what managers propose to what is stored: evidence, duplicates, contradictions, limits, one transaction."""
