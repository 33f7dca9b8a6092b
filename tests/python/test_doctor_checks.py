"""doctor: its checks of a machine, a corpus and a cache. Each has a planted fault, and one where it passes."""

import pytest
from xtts_advise.charts import Bars, Histogram, Series
from xtts_advise.doctor import clock, formats, gpu, memory, real_batches, storage

MIB = 1 << 20
GIB = 1 << 30

# Measured figures of an NVMe disk, and of a disk with 9 ms a seek.
FAST = {
    "kind": "SSD", "file_system": "ext4", "missing": "", "extent_bytes": 200e3, "sequential_bytes_per_s": 2e9,
    "random_4k_ms": 0.08, "random_4k_per_s_deep": 300e3, "extent_ms": 0.25, "extents_per_s_deep": 20e3,
    "sync_ms": 1.5, "cached_share": 0.0,
}  # fmt: skip
ROTATING = FAST | {
    "kind": "rotating disk", "sequential_bytes_per_s": 150e6, "random_4k_ms": 9.0, "extent_ms": 10.3,
    "extents_per_s_deep": 140.0,
}  # fmt: skip
UNMEASURED = dict.fromkeys(FAST) | {"kind": "SSD", "file_system": "", "extent_bytes": 0.0, "missing": "no direct reads"}
MACHINE = {
    "memory_total_bytes": 64 * GIB, "memory_available_bytes": 50 * GIB, "lock_limit_bytes": None,
    "shm_total_bytes": 32 * GIB, "shm_free_bytes": 32 * GIB, "no_gpu": None, "gpus": [],
}  # fmt: skip
GPU = {
    "name": "NVIDIA GeForce RTX 4090", "missing": None, "driver_version": "570.86.15", "cuda_version": 12080,
    "memory_bytes": 24 * GIB, "memory_free_bytes": 23 * GIB, "utilization": 3, "pcie_generation": 1, "pcie_width": 16,
    "pcie_generation_max": 4, "pcie_width_max": 16, "throttle_reasons": [], "peers": [],
}  # fmt: skip
SOUND = {"corpus_clip_count": 20, "resampled_count": 0, "mean_frames": 400.0, "reject_count": 0, "rejects": {}}


def row(check, words):
    """The one piece of evidence whose name has these words."""
    (found,) = [one for one in check.evidence if words in one.what]
    return found


def only(check):
    (found,) = check.findings
    assert check.status == found.status
    return found


# ---- storage


def of_storage(measured, whole_bytes=100 * GIB, **more):
    known = {"folder": "data", "batch_size": 32, "memory_available_bytes": 16 * GIB} | more
    return storage.check(measured, whole_bytes=whole_bytes, **known)


def test_a_fast_disk_passes():
    made = of_storage(FAST)
    assert (made.name, made.status, made.findings) == ("storage", "pass", [])
    assert made.summary == (
        "The storage of data answers like an SSD: the clips of a batch of 32 take 8.00 ms one at a time, and 1.60 ms "
        "with many reads at once."
    )
    shown = {one.what: one.value for one in made.evidence}
    assert shown == {
        "kind": "SSD, ext4",
        "sequential": "1.9 GiB/s",
        "a random 4 KiB": "0.08 ms",
        "random 4 KiB, 32 at a time": "300,000 a second",
        "a clip's file of 195 KiB": "0.25 ms",
        "a clip's file, 32 at a time": "20,000 a second",
        "a batch, one read at a time": "8.00 ms",
        "a batch, 32 reads at a time": "1.60 ms",
        "a sync to the disk": "1.50 ms",
        "in the page cache already": "0 %",
    }


def test_a_rotating_disk_fails_where_the_corpus_does_not_fit_into_memory():
    found = only(of_storage(ROTATING))
    assert found.status == "fail"
    assert "330 ms one at a time" in found.text and "seeks like a rotating disk" in found.text
    assert found.remedy.startswith("Build a cache") and "window" in found.remedy


