"""Hugging Face data sets: Parquet and Arrow files by the program, and what build(dataset=...) takes.

Their sounds are those of plain files, so caches must be equal to that of the plain files in every bit.
"""

import contextlib
import csv
import datetime
import decimal
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import xtts_precompute as xp
from support import MAX_FRAMES, MAX_TOKENS, PROGRAM, make_corpus, ran

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: nothing here can read Parquet and Arrow files")
pq = pytest.importorskip("pyarrow.parquet")

CLIPS = 23
SETTINGS = {"max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS}
SOUND = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
SCHEMA = pa.schema(
    [("id", pa.string()), ("audio", SOUND)] + [(name, pa.string()) for name in ("text", "speaker", "language")]
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "data"
    make_corpus(folder, CLIPS)
    with (folder / "metadata.csv").open(encoding="utf-8", newline="") as table:
        lines = list(csv.DictReader(table))
    return [
        {
            "id": line["file"].removesuffix(".wav"),
            "audio": {"bytes": (folder / line["file"]).read_bytes(), "path": line["file"]},
            **{name: line[name] for name in ("text", "speaker", "language")},
        }
        for line in lines
    ]


@pytest.fixture(scope="module")
def plain(rows, tmp_path_factory):
    """The cache of the same sounds as plain files."""
    folder = tmp_path_factory.mktemp("plain-cache")
    make_corpus(folder / "data", CLIPS)
    xp.build(folder / "data", folder / "cache", settings=SETTINGS, progress=False)
    return xp.open(folder / "cache")


def write_parquet(folder, rows, **options):
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), folder / "train-00000-of-00001.parquet", **options)
    return folder


def write_arrow(folder, rows, name="data-00000-of-00001.arrow"):
    folder.mkdir(parents=True, exist_ok=True)
    with pa.ipc.new_stream(folder / name, SCHEMA) as out:
        out.write_table(pa.Table.from_pylist(rows, SCHEMA), 5)
    return folder


def program(*arguments, code=0, **environment):
    done = ran(PROGRAM, *arguments, environment={"XTTS_PYTHON": sys.executable, **environment})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def build(dataset, cache, **options):
    return xp.build(dataset=dataset, cache=cache, settings=SETTINGS, progress=False, **options)


def same_clips(cache, plain):
    cache = xp.open(cache)
    assert sorted(cache.ids[:]) == sorted(plain.ids[:])
    for clip in cache:
        other = plain[clip.id]
        assert (clip.text, clip.speaker, clip.language, clip.split) == (
            other.text,
            other.speaker,
            other.language,
            other.split,
        )
        assert np.array_equal(clip.mel, other.mel)
    return cache


KINDS = {
    "plain": lambda folder, rows: write_parquet(
        folder, rows, compression="none", use_dictionary=False, row_group_size=4
    ),
    "snappy": lambda folder, rows: write_parquet(folder, rows, row_group_size=7),
    "zstd_v2": lambda folder, rows: write_parquet(folder, rows, compression="zstd", data_page_version="2.0"),
    "no_statistics": lambda folder, rows: write_parquet(folder, rows, write_statistics=False),
    "other_order": lambda folder, rows: write_parquet(folder, rows[::-2] + rows[-2::-2], row_group_size=3),
    "stream": write_arrow,
}


@pytest.mark.parametrize("kind", KINDS)
def test_files_give_the_cache_of_the_plain_files(kind, rows, plain, tmp_path):
    data = KINDS[kind](tmp_path / "data", rows)
    build(data, tmp_path / "cache", threads=4)
    same_clips(tmp_path / "cache", plain)
    assert xp.verify(tmp_path / "cache", "deep", progress=False).ok
    assert build(data, tmp_path / "cache").unchanged


