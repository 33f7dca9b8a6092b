"""`python -m xtts_precompute.buckets.fill`: the process of filler.py."""

from .filler import main

main()
