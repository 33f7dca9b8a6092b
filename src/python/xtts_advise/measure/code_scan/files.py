"""Which files are read, and what each holds. Bounded in number, size, depth and time."""

from __future__ import annotations

import ast
import os
import re
import time
import tokenize
import warnings
from collections.abc import Iterator
from typing import BinaryIO

from . import notebooks

_FILES_MAX = 5000
_DEPTH_MAX = 600  # nodes inside of one another
_BYTES_MAX = 2 << 20
_NOTEBOOK_BYTES_MAX = 16 << 20  # pictures included
_SECONDS_MAX = 20.0  # the caller gives up after 40
# Folders with code that does not train, or is not the user's own.
_SKIPPED = re.compile(
    r"(\..*|__pycache__|site-packages|dist-packages|node_modules|build|dist|venv|env|virtualenv|.*\.egg-info|tests?)",
    re.IGNORECASE,
)
_SKIPPED_FILES = re.compile(r"(test_.*|.*_test|conftest|setup)\.py")
_COMPAT = re.compile(r"^tensorflow\.compat\.v[12]\b")
# Nodes with code of their own, which runs at another time than the code around it.
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
SCRIPT = "<script>"  # the name of Source.script; no function has it
_IGNORE = re.compile(r"#\s*xtts:\s*ignore\b[ \t]*([\w, \t]*)")


class Source:
    """A parsed file: its tree, and what its names mean."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path, self.text, self.tree = path, text, tree
        self.nodes = list(ast.walk(tree))
        self.parents = _parents(self.nodes)
        self.imports = _imports(self.nodes)
        self.ignored = _ignored(text)
        self.calls = [(node, self.name_of(node.func)) for node in self.nodes if isinstance(node, ast.Call)]
        self._own_calls: dict[ast.AST, list[ast.Call]] | None = None
        # The code outside of functions, as one function: many scripts train there.
        self.script = ast.FunctionDef(SCRIPT, _no_arguments(), tree.body, [], lineno=1, col_offset=0)

    def name_of(self, node: ast.AST | None) -> str:
        """Returns "torch.utils.data.DataLoader" for a name or attribute; "" for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.imports.get(node.id, node.id))
        return ".".join(reversed(parts))

    def own_calls(self, function: ast.AST) -> list[ast.Call]:
        """Returns the calls in a function in order, without those of functions and classes inside of it."""
        if self._own_calls is None:
            self._own_calls = {}
            for call, _ in sorted(self.calls, key=lambda one: (one[0].lineno, one[0].col_offset)):
                owner = next((one for one in self.above(call) if isinstance(one, INNER)), self.tree)
                self._own_calls.setdefault(owner, []).append(call)
        return self._own_calls.get(self.tree if function is self.script else function, [])

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields what encloses a node, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Returns the function that a node stands in."""
        for one in self.above(node):
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return one
        return None


def read_all(folder: str) -> tuple[list[Source], list[dict[str, str]]]:
    """Returns the parsed files below a folder, and those that cannot be parsed, with the reason."""
    sources: list[Source] = []
    not_read: list[dict[str, str]] = []
    end = time.monotonic() + _SECONDS_MAX
    seen: set[str] = set()
    for path in _paths(folder):
        shown = _shown(path, folder)
        if len(sources) + len(not_read) >= _FILES_MAX:
            not_read.append({"file": shown, "reason": f"only the first {_FILES_MAX} files are read"})
            break
        if time.monotonic() > end:
            not_read.append({"file": shown, "reason": f"the files before it took {_SECONDS_MAX:.0f} s"})
            break
        real = os.path.realpath(path)
        if real in seen:  # two links to one file
            continue
        seen.add(real)
        try:
            sources.append(_parsed(path, shown))
        except (RecursionError, MemoryError):
            not_read.append({"file": shown, "reason": "it is nested too deeply"})
        except SyntaxError as error:
            not_read.append({"file": shown, "reason": f"it is not Python 3: {error.msg}, line {error.lineno}"})
        except LookupError:  # also "rot13", which is a codec, but none of text
            not_read.append({"file": shown, "reason": "it is in an unknown encoding"})
        except OSError as error:
            not_read.append({"file": shown, "reason": error.strerror or type(error).__name__})
        except ValueError as error:
            not_read.append({"file": shown, "reason": str(error)})
    return sources, not_read


def printable(text: str) -> str:
    """Returns a text that is valid in JSON, for a file name that is not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _shown(path: str, folder: str) -> str:
    shown = os.path.relpath(path, folder) if os.path.isdir(folder) else os.path.basename(path)
    return printable(shown.replace(os.sep, "/"))