@pytest.mark.parametrize("kind", ["snappy", "stream"])
def test_the_program_reads_rows_again(kind, rows, plain, tmp_path):
    """Parts, an update, deep, repair after damage, and the sound of a clip."""
    data, cache = KINDS[kind](tmp_path / "data", rows[:-3]), tmp_path / "cache"
    settings = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    for number in (1, 2):
        program("build", data, tmp_path / f"part{number}", "--partition", f"{number}/2", "--quiet", *settings)
    program("merge", cache, tmp_path / "part1", tmp_path / "part2")
    assert len(xp.open(cache)) == CLIPS - 3

    KINDS[kind](data, rows)  # changed: three rows more
    report = json.loads(program("build", data, cache, "--json", "--quiet", *settings))
    assert (report["reused"], report["computed"]) == (CLIPS - 3, 3)
    same_clips(cache, plain)

    program("verify", cache, "--level", "deep")
    program("show", cache, rows[5]["id"], "--wav", tmp_path / "shown.wav")
    assert (tmp_path / "shown.wav").stat().st_size > 44

    shard = next((cache / "shards/mel").iterdir())
    with shard.open("r+b") as file:
        file.seek(shard.stat().st_size // 2)
        was = file.read(64)
        file.seek(-64, os.SEEK_CUR)
        file.write(bytes(255 - one for one in was))
    assert not xp.verify(cache, progress=False).ok
    program("verify", cache, "--repair")
    same_clips(cache, plain)


def test_clips_have_their_sound_again(rows, tmp_path):
    cache = tmp_path / "cache"
    build(write_parquet(tmp_path / "data", rows), cache)
    made = xp.open(cache).add_column(
        "loudest", lambda clip: np.abs(clip.pcm).max(keepdims=True), axis="fixed", progress=False
    )
    assert all(clip["loudest"][0] > 0 for clip in made)


def test_values_are_json_as_ever(rows, tmp_path):
    """The texts of times and numbers are those that Apache Arrow's library in C++ gave."""
    at = datetime.datetime(2024, 5, 17, 10, 11, 12, 345678)
    columns = {
        "at": pa.array([at, None, None], pa.timestamp("us")),
        "berlin": pa.array([at] * 3, pa.timestamp("us", tz="Europe/Berlin")),
        "price": pa.array([decimal.Decimal("1.10")] * 3, pa.decimal128(5, 2)),
        "took": pa.array([datetime.timedelta(seconds=5)] * 3, pa.duration("us")),
        "ratio": pa.array([0.1] * 3, pa.float32()),
        "rate": pa.array([float("nan")] * 3),
        "nested": pa.array([{"when": [at]}] * 3, pa.struct([("when", pa.list_(pa.timestamp("us", tz="UTC")))])),
        "pairs": pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int32())),
    }
    table = pa.Table.from_pylist(rows[:3], SCHEMA)
    for name, column in columns.items():
        table = table.append_column(name, column)
    (tmp_path / "data").mkdir()
    pq.write_table(table, tmp_path / "data/train.parquet")
    assert "columns that are not kept: pairs" in program("build", tmp_path / "data", tmp_path / "cache")
    shown = json.loads(program("show", tmp_path / "cache", rows[0]["id"], "--json"))
    assert shown["extra"] == {
        "at": "2024-05-17 10:11:12.345678",
        "berlin": "2024-05-17 10:11:12.345678Z",
        "nested": {"when": ["2024-05-17 10:11:12.345678Z"]},
        "price": "1.10",
        "rate": None,
        "ratio": 0.10000000149011612,
        "took": "5000000",
    }


def test_a_damaged_file_keeps_the_rows_before(rows, tmp_path):
    data = write_arrow(tmp_path / "data", rows)
    file = data / "data-00000-of-00001.arrow"
    os.truncate(file, file.stat().st_size * 2 // 3)
    report = build(data, tmp_path / "cache", max_rejects="50%")
    assert 0 < report.records < CLIPS and report.records % 5 == 0
    assert "the rows before that are used" in json.dumps(report.rejects)

    file.write_bytes(b"PAR1 and no Parquet at all")
    file.rename(file.with_suffix(".parquet"))
    with pytest.raises(xp.InvalidArgumentError, match="damaged"):
        build(data, tmp_path / "other")


def test_rows_without_a_sound_column_are_refused(tmp_path):
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "data/a.parquet")
    with pytest.raises(xp.InvalidArgumentError, match="has no column of encoded sound"):
        build(tmp_path / "data", tmp_path / "cache")


def test_without_pyarrow_one_line_says_what_to_do(rows, tmp_path):
    data = write_parquet(tmp_path / "data", rows)
    python = tmp_path / "bin/python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "$@"\n')  # without site-packages
    python.chmod(0o755)
    if subprocess.run(["/usr/bin/python3", "-c", "import pyarrow"], capture_output=True).returncode == 0:
        pytest.skip("the system's Python has pyarrow")
    environment = {"XTTS_PYTHON": str(python), "PYTHONPATH": ""}
    told = program("build", data, tmp_path / "cache", "--quiet", code=2, **environment)
    assert len(told.strip().splitlines()) == 1, told
    assert "pip install pyarrow" in told and "train-00000-of-00001.parquet" in told


