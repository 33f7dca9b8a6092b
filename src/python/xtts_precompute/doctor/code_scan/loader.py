"""Which loader a trainer really uses."""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, Optional, Tuple

from .files import Source
from .project import Project

_KEY = "use_tf_native_loading"


def loader_in_use(project: Project, config: Optional[str]) -> Dict[str, Any]:
    """Returns the kind of loader, and the place that decides.

    kind: "native" or "python" (a trainer that has both behind a key of its configuration), "tf.data",
    "DataLoader", or "cannot_tell".
    """
    both = _place_of_key(project)
    if both is not None:
        return _native_or_python(both, config)
    for kind, pattern in (("DataLoader", "torch.utils.data.DataLoader"), ("tf.data", "tensorflow.data.")):
        for source in project.sources:
            for call, name in source.calls():
                if name.startswith(pattern):
                    return _answer(kind, source, call, f"the first call of {name}")
    return {"kind": "cannot_tell", "file": "", "line": 0, "text": "no loader of PyTorch or TensorFlow is made"}


def _place_of_key(project: Project) -> Optional[Tuple[Source, ast.AST, bool]]:
    """Returns where the key is read, in a file that has a way through Python, too; and its default there."""
    for source in project.sources:
        if not any(name.endswith("numpy_function") for _, name in source.calls()):
            continue
        for call, name in source.calls():
            if name == "getattr" and len(call.args) == 3 and _is_text(call.args[1], _KEY):
                default = call.args[2]
                return source, call, isinstance(default, ast.Constant) and default.value is True
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and node.attr == _KEY:
                return source, node, True
    return None


def _native_or_python(place: Tuple[Source, ast.AST, bool], config: Optional[str]) -> Dict[str, Any]:
    source, node, default = place
    value = _value_in(config)
    if value is None:
        kind = "native" if default else "python"
        said = f"{_KEY} is not in the configuration, and {str(default).lower()} by default"
    else:
        kind = "native" if value else "python"
        said = f"the configuration has {_KEY}: {str(value).lower()}"
    if kind == "native":
        said += "; where it fails, the code falls back to Python with a printed warning"
    return _answer(kind, source, node, said)


def _value_in(config: Optional[str]) -> Optional[bool]:
    """Reads one key of a YAML file, without a YAML library."""
    if config is None:
        return None
    try:
        with open(config, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 20)
    except OSError:
        return None
    found = re.findall(rf"^\s*[\"']?{_KEY}[\"']?\s*:\s*[\"']?(\w+)", text, re.MULTILINE)
    return found[-1].lower() in ("true", "yes", "on") if found else None


def _is_text(node: ast.AST, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _answer(kind: str, source: Source, node: ast.AST, text: str) -> Dict[str, Any]:
    return {"kind": kind, "file": source.path, "line": getattr(node, "lineno", 1), "text": text}
