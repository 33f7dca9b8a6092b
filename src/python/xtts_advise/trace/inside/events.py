"""Files, processes and imports, as Python's own audit events tell."""

import os

_FILES_MAX = 20000


class Events:
    def __init__(self):
        self.clear()

    def clear(self):
        self.opens = {}  # path -> how often it was opened for reading
        self.opens_beyond = 0
        self.processes = {}  # program -> how often it was started
        self.imports = 0

    def note(self, event, arguments):
        try:
            if event == "open":
                self._open(arguments)
            elif event == "subprocess.Popen":
                self._process(arguments[0] or arguments[1][0])
        except Exception:
            pass

    def _open(self, arguments):
        path, mode, _ = arguments
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or (mode is not None and any(sign in mode for sign in "wax+")):
            return
        if path.endswith((".py", ".pyc", ".so")):
            return
        if path in self.opens:
            self.opens[path] += 1
        elif len(self.opens) < _FILES_MAX:
            self.opens[path] = 1
        else:
            self.opens_beyond += 1

    def _process(self, program):
        name = os.path.basename(os.fsdecode(program)) if isinstance(program, (str, bytes)) else str(program)[:80]
        if len(self.processes) < 200 or name in self.processes:
            self.processes[name] = self.processes.get(name, 0) + 1