def test_a_reader_that_is_killed_meanwhile_changes_nothing(rows, plain, tmp_path):
    data, cache = write_parquet(tmp_path / "data", rows, row_group_size=2), tmp_path / "cache"
    settings = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    environment = {**os.environ, "XTTS_PYTHON": sys.executable}
    running = subprocess.Popen([PROGRAM, "build", data, cache, "--quiet", *settings], env=environment)
    killed = 0
    while running.poll() is None:
        with open(f"/proc/{running.pid}/task/{running.pid}/children", encoding="ascii") as children:
            for child in children.read().split():
                with contextlib.suppress(FileNotFoundError):  # a decoder that ends, a file that was closed
                    files = [os.readlink(one) for one in glob.glob(f"/proc/{child}/fd/*")]
                    if killed == 0 and any("train-00000" in file for file in files):
                        os.kill(int(child), signal.SIGKILL)
                        killed += 1
    assert (running.returncode, killed) == (0, 1)
    same_clips(cache, plain)


# The values that build(dataset=...) takes


def test_a_file_is_chosen_among_others(rows, plain, tmp_path):
    write_arrow(tmp_path, rows, "speech-train.arrow")
    write_arrow(tmp_path, rows[:3], "cache-0123.arrow")
    build(tmp_path / "speech-train.arrow", tmp_path / "cache")
    same_clips(tmp_path / "cache", plain)
    assert xp.verify(tmp_path / "cache", "deep", progress=False).ok


def test_files_that_cannot_be_told_from_others_are_refused(rows, tmp_path, monkeypatch):
    for name in ("ab.arrow", "acb.arrow", "adb.arrow"):
        write_arrow(tmp_path, rows, name)
    with pytest.raises(xp.InvalidArgumentError, match="a folder of their own"):
        build([tmp_path / "ab.arrow", tmp_path / "adb.arrow"], tmp_path / "cache")
    monkeypatch.setattr("xtts_precompute._build.rows._FILES_MAX", 2)
    with pytest.raises(xp.InvalidArgumentError, match="among many others"):
        build(tmp_path / "ab.arrow", tmp_path / "cache")


@pytest.mark.parametrize("made", ["list", "again"])
def test_rows_in_memory(made, rows, plain, tmp_path):
    class Again:
        def __iter__(self):
            return iter(rows)

    with pytest.warns(UserWarning, match="no file to be read from again") as told:
        build(rows if made == "list" else Again(), tmp_path / "cache")
    assert len(told) == 1 and "\n" not in str(told[0].message)
    same_clips(tmp_path / "cache", plain)
    with pytest.warns(UserWarning, match="no file"):
        report = build([*rows[:-1], {**rows[-1], "id": "one more"}], tmp_path / "cache", max_gone="50%")
    assert report.reused == CLIPS - 1
    assert report.renamed == 1


def test_rows_of_a_stream_have_their_numbers_as_ids(rows, tmp_path, monkeypatch):
    class Shuffled:
        passes = 0

        def __iter__(self):
            self.passes += 1
            return iter(rows[::-1])

    # Nothing stays that two threads do not ask for at once.
    monkeypatch.setattr("xtts_precompute._build.row_server.RECENT_PIECES", 2)
    monkeypatch.setattr("xtts_precompute._build.rows._ROWS", 3)
    stream = Shuffled()
    with pytest.warns(UserWarning, match="no file"):
        build(stream, tmp_path / "cache", threads=1)
    cache = xp.open(tmp_path / "cache")
    assert sorted(cache.ids[:]) == [f"rows/{number:08}" for number in range(CLIPS)]
    assert cache["rows/00000000"].text == rows[-1]["text"]
    assert stream.passes <= 4  # two to list, and one for the sound of each split


def test_what_cannot_be_a_data_set_is_refused(rows, tmp_path):
    for dataset, reason in [
        (iter(rows), "ends after one pass"),
        (7, "dataset must be"),
        (tmp_path / "none.parquet", "that are there"),
        ({"../train": rows}, "cannot name a file"),
    ]:
        with pytest.raises(xp.InvalidArgumentError, match=reason):
            build(dataset, tmp_path / "cache")
    with pytest.raises(xp.InvalidArgumentError, match="either"):
        xp.build(tmp_path, tmp_path / "cache", dataset=rows)
    with pytest.raises(xp.InvalidArgumentError, match="cache="):
        xp.build(dataset=rows)


@pytest.fixture(scope="module")
def datasets():
    return pytest.importorskip("datasets", reason="datasets is not installed")


@pytest.fixture
def dataset(datasets, rows):
    made = datasets.Dataset(pa.Table.from_pylist(rows, SCHEMA))
    return made.cast_column("audio", datasets.Audio(decode=False))


