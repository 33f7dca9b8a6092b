"""A report to send to somebody who helps: versions, machine, configuration and findings in one text.

It holds no audio, no texts of the corpus and no secrets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ..findings import document_of
from .diagnose import Diagnosis

_HIDDEN = "[removed]"
_LINE_MAX = 2000  # a longer line is data
_SECRET_KEY = re.compile(
    r"""^(\s*(?:-\s*)?["']?[\w.-]*(?:token(?![a-z])|secret|passw|credential|api_?key|access_?key|private_?key|webhook)"""
    r"""[\w.-]*["']?\s*[:=]\s*)\S.*$""",
    re.IGNORECASE | re.ASCII,
)
_ADDRESS = re.compile(r"(\w+://)[^/\s@]+@", re.ASCII)
# "hf_AbC...": a word of letters and digits that is longer than any name.
_RANDOM_WORD = re.compile(r"(?=[a-z_-]*[0-9])(?=[0-9_-]*[a-z])[\w-]{32,}", re.IGNORECASE | re.ASCII)


def support_text(diagnosis: Diagnosis, versions: str, command: str, config: str, home: str) -> str:
    """config: the trainer's configuration; home: the user's home folder, which becomes "~"."""
    findings = json.dumps(document_of(diagnosis.checks), indent=2, ensure_ascii=False, sort_keys=True)
    machine = "".join(f"{line}\n" for line in diagnosis.machine)
    text = "xtts-precompute doctor, a report for support\n"
    for title, told in (
        ("Versions", versions),
        ("Command", f"{command}\n"),
        ("Machine", machine),
        ("Findings", findings),
    ):
        text += f"\n== {title}\n{told}"
    text = without_secrets(text)
    if config:
        text += f"\n== {config}\n" + "".join(_config_lines(config))
    return text.replace(home, "~") if len(home) > 1 else text  # a home of "/" would turn every path into "~"


def without_secrets(text: str) -> str:
    """Removes the values of secret keys, user names and passwords in addresses, and long random words."""
    return "".join(_without_secrets(line) + "\n" for line in text.splitlines())


def _without_secrets(line: str) -> str:
    if len(line) > _LINE_MAX:
        return _HIDDEN
    line = _SECRET_KEY.sub(rf"\1{_HIDDEN}", line)
    line = _ADDRESS.sub(rf"\1{_HIDDEN}@", line)
    return _RANDOM_WORD.sub(_HIDDEN, line)


def _config_lines(path: str) -> Iterator[str]:
    """The trainer's own keys with their values. Of other keys only the names: what it does not know may be a secret."""
    from ..config import trainer
    from ..config.file import read_bytes
    from ..config.tree import read_map, read_text
    from ..words import Failure

    try:
        text = read_text(read_bytes(path), path)
        root = read_map(text, path)
    except Failure as error:
        yield f"It cannot be read: {error}\n"
        return
    own = trainer.of_text(text, path).fields
    for section in root.entries:
        inner = [(f"{section.key}.{entry.key}", entry.value) for entry in section.value.entries]
        for name, value in inner or [(section.key, section.value)]:
            text = value.text if value.kind == "scalar" else value.name
            is_address = "://" in text  # it may hold a password
            yield f"{name}: {text if name in own and not is_address else '(not shown)'}\n"
