"""`python -m xtts_precompute.ray`: runs command.py."""

import sys

from .command import main

sys.exit(main())
