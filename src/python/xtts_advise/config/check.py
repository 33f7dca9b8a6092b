"""Judges a configuration: its keys, then the trainer's rules, then whether a cache is the one that it asks for."""

from __future__ import annotations

import shlex
from typing import Any

from .. import words
from ..findings import Check, Evidence, Finding, Gain
from ..probe import Program
from . import keys
from .facts import Facts, Situation
from .trainer import Trainer

_DIFFERENCES_MAX = 5
# The keys in which a cache and the file must agree where the features of the cache are the features.
_SHARED = ("features.sample_rate_hz", "features.stft.hop_samples", "features.mel.n_mels")


def check(text: str, origin: str, trainer: Trainer, situation: Situation, program: Program) -> Check:
    """origin: the path, from which the program reads what the file asks of a cache."""
    facts = Facts(text, origin, trainer, situation)
    found = [*keys.judge(facts, text), *judge_rules(facts)]
    if trainer.has_launcher:
        found.append(_cache(facts, program))
    gpu = situation.gpu
    evidence = [
        Evidence("trainer", trainer.title, "its code"),
        Evidence(
            "GPU", gpu["name"] if gpu else "none is known", gpu["source"] if gpu else "neither --gpu nor the driver"
        ),
        Evidence("cache", situation.cache or "none", "--cache"),
    ]
    return Check("configuration", "Configuration", _summary(facts, found), found, evidence)


def judge_rules(facts: Facts) -> list[Finding]:
    return [
        _finding(facts, rule)
        for rule in facts.trainer.rules
        if _is_judged(rule.get("needs", ""), facts.situation) and facts.holds(rule["when"])
    ]


def _is_judged(needs: str, situation: Situation) -> bool:
    known = {
        "gpu": situation.gpu is not None,
        "gpus": situation.gpu_count is not None,
        "no cache": not situation.cache,
    }
    return all(known[one] for one in needs.split(", ") if one)


def _finding(facts: Facts, rule: dict[str, Any]) -> Finding:
    text = facts.filled(rule["text"])
    gain = rule.get("gain")
    return Finding(
        {"note": "pass"}.get(rule["status"], rule["status"]),
        f"{text} {facts.filled(rule['source'])}",
        facts.filled(rule["remedy"]),
        facts.place(rule["key"]),
        Gain(float(gain[0]), float(gain[1])) if gain else None,
        [keys.change_of(facts, key, facts.filled(value), text) for key, value in rule.get("changes", {}).items()],
    )


def _takes_features(facts: Facts) -> bool:
    """The features of the cache are the features, whatever the file asks for (docs/myxtts.md)."""
    return facts.situation.reader == "launcher" and facts.plain(keys.LAUNCHER_KEY) == "precompute"


def _cache(facts: Facts, program: Program) -> Finding:
    cache = facts.situation.cache
    # The plain cache has the features that the trainer's inference computes.
    asks = "" if _takes_features(facts) else f" --config {shlex.quote(facts.origin)}"
    if not cache:
        return Finding(
            "pass",
            "Without a cache, the trainer decodes and computes every clip again in each epoch.",
            f"Make a cache: `xtts-precompute DATA CACHE{asks}`. Then name it here with --cache.",
            facts.origin,
        )
    told = program.probe("config", facts.origin, f"--cache={cache}")
    if told["refused"]:
        return Finding("cannot_tell", f"The cache was not compared: {told['error']}", place=cache)
    differences: list[str] = told["differences"]
    if _takes_features(facts):
        differences = [one for one in differences if one.startswith(_SHARED)]
    if not differences:
        same = (
            "is one that this file can train on"
            if _takes_features(facts)
            else "has the features that this file asks for"
        )
        return Finding("pass", f"The cache {same}.", place=cache)
    more = f"; and {len(differences) - _DIFFERENCES_MAX} more" if len(differences) > _DIFFERENCES_MAX else ""
    return Finding(
        "fail",
        f"The cache has other features than this file asks for: {'; '.join(differences[:_DIFFERENCES_MAX])}{more}",
        f"Make the cache that this file asks for: xtts-precompute DATA CACHE{asks}.",
        cache,
    )


def _summary(facts: Facts, found: list[Finding]) -> str:
    fails, warns = (sum(one.status == status for one in found) for status in ("fail", "warn"))
    if fails + warns:
        told = f"{words.counted(fails, 'fault', 'faults')}, {words.counted(warns, 'warning', 'warnings')}"
    else:
        told = "no setting that starves a GPU is known"
    is_judged = facts.situation.gpu or not facts.trainer.gpus
    unknown = "" if is_judged else "; no GPU is known, so memory was not judged (--gpu 24GB names one)"
    return f"{facts.origin}: {told}{unknown}"
