"""Checks that need Python: what a trainer's code does, and how fast its own way makes features.

`xtts-precompute doctor` has a copy of these modules and runs each in the user's Python, where
xtts_precompute may not be installed. So they need the standard library alone when imported, use
relative imports, and run on Python 3.8.
"""
