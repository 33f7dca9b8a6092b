"""`python -m xtts_precompute.myxtts`: runs launcher.py."""

import sys

from .launcher import main

sys.exit(main())
