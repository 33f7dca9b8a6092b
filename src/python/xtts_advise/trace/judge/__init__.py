"""Reads the recordings of a trace and says what a step waits for. Standard library alone."""