@pytest.mark.parametrize(
    "measured, whole_bytes, words",
    [
        (ROTATING, GIB, "All of it (1.0 GiB) fits into memory, so this concerns the first epoch."),
        (ROTATING | {"extents_per_s_deep": 1000.0}, 100 * GIB, "and 32.0 ms with many reads at once."),
    ],
)
def test_a_rotating_disk_warns_where_memory_or_many_reads_help(measured, whole_bytes, words):
    made = of_storage(measured, whole_bytes)
    found = only(made)
    assert found.status == "warn" and found.text.endswith(words)
    assert made.summary == found.text  # which is then said once


@pytest.mark.parametrize(
    "changed, ending",
    [
        ({"extents_per_s_deep": None}, "take 8.00 ms one at a time."),
        ({"extents_per_s_deep": 100.0}, "take 8.00 ms one at a time, and no less with many reads at once."),
        ({"random_4k_ms": None}, "of data: the clips of a batch of 32 take 8.00 ms one at a time, and 1.60 ms"),
    ],
)
def test_it_says_nothing_that_was_not_measured(changed, ending):
    made = of_storage(FAST | changed)
    assert made.status == "pass" and ending in made.summary


def test_it_says_what_a_cache_would_change():
    made = of_storage(ROTATING, padded_record_bytes=256_000, packed_half_record_bytes=64_000)
    assert row(made, "padded float32").number == pytest.approx(32 * 256e3 / 150e6 * 1e3)
    assert row(made, "packed float16").number == pytest.approx(32 * 64e3 / 150e6 * 1e3)
    assert not any("float" in one.what for one in of_storage(ROTATING).evidence)


@pytest.mark.parametrize("measured, words", [(ROTATING, "Read it with"), (ROTATING | {"random_4k_ms": 0.1}, "Convert")])
def test_the_storage_of_a_cache_has_its_own_remedies(measured, words):
    made = of_storage(measured, is_cache=True, padded_record_bytes=256_000)
    assert made.name == "storage_of_cache" and row(made, "a record of")
    assert only(made).remedy.startswith(words)
    assert not any("float" in one.what for one in made.evidence)


def test_storage_that_was_not_measured_cannot_be_told():
    made = of_storage(UNMEASURED)
    assert made.status == "cannot_tell" and len(made.evidence) == 1
    assert made.summary == "The storage of data could not be measured: no direct reads."
    assert storage.batch_ms(UNMEASURED, 32) is storage.batch_ms_deep(UNMEASURED, 32) is None


# ---- memory


def of_memory(worker_count=16, **changed):
    return memory.check(MACHINE | changed, batch_size=32, record_bytes=256_000, worker_count=worker_count)


def test_a_machine_with_memory_passes():
    made = of_memory()
    assert (made.status, made.summary) == ("pass", "There is memory for the batches: 31.2 MiB of 50.0 GiB.")
    assert row(made, "the reader's batches").source == "4 batches of 32 clips, padded"
    assert row(made, "locked memory").value == "none"
    assert row(of_memory(lock_limit_bytes=8 * MIB), "locked memory").number == 8 * MIB


@pytest.mark.parametrize(
    "changed, status, words",
    [
        ({"memory_available_bytes": 300 * MIB}, "fail", "Only 300 MiB of memory can be used"),
        ({"memory_total_bytes": 8 * GIB, "memory_available_bytes": 6 * GIB}, "warn", "The machine has 8.0 GiB"),
        # Docker's own size of /dev/shm. 16 workers with 2 batches of 8 MiB each need 250 MiB.
        ({"shm_free_bytes": 64 * MIB}, "fail", "/dev/shm has 64.0 MiB free, and 16 workers of a PyTorch DataLoader"),
        ({"shm_free_bytes": 200 * MIB}, "warn", "need up to 250 MiB there"),
    ],
)
def test_too_little_memory_is_found(changed, status, words):
    found = only(of_memory(**changed))
    assert found.status == status and words in found.text


def test_the_remedy_is_twice_of_what_the_workers_need():
    assert "shm-size=501m)" in only(of_memory(shm_free_bytes=64 * MIB)).remedy


@pytest.mark.parametrize("worker_count, free", [(0, MIB), (None, MIB), (16, None)])
def test_a_loader_without_workers_needs_no_shared_memory(worker_count, free):
    assert of_memory(worker_count, shm_free_bytes=free).status == "pass"


