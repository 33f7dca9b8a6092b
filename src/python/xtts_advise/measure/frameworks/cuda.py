"""Whether a driver can run what a framework was built for."""

from __future__ import annotations

import re
from typing import Any

_SOURCE = "docs.nvidia.com/deploy/cuda-compatibility: minor version compatibility"
# The driver with which each family of CUDA begins, from the same page.
_FIRST_DRIVER = {11: "450", 12: "525", 13: "580"}
# The way to install a build for CUDA with pip.
_CUDA_BUILD = {
    "tensorflow": "pip install 'tensorflow[and-cuda]'",
    "torch": "install the build that pytorch.org names for your CUDA",
    "jax": "pip install 'jax[cuda12]'",
}


def version_pair(text: str | None) -> tuple[int, int | None] | None:
    """Returns ("12.4.1") → (12, 4), ("12") → (12, None), and None for what is no version."""
    found = re.match(r"\s*(\d{1,3})(?:\.(\d{1,3}))?(?:\.|\s|$)", text or "")
    if found is None:
        return None
    return int(found.group(1)), int(found.group(2)) if found.group(2) else None


def needs(name: str, cuda: dict[str, Any], driver_cuda: str | None) -> dict[str, str]:
    """Returns {"status", "text", "source"}: what the build needs against the driver's CUDA."""
    built, driver = version_pair(cuda["built_for"]), version_pair(driver_cuda)
    source = str(cuda["source"])
    if driver is None:
        unknown = "the driver's CUDA is not known" if not driver_cuda else f"'{driver_cuda}' is no version of CUDA"
        return {"status": "cannot_tell", "text": unknown, "source": source}
    if cuda["is_cpu_build"]:
        return {
            "status": "fail",
            "text": f"this build is for CPUs only, so it never uses the GPU: {_CUDA_BUILD[name]}",
            "source": source,
        }
    if built is None:
        return {"status": "cannot_tell", "text": "its files do not say for which CUDA it was built", "source": source}
    wanted, has = f"CUDA {cuda['built_for']}", f"the driver runs CUDA up to {driver_cuda}"
    source = f"{source}; {_SOURCE}"
    if built[0] > driver[0]:
        first = _FIRST_DRIVER.get(built[0])
        text = f"it needs {wanted}, and {has}: install a newer driver" + (f" ({first} or later)" if first else "")
        return {"status": "fail", "text": text, "source": source}
    if built[0] == driver[0] and built[1] is not None and driver[1] is not None and built[1] > driver[1]:
        if built[0] < 11:  # such compatibility begins with CUDA 11
            return {"status": "fail", "text": f"it needs {wanted}, and {has}: install a newer driver", "source": source}
        text = f"{wanted}, and {has}; within one major version it runs, without features that need a newer driver"
        return {"status": "pass", "text": text, "source": source}
    return {"status": "pass", "text": f"{wanted}, and {has}", "source": source}
