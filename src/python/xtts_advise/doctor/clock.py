"""May the processors run as fast as they can? A loader of few processors, and the thread that feeds a GPU, need it."""

from __future__ import annotations

import os
from pathlib import Path

from .. import words
from ..findings import Check, Evidence, Finding, cannot_tell
from .request import Numbers

_NAME, _TITLE = "clock", "Clock of the processors"
_ROOT = "/sys/devices/system/cpu"
# Drivers that choose the clock by themselves. Their powersave follows the load, and is what most systems begin with.
_OWN_CHOICE = ("intel_pstate", "amd-pstate-epp", "amd_pstate_epp")
_LOW = 0.8  # of the highest clock: a lower limit is one that a loader notices
_VERY_LOW = 0.5
_HOST = "on the host, if this is a container"


def read(root: str = _ROOT) -> list[Numbers]:
    """Returns what the kernel tells of the processors that this process may use; of most virtual machines nothing."""
    found = []
    for number in sorted(os.sched_getaffinity(0)):
        folder = Path(root, f"cpu{number}", "cpufreq")
        least, most, limit = (_khz(folder / f"{one}_freq") for one in ("scaling_min", "cpuinfo_max", "scaling_max"))
        driver, governor = _word(folder / "scaling_driver"), _word(folder / "scaling_governor")
        if governor and least and most and limit:
            preference = _word(folder / "energy_performance_preference")
            found.append(
                {"driver": driver, "governor": governor, "preference": preference}
                | {"least_khz": least, "most_khz": most, "limit_khz": limit}
            )
    return found


def _word(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _khz(path: Path) -> int:
    text = _word(path)
    return int(text) if text.isdecimal() else 0


def check(processors: list[Numbers]) -> Check:
    """processors: what `read` returned. Their clock at this moment says nothing: an idle processor lowers it."""
    if not processors:
        why = "The kernel tells no clocks here, as in most virtual machines: their host decides."
        return cannot_tell(_NAME, _TITLE, why)
    found = [_pinned(processors), _limited(processors), _saving(processors)]
    governors = words.listed(sorted({one["governor"] for one in processors}), "and")
    made = Check(_NAME, _TITLE, findings=[one for one in found if one], evidence=_evidence(processors, governors))
    highest = _ghz(max(one["limit_khz"] for one in processors))
    return made.conclude(f"The processors may run at up to {highest} GHz (governor {governors}).")


def _evidence(processors: list[Numbers], governors: str) -> list[Evidence]:
    drivers = words.listed(sorted({one["driver"] or "unknown" for one in processors}), "and")
    most, limit = (max(one[key] for one in processors) for key in ("most_khz", "limit_khz"))
    return [
        Evidence("governor", f"{governors}, of the driver {drivers}", f"{_ROOT}/cpu*/cpufreq"),
        Evidence("highest clock", f"{_ghz(most)} GHz", "cpuinfo_max_freq", most * 1e3, "Hz"),
        Evidence("highest clock that is allowed", f"{_ghz(limit)} GHz", "scaling_max_freq", limit * 1e3, "Hz"),
    ]


def _pinned(processors: list[Numbers]) -> Finding | None:
    """The governor powersave of all other drivers is the lowest clock, whatever there is to do."""
    low = [
        one
        for one in processors
        if one["governor"] == "powersave" and one["driver"] not in _OWN_CHOICE and _share(one, "least_khz") <= _LOW
    ]
    if not low:
        return None
    slowest = min(low, key=lambda one: _share(one, "least_khz"))
    share = _share(slowest, "least_khz")
    text = (
        f"The governor powersave keeps {_some(low, processors)} at {_of(slowest, 'least_khz')}: what they compute "
        f"takes up to {1 / share:.1f} times as long."
    )
    remedy = f"Choose another: `sudo cpupower frequency-set -g performance` ({_HOST})."
    return Finding("fail" if share <= _VERY_LOW else "warn", text, remedy)


def _limited(processors: list[Numbers]) -> Finding | None:
    low = [one for one in processors if _share(one, "limit_khz") <= _LOW]
    if not low:
        return None
    slowest = min(low, key=lambda one: _share(one, "limit_khz"))
    text = f"A limit keeps {_some(low, processors)} at {_of(slowest, 'limit_khz')} or less."
    remedy = (
        f"Raise it: `sudo cpupower frequency-set -u {slowest['most_khz']}` ({_HOST}). If it comes back, look after "
        "cooling, power supply and power profile."
    )
    return Finding("warn", text, remedy)


def _saving(processors: list[Numbers]) -> Finding | None:
    low = [one for one in processors if one["driver"] in _OWN_CHOICE and one["preference"] == "power"]
    if not low:
        return None
    text = f"The preference power lets {_some(low, processors)} raise their clock late, and seldom to the highest."
    folders = f"{_ROOT}/cpu*/cpufreq/energy_performance_preference"
    return Finding("warn", text, f"Let them: `echo balance_performance | sudo tee {folders}` ({_HOST}).")


def _some(low: list[Numbers], processors: list[Numbers]) -> str:
    whole = words.counted(len(processors), "processor", "processors")
    return whole if len(low) == len(processors) else f"{len(low):,} of {whole}"


def _share(one: Numbers, key: str) -> float:
    return float(one[key] / one["most_khz"])


def _of(one: Numbers, key: str) -> str:
    """Returns "0.8 of 4.2 GHz"."""
    return f"{_ghz(one[key])} of {_ghz(one['most_khz'])} GHz"


def _ghz(khz: int) -> str:
    return f"{khz / 1e6:.1f}"
