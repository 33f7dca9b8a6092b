"""Stacks of calls as short keys, and the time that was spent below each."""

from .places import kind_of


class Stacks:
    """Keys are tuples of place numbers, the innermost call first. A place is a line of a function."""

    DEPTH_MAX = 200
    STACKS_MAX = 6000

    def __init__(self):
        self.places = []  # (file, line, module, function, kind)
        self._numbers = {}  # (id of a code object, offset) -> number of the place
        self._codes = {}  # id -> the code object, so that no other one gets the same id
        self._by_line = {}
        self.of_code = []  # number of a place -> id of its code object
        self.times = {}  # (thread's name, key) -> [wall seconds, processor seconds, samples]

    def place(self, frame):
        code = frame.f_code
        found = self._numbers.get((id(code), frame.f_lasti))
        if found is None:
            found = self._add(frame, code)
        return found

    def _add(self, frame, code):
        self._codes[id(code)] = code
        line = frame.f_lineno or code.co_firstlineno
        number = self._by_line.get((id(code), line))
        if number is None:
            number = len(self.places)
            self._by_line[id(code), line] = number
            file = code.co_filename
            self.places.append((file, line, frame.f_globals.get("__name__") or "", name_of(frame), kind_of(file)))
            self.of_code.append(id(code))
        self._numbers[id(code), frame.f_lasti] = number
        return number

    def key_of(self, frame):
        numbers = self._numbers
        key = []
        while frame is not None and len(key) < self.DEPTH_MAX:
            number = numbers.get((id(frame.f_code), frame.f_lasti))
            key.append(self._add(frame, frame.f_code) if number is None else number)
            frame = frame.f_back
        return tuple(key)

    def place_in(self, key, code):
        """Where a stack stands in a function, and in the own code that this calls. None: not in it."""
        own = None
        for number in key:
            if self.of_code[number] == code:
                return number, number if own is None else own
            if self.places[number][4] == "own":
                own = number
        return None

    def add(self, thread, key, wall, processor):
        times = self.times.get((thread, key))
        if times is None:
            if len(self.times) >= self.STACKS_MAX:
                self._drop_rare()
            times = self.times[thread, key] = [0.0, 0.0, 0]
        times[0] += wall
        times[1] += processor
        times[2] += 1

    def _drop_rare(self):
        """Gives the rarest half of the stacks to their outer eight calls, to bound memory."""
        rare = sorted(self.times.items(), key=lambda item: item[1][0])[: self.STACKS_MAX // 2]
        for (thread, key), times in rare:
            del self.times[thread, key]
            total = self.times.setdefault((thread, key[-8:]), [0.0, 0.0, 0])
            for index, value in enumerate(times):
                total[index] += value


def name_of(frame):
    """ "Resample.__init__" for a method, else the function's name."""
    code = frame.f_code
    qualified = getattr(code, "co_qualname", None)  # Python 3.11 and later
    if qualified is not None:
        return qualified.replace("<locals>.", "")
    if code.co_argcount and code.co_varnames[0] in ("self", "cls"):
        owner = frame.f_locals.get(code.co_varnames[0])
        kind = owner if isinstance(owner, type) else type(owner)
        return kind.__name__ + "." + code.co_name
    return code.co_name
