"""Which files are read, and what each holds. Bounded in number, size and depth."""

from __future__ import annotations

import ast
import os
import re
import tokenize
from typing import Dict, Iterator, List, Optional, Tuple

_FILES_MAX = 5000
_BYTES_MAX = 2 << 20
# Folders with code that does not train, or is not the user's own.
_SKIPPED = re.compile(
    r"^(\..*|__pycache__|site-packages|dist-packages|node_modules|build|dist|venv|env|.*\.egg-info|tests?)$"
)
_SKIPPED_FILES = re.compile(r"^(test_.*|.*_test|conftest|setup)\.py$")
_IGNORE = re.compile(r"#\s*xtts:\s*ignore\b[ \t]*([\w, \t]*)")


class Source:
    """A parsed file: its tree, and what its names mean."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path, self.text, self.tree = path, text, tree
        self.imports = _imports(tree)
        self.ignored = _ignored(text)
        self.parents: Dict[ast.AST, ast.AST] = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }

    def name_of(self, node: Optional[ast.AST]) -> str:
        """Returns "torch.utils.data.DataLoader" for a name or attribute; "" for anything else."""
        parts: List[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.imports.get(node.id, node.id))
        return ".".join(reversed(parts))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields what encloses a node, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> Optional[ast.AST]:
        """Returns the function that a node stands in."""
        for one in self.above(node):
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return one
        return None

    def calls(self) -> Iterator[Tuple[ast.Call, str]]:
        """Yields each call, and the name of what it calls."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield node, self.name_of(node.func)


def read_all(folder: str) -> Tuple[List[Source], List[Dict[str, str]]]:
    """Returns the parsed files below a folder, and those that cannot be parsed, with the reason."""
    sources: List[Source] = []
    not_read: List[Dict[str, str]] = []
    for path in _paths(folder):
        shown = os.path.relpath(path, folder) if os.path.isdir(folder) else os.path.basename(path)
        if len(sources) + len(not_read) == _FILES_MAX:
            not_read.append({"file": folder, "reason": f"only the first {_FILES_MAX} files were read"})
            break
        try:
            sources.append(_parsed(path, shown))
        except RecursionError:
            not_read.append({"file": shown, "reason": "it is nested too deeply"})
        except SyntaxError as error:
            not_read.append({"file": shown, "reason": f"it is not Python 3: {error.msg}, line {error.lineno}"})
        except (OSError, ValueError, MemoryError) as error:
            not_read.append({"file": shown, "reason": str(error) or type(error).__name__})
    return sources, not_read


def _paths(folder: str) -> Iterator[str]:
    if os.path.isfile(folder):
        yield folder
        return
    for place, folders, files in os.walk(folder):  # follows no links, so there are no loops
        folders[:] = sorted(name for name in folders if not _SKIPPED.match(name))
        for name in sorted(files):
            path = os.path.join(place, name)
            if name.endswith(".py") and not _SKIPPED_FILES.match(name) and os.path.isfile(path):
                yield path


def _parsed(path: str, shown: str) -> Source:
    if os.path.getsize(path) > _BYTES_MAX:
        raise ValueError(f"it is larger than {_BYTES_MAX >> 20} MiB")
    with open(path, "rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
        file.seek(0)
        text = file.read(_BYTES_MAX).decode(encoding)
    return Source(shown.replace(os.sep, "/"), text, ast.parse(text))


def _imports(tree: ast.Module) -> Dict[str, str]:
    names: Dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = alias.name
                else:
                    names[alias.name.split(".")[0]] = alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            module = ("." * node.level) + (node.module or "")
            for alias in node.names:
                names[alias.asname or alias.name] = f"{module}.{alias.name}"
    return names


def _ignored(text: str) -> Dict[int, List[str]]:
    """Returns, by line, the rules that a comment switches off; an empty list: all."""
    found: Dict[int, List[str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = _IGNORE.search(line)
        if match:
            found[number] = match.group(1).replace(",", " ").split()
    return found