def _paths(folder: str) -> Iterator[str]:
    if os.path.isfile(folder):
        yield folder
        return
    for place, folders, files in os.walk(folder):  # follows no links, so there are no loops
        folders[:] = sorted(
            name
            for name in folders
            if not _SKIPPED.fullmatch(name) and not os.path.exists(os.path.join(place, name, "pyvenv.cfg"))
        )
        for name in sorted(files):
            is_read = name.endswith(".ipynb") or (name.endswith(".py") and not _SKIPPED_FILES.fullmatch(name))
            path = os.path.join(place, name)
            if is_read and os.path.isfile(path):  # no pipe, no broken link
                yield path


def _parsed(path: str, shown: str) -> Source:
    is_notebook = path.endswith(".ipynb")
    bytes_max = _NOTEBOOK_BYTES_MAX if is_notebook else _BYTES_MAX
    with open(path, "rb") as file:
        encoding = "utf-8" if is_notebook else _encoding_of(file)
        file.seek(0)
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise ValueError(f"it is larger than {bytes_max >> 20} MiB")
    if b"\0" in data:
        raise ValueError("it has NUL bytes: it is no text")
    text = data.decode(encoding).replace("\r\n", "\n")
    if is_notebook:
        text = notebooks.code_of(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the user's code: "invalid escape sequence"
        return Source(shown, text, ast.parse(text))


def _no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


def _encoding_of(file: BinaryIO) -> str:
    try:
        return tokenize.detect_encoding(lambda: file.readline(_BYTES_MAX))[0]
    except SyntaxError:  # its message has the whole path
        raise LookupError("unknown encoding") from None


def _parents(nodes: list[ast.AST]) -> dict[ast.AST, ast.AST]:
    """Returns what encloses each node. RecursionError: from 3.11 on, Python itself refuses such depths."""
    parents: dict[ast.AST, ast.AST] = {}
    depths: dict[ast.AST, int] = {}
    for node in nodes:  # ast.walk() yields a node before those in it
        depth = depths.pop(node, 0)
        if depth > _DEPTH_MAX:
            raise RecursionError
        for child in ast.iter_child_nodes(node):
            parents[child] = node
            depths[child] = depth + 1
    return parents


def _imports(nodes: list[ast.AST]) -> dict[str, str]:
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = alias.name
                else:
                    names[alias.name.split(".")[0]] = alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            module = ("." * node.level) + (node.module or "")
            for alias in node.names:
                name = "DataLoader" if alias.name == "*" and module == "torch.utils.data" else alias.name
                full = f"{module}.{name}" if node.module else f"{module}{name}"
                names[alias.asname or name] = "tensorflow" if name == "tf" else full  # handed on by the user's module
    return {name: _COMPAT.sub("tensorflow", full) for name, full in names.items()}


def _ignored(text: str) -> dict[int, list[str]]:
    """Returns, by line, the rules that a comment switches off; an empty list: all."""
    found: dict[int, list[str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = _IGNORE.search(line)
        if match:
            is_alone = line.lstrip().startswith("#")
            found[number + is_alone] = match.group(1).replace(",", " ").split()
    return found