@pytest.mark.parametrize("unknown", ["memory_total_bytes", "memory_available_bytes"])
def test_a_system_that_does_not_tell_its_memory_cannot_be_judged(unknown):
    assert of_memory(**{unknown: 0}).status == "cannot_tell"


# ---- clock

CLOCK = {
    "scaling_driver": "acpi-cpufreq", "scaling_governor": "schedutil", "energy_performance_preference": None,
    "scaling_min_freq": "800000", "scaling_max_freq": "4200000", "cpuinfo_max_freq": "4200000",
}  # fmt: skip
INTEL = {"scaling_driver": "intel_pstate", "scaling_governor": "powersave"}


@pytest.fixture
def of_clocks(tmp_path, monkeypatch):
    """Gives a function: judges a system with these processors."""

    def judge(*changed):
        monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(len(changed))))
        for number, one in enumerate(changed):
            folder = tmp_path / f"cpu{number}/cpufreq"
            folder.mkdir(parents=True)
            for name, text in (CLOCK | one).items():
                if text is not None:
                    (folder / name).write_text(f"{text}\n")
        return clock.check(clock.read(str(tmp_path)))

    return judge


@pytest.mark.parametrize(
    "changed",
    [
        {},
        INTEL | {"energy_performance_preference": "balance_performance"},  # what most systems begin with
        {"scaling_governor": "powersave", "scaling_min_freq": "4200000"},
        {"scaling_max_freq": "3800000"},
    ],
)
def test_processors_that_may_run_fast_pass(of_clocks, changed):
    made = of_clocks(changed, changed)
    told = CLOCK | changed
    highest = int(told["scaling_max_freq"]) / 1e6
    assert (made.status, made.findings) == ("pass", [])
    assert made.summary == f"The processors may run at up to {highest} GHz (governor {told['scaling_governor']})."
    assert row(made, "highest clock that is").number == highest * 1e9


@pytest.mark.parametrize(
    ("changed", "status", "words"),
    [
        ({"scaling_governor": "powersave"}, "fail", "keeps 1 of 2 processors at 0.8 of 4.2 GHz: what they compute"),
        ({"scaling_governor": "powersave", "scaling_min_freq": "3000000"}, "warn", "takes up to 1.4 times as long."),
        ({"scaling_max_freq": "2000000"}, "warn", "A limit keeps 1 of 2 processors at 2.0 of 4.2 GHz or less."),
        (INTEL | {"energy_performance_preference": "power"}, "warn", "The preference power lets 1 of 2 processors"),
    ],
)
def test_what_keeps_processors_slow_is_found(of_clocks, changed, status, words):
    found = only(of_clocks({}, changed))
    assert found.status == status and words in found.text and "on the host, if" in found.remedy


@pytest.mark.parametrize("changed", [[], [{"scaling_governor": None}], [{"scaling_max_freq": "<unknown>"}]])
def test_a_system_that_does_not_tell_its_clocks_cannot_be_judged(of_clocks, changed):
    made = of_clocks(*changed)
    assert made.status == "cannot_tell" and "virtual machines" in made.summary and not made.evidence


# ---- GPU


def of_gpus(*gpus, no_gpu=None):
    return gpu.check(MACHINE | {"gpus": list(gpus), "no_gpu": no_gpu})


@pytest.mark.parametrize("no_gpu, words", [("this machine has no driver", "no driver."), (None, "lists none.")])
def test_a_machine_without_a_gpu_is_a_clean_answer(no_gpu, words):
    made = of_gpus(no_gpu=no_gpu)
    assert made.status == "cannot_tell" and made.summary.endswith(words) and not made.findings


def test_a_healthy_gpu_passes():
    made = of_gpus(GPU)
    assert (made.status, made.summary) == ("pass", "1 GPU with a working driver: NVIDIA GeForce RTX 4090.")
    assert {one.what.split(", ", 1)[1]: one.value for one in made.evidence} == {
        "driver": "570.86.15",
        "newest CUDA of the driver": "12.8",
        "memory": "24.0 GiB",
        "free memory": "23.0 GiB",
        "utilization now": "3 %",
        "link, at best": "PCIe 4.0 x16",
        "link now": "PCIe 1.0 x16",
    }


