"""The imports between the package's rooms, against the table below (src/python/README.md).

The sources are read, not run: an import within a function counts as well. Imports for type checkers
only (TYPE_CHECKING) have to follow the arrows, but are no part of a circle.
"""

import ast
import graphlib

import pytest
from support import PROJECT

PACKAGE = PROJECT / "src/python/xtts_precompute"
FILES = sorted(PACKAGE.rglob("*.py"))

# Each room, a subpackage or modules with a common beginning, and the rooms that it may import.
ARROWS = {
    "_base": set(),
    "_build": {"_base"},
    "buckets": {"_base"},
    "_cache": {"_base", "_build", "buckets"},
    "_runtime": {"_base", "_build", "_cache"},
    "_loaders": {"_base", "_cache"},
    "torch": {"_base", "_cache", "_loaders"},
    "tensorflow": {"_base", "_cache", "_loaders"},
    "jax": {"_base", "_cache", "_loaders"},
    "reference": {"_base"},
    "tune": {"_base"},
    "ray": {"_base", "_build", "_cache"},
    "profile": {"_base", "_cache", "torch", "tensorflow", "reference"},
    "myxtts": {"_base", "_build", "_cache", "_runtime", "_loaders", "torch", "tensorflow", "profile"},
}
# Each compiled part, and the rooms that may name it. Errors go the other way: _core finds
# _base.errors.
COMPILED = {"_core": {"_base", "_cache", "_runtime", "_loaders", "profile"}, "_builder": {"_runtime"}}


def room_of(module):
    """Returns the room of a module.

    ("_cache", "reader") is in "_cache", ("reference_torch",) in "reference", ("__init__",) in "".
    """
    first = module[0]
    if first in ("__init__", "__main__"):
        return ""
    return next((room for room in ARROWS if first == room or first.startswith(room + "_")), first)


def module_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts


def imports_of(path):
    """Returns (module, whether only type checkers see it) for each import of our own."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.relative_to(PACKAGE).parent.parts
            base = (*folder[: len(folder) - node.level + 1], *(node.module.split(".") if node.module else ()))
            for name in node.names:
                yield resolved(base, name.name), node in hidden
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            assert not any(name.split(".")[0] == PACKAGE.name for name in names) or path.name == "installer.py", (
                f"{path}: imports of ours are relative"
            )


def resolved(base, name):
    """Returns the module that `from base import name` runs last."""
    for one in ((*base, name), base):
        if PACKAGE.joinpath(*one, "__init__.py").exists():
            return (*one, "__init__")
        if any(PACKAGE.joinpath(*one).with_suffix(ending).exists() for ending in (".py", ".pyi")):
            return one
    raise AssertionError(f"there is no module {'.'.join(base)} with {name}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_import_follows_an_arrow(path):
    room = room_of(module_of(path))
    for module, _ in imports_of(path):
        target = room_of(module)
        if target in COMPILED:
            assert room in COMPILED[target], f"{room} may not use {target}"
        elif room:  # the package itself may import all rooms
            assert target == room or target in ARROWS[room], f"{room} may not use {target}"


def test_every_file_is_in_a_room():
    assert {room_of(module_of(path)) for path in FILES} == {"", *ARROWS}


def test_no_import_circle():
    graph = {}
    for path in FILES:
        module = module_of(path)
        targets = {target for target, is_hidden in imports_of(path) if not is_hidden}
        # An import of another subpackage's module runs that subpackage's __init__.py first.
        targets |= {(target[0], "__init__") for target in targets if len(target) > 1 and target[0] != module[0]}
        graph[module] = targets - {module}
    graphlib.TopologicalSorter(graph).prepare()  # CycleError names a circle


def test_an_import_circle_would_be_found():
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter({("a",): {("b",)}, ("b",): {("a",)}}).prepare()


# The second package, whose folders judge. It runs without the compiled modules.
ADVISER = PACKAGE.parent / "xtts_advise"
ADVISER_ARROWS = {
    "words": set(),
    "probe": {"words"},
    "running": {"probe", "words"},
    "targets": set(),
    "charts": set(),
    "ranges": {"words"},
    "findings": {"charts"},
    "config": {"words", "findings", "probe", "running"},
    "trace": {"words", "others", "running"},
    "measure": set(),
    "trainers": set(),
    "picture": {"words"},
    "page": {"words", "charts", "findings", "picture"},
    "doctor": {
        "words",
        "targets",
        "others",
        "charts",
        "ranges",
        "findings",
        "probe",
        "running",
        "config",
        "page",
        "trace",
    },
}


@pytest.mark.parametrize("path", sorted(ADVISER.rglob("*.py")), ids=lambda path: str(path.relative_to(ADVISER)))
def test_every_import_of_the_adviser_follows_an_arrow(path):
    module = path.relative_to(ADVISER).with_suffix("").parts
    if module[0].startswith("__"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == len(module):  # from the package itself
            for name in [node.module] if node.module else [one.name for one in node.names]:
                assert name.split(".")[0] in {module[0], *ADVISER_ARROWS[module[0]]}, name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            assert not any(name.split(".")[0] == PACKAGE.name for name in names), names


def test_the_table_is_a_way_down():
    graphlib.TopologicalSorter(ADVISER_ARROWS).prepare()
    graphlib.TopologicalSorter(ARROWS).prepare()


def test_the_readme_draws_the_same_arrows():
    lines = (PROJECT / "src/python/README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    drawn = {
        row[0].strip("`/"): {name.strip("`") for name in row[-1].split(", ") if name.startswith("`")}
        for row in rows
        if len(row) == 3
    }
    drawn = {room.removesuffix(".py").removesuffix("_*"): arrows for room, arrows in drawn.items()}
    for room, arrows in ARROWS.items():
        assert drawn.get(room) == arrows, room
