"""Clips computed when they are asked for, without a cache."""
