"""`python -m xtts_precompute.buckets`: runs command.py."""

import sys

from .command import main

sys.exit(main())
