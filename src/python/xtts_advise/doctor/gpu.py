"""Which GPUs are there, and do their driver and links hold them back?"""

from __future__ import annotations

from typing import Any

from .. import words
from ..findings import Check, Evidence, Finding, cannot_tell

_TITLE = "GPU and driver"
_SOURCE = "NVIDIA's management library (NVML)"
_OLDEST_CUDA = 11020  # CUDA 11.2: the users' own limit


def check(machine: dict[str, Any]) -> Check:
    """What a GPU does now says nothing about training: it may be idle."""
    gpus = machine["gpus"]
    if not gpus:
        why = machine["no_gpu"] or "the driver lists none"
        return cannot_tell("gpu", _TITLE, f"No NVIDIA GPU can be asked here: {why}.")
    made = Check("gpu", _TITLE)
    for number, gpu in enumerate(gpus):
        name = f"GPU {number} ({gpu['name'] or 'unknown'})"
        if gpu["missing"] is not None:
            text = f"{name} is there, but the driver cannot open it: {gpu['missing']}."
            remedy = "Restart the machine, and look into dmesg for Xid errors."
            made.findings.append(Finding("fail", text, remedy, name))
            continue
        made.evidence += _evidence(gpu, name)
        made.findings += _judge(gpu, name)
        for peer in gpu["peers"]:
            _judge_peer(peer, f"GPU {number} and GPU {peer['number']}", made)
    return made.conclude(f"{words.counted(len(gpus), 'GPU', 'GPUs')} with a working driver: {gpus[0]['name']}.")


def cuda_words(version: int) -> str:
    """ "12.4" for 12040."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _evidence(gpu: dict[str, Any], name: str) -> list[Evidence]:
    rows = []

    def add(what: str, text: str, number: float | None = None, unit: str = "") -> None:
        rows.append(Evidence(f"{name}, {what}", text, _SOURCE, number, unit))

    if gpu["driver_version"]:
        add("driver", gpu["driver_version"])
    if gpu["cuda_version"] is not None:
        add("newest CUDA of the driver", cuda_words(gpu["cuda_version"]))
    for what, key in (("memory", "memory_bytes"), ("free memory", "memory_free_bytes")):
        if gpu[key] is not None:
            add(what, words.size(gpu[key]), gpu[key], "bytes")
    if gpu["utilization"] is not None:
        add("utilization now", f"{gpu['utilization']} %", gpu["utilization"], "percent")
    for what, end in (("link, at best", "_max"), ("link now", "")):
        generation, width = gpu["pcie_generation" + end], gpu["pcie_width" + end]
        if generation is not None and width is not None:
            add(what, f"PCIe {generation}.0 x{width}")
    return rows


def _judge(gpu: dict[str, Any], name: str) -> list[Finding]:
    found = []

    def warn(text: str, remedy: str) -> None:
        found.append(Finding("warn", text, remedy, name))

    cuda, width, width_max = gpu["cuda_version"], gpu["pcie_width"], gpu["pcie_width_max"]
    if cuda is not None and cuda < _OLDEST_CUDA:
        warn(
            f"The driver of {name} knows CUDA {cuda_words(cuda)} at most. Current frameworks need 11.2 or later.",
            "Install a newer NVIDIA driver.",
        )
    # A card in a slot with fewer lanes. An idle link lowers its generation, not its width.
    if width is not None and width_max is not None and width * 2 <= width_max:
        warn(
            f"{name} is connected with {width} of {width_max} PCIe lanes, so copies take longer.",
            "Put the card into a slot with all lanes, or take out what shares them.",
        )
    if gpu["throttle_reasons"]:
        warn(
            f"The clocks of {name} are slowed now: {', '.join(gpu['throttle_reasons'])}.",
            "Look after the card's cooling and power limit.",
        )
    return found


def _judge_peer(peer: dict[str, Any], pair: str, made: Check) -> None:
    copies = {True: "direct copies", False: "no direct copies", None: ""}[peer["reads_peer"]]
    way = ", ".join(filter(None, (peer["way"], "NVLink" if peer["has_nvlink"] else "", copies)))
    if way:
        made.evidence.append(Evidence(f"{pair} are connected", way, _SOURCE))
    if peer["reads_peer"] is False:
        text = f"{pair} cannot copy directly, so each batch between them goes through the host's memory ({way})."
        remedy = "Put batches straight onto the GPU that trains, or use two GPUs that can."
        made.findings.append(Finding("warn", text, remedy))
