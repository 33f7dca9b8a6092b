"""Caches, their clips, and readers of their batches."""
