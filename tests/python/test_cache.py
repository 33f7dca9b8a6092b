"""Caches and clips, against what the command line and h5py say of them."""

import json
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp
from conftest import FORMS
from support import MAX_FRAMES, MAX_TOKENS, MELS, build, make_corpus, tell


@pytest.mark.parametrize("form", FORMS)
def test_clips_are_those_of_the_command_line(form, caches, truths):
    truth, cache = truths(form), xp.open(caches(form))
    assert len(cache) == len(truth.order) and list(cache.ids) == truth.order
    for position, clip in enumerate(cache):
        facts = truth.clips[clip.id]
        assert clip.position == position and cache[clip.id] == clip == cache[position] == cache[position - len(cache)]
        assert (clip.text, clip.speaker, clip.language) == (facts["text"], facts["speaker"], facts["language"])
        assert clip.split == facts["split"] and clip.dataset is None
        assert clip.duration_s == pytest.approx(facts["seconds"], abs=1e-3)
        np.testing.assert_array_equal(clip.mel.astype(np.float32), truth.mels[clip.id].astype(np.float32))
        np.testing.assert_array_equal(clip.tokens, truth.tokens[clip.id])


def test_a_clip_has_the_text_of_its_list_and_the_normalized_one(tmp_path):
    make_corpus(tmp_path / "wavs", 2)
    (tmp_path / "wavs/metadata.csv").unlink()
    (tmp_path / "metadata.csv").write_text("clip-000|Dr. 2|Doctor two\nclip-001|only this\n")
    tell("build", tmp_path, tmp_path / "cache", "--quiet", "--set", f"max_frames={MAX_FRAMES}")
    cache = xp.open(tmp_path / "cache")
    assert [(clip.text, clip.text_normalized) for clip in map(cache.__getitem__, ("clip-000", "clip-001"))] == [
        ("Dr. 2", "Doctor two"),
        ("only this", "only this"),
    ]


def test_a_table_has_a_row_for_each_clip(caches, tmp_path):
    cache = xp.open(caches("lmdb-padded-float32"))
    table = cache.to_pandas()
    assert list(table["id"]) == list(cache.ids) and len(table) == len(cache)
    for row, clip in zip(table.itertuples(), cache):
        assert (row.split, row.speaker, row.language, row.text) == (clip.split, clip.speaker, clip.language, clip.text)
        assert (row.frames, row.tokens) == (len(clip.mel), len(clip.tokens)) and row.duration_s == clip.duration_s
        assert row.dataset is None
    assert cache.datasets == ()
    both = tmp_path / "corpora.yaml"
    for name in ("b", "a"):
        make_corpus(tmp_path / name, 2)
    both.write_text("- {name: b, path: b}\n- {name: a, path: a}\n")
    tell("build", both, tmp_path / "cache", "--quiet", "--set", f"max_frames={MAX_FRAMES}")
    cache = xp.open(tmp_path / "cache")
    assert cache.datasets == ("a", "b") and set(cache.to_pandas()["dataset"]) == {"a", "b"}


def test_what_a_table_does_not_know_is_none(tmp_path):
    make_corpus(tmp_path / "data", 4)
    listed = tmp_path / "data/metadata.csv"
    listed.write_text(listed.read_text(encoding="utf-8").replace(",ada,", ",,"), encoding="utf-8")
    table = xp.open(build(tmp_path / "data", tmp_path / "cache")).to_pandas()
    assert sorted(map(str, table["speaker"])) == ["None", "None", "björn", "chen"]
    assert all(one is None for one in table["speaker"] if one not in ("björn", "chen"))
    assert all(type(one) is str for one in table["id"])


def test_hdf5_records_are_those_of_h5py(caches, tmp_path):
    # The distribution's Python, which does not know this package, reads the shards by their
    # attributes.
    script = """
import glob, sys, h5py, numpy
records = {}
for path in glob.glob(sys.argv[1] + "/shards/mel/*.h5"):
    with h5py.File(path, "r") as shard:
        for i, clip in enumerate(shard["ids"][:]):
            records[clip.decode()] = shard["mel"][i, : shard["lengths"][i]]
numpy.savez(sys.argv[2], **records)
"""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", script, caches("hdf5-padded-float16"), tmp_path / "h5.npz"], check=False
    )
    assert done.returncode == 0, "h5py is missing: apt-get install python3-h5py"
    cache = xp.open(caches("hdf5-padded-float16"))
    theirs = np.load(tmp_path / "h5.npz")
    assert sorted(theirs.files) == sorted(cache.ids)
    for clip in cache:
        assert clip.mel.dtype == theirs[clip.id].dtype == np.float16
        np.testing.assert_array_equal(clip.mel, theirs[clip.id])


def test_facts_of_a_cache(cache, path):
    facts = json.loads(tell("info", path, "--json"))
    assert cache.path == str(path) and cache.paths == (str(path),)
    assert cache.recipe == facts["recipe"]["name"] if isinstance(facts["recipe"], dict) else facts["recipe"]
    manifest = json.loads(Path(path, "manifest.json").read_text(encoding="utf-8"))
    assert cache.generation == manifest["generation"] == 1
    assert cache.features_fingerprint in json.dumps(manifest) and cache.text_fingerprint in json.dumps(manifest)
    assert cache.columns == {
        "mel": xp.Column("mel", "float32", (MAX_FRAMES, MELS)),
        "tokens": xp.Column("tokens", "int32", (MAX_TOKENS,), "tokens", 0),
    }
    assert sorted(cache.speakers) == ["ada", "björn", "chen"] and sorted(cache.languages) == ["en", "fa"]
    for shown in (repr(cache), repr(cache.ids), repr(cache[0]), str(cache[0])):
        assert shown.startswith("<") and ("37" in shown or "clip-" in shown)


