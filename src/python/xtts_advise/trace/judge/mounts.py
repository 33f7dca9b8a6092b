"""Which file systems hand each read to another machine or process."""

from __future__ import annotations

import os
import re
from pathlib import Path

_SLOW = re.compile(r"fuse(\.|$)|nfs|cifs|smb|9p$|ceph|gluster|afs$|davfs|virtiofs|lustre|beegfs|gpfs")


def slow_mount_of(path: str, table: str | None = None) -> str | None:
    """ "/mnt/nas (nfs4)" where a file lies on such a file system. `table`: as in /proc/self/mountinfo."""
    if not os.path.isabs(path):
        return None
    if table is None:
        try:
            table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
    best = ("", "")
    for line in table.splitlines():
        first, _, last = line.partition(" - ")
        words = first.split()
        if len(words) < 5 or not last:
            continue
        place = words[4].replace("\\040", " ")
        is_above = place == "/" or path == place or path.startswith(place + "/")
        if is_above and len(place) >= len(best[0]):  # of two on one place, the later one hides the first
            best = place, last.split()[0]
    place, kind = best
    return f"{place} ({kind})" if _SLOW.match(kind) else None
