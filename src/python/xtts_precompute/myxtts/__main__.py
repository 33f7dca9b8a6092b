"""`python -m xtts_precompute.myxtts`: see launcher.py."""

import sys

from .launcher import main

sys.exit(main())