def test_ids_are_a_sequence(cache, truth):
    ids = cache.ids
    assert (
        ids[0] == truth.order[0]
        and ids[-1] == truth.order[-1]
        and ids[2:5] == truth.order[2:5]
        and ids[::-1] == truth.order[::-1]
    )
    assert truth.order[3] in ids and "nobody" not in ids and ids.index(truth.order[3]) == 3
    assert ids.count(truth.order[3]) == 1 and list(reversed(ids)) == truth.order[::-1]


def test_what_is_not_there_is_both_kinds_of_lookup_error(cache):
    assert "nobody" not in cache and 3 not in cache
    for key, error in (("nobody", KeyError), (len(cache), IndexError), (-len(cache) - 1, IndexError)):
        with pytest.raises(error) as caught:
            cache[key]
        assert isinstance(caught.value, xp.NotFoundError) and caught.value.code == "not found"
    with pytest.raises(xp.NotFoundError) as caught:
        cache["nobody"]
    assert str(caught.value) == "the cache has no clip 'nobody'"
    with pytest.raises(xp.InvalidArgumentError, match="by id or position, not by float"):
        cache[0.5]
    with pytest.raises(xp.NotFoundError, match="there is no cache at"):
        xp.open("/nowhere")
    with pytest.raises(TypeError):
        xp.open()


def test_paths_are_whatever_the_system_takes(path, tmp_path):
    odd = os.fsencode(tmp_path) + b"/c\xff"
    os.symlink(path, odd)
    for form in (odd, os.fsdecode(odd), Path(os.fsdecode(odd)), [odd]):
        assert len(xp.open(form)) == len(xp.open(path))
    cache = xp.open(odd)
    assert os.fsencode(cache.path) == odd and list(pickle.loads(pickle.dumps(cache)).ids) == list(cache.ids)
    stats = cache.reader(batch_size=4).stats()
    assert all(isinstance(text, str) for text in (stats.storage, stats.reading, stats.notice))
    with pytest.raises(xp.NotFoundError, match=r"there is no cache at .*/none\\xff; "):
        xp.open(os.fsencode(tmp_path) + b"/none\xff")
    for wrong in (None, 3, [3], [None], str(path) + "\0more"):
        with pytest.raises(xp.InvalidArgumentError, match="path"):
            xp.open(wrong)


def test_a_relative_path_holds_when_the_process_moves(path, tmp_path, monkeypatch):
    monkeypatch.chdir(path.parent)
    cache = xp.open(path.name)
    assert cache.path == path.name
    monkeypatch.chdir(tmp_path)
    assert list(pickle.loads(pickle.dumps(cache)).ids) == list(cache.ids)


def test_texts_that_are_no_unicode_are_in_no_cache(cache):
    name = os.fsdecode(b"clip\xff")  # as os.listdir() gives such a name
    assert name not in cache and name not in cache.ids
    for ask in (lambda: cache[name], lambda: cache.ids.index(name), lambda: cache[0][name], lambda: cache[0][3]):
        with pytest.raises(xp.NotFoundError):
            ask()


def test_a_column_that_is_not_there_names_the_nearest(cache):
    with pytest.raises(AttributeError, match=r"did you mean 'tokens'\?\); there are: mel, tokens"):
        cache[0].tokenz
    with pytest.raises(xp.NotFoundError):
        cache[0]["nothing"]
    assert {"mel", "tokens", "text"} <= set(dir(cache[0]))


def test_padded_records_are_views_of_the_file_aligned(cache, path):
    mel = cache[5].mel
    assert mel.ctypes.data % 256 == 0 and mel.base is not None
    address = mel.ctypes.data
    maps = [line.split() for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()]
    where = [
        words[-1] for words in maps if int(words[0].split("-")[0], 16) <= address < int(words[0].split("-")[1], 16)
    ]
    assert where and where[0].startswith(str(path)), where


def test_several_caches_are_one(path, second_path, truth):
    first, second, both = xp.open(path), xp.open([second_path]), xp.open([path, second_path])
    assert list(both.ids) == list(first.ids) + list(second.ids) and both.paths == (str(path), str(second_path))
    assert len({first.digest, second.digest, both.digest}) == 3
    assert sorted(both.speakers) == ["ada", "björn", "chen", "zoë"]
    reader = both.reader(batch_size=4, shuffle="global", seed=3, drop_last=False)
    seen = {}
    for batch in reader:
        for row, clip_id in enumerate(batch.ids):
            clip = both[clip_id]
            seen[clip_id] = both.speakers[batch.speaker[row]]
            assert seen[clip_id] == clip.speaker
            np.testing.assert_array_equal(batch.mel[row, : batch.mel_len[row]], clip.mel)
    assert sorted(seen) == sorted(both.ids)
    with pytest.raises(xp.InvalidArgumentError):
        xp.open([])
    with pytest.raises(xp.InvalidArgumentError):  # the cache is given twice: both have the clip
        xp.open([path, path])[truth.order[0]]
    twice = xp.open([path, path])
    assert truth.order[0] in twice and truth.order[0] in twice.ids and "nobody" not in twice
    assert twice.ids.count(truth.order[0]) == 2 and twice.ids.count("nobody") == 0


def test_caches_of_other_features_do_not_go_together(path, corpus, tmp_path):
    tell(
        "build",
        corpus,
        tmp_path / "other",
        "--quiet",
        "--set",
        "mel.n_mels=40",
        "--set",
        "max_frames=64",
        "--set",
        "max_tokens=48",
    )
    with pytest.raises(xp.MismatchError):
        xp.open([path, tmp_path / "other"])
