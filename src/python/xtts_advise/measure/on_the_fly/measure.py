"""Rounds of clips, by one process and by as many as the trainer has workers."""

from __future__ import annotations

import os
import struct
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # up to Python 3.8, Callable[...] cannot be evaluated
    from collections.abc import Callable

    Work = Callable[[str], None]


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer to a request; both are described in __main__.py."""
    # Threads of NumPy's libraries are left as they are. A DataLoader's workers have them, too, and
    # get into each other's way.
    try:
        work, version = _librosa(request)
    except Exception as error:  # a broken installation may raise anything
        return {"format": 1, "missing": f"{type(error).__name__}: {error}"}
    files: list[str] = request["files"]
    failed: dict[str, int] = {}
    readable = _warm_up(work, files, failed)
    if not readable:
        return {"format": 1, "missing": "it cannot read any of the clips", "failed": failed}
    workers = max(int(request["workers"]), 1)
    seconds, rounds = float(request["seconds"]), int(request["rounds"])
    one: list[float] = []
    together: list[float] = []
    single_threaded: list[float] = []
    setting = own_threads_setting() if workers > 1 else None
    for _ in range(rounds):  # interleaved, so that a disturbance meets all
        one.append(_round(work, readable, 1, seconds))
        if workers > 1:
            together.append(_round(work, readable, workers, seconds))
        if setting is not None:
            single_threaded.append(_round(work, readable, workers, seconds, limit_own_threads))
    answer = {
        "format": 1, "version": version, "workers": workers, "one": one, "all": together or one, "failed": failed,
    }  # fmt: skip
    if setting is not None:
        answer["single_threaded"] = {"setting": setting, "all": single_threaded}
    return answer


def own_threads_setting() -> str | None:
    """Returns the setting that gives NumPy's linear algebra one thread, or None if it has no more than one."""
    names = {"openblas": "OPENBLAS_NUM_THREADS", "mkl": "MKL_NUM_THREADS", "blis": "BLIS_NUM_THREADS"}
    try:
        import threadpoolctl  # type: ignore[import-not-found,unused-ignore]

        pools = threadpoolctl.threadpool_info()
    except Exception:  # it comes with scikit-learn, which librosa needs, but any installation may be odd
        return None
    for pool in pools:
        if pool.get("internal_api") in names and pool.get("num_threads", 1) > 1:
            return names[pool["internal_api"]] + "=1"
    return None


def limit_own_threads() -> None:
    """Does in this process what the setting would have done at its start."""
    import threadpoolctl  # type: ignore[import-not-found,unused-ignore]

    threadpoolctl.threadpool_limits(1, user_api="blas")


def _librosa(request: dict[str, Any]) -> Any:
    import librosa  # type: ignore[import-not-found,unused-ignore]
    import numpy as np

    def work(path: str) -> None:
        samples, rate = librosa.load(path, sr=request["sample_rate"], mono=True)
        if request["trims"]:
            samples, _ = librosa.effects.trim(samples, top_db=20)
        mel = librosa.feature.melspectrogram(
            y=samples, sr=rate, n_fft=request["n_fft"], hop_length=request["hop"],
            win_length=request["win"], n_mels=request["n_mels"],
        )  # fmt: skip
        np.log(np.maximum(mel, 1e-5))

    return work, f"librosa {librosa.__version__}"


def _warm_up(work: Work, files: list[str], failed: dict[str, int]) -> list[str]:
    """Computes each file once, for at most four seconds, and returns those that can be read."""
    readable: list[str] = []
    begin = time.monotonic()
    for path in files:
        if readable and time.monotonic() - begin > 4.0:
            break
        try:
            work(path)
            readable.append(path)
        except Exception:
            suffix = os.path.splitext(path)[1].lower()
            failed[suffix] = failed.get(suffix, 0) + 1
    return readable


def _round(
    work: Work, files: list[str], workers: int, seconds: float, prepare: Callable[[], None] = lambda: None
) -> float:
    """Returns how many clips a second the workers computed together. Each one calls `prepare` first."""
    if workers == 1:
        return _count(work, files, 0, seconds)
    pipes = []
    for number in range(workers):
        read_end, write_end = os.pipe()
        if os.fork() == 0:
            try:
                prepare()
                rate = _count(work, files, number * len(files) // workers, seconds)
                os.write(write_end, struct.pack("d", rate))
            finally:
                os._exit(0)
        os.close(write_end)
        pipes.append(read_end)
    total = 0.0
    for read_end in pipes:
        data = os.read(read_end, 8)
        os.close(read_end)
        total += struct.unpack("d", data)[0] if len(data) == 8 else 0.0
    for _ in pipes:
        os.wait()
    return total


def _count(work: Work, files: list[str], first: int, seconds: float) -> float:
    begin = time.monotonic()
    count = 0
    while True:
        work(files[(first + count) % len(files)])
        count += 1
        spent = time.monotonic() - begin
        if spent >= seconds:
            return count / spent
