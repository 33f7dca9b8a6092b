"""python -m xtts_precompute.doctor.code_scan DIR [--config FILE]: prints the finds as JSON."""

from __future__ import annotations

import argparse
import json
import sys

from .scan import scan


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="code_scan", description="Finds patterns that starve a GPU.")
    parser.add_argument("folder")
    parser.add_argument("--config", help="the trainer's config.yaml, which may decide which loader is used")
    options = parser.parse_args()
    json.dump(scan(options.folder, options.config), sys.stdout)
    return 0


sys.exit(main())