@pytest.mark.parametrize(
    "changed, status, words",
    [
        ({"cuda_version": 10020}, "warn", "knows CUDA 10.2 at most"),
        ({"pcie_width": 8}, "warn", "connected with 8 of 16 PCIe lanes"),
        ({"throttle_reasons": ["thermal", "power"]}, "warn", "are slowed now: thermal, power."),
        ({"missing": "the GPU is lost"}, "fail", "the driver cannot open it: the GPU is lost."),
    ],
)
def test_what_holds_a_gpu_back_is_found(changed, status, words):
    found = only(of_gpus(GPU | changed))
    assert found.status == status and words in found.text
    assert found.place == "GPU 0 (NVIDIA GeForce RTX 4090)"


def test_what_the_driver_does_not_tell_is_no_fault():
    silent = dict.fromkeys(GPU) | {"name": "", "driver_version": "", "peers": []}
    made = of_gpus(silent)
    assert made.status == "pass" and not made.evidence


@pytest.mark.parametrize(
    "link, status, shown",
    [
        (("through the link between two processors", False, False), "warn", "{}, no direct copies"),
        (("through one PCIe switch", True, True), "pass", "{}, NVLink, direct copies"),
        (("", None, None), "pass", None),
    ],
)
def test_two_gpus_that_cannot_copy_directly_are_found(link, status, shown):
    way, has_nvlink, reads_peer = link
    peer = {"number": 1, "way": way, "has_nvlink": has_nvlink, "reads_peer": reads_peer}
    made = of_gpus(GPU | {"peers": [peer]}, GPU)
    assert made.status == status
    assert [one.value for one in made.evidence if "are connected" in one.what] == ([shown.format(way)] if shown else [])
    if status == "warn":
        assert made.summary.startswith("GPU 0 and GPU 1 cannot copy directly")


# ---- formats


def of_formats(counts, **changed):
    formats_ = [{"container": one[0], "codec": one[1], "count": count} for one, count in counts.items()]
    return formats.check(SOUND | {"formats": formats_, "clip_count": sum(counts.values())} | changed, 22050)


WAV = ("wav", "pcm_s16le")


def test_a_wav_of_16_bits_is_read_by_all():
    made = of_formats({WAV: 10}, resampled_count=5)
    assert made.status == "pass" and not made.findings
    assert row(made, "pcm_s16le in wav").value == "100 %"
    assert row(made, "at another rate than 22,050 Hz").number == 0.5


@pytest.mark.parametrize(
    "other, loaders, words",
    [
        (("flac", "flac"), ["decode_wav"], "50 % of the sampled clips (flac in flac) are not read by"),
        (("wav", "pcm_f32le"), ["decode_wav"], "(pcm_f32le in wav)"),
        (("wav", "adpcm_ms"), ["decode_wav", "libsndfile"], "(adpcm_ms in wav)"),
        (("mov,mp4,m4a,3gp,3g2,mj2", "aac"), ["decode_wav", "libsndfile"], "(aac in mp4)"),
        (("matroska,webm", "opus"), ["decode_wav", "libsndfile"], "(opus in matroska)"),
    ],
)
def test_the_loaders_that_fail_on_a_format_are_named(other, loaders, words):
    made = of_formats({WAV: 10, other: 10})
    assert made.status == "warn" and len(made.findings) == len(loaders)
    for found, loader in zip(made.findings, loaders):
        assert words in found.text and loader in found.text


@pytest.mark.parametrize("counts, status", [({WAV: 9}, "warn"), ({}, "fail")])
def test_clips_that_nobody_can_use_are_found(counts, status):
    found = only(of_formats(counts, reject_count=1, rejects={"the file is empty": 1}))
    assert found.status == status and found.text.endswith("cannot be used. One of them: the file is empty.")


@pytest.mark.parametrize("corpus, source", [(10, "all clips"), (11, "10 clips, chosen at random")])
def test_it_says_whether_the_clips_are_a_sample(corpus, source):
    assert of_formats({WAV: 10}, corpus_clip_count=corpus).evidence[0].source == f"decoded: {source}"


def test_without_a_clip_its_format_cannot_be_told():
    assert of_formats({}).status == "cannot_tell"


# ---- batches, side by side


