"""python -m xtts_advise.measure.code_scan DIR [--config FILE]: prints the finds as JSON."""

from __future__ import annotations

import argparse
import json
import sys

from .scan import scan


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="code_scan", description="Finds patterns that starve a GPU.")
    parser.add_argument("folder", metavar="DIR", help="the trainer's code")
    parser.add_argument("--config", metavar="FILE", help="the trainer's config.yaml: it may decide which loader trains")
    options = parser.parse_args()
    json.dump(scan(options.folder, options.config), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
