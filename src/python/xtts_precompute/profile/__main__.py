"""`python -m xtts_precompute.profile`: see command.py."""

import sys

from .command import main

sys.exit(main())