def rates(*clips_per_s):
    return {"way": "0.10.2", "worker_count": 2, "one": list(clips_per_s), "all": list(clips_per_s)}


def cache_of(clips_per_s, *batch_ms):
    return {"clips_per_s": [clips_per_s], "batch_ms": list(batch_ms), "period": 10.0}


def librosa_of(rounds, single=()):
    return {"rates": rates(*rounds), "single_threaded": list(single), "setting": "OPENBLAS_NUM_THREADS=1"}


def of_batches(step_ms=None, batch_size=32, **more):
    return real_batches.check(batch_size=batch_size, step_ms=step_ms, **more)


def test_it_tells_what_a_batch_takes_each_way():
    made = of_batches(50.0, ours=rates(100.0), cache=cache_of(10_000.0, 3.2, 3.2))
    assert made.status == "pass"
    assert (
        made.summary
        == "A batch of 32 from a cache takes 3.20 ms: good (good is below 100 ms). Computed on the fly it takes 320 ms."
    )
    assert [(one.what, one.number) for one in made.evidence] == [
        ("raw audio, this program, 2 threads", 320.0), ("the cache", 3.2), ("synthetic data", 0.0),
    ]  # fmt: skip
    assert made.evidence[1].value == "3.20 to 3.20 ms a batch, 10,000 clips/s"
    bars, series, histogram = (chart.content for chart in made.charts)
    assert isinstance(bars, Bars) and [bar.value for bar in bars.bars] == [320.0, 3.2]
    assert isinstance(series, Series) and (series.values, series.period) == ([3.2, 3.2], 10.0)
    assert isinstance(histogram, Histogram) and histogram.values == [3.2, 3.2]


def test_it_compares_with_the_trainers_own_way_where_that_was_measured():
    more = {"librosa": librosa_of([50.0], [51.0]), "ours": rates(100.0), "cache": cache_of(75.0), "is_sample": True}
    made = of_batches(batch_size=30, **more)
    assert made.status == "pass" and made.summary.endswith("Computed on the fly it takes 600 ms.")
    assert [one.what for one in made.evidence] == [
        "raw audio, 0.10.2, 2 workers",
        "the same, with OPENBLAS_NUM_THREADS=1",
        "raw audio, this program, 2 threads",
        "a cache of a sample",
        "synthetic data",
    ]


def test_a_cache_that_saves_nothing_fails():
    found = only(of_batches(ours=rates(100.0), cache=cache_of(90.0)))
    assert found.status == "fail" and "no less time than one computed on the fly" in found.text


# The deviation is 44.5 ms, and the mean 45.5 ms.
@pytest.mark.parametrize("step_ms, share", [(100.0, "31 %"), (None, "49 %"), (100_000.0, None)])
def test_uneven_batches_warn_as_far_as_they_are_long_beside_a_step(step_ms, share):
    made = of_batches(step_ms, cache=cache_of(1000.0, *[1.0, 90.0] * 3))
    assert made.status == ("warn" if share else "pass")
    assert [f"their deviation is {share} of a step" in one.text for one in made.findings] == [True] * bool(share)


@pytest.mark.parametrize(
    "more, summary",
    [
        ({"no_cache": "The disk is full"}, "The disk is full."),
        ({}, "No batch came from a cache."),
        ({"cache": cache_of(0.0)}, "No batch came from a cache."),
    ],
)
def test_without_a_cache_it_cannot_tell_and_says_why(more, summary):
    made = of_batches(ours=rates(100.0), **more)
    assert (made.status, made.summary) == ("cannot_tell", summary)


def test_threads_that_get_in_the_workers_way_are_found_without_a_cache_too():
    found = only(of_batches(librosa=librosa_of([100.0, 125.0], [200.0, 250.0])))
    assert found.status == "warn" and "2 workers compute 1.6 to 2.5 times as many clips" in found.text
    assert "set OPENBLAS_NUM_THREADS=1 before" in found.remedy


@pytest.mark.parametrize("rounds, single", [([100.0, 125.0], [140.0, 250.0]), ([100.0], []), ([], [100.0])])
def test_threads_are_not_blamed_without_a_clear_measurement(rounds, single):
    assert real_batches.judge_own_threads(librosa_of(rounds, single)) is None
