"""Clips without a cache, computed when they are asked for."""
