"""A cache, its clips, and readers of its batches."""
