"""What the files of a framework say, read without importing it: version, and CUDA it was built for."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import re
from typing import Any, NamedTuple

# The packages that bring a framework's module.
DISTRIBUTIONS = {
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tf-nightly-cpu"),
    "torch": ("torch",),
    "jax": ("jax",),
}


class Installed(NamedTuple):
    """What is known of a framework from its files."""

    is_there: bool  # its module or its package exists
    version: str | None
    distribution: str | None
    cuda: dict[str, Any]  # as in the package's docstring, without "needs"


def look_at(name: str, libraries: dict[str, str]) -> Installed:
    """Reads a framework's files; `libraries` are all installed packages of NVIDIA's."""
    versions = {one: version for one in DISTRIBUTIONS[name] if (version := version_of(one)) is not None}
    distribution = next(iter(versions), None)
    folder = _folder_of(name)
    cuda = {"built_for": None, "is_cpu_build": None, "cudnn": None, "source": "", "libraries": libraries}
    try:
        if name == "torch" and folder is not None:
            cuda.update(_of_torch(folder))
        elif name == "tensorflow" and folder is not None:
            cuda.update(_of_tensorflow(folder))
        elif name == "jax":
            cuda.update(_of_jax())
    except (OSError, ValueError, SyntaxError) as error:
        cuda["source"] = f"its files could not be read: {error}"
    return Installed(folder is not None or bool(versions), versions.get(distribution or ""), distribution, cuda)


def nvidia_libraries() -> dict[str, str]:
    """Returns the installed packages of NVIDIA's, by name: {"nvidia-cudnn-cu12": "9.1.0.70"}."""
    found = {}
    try:
        for one in importlib.metadata.distributions():
            name = one.metadata["Name"]
            if isinstance(name, str) and name.lower().startswith("nvidia-"):
                found[name.lower()] = str(one.version)
    except Exception:  # one broken package is no reason to know nothing
        pass
    return dict(sorted(found.items()))


def version_of(distribution: str) -> str | None:
    """Returns the version of an installed package, or None."""
    try:
        version = importlib.metadata.version(distribution)
    except Exception:  # not installed, or its metadata is broken
        return None
    return str(version) if version else None


def _folder_of(name: str) -> str | None:
    """Returns the folder of a module, without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # odd finders may raise anything
        return None
    # A folder without __init__.py has no origin: any folder of this name would do.
    if spec is None or spec.origin is None:
        return None
    return os.path.dirname(spec.origin)


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 20)


def _of_torch(folder: str) -> dict[str, Any]:
    text = _text_of(os.path.join(folder, "version.py"))
    cuda = re.search(r"^cuda\s*(?::[^=]*)?=\s*(None|['\"]([^'\"]*)['\"])", text, re.MULTILINE)
    if cuda is None:
        return {"source": "torch/version.py, which does not name CUDA"}
    return {"built_for": cuda.group(2) or None, "is_cpu_build": not cuda.group(2), "source": "torch/version.py"}


def _of_tensorflow(folder: str) -> dict[str, Any]:
    source = "tensorflow/python/platform/build_info.py"
    text = _text_of(os.path.join(folder, "python", "platform", "build_info.py"))
    call = re.search(r"build_info\s*=\s*collections\.OrderedDict\((.*)\)", text, re.DOTALL)
    if call is None:
        return {"source": source + ", which has no build_info"}
    info = dict(ast.literal_eval(call.group(1).strip()))
    return {
        "built_for": str(info["cuda_version"]) if info.get("cuda_version") else None,
        "is_cpu_build": not info.get("is_cuda_build", False),
        "cudnn": str(info["cudnn_version"]) if info.get("cudnn_version") else None,
        "source": source,
    }


def _of_jax() -> dict[str, Any]:
    for major in (13, 12, 11):
        version = version_of(f"jax-cuda{major}-plugin")
        if version is not None:
            return {"built_for": str(major), "is_cpu_build": False, "source": f"the package jax-cuda{major}-plugin"}
    jaxlib = version_of("jaxlib") or ""
    local = re.search(r"\+cuda(\d+)", jaxlib)  # before 0.4.26, jaxlib itself was built for CUDA
    if local is not None:
        return {"built_for": local.group(1), "is_cpu_build": False, "source": f"jaxlib {jaxlib}"}
    return {"is_cpu_build": True, "source": "there is no package jax-cuda12-plugin or jax-cuda13-plugin"}
