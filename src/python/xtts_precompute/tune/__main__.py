"""`python -m xtts_precompute.tune`: runs command.py."""

import sys

from .command import main

sys.exit(main())
