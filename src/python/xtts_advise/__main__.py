"""`python -m xtts_advise COMMAND ...`, which the program hands its commands over to."""

import sys


def main() -> int:
    command, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if command == "trace":
        from .trace.command import main as trace

        return trace(arguments)
    print(f"xtts_advise: there is no command '{command}'", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
