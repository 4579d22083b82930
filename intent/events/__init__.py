"""Event types by rules: ``cues`` say acts, ``reading`` reads a text with them, ``labeler`` chooses and keeps names."""
