"""The parts of ``scripts/train_encoder.py``."""
