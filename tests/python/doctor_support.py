"""Numbers of a machine and a corpus, and a program that answers with them."""

import sys

from xtts_advise.doctor.diagnose import diagnose
from xtts_advise.doctor.request import Request

MACHINE = {
    "core_count": 2, "cpu_limit": None, "usable_cores": 2.0, "memory_total_bytes": 64 << 30,
    "memory_available_bytes": 50 << 30, "lock_limit_bytes": None, "shm_total_bytes": 32 << 30,
    "shm_free_bytes": 32 << 30, "no_gpu": "no driver", "gpus": [],
}  # fmt: skip
DISK = {
    "kind": "SSD", "file_system": "ext4", "extent_bytes": 2e5, "sequential_bytes_per_s": 2e9, "random_4k_ms": 0.1,
    "random_4k_per_s_deep": 1e5, "extent_ms": 0.3, "extents_per_s_deep": 2e4, "sync_ms": 1.0, "cached_share": 0.1,
    "missing": "",
}  # fmt: skip
CACHE = {
    "clips_per_s": [50_000.0, 60_000.0], "batch_ms": [0.6] * 20, "period": None, "cpu_ms_per_clip": 0.02,
    "fingerprint": "f", "clip_count": 100, "record_bytes": 256_000, "shard_bytes": 10_000_000, "storage": None,
}  # fmt: skip
CORPUS = {
    "layout": "ljspeech", "clip_count": 1000, "source_bytes": 10**9, "record_bytes": 256_000, "batch_size": 32,
    "recipe": {"name": "r", "fingerprint": "f", "sample_rate": 22050, "n_fft": 1024, "hop": 256, "win": 1024,
               "n_mels": 80, "trims": False},
    "faults": {"count": 0, "allowed": 0, "first": ""},
    "sound": {"corpus_clip_count": 1000, "clip_count": 100, "resampled_count": 0, "mean_frames": 500.0,
              "reject_count": 0, "formats": [{"container": "wav", "codec": "pcm_s16le", "count": 100}], "rejects": {}},
    "storage": DISK, "rates": {"way": "xtts-precompute", "worker_count": 8, "one": [100.0], "all": [190.0, 210.0]},
    "share_in_page_cache": 1.0, "files": [], "cache": CACHE, "no_cache": "",
}  # fmt: skip


class Answers:
    """Stands for the program, and keeps what it was asked."""

    def __init__(self, **answers):
        self.answers = {"machine": MACHINE, "corpus": CORPUS, "cache": CACHE | {"storage": DISK}} | answers
        self.asked, self.warned = [], []

    def probe(self, what, *words):
        self.asked.append((what, *words))
        return self.answers[what]

    measure = probe

    def warn(self, message):
        self.warned.append(message)


def told(program, **wishes):
    wish = Request(**{"runs_frameworks": False, "python": sys.executable, **wishes})
    return {check.name: check for check in diagnose(wish, program, lambda _: None).checks}
