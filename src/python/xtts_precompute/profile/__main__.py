"""`python -m xtts_precompute.profile`: runs command.py."""

import sys

from .command import main

sys.exit(main())
