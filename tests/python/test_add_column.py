"""cache.add_column(): records in this process and in others, refusals, and interruptions."""

import os
import re
import shutil
import subprocess
import sys
import threading
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp
from support import MAX_FRAMES, MAX_TOKENS, PADDING, make_corpus, ran, run_python

CLIPS = 24


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus and its cache, which no test changes."""
    folder = tmp_path_factory.mktemp("added")
    make_corpus(folder / "data", CLIPS)
    settings = {"max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS, "features.pad_value": PADDING}
    xp.build(folder / "data", folder / "cache", settings=settings, progress=False)
    return folder


@pytest.fixture
def cache(made, tmp_path):
    shutil.copytree(made / "data", tmp_path / "data")
    return xp.open(shutil.copytree(made / "cache", tmp_path / "cache"))


def add(cache, name, fn=None, **options):
    return cache.add_column(name, fn, progress=False, **options)


def loudness(clip):
    return np.asarray(clip.mel).mean(axis=1)


def test_a_column_along_frames_comes_in_batches_and_clips(cache):
    new = add(cache, "loudness", loudness)
    assert new.columns["loudness"] == xp.Column("loudness", "float32", (MAX_FRAMES,), "frames", 1, "", 0)
    assert "loudness" not in cache.columns, "who has the cache open goes on with what it was"
    for clip in new:
        np.testing.assert_array_equal(clip.loudness, loudness(clip))
    for batch in new.reader(batch_size=5, seed=3, columns=["mel", "loudness"]):
        for row, clip_id in enumerate(batch.ids):
            frames = batch.mel_len[row]
            np.testing.assert_array_equal(batch.loudness[row, :frames], loudness(new[clip_id]))
            assert not batch.loudness[row, frames:].any()
    assert xp.verify(new.path, progress=False).ok


def test_several_rows_a_frame_are_cropped_with_it(cache):
    def doubled(clip):
        return np.repeat(np.arange(clip.frames, dtype=np.int32), 2)

    new = add(cache, "doubled", doubled)
    assert new.columns["doubled"].rows_per_frame == 2
    reader = new.reader(batch_size=4, crop={"frames": 6}, columns=["mel", "doubled"])
    for batch in reader:
        for row, clip_id in enumerate(batch.ids):
            first = int(batch.doubled[row, 0])
            np.testing.assert_array_equal(batch.doubled[row], np.repeat(np.arange(first, first + 6), 2))
            np.testing.assert_array_equal(batch.mel[row], np.asarray(new[clip_id].mel)[first : first + 6])


def test_tokens_of_another_tokenizer_have_lengths_of_their_own(cache):
    words = {}

    def tokenizer(clip):
        return [words.setdefault(word, len(words) + 1) for word in clip.text.split()[: 1 + len(clip.text) % 3]]

    new = add(cache, "words", tokenizer, axis="own", max_length=10)
    assert new.columns["words"].shape == (10,) and new.columns["words"].dtype == "int64"
    batch = next(iter(new.reader(batch_size=CLIPS, shuffle="none", columns=["words"])))
    for row, clip in enumerate(new):
        expected = tokenizer(clip)
        assert batch["words"][row].tolist() == expected + [0] * (10 - len(expected))
        assert batch.words_len[row] == len(expected)
    with pytest.raises(xp.InvalidArgumentError, match=r"at most \[2\]"):
        add(cache, "words", lambda clip: [1, 2, 3], axis="own", max_length=2, version="2")


def test_along_tokens_and_of_fixed_shape(cache):
    new = add(cache, "durations", lambda clip: np.ones(clip.text_len, np.int16), axis="tokens")
    new = add(new, "voice", lambda clip: np.full((2, 3), len(clip.speaker), np.float16), axis="fixed")
    assert new["clip-003"].voice.shape == (2, 3) and new["clip-003"].durations.dtype == np.int16
    assert [column.axis for column in new.columns.values()] == ["frames", "tokens", "tokens", "fixed"]


def test_pcm_is_the_sound_of_the_features(cache):
    seen = {}

    def energy(clip):
        seen[clip.id] = (len(clip.pcm), clip.sample_rate, float(np.abs(clip.pcm).max()))
        return np.zeros(clip.frames)

    new = add(cache, "energy2", energy)
    for clip in new:
        samples, rate, peak = seen[clip.id]
        assert rate == 22050 and 1 + samples // 256 == len(clip.mel) and peak == pytest.approx(1.0, abs=1e-4)


def decoders():
    """Returns the decoders that this process has started and that live."""
    return {
        child
        for tasks in Path("/proc/self/task").iterdir()
        for child in (tasks / "children").read_text().split()
        if Path(f"/proc/{child}/comm").read_text().strip() == "xtts-decode"
    }


def test_few_decoders_serve_all_clips_and_end_with_the_call(cache):
    seen, threads = set(), threading.active_count()

    def level(clip):
        level = np.abs(clip.pcm).mean()
        seen.update(decoders())
        return [level]

    add(cache, "level", level, axis="fixed")
    assert 1 <= len(seen) <= len(os.sched_getaffinity(0)) + 1
    assert not decoders() and threading.active_count() == threads

    def fails(clip):
        level(clip)
        if clip.id == "clip-009":
            raise RuntimeError("enough")
        return [0.0]

    with pytest.raises(RuntimeError) as kept, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        add(cache, "bad", fails, axis="fixed")
    assert kept.value is not None and not decoders(), "also while somebody keeps the exception"


def test_a_function_without_pcm_starts_no_decoder(cache):
    seen = set()

    def nothing(clip):
        seen.update(decoders())
        return [clip.duration_s]

    add(cache, "length", nothing, axis="fixed")
    assert not seen


def test_pcm_is_the_builds_wave_in_every_way_of_asking(made, tmp_path):
    settings = {"max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS, "features.pad_value": PADDING}
    xp.build(made / "data", tmp_path / "wave", settings={**settings, "columns.wave": "float32"}, progress=False)
    waves = {clip.id: np.asarray(clip.wave) for clip in xp.open(tmp_path / "wave")}
    shutil.copytree(made / "cache", tmp_path / "cache")
    cache = xp.open(tmp_path / "cache")
    wrong = []

    def check(clip):
        pcm, wave = clip.pcm, waves[clip.id]
        count = min(len(pcm), len(wave))
        if not count or pcm[:count].tobytes() != wave[:count].tobytes() or wave[count:].any():
            wrong.append(clip.id)
        return [0.0]

    add(cache, "in_order", check, axis="fixed")
    add(cache, "backwards", lambda clips: [check(clip) for clip in reversed(clips)], axis="fixed", batch=7)
    add(cache, "some", lambda clip: check(clip) if clip.id[-1] in "159" else [0.0], axis="fixed")
    add(cache, "twice", lambda clips: [check(clip) + check(clip) for clip in [*clips]], axis="fixed", batch=5)
    with ThreadPoolExecutor(4) as pool:
        add(cache, "threads", lambda clips: list(pool.map(check, clips)), axis="fixed", batch=12)
    assert not wrong


def test_pcm_of_a_source_that_changed_is_refused_and_can_be_continued(cache, tmp_path):
    source, other = (tmp_path / f"data/{clip_id}.wav" for clip_id in cache.ids[6:8])
    before = source.read_bytes()
    source.write_bytes(other.read_bytes())

    def level(clip):
        return [np.abs(clip.pcm).mean()]

    with (
        pytest.warns(UserWarning, match="has the records of 6 clips already"),
        pytest.raises(xp.MismatchError, match=f"{source.name} has changed since the build"),
    ):
        add(cache, "level", level, axis="fixed", data=tmp_path / "data")
    source.write_bytes(before)
    calls = []
    new = add(cache, "level", lambda clip: calls.append(clip.id) or level(clip), axis="fixed", data=tmp_path / "data")
    assert calls == [cache.ids[0], *cache.ids[6:]] and all(clip.level > 0 for clip in new)


def test_segments_of_one_source_go_to_few_workers(tmp_path):
    from xtts_precompute._cache.add_column import _CLIPS_A_TASK, _Maker, _tasks

    make_corpus(tmp_path / "data", 2, seconds=(8.0, 8.1))
    rows = [f"clip-00{i // 20}.wav,{0.3 * (i % 20):.1f},{0.3 * (i % 20) + 0.4:.1f},text {i}" for i in range(40)]
    (tmp_path / "data/metadata.csv").write_text("\n".join(["file,start,end,text", *rows]) + "\n")
    xp.build(tmp_path / "data", tmp_path / "cache", settings={"train_split": 1, "validation_split": 0}, progress=False)
    maker = _Maker(str(tmp_path / "cache"), lambda clip: [float(len(clip.pcm))], None, b"")
    positions = list(range(40))
    assert {len(task) for task in _tasks(maker, positions, _CLIPS_A_TASK)} == {_CLIPS_A_TASK}
    maker([0])  # asks for sound
    assert _tasks(maker, positions, _CLIPS_A_TASK) == [positions[:20], positions[20:]]
    maker.close()


def test_batches_of_the_function(cache):
    sizes = []

    def embed(clips):
        sizes.append(len(clips))
        return np.stack([np.full(4, len(clip.text), np.float32) for clip in clips])

    new = add(cache, "text_length", embed, axis="fixed", batch=7)
    assert max(sizes) == 7 and sum(sizes) == CLIPS, "the first batch, that shows what the column is, is not made twice"
    assert all((clip.text_length == len(clip.text)).all() for clip in new)
    with pytest.raises(xp.InvalidArgumentError, match="was given 5 clips and made 1 record"):
        add(cache, "other", lambda clips: [np.zeros(1)], axis="fixed", batch=5)


def test_a_version_is_made_once(cache):
    calls = []

    def one(clip):
        calls.append(clip.id)
        return np.full(2, len(calls), np.float32)

    new = add(cache, "one", one, axis="fixed", version="a")
    generation = new.generation
    again = add(new, "one", one, axis="fixed", version="a")
    assert len(calls) == CLIPS and again.generation == generation
    other = add(new, "one", one, axis="fixed", version="b")
    assert len(calls) == 2 * CLIPS and other.columns["one"].version == "b" and other.generation == generation + 1


def test_what_an_update_brings_is_missing_until_it_is_added(cache, tmp_path):
    add(cache, "loudness", loudness)
    (tmp_path / "data/clip-100.wav").write_bytes((tmp_path / "data/clip-001.wav").read_bytes())
    with open(tmp_path / "data/metadata.csv", "a") as file:
        file.write("clip-100.wav,a new one,ada,en\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the new clip sounds as clip-001 does
        settings = {"max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS, "features.pad_value": PADDING}
        xp.build(tmp_path / "data", cache.path, settings=settings, progress=False)
    grown = xp.open(cache.path)
    assert grown.columns["loudness"].missing == 1 and grown["clip-001"].loudness.size
    with pytest.raises(xp.NotFoundError, match="add_column again"):
        grown["clip-100"].loudness
    with pytest.raises(xp.NotFoundError, match="lacks 1 of 25 clips"):
        grown.reader()
    assert len(grown.reader(columns=["mel"], batch_size=5)) == 5
    calls = []
    mended = add(grown, "loudness", lambda clip: calls.append(clip.id) or loudness(clip))
    assert calls == ["clip-100"] and mended.columns["loudness"].missing == 0
    np.testing.assert_array_equal(mended["clip-100"].loudness, loudness(mended["clip-100"]))


def test_what_does_not_fit_names_its_clip_and_changes_nothing(cache):
    def refused(match, fn, **options):
        with pytest.raises(xp.InvalidArgumentError, match=match):
            add(cache, "bad", fn, **options)
        assert "bad" not in xp.open(cache.path).columns

    refused(
        r"clip 'clip-000' is float32 \[1\].* must be float32 \[\d+\] for its \d+ rows along frames",
        lambda clip: np.zeros(1),
    )
    refused("is of complex128", lambda clip: np.zeros(clip.frames, complex))
    refused("is of object|is of <U", lambda clip: [None])
    refused(r"must be float32 \[2\]", lambda clip: np.zeros(2 + clip.id.startswith("clip-007")), axis="fixed")
    refused("must be int32", lambda clip: np.zeros(2, np.int32 if clip.id != "clip-007" else np.int16), axis="fixed")
    refused("max_length", loudness, axis="own")
    refused("max_length", loudness, max_length=3)
    refused("no axis 'time'", loudness, axis="time")
    refused("a function, or from_npy", None)
    refused("cannot be called", 3)
    with pytest.raises(xp.InvalidArgumentError, match="a column that a build makes"):
        add(cache, "mel", loudness)
    with pytest.raises(ZeroDivisionError):
        add(cache, "bad", lambda clip: 1 / 0)
    # A begun column is not thrown away for another one.
    with pytest.raises(xp.MismatchError, match="holds the unfinished column 'bad'"):
        add(cache, "other", loudness)
    add(add(cache, "bad", loudness, version="mended"), "other", loudness)  # the builder's lock is free


def test_a_function_that_fails_is_told_what_is_kept(cache):
    def fails(clip):
        if clip.id == cache.ids[10]:
            raise KeyError("é")
        return loudness(clip)

    with (
        pytest.warns(
            UserWarning,
            match="'bad' has the records of 10 clips already, which are kept for version '1'.*another version=",
        ) as told,
        pytest.raises(KeyError, match="é"),
    ):
        add(cache, "bad", fails, version="1")
    assert len(told) == 1


def test_an_interrupted_addition_goes_on(cache):
    calls = []

    def until(last):
        def make(clip):
            if len(calls) == last:
                raise KeyboardInterrupt
            calls.append(clip.id)
            return loudness(clip)

        return make

    with pytest.raises(KeyboardInterrupt):
        add(cache, "loudness", until(10))
    new = add(cache, "loudness", until(1000))
    # The first clip is computed again, because it tells dtype and shape.
    assert sorted(calls) == sorted([*cache.ids, cache.ids[0]])
    for clip in new:
        np.testing.assert_array_equal(clip.loudness, loudness(clip))


def test_workers_make_the_same_bytes(cache, tmp_path):
    other = xp.open(shutil.copytree(cache.path, tmp_path / "other"))
    (tmp_path / "maker.py").write_text(
        "import numpy as np\n"
        "def loudness(clip):\n    return np.asarray(clip.mel).mean(axis=1) + np.abs(clip.pcm).mean()\n"
        "def fail(clip):\n    raise RuntimeError('no luck with ' + clip.id)\n"
    )
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import maker, xtts_precompute as xp\n"
        "if __name__ == '__main__':\n"
        "    for path, workers in ((sys.argv[2], 0), (sys.argv[3], 2)):\n"
        "        xp.open(path).add_column('loudness', maker.loudness, workers=workers, progress=False)\n"
        "    try:\n"
        "        xp.open(path).add_column('bad', maker.fail, workers=2, version='9', progress=False)\n"
        "    except RuntimeError as error:\n"
        "        print(error)\n"
    )
    (tmp_path / "program.py").write_text(program)
    done = ran(sys.executable, tmp_path / "program.py", tmp_path, cache.path, other.path, timeout=300)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout == "no luck with clip-000\n"
    one, two = xp.open(cache.path), xp.open(other.path)
    assert one.digest == two.digest and "loudness" in one.columns


def test_an_error_that_cannot_be_sent_names_its_clip(cache, tmp_path):
    (tmp_path / "maker.py").write_text(
        "class Odd(Exception):\n"
        "    def __init__(self, what, where):\n        super().__init__(f'{what} {where}')\n"
        "def fail(clip):\n    raise Odd('no', 'luck')\n"
        "def fail_all(clips):\n    raise Odd('no', 'luck')\n"
    )
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import maker, xtts_precompute as xp\n"
        "from xtts_precompute._cache.add_column import _Maker, _records_of_workers\n"
        "if __name__ == '__main__':\n"
        "    cache = xp.open(sys.argv[2])\n"
        "    for fn, batch in ((maker.fail, None), (maker.fail_all, 2)):\n"
        "        try:\n"
        "            list(_records_of_workers(_Maker(cache.path, fn, batch, b''), [[3, 4]], 1))\n"
        "        except xp.Error as error:\n"
        "            print(error)\n"
    )
    (tmp_path / "program.py").write_text(program)
    done = ran(sys.executable, tmp_path / "program.py", tmp_path, cache.path, check=True)
    one, two = done.stdout.splitlines()
    assert one == f"add_column: the function failed at clip '{cache[3].id}': Odd: no luck"
    assert two == f"add_column: the function failed at clip '{cache[3].id}', '{cache[4].id}': Odd: no luck"


def test_workers_need_a_function_that_can_be_sent(cache):
    with pytest.raises(xp.InvalidArgumentError, match="top level of a module"):
        add(cache, "loudness", lambda clip: loudness(clip), workers=1)
    assert "other" in add(cache, "other", loudness).columns  # the failed call has begun nothing


@pytest.mark.parametrize("clip_id", ["../../x", "/tmp/x", "a/../../x", ".."])
def test_from_npy_opens_nothing_outside_of_its_folder(tmp_path, clip_id):
    from xtts_precompute._cache.add_column import _FromNpy

    (tmp_path / "inner/deep/a").mkdir(parents=True)
    np.save(tmp_path / "x.npy", np.zeros(3, np.float32))
    with pytest.raises(xp.InvalidArgumentError, match=f"'{re.escape(clip_id)}' leads out of .*inner/deep"):
        _FromNpy(str(tmp_path / "inner/deep"))(types.SimpleNamespace(id=clip_id))
    np.save(tmp_path / "inner/deep/a/..x.npy", np.ones(2, np.float32))
    assert _FromNpy(str(tmp_path / "inner/deep"))(types.SimpleNamespace(id="a/..x")).tolist() == [1, 1]


def test_from_npy_opens_files_alone(tmp_path):
    from xtts_precompute._cache.add_column import _FromNpy

    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(xp.InvalidArgumentError, match="x.npy is not a file"):
        _FromNpy(str(tmp_path))(types.SimpleNamespace(id="x"))


def test_from_npy(cache, tmp_path):
    folder = tmp_path / "pitch"
    folder.mkdir()
    for number, clip in enumerate(cache):
        np.save(folder / f"{clip.id}.npy", np.full(len(clip.mel), number, np.float32))
    new = add(cache, "pitch", from_npy=folder)
    assert all((clip.pitch == number).all() for number, clip in enumerate(new))
    (folder / "clip-004.npy").unlink()
    with pytest.raises(xp.InvalidArgumentError, match="clip-004.npy: from_npy needs a file for each clip"):
        add(cache, "pitch", from_npy=folder, version="2")
    (folder / "clip-004.npy").write_bytes(b"no array")
    with pytest.raises(xp.InvalidArgumentError, match="clip-004.npy"):
        add(cache, "pitch", from_npy=folder, version="2")


FORMS = {
    "big-endian": lambda numbers: numbers.astype(numbers.dtype.newbyteorder(">")),
    "little-endian": lambda numbers: numbers.astype(numbers.dtype.newbyteorder("<")),
    "every second": lambda numbers: np.repeat(numbers, 2)[::2],
    "backwards": lambda numbers: numbers[::-1].copy()[::-1],
    "column of a matrix": lambda numbers: np.stack([numbers, numbers], axis=1)[:, 0],
    "read-only": lambda numbers: np.frombuffer(numbers.tobytes(), numbers.dtype),
    "list": lambda numbers: numbers.tolist(),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", "int32", "int64", "uint8"])
def test_arrays_are_the_numbers_that_they_are_whatever_their_form(cache, tmp_path, dtype):
    expected = np.array([1, 2, 3, 100], dtype)
    for number, (form, made_as) in enumerate(FORMS.items()):
        if form == "list" and dtype not in ("float64", "int64"):
            continue
        cache = add(
            cache, "numbers", lambda clip, made_as=made_as: made_as(expected), axis="fixed", version=str(number)
        )
        for clip in cache:
            np.testing.assert_array_equal(clip.numbers, expected, err_msg=form)
        folder = tmp_path / str(number)
        folder.mkdir()
        for clip_id in cache.ids:
            np.save(folder / f"{clip_id}.npy", made_as(expected))
        cache = add(cache, "numbers", from_npy=folder, axis="fixed", version=f"npy {number}")
        assert cache.columns["numbers"].dtype == ("float32" if dtype == "float64" else dtype)
        np.testing.assert_array_equal(cache[7].numbers, expected, err_msg=f"{form}, from a file")


def test_arrays_of_columns_lie_row_by_row(cache, tmp_path):
    matrix = np.arange(12, dtype=">i4").reshape(3, 4)
    new = add(cache, "matrix", lambda clip: np.asfortranarray(matrix), axis="fixed")
    np.testing.assert_array_equal(new[0].matrix, matrix)
    for clip_id in cache.ids:
        np.save(tmp_path / f"{clip_id}.npy", np.asfortranarray(matrix))
    new = add(new, "matrix", from_npy=tmp_path, axis="fixed", version="2")
    np.testing.assert_array_equal(new[0].matrix, matrix)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "uint32", "uint64", "complex64", "U3", "datetime64[s]", "longdouble"]
)
def test_dtypes_that_no_column_has_are_refused(cache, dtype):
    with pytest.raises(xp.InvalidArgumentError, match="a column can hold float32"):
        add(cache, "bad", lambda clip: np.zeros(4, dtype), axis="fixed")


def test_masked_values_and_numbers_beyond_float32_are_refused(cache):
    with pytest.raises(xp.InvalidArgumentError, match="'clip-000' has masked values"):
        add(cache, "bad", lambda clip: np.ma.array([1.0, 2.0], mask=[False, True]), axis="fixed")
    with pytest.raises(xp.InvalidArgumentError, match=r"'clip-000' reaches 1e\+39"):
        add(cache, "bad", lambda clip: np.array([1.0, 1e39]), axis="fixed")
    new = add(cache, "fine", lambda clip: np.ma.array([1.0, 2.0]), axis="fixed")
    np.testing.assert_array_equal(new[3].fine, [1, 2])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ">f4"])
def test_what_is_not_finite_is_refused_unless_it_means_something(cache, dtype):
    def voiced(clip):
        return np.array([1, np.nan if clip.id == "clip-000" else 2, np.inf if clip.id == "clip-005" else 3], dtype)

    with pytest.raises(
        xp.InvalidArgumentError, match="clip 'clip-000' has 1 value that is NaN or infinite.*allow_nonfinite"
    ):
        add(cache, "voiced", voiced, axis="fixed")
    new = add(cache, "voiced", voiced, axis="fixed", allow_nonfinite=True)
    np.testing.assert_array_equal(new["clip-000"].voiced, [1, np.nan, 3])
    np.testing.assert_array_equal(new["clip-005"].voiced, [1, 2, np.inf])
    with pytest.raises(xp.InvalidArgumentError, match="allow_nonfinite"):
        add(cache, "other", voiced, axis="fixed", allow_nonfinite="yes")


def names_of_attributes(cache):
    """Returns all public attributes of the classes that give columns as attributes."""
    from xtts_precompute._cache.add_column import ColumnClip
    from xtts_precompute._cache.batch import Batch
    from xtts_precompute._cache.clips import Clip
    from xtts_precompute._loaders.fields import FieldDict
    from xtts_precompute._runtime.clip import RuntimeClip
    from xtts_precompute.myxtts.batches import TrainerBatch

    kinds = [Batch, Clip, ColumnClip, FieldDict, RuntimeClip, TrainerBatch]
    with open(f"{next(iter(xp.__path__))}/torch/batches.py") as file:  # read as text, without PyTorch
        of_torch = re.findall(
            r"^    def ([a-z]\w*)\(self", file.read().split("class TensorBatch")[1].split("\nclass ")[0], re.MULTILINE
        )
    assert "pin_memory" in of_torch
    batch = next(iter(cache.reader(batch_size=2)))
    lengths = {f"{name}_len" for name in cache.columns} | {"text_len"}
    return sorted(
        {name for kind in kinds for name in dir(kind) if not name.startswith("_")}
        | set(of_torch)
        | lengths
        | (set(dir(batch)) - set(cache.columns))
    )


def test_names_that_batches_and_clips_have_already_are_refused(cache):
    names = [name for name in names_of_attributes(cache) if not name.startswith("_")]
    assert {"positions", "keys", "mel_len", "text_len", "ids", "speaker", "pcm"} <= set(names)
    for name in [*names, "_core", "__class__", "seconds", "peak", "and"]:
        with pytest.raises(xp.InvalidArgumentError, match=f"'{name}'"):
            add(cache, name, lambda clip: np.zeros(1, np.float32), axis="fixed")
    assert xp.open(cache.path).digest == cache.digest


def test_progress_is_told_and_shown(cache):
    told = []
    cache.add_column("loudness", loudness, progress=told.append)
    assert [one.done for one in told] == list(range(1, CLIPS + 1)) and told[-1].total == CLIPS
    assert all(one.seconds_left >= 0 and one.stage == "add" for one in told)


def test_a_reader_goes_on_in_the_middle_of_it(cache):
    reader = cache.reader(batch_size=4, seed=5, columns=["mel"])
    expected = [batch.ids for batch in cache.reader(batch_size=4, seed=5, columns=["mel"])]
    batches = iter(reader)
    seen = [next(batches).ids]
    add(cache, "loudness", loudness)
    seen += [batch.ids for batch in batches]
    assert seen == expected


def test_nothing_is_left_of_a_process_that_was_killed(cache, tmp_path):
    program = (
        "import os, signal, sys\nimport numpy as np\nimport xtts_precompute as xp\n"
        "count = 0\n"
        "def make(clip):\n"
        "    global count\n"
        "    count += 1\n"
        "    if count == 12: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return np.asarray(clip.mel).mean(axis=1)\n"
        "xp.open(sys.argv[1]).add_column('loudness', make, progress=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, cache.path], timeout=120, check=False)
    assert done.returncode == -9
    assert xp.verify(cache.path, progress=False).ok and "loudness" not in xp.open(cache.path).columns
    calls = []
    new = add(cache, "loudness", lambda clip: calls.append(clip.id) or loudness(clip))
    assert len(calls) == CLIPS - 11 + 1, "what was put before the kill is not asked for again, but for the first clip"
    for clip in new:
        np.testing.assert_array_equal(clip.loudness, loudness(clip))


def test_memory_is_flat(cache):
    code = """
import os, sys
import numpy as np
import xtts_precompute as xp
cache = xp.open(sys.argv[1])
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4
for turn in range(30):
    cache = cache.add_column(
        "voice", lambda clip: np.zeros(100000, np.float32), axis="fixed", version=str(turn), progress=False)
    if turn == 9:
        before = rss()
assert rss() < before + 16 * 1024, (before, rss())
"""
    run_python(code, cache.path, timeout_s=300)
