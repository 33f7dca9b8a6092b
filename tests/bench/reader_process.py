"""A reader in a process of its own, for readers_vs_peers.py and storage_forms.py.

The process answers each line that it gets with a line of JSON. It ends when we do, because its
standard input does.
"""

import json
import select
import subprocess


class Failed(Exception):
    pass


class Process:
    """One reader. ask() sends a line and waits for the line of JSON that answers it."""

    def __init__(self, command, log, environment=None):
        self.log = log
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
                start_new_session=True,
            )

    def answer(self, timeout_s=300):
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            said = self.log.read_text(errors="replace").strip().splitlines()
            raise Failed(said[-1] if said and ready else "no answer")
        return json.loads(line)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says why
        return self.answer()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
