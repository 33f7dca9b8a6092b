"""The table of planted faults, faults.tsv: what is planted, how it is run, and what is true of it."""

import csv
import dataclasses
import pathlib
import re
import shlex

HERE = pathlib.Path(__file__).resolve().parent
CACHE_REMEDY = r"xtts-precompute build|precompute (the )?features|(build|make|use|read from) (a|the) cache|\.cache\(\)"
UNTRUE_ALWAYS = {
    "torch": r"tf\.data|@tf\.function|xtts_precompute\.tensorflow",
    "tensorflow": r"xtts_precompute\.torch|DataLoader|persistent_workers|pin_memory",
}


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    framework: str
    kind: str
    runs: str
    arguments: str
    needs: str
    file: str
    marker: str
    names: str
    cache: str
    untrue: str
    slower: str

    @property
    def full_name(self):
        return f"{self.framework}/{self.name}"

    @property
    def healthy(self):
        return self.kind == "healthy"

    @property
    def untrue_words(self):
        """Returns the patterns that no remedy may have."""
        patterns = [UNTRUE_ALWAYS[self.framework], self.untrue if self.untrue != "-" else ""]
        return [pattern for pattern in (*patterns, CACHE_REMEDY if self.cache == "no" else "") if pattern]

    def line(self):
        """Returns the number of the line that has the cause."""
        lines = (HERE / self.file).read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if self.marker in line)

    def command(self, python, data, *more):
        fault = [] if self.healthy else ["--fault", self.name]
        arguments = shlex.split(self.arguments) if self.arguments != "-" else []
        return [python, str(HERE / f"train_{self.framework}.py"), "--data", str(data), *fault, *arguments, *more]

    def healthy_command(self, python, data):
        """Returns the command without the fault, in the way of training that the fault has."""
        way = re.search(r'^    way = "(\w+)"', (HERE / self.file).read_text(), re.MULTILINE)
        return dataclasses.replace(self, kind="healthy").command(python, data, *(["--way", way[1]] if way else []))


def read_table():
    with open(HERE / "faults.tsv", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def check(rows):
    """Returns what is wrong with the table."""
    wrong = []
    for row in rows:
        for pattern in (row.names, row.untrue):
            re.compile(pattern)
        if row.healthy:
            continue
        if (HERE / row.file).read_text().count(row.marker) != 1:
            wrong.append(f"{row.name}: {row.file} has not exactly one {row.marker!r}")
        if row.cache not in ("yes", "no", "part"):
            wrong.append(f"{row.name}: cache is yes, no or part")
    for framework in ("torch", "tensorflow"):
        files = {path.stem for path in (HERE / f"{framework}_faults").glob("*.py")} - {"__init__"}
        named = {row.name for row in rows if row.framework == framework and not row.healthy}
        wrong += [f"{framework}/{name}: a module or a row, but not both" for name in sorted(files ^ named)]
    return wrong