def silently(dataset, cache):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return build(dataset, cache)


def test_a_dataset_of_files_is_read_there(datasets, dataset, plain, tmp_path):
    dataset.save_to_disk(tmp_path / "data")
    loaded = datasets.load_from_disk(tmp_path / "data").cast_column("audio", datasets.Audio())
    silently(loaded, tmp_path / "cache")
    same_clips(tmp_path / "cache", plain)
    assert xp.verify(tmp_path / "cache", "deep", progress=False).ok


@pytest.mark.parametrize("change", ["select", "filter", "rename", "memory"])
def test_a_changed_dataset_is_served(change, datasets, dataset, rows, plain, tmp_path):
    dataset.save_to_disk(tmp_path / "data")
    loaded = datasets.load_from_disk(tmp_path / "data")
    changed, count = {
        "select": lambda: (loaded.select(range(3, 9)), 6),
        "filter": lambda: (loaded.filter(lambda id: id < "clip-010", input_columns=["id"]), 10),
        "rename": lambda: (loaded.rename_column("text", "sentence"), CLIPS),
        "memory": lambda: (dataset, CLIPS),
    }[change]()
    with pytest.warns(UserWarning, match="no file"):
        assert build(changed, tmp_path / "cache").records == count
    for clip in xp.open(tmp_path / "cache"):
        assert clip.text == plain[clip.id].text and np.array_equal(clip.mel, plain[clip.id].mel)


def test_splits_and_streams_of_datasets(datasets, dataset, rows, plain, tmp_path):
    splits = datasets.DatasetDict(train=dataset.select(range(20)), test=dataset.select(range(20, CLIPS)))
    with pytest.warns(UserWarning, match="no file"):
        build(splits, tmp_path / "dict")
    assert [clip.id for clip in xp.open(tmp_path / "dict") if clip.split == "test"] == [one["id"] for one in rows[20:]]
    splits.save_to_disk(tmp_path / "data")
    silently(datasets.load_from_disk(tmp_path / "data"), tmp_path / "saved")
    assert xp.open(tmp_path / "saved").ids[:] == xp.open(tmp_path / "dict").ids[:]

    stream = dataset.cast_column("audio", datasets.Audio()).to_iterable_dataset()
    with pytest.warns(UserWarning, match="no file"):
        build(stream, tmp_path / "stream")
    same_clips(tmp_path / "stream", plain)


def test_sound_in_files_of_a_dataset_is_read(datasets, rows, plain, tmp_path):
    for row in rows:
        (tmp_path / row["audio"]["path"]).write_bytes(row["audio"]["bytes"])
    outside = [{**row, "audio": {"bytes": None, "path": str(tmp_path / row["audio"]["path"])}} for row in rows]
    made = datasets.Dataset(pa.Table.from_pylist(outside, SCHEMA)).cast_column("audio", datasets.Audio(decode=False))
    with pytest.warns(UserWarning, match="no file"):
        build(made, tmp_path / "cache")
    same_clips(tmp_path / "cache", plain)


def test_nothing_stays_behind(dataset, tmp_path):
    before = threading.active_count()
    with pytest.warns(UserWarning, match="no file"):
        build(dataset, tmp_path / "cache")
    data = json.loads(program("info", tmp_path / "cache", "--json")).get("data")
    assert data is None or not os.path.exists(data)
    until = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_a_cache_becomes_a_dataset(datasets, plain, monkeypatch, tmp_path):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    made = plain.to_datasets(columns=["mel", "tokens"]).with_format("numpy")
    assert len(made) == CLIPS
    for row, clip in zip(made, plain):
        assert (row["id"], row["text"], row["split"]) == (clip.id, clip.text, clip.split)
        assert row["mel"].dtype == np.float32 and np.array_equal(row["mel"], clip.mel)
        assert np.array_equal(row["tokens"], clip["tokens"])
    train = plain.to_datasets(columns=(), split="train")
    assert set(train["split"]) == {"train"} and "mel" not in train.column_names
    with pytest.raises(xp.InvalidArgumentError, match="no column 'mels' .did you mean 'mel'"):
        plain.to_datasets(columns=["mels"])


def test_the_example_data_stays_as_it_is(rows, tmp_path):
    data = write_parquet(tmp_path / "data", rows)
    shutil.copytree(data, tmp_path / "before")
    build(data, tmp_path / "cache")
    assert sorted(os.listdir(data)) == sorted(os.listdir(tmp_path / "before"))
