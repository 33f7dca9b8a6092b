"""xp.myxtts: what a trainer's configuration comes to. (How TensorFlow and PyTorch get its batches: test_myxtts_tensorflow.py, test_myxtts_torch.py.)"""

import dataclasses
import enum
import json
import shlex
import shutil
import subprocess
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp

from support import MAX_FRAMES, MAX_TOKENS, PADDING, PROGRAM, make_corpus, run_python

# What makes the tests' caches (support.build) the ones that are asked for.
KEYS = {"max_mel_frames": MAX_FRAMES, "max_text_length": MAX_TOKENS, "batch_size": 4}
SETTINGS = {"features.pad_value": PADDING}

# All that the users say of their configuration (keys of `data:`).
USERS_KEYS = """
    sample_rate, n_mels, n_fft, hop_length, win_length, trim_silence, normalize_audio, enable_loudness_normalization, target_loudness_lufs,
    max_audio_length, max_mel_frames, max_text_length, max_text_tokens, text_cleaners, language, train_split, val_split, train_subset_fraction,
    subset_seed, speaker_id_pattern, metadata_train_file, metadata_eval_file, wavs_train_dir, wavs_eval_dir, batch_size, num_workers,
    prefetch_buffer_size, pipeline_buffer_size, prefetch_to_gpu, enhanced_gpu_prefetch, optimize_cpu_gpu_overlap, use_tf_native_loading,
    pin_memory, enable_memory_mapping, pad_to_fixed_length, enable_xla, mixed_precision, preprocessing_mode, cache_verification,
    auto_rebuild_mel_cache, data_gpu, model_gpu, cache_path
"""


def opened(cache, keys=None, **options):
    return xp.myxtts.open({**KEYS, **(keys or {})}, cache, **{"settings": SETTINGS, "progress": False, **options})


def kept(loader):
    """An epoch's batches, as copies."""
    return [xp.myxtts.TrainerBatch(*map(np.array, batch), ids=batch.ids) for batch in loader]


def all_ids(dataset):
    return sorted(clip_id for batch in dataset.reader(drop_last=False, ids=True) for clip_id in batch.ids)


def command_of(error):
    """The last lines of an error, as a shell would take them."""
    (line,) = [line for line in str(error).splitlines() if line.startswith("    xtts-precompute ")]
    return shlex.split(line)[1:]


def run_command_of(error, folder=None):
    done = subprocess.run([PROGRAM, *command_of(error), "--quiet"], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr


# ---- what is read


def test_a_batch_is_the_trainers_tuple(path, truth):
    dataset = opened(path)
    count = 0
    for batch in dataset.reader(ids=True):
        tokens, mel, text_len, mel_len = batch
        assert [part.dtype for part in batch] == [np.int32, np.float32, np.int32, np.int32]
        assert [part.shape for part in batch] == [(4, MAX_TOKENS), (4, MAX_FRAMES, 80), (4,), (4,)]
        assert tokens is batch.tokens and mel is batch.mel and text_len is batch.text_len and mel_len is batch.mel_len
        for row, clip_id in enumerate(batch.ids):
            np.testing.assert_array_equal(mel[row], truth.padded_mel(clip_id))
            np.testing.assert_array_equal(tokens[row], truth.padded_tokens(clip_id))
            assert mel_len[row] == len(truth.mels[clip_id]) and text_len[row] == len(truth.tokens[clip_id])
            assert truth.clips[clip_id]["split"] == "train"
        count += 1
    assert count == len(dataset.reader()) > 1


def test_batches_are_as_long_as_their_longest_clip_where_they_are_not_padded(path, truth):
    for batch in opened(path, {"pad_to_fixed_length": False}).reader(ids=True):
        frames = max(len(truth.mels[clip_id]) for clip_id in batch.ids)
        tokens = max(len(truth.tokens[clip_id]) for clip_id in batch.ids)
        assert batch.mel.shape == (4, frames, 80) and batch.tokens.shape == (4, tokens)
        for row, clip_id in enumerate(batch.ids):
            np.testing.assert_array_equal(batch.mel[row], truth.padded_mel(clip_id, frames=frames))


def test_the_last_batch_is_short_where_the_end_is_kept(path, truth):
    dataset = opened(path, {"batch_size": 5})
    trained = sorted(clip_id for clip_id in truth.order if truth.clips[clip_id]["split"] == "train")
    assert len(trained) % 5  # or the test shows nothing
    batches = kept(dataset.reader(drop_last=False, ids=True))
    assert [len(batch.mel) for batch in batches] == [5] * (len(trained) // 5) + [len(trained) % 5]
    assert sorted(clip_id for batch in batches for clip_id in batch.ids) == trained
    assert all(len(part) == len(batch.ids) for batch in batches for part in batch)
    assert all((batch.mel_len > 0).all() for batch in batches)


def test_a_pass_is_an_epoch_and_its_state_goes_on(path):
    loader = opened(path).reader(ids=True)
    first = [batch.ids for batch in loader]
    assert loader.epoch == 1
    second = [batch.ids for batch in loader]
    assert first != second
    loader.set_epoch(0)
    assert [batch.ids for batch in loader] == first
    loader.set_epoch(0)
    passing = iter(loader)
    next(passing)
    state = json.loads(json.dumps(loader.state_dict()))
    other = opened(path).reader(ids=True)
    other.load_state_dict(state)
    assert [batch.ids for batch in other] == first[1:]


def test_splits_have_the_trainers_names(path, truth):
    for name, split in (("train", "train"), ("val", "validation"), ("validation", "validation"), ("eval", "validation")):
        assert all_ids(opened(path, split=name)) == sorted(i for i in truth.order if truth.clips[i]["split"] == split)
    assert all_ids(opened(path, split=None)) == sorted(truth.order)
    with pytest.raises(xp.InvalidArgumentError, match="did you mean 'train'"):
        opened(path, split="trian")


def test_ranks_share_an_epoch(path):
    alone = {tuple(batch.ids) for batch in opened(path).reader(ids=True)}
    shares = [{tuple(batch.ids) for batch in opened(path, rank=rank, world_size=2).reader(ids=True)} for rank in (0, 1)]
    assert not shares[0] & shares[1] and shares[0] | shares[1] <= alone and len(shares[0]) == len(shares[1])


@pytest.mark.parametrize("form", ["lmdb-packed-float16", "hdf5-packed-float32"])
def test_how_the_cache_is_stored_does_not_matter(caches, truths, form):
    for batch in opened(caches(form)).reader(ids=True):
        assert batch.mel.dtype == np.float32
        for row, clip_id in enumerate(batch.ids):
            np.testing.assert_array_equal(batch.mel[row], truths(form).padded_mel(clip_id).astype(np.float32))


@pytest.fixture
def with_an_empty_text(tmp_path):
    make_corpus(tmp_path / "data", 9)
    table = tmp_path / "data/metadata.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("this is clip-004", ""), encoding="utf-8")
    xp.build(tmp_path / "data", tmp_path / "data.cache", settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS}, progress=False)
    return tmp_path / "data"


@pytest.mark.filterwarnings("ignore:.*no text")
def test_clips_without_text_are_left_out(with_an_empty_text):
    cache = xp.open(f"{with_an_empty_text}.cache")
    assert "clip-004" in cache and not len(cache["clip-004"].tokens)
    assert all_ids(opened(cache, split=None)) == sorted(set(cache.ids) - {"clip-004"})


def damaged(cache, folder):
    """A copy whose records of mels are damaged in the middle, each of them."""
    copy = shutil.copytree(cache.path, folder / "damaged")
    shard = next((copy / "shards/mel").iterdir())
    content = bytearray(shard.read_bytes())
    for clip in cache:
        at = content.find(clip.mel.tobytes()[:256])
        assert at > 0
        content[at + 8] ^= 0x10
    shard.write_bytes(content)
    return copy


def test_cache_verification_decides_whether_records_are_checked(cache, tmp_path):
    copy = damaged(cache, tmp_path)
    with pytest.raises(xp.CorruptError, match="clip-"):
        kept(opened(copy, {"cache_verification": True}).reader())
    with pytest.raises(xp.CorruptError, match="clip-"):
        kept(opened(copy).reader())
    assert len(kept(opened(copy, {"cache_verification": False}).reader())) > 1


def test_the_prefetch_of_the_configuration_is_that_of_the_reader(path):
    loader = opened(path, {"prefetch_buffer_size": 6}).reader()
    held = [batch for batch, _ in zip(loader, range(6), strict=False)]
    assert len(held) == 6
    with pytest.raises(xp.BusyError):
        held += [batch for batch, _ in zip(loader, range(2), strict=False)]


# ---- the configuration


class Mode(enum.Enum):
    PRECOMPUTE = "precompute"


@dataclasses.dataclass
class DataConfig:
    max_mel_frames: int = MAX_FRAMES
    max_text_length: np.int64 = np.int64(MAX_TOKENS)
    batch_size: int = 4
    wavs_train_dir: Path = None
    preprocessing_mode: Mode = Mode.PRECOMPUTE
    speaker_id_pattern: str = '^(?P<who>[a-z"]+)\\d é'
    text_cleaners: list = dataclasses.field(default_factory=list)


class Plain:
    batch_size = 4
    _hidden = 3

    def __init__(self):
        self.max_mel_frames = MAX_FRAMES
        self.max_text_length = MAX_TOKENS

    def save(self, path):
        raise AssertionError("a method is no setting")


def yaml_file(folder, text, name="config.yaml"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


CONFIGURATIONS = {
    "dict": lambda folder: dict(KEYS),
    "sections": lambda folder: {"data": KEYS, "training": {"mixed_precision": True}, "model": {"n_mels": 80, "decoder_dim": 1536}, "epochs": 3},
    "dataclass": lambda folder: DataConfig(),
    "object of sections": lambda folder: types.SimpleNamespace(data=DataConfig(), training=None, model=types.SimpleNamespace(n_mels=80)),
    "namespace": lambda folder: types.SimpleNamespace(**KEYS),
    "object": lambda folder: Plain(),
    "file": lambda folder: yaml_file(folder, f"data:\n  max_mel_frames: {MAX_FRAMES}\n  max_text_length: {MAX_TOKENS}\n  batch_size: 4  # of 24 GB\n"),
    "text": lambda folder: str(CONFIGURATIONS["file"](folder)),
}


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_a_configuration_is_a_file_a_dict_or_an_object(kind, tmp_path, path):
    config = xp.myxtts.Config(CONFIGURATIONS[kind](tmp_path), settings=SETTINGS)
    cache = xp.open(path)
    assert config.fingerprints["features"] == cache.features_fingerprint
    assert config.fingerprints["text"] == cache.text_fingerprint
    assert config.whole("batch_size", None, 1, 100) == 4
    assert config.mode == "precompute"
    assert "data.save" not in {key.name for key in config.keys} and "data._hidden" not in {key.name for key in config.keys}


@pytest.mark.parametrize(
    "keys",
    [
        {"normalize_audio": False},
        {"enable_loudness_normalization": False, "trim_silence": False},
        {"sample_rate": 24000, "n_fft": 2048, "win_length": 1200, "hop_length": 300, "n_mels": 100},
        {"language": "fa", "speaker_id_pattern": "(?P<who>p\\d+)_'x'", "metadata_train_file": "a b.csv", "metadata_eval_file": "é.csv"},
        {"train_split": 0.85, "val_split": 0.15, "train_subset_fraction": 0.3, "subset_seed": 12345, "max_audio_length": 11.0},
        {"max_text_tokens": 1024, "max_text_length": 300, "max_mel_frames": 1024},
    ],
)
@pytest.mark.parametrize("settings", [{}, {"log.floor": 1e-4, "columns.wave": "int16", "text.tokens": "none"}, {"storage.layout": "packed", "corpus.layout": "table"}])
def test_what_is_no_file_can_be_said_in_settings(keys, settings):
    config = xp.myxtts.Config(keys, settings=settings)
    told = config.as_settings()
    assert told is not None
    assert xp.myxtts.Config({"n_mels": keys.get("n_mels", 80)}, settings=told).fingerprints == config.fingerprints


def test_values_of_an_object_arrive_as_they_are():
    config = xp.myxtts.Config(DataConfig(wavs_train_dir=Path("a folder/é")))
    assert config.sections["corpus"]["wavs_train_folder"] == "a folder/é"
    assert config.sections["corpus"]["speaker_pattern"] == '^([a-z"]+)\\d é'


@pytest.mark.parametrize("what", [None, 3, ["config.yaml"], object()])
def test_what_is_no_configuration_is_refused(what):
    with pytest.raises(xp.InvalidArgumentError, match="config must be the path of a config.yaml, a dict, or an object"):
        xp.myxtts.open(what, "cache")


def test_each_key_of_the_users_has_its_class():
    values = {
        "preprocessing_mode": "auto", "language": "en", "speaker_id_pattern": "(p)", "text_cleaners": ["english_cleaners"],
        "metadata_train_file": "t.csv", "metadata_eval_file": "e.csv", "wavs_train_dir": "t", "wavs_eval_dir": "e", "cache_path": "c",
        "train_split": 0.9, "val_split": 0.1, "train_subset_fraction": 0.5, "n_mels": 80, "n_fft": 1024, "hop_length": 256,
        "win_length": 1024, "sample_rate": 22050, "max_audio_length": 11.0, "max_mel_frames": 800, "target_loudness_lufs": -23.0,
    }  # fmt: skip
    names = [name.strip() for name in USERS_KEYS.split(",")]
    switches = ("trim_", "normalize_", "enable_", "prefetch_to", "pin_", "pad_", "mixed_", "cache_ver", "auto_", "use_", "enhanced", "optimize")
    config = xp.myxtts.Config({name: values.get(name, True if name.startswith(switches) else 7) for name in names})
    kinds = {key.name.removeprefix("data."): key.kind for key in config.keys}
    assert list(kinds) == names
    assert not any("unknown" in key.note for key in config.keys)
    assert {name for name, kind in kinds.items() if kind == "not reproduced"} == {"text_cleaners", "target_loudness_lufs", "use_tf_native_loading"}
    assert {name for name, kind in kinds.items() if kind == "no effect"} == {
        "num_workers", "pipeline_buffer_size", "enhanced_gpu_prefetch", "optimize_cpu_gpu_overlap", "enable_memory_mapping", "enable_xla",
        "mixed_precision",
    }  # fmt: skip


def test_a_key_that_is_not_reproduced_stops_precompute_unless_it_is_accepted(path):
    keys = {"text_cleaners": ["english_cleaners"], "enable_pitch_shift": True, "add_blank": False}
    with pytest.raises(xp.InvalidArgumentError) as stopped:
        opened(path, keys)
    assert "data.text_cleaners: cleaners are not run" in str(stopped.value) and "data.enable_pitch_shift" in str(stopped.value)
    assert "add_blank" not in str(stopped.value)
    assert str(stopped.value).endswith("accept=('text_cleaners', 'enable_pitch_shift',)")
    with pytest.raises(xp.InvalidArgumentError, match="data.enable_pitch_shift"):
        opened(path, keys, accept=["text_cleaners"])
    assert len(opened(path, keys, accept=("text_cleaners", "data.enable_pitch_shift")).reader()) > 1
    with pytest.raises(xp.InvalidArgumentError, match=r"accept=\('text_cleaners',\)"):
        opened(path, keys, accept="text_cleaners")


def test_a_key_that_nobody_knows_is_not_reproduced(path):
    with pytest.raises(xp.InvalidArgumentError, match="data.n_mells: unknown here; the nearest known key is data.n_mels"):
        opened(path, {"n_mells": 100})


def test_other_modes_warn_of_what_is_not_reproduced(path):
    with pytest.warns(UserWarning, match="data.text_cleaners: cleaners are not run"):
        opened(path, {"text_cleaners": ["x"], "preprocessing_mode": "auto"})


def test_the_recipe_of_native_loading_reproduces_it():
    key = {key.name: key for key in xp.myxtts.Config({"use_tf_native_loading": True}, recipe="myxtts-tf").keys}["data.use_tf_native_loading"]
    assert key.kind == "honoured"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"n_mels": "many"}, "^config: data.n_mels: "),
        ({"batch_size": 0}, "config.yaml: data.batch_size is 0, but must be from 1 to"),
        ({"batch_size": "a lot"}, "config.yaml: data.batch_size is 'a lot', which is no whole number"),
        ({"pin_memory": "maybe"}, "config.yaml: data.pin_memory is 'maybe', which is neither true nor false"),
        ({"preprocessing_mode": "precomputed"}, "'precomputed' is none of auto | precompute | runtime"),
    ],
)
def test_a_wrong_value_is_named(path, keys, says):
    with pytest.raises(xp.InvalidArgumentError, match=says):
        opened(path, keys)


def test_yaml_is_read_as_pyyaml_reads_it(path, tmp_path):
    file = yaml_file(
        tmp_path,
        f"data:\n  max_mel_frames: {MAX_FRAMES}\n  max_text_length: {MAX_TOKENS}\n  batch_size: 1_0\n  pad_to_fixed_length: No\n  pin_memory: ~\n  model_gpu:\n",
    )
    config = xp.myxtts.Config(file)
    assert config.whole("batch_size", None, 1, 100) == 10
    assert config.switch("pad_to_fixed_length", True) is False
    assert config.switch("pin_memory", True) is True
    assert config.whole("model_gpu", None, 0, 9) is None


# ---- where the cache is


def test_the_cache_is_the_argument_or_the_configurations_or_beside_the_data(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.cache").symlink_to(path)
    assert opened(path, {"cache_path": "nowhere"}).source.path == str(path)
    assert opened(None, {"cache_path": str(path), "dataset_path": "data"}).source.path == str(path)
    assert opened(None, {"dataset_path": "data/"}).source.path == "data.cache"
    assert opened(None, {"dataset_path": "nowhere"}, data="data").source.path == "data.cache"
    with pytest.raises(xp.NotFoundError, match="where is the cache"):
        opened(None)


def test_several_caches_are_one(path, second_path):
    assert all_ids(opened([path, second_path], split=None)) == sorted([*xp.open(path).ids, *xp.open(second_path).ids])


def test_an_open_cache_will_do(cache):
    assert opened(cache).source is cache


# ---- precompute


@pytest.mark.parametrize("kind", ["file", "dict"])
def test_the_command_of_the_error_makes_the_missing_cache(corpus, tmp_path, kind):
    folder = tmp_path / "it's here"
    folder.mkdir()
    config = {**KEYS, "n_mels": 40, "language": "fa", "train_subset_fraction": 0.75, "subset_seed": 3, "max_audio_length": 11.0}
    if kind == "file":
        config = yaml_file(folder, "data:\n" + "".join(f"  {name}: {value}\n" for name, value in config.items()))
    arguments = {"cache": folder / "the cache", "data": corpus, "settings": {"log.floor": 1e-4, "text.too_long": "truncate"}}
    with pytest.raises(xp.NotFoundError, match="preprocessing_mode is precompute, but the cache .* is not there") as missing:
        xp.myxtts.open(config, **arguments)
    assert ("--config" in command_of(missing.value)) == (kind == "file")
    run_command_of(missing.value)
    dataset = xp.myxtts.open(config, **arguments)
    batch = next(iter(dataset.reader()))
    assert batch.mel.shape == (4, MAX_FRAMES, 40) and batch.mel.min() >= np.log(np.float32(1e-4)) - 1e-6


@pytest.mark.parametrize(
    ("keys", "difference", "overwrites"),
    [
        ({"n_mels": 40}, "features.mel.n_mels: 80 in the cache, 40 asked for", True),
        ({"trim_silence": False}, 'features.trim.method: "top_db" in the cache, "none" asked for', True),
        ({"max_text_length": 30}, "text.max_tokens: 48 in the cache, 30 asked for", False),
        ({"train_subset_fraction": 0.5}, "corpus.train_subset_fraction: 1.0 in the cache, 0.5 asked for", False),
        ({"train_split": 0.5, "val_split": 0.5}, "corpus.train_split: 0.9 in the cache, 0.5 asked for", False),
        ({"language": "fa"}, 'corpus.language: "" in the cache, "fa" asked for', False),
    ],
)
def test_the_command_of_the_error_makes_another_cache_the_right_one(corpus, own_path, keys, difference, overwrites):
    with pytest.raises(xp.MismatchError) as other:
        opened(own_path, keys, data=corpus)
    assert difference in str(other.value)
    assert ("--overwrite" in command_of(other.value)) == overwrites
    run_command_of(other.value)
    assert len(opened(own_path, keys, data=corpus, split=None).reader()) > 1


def test_a_subset_that_is_not_asked_for_any_more_is_noticed(corpus, tmp_path):
    keys = {"train_subset_fraction": 0.5, "subset_seed": 3, "auto_rebuild_mel_cache": True, "preprocessing_mode": "auto"}
    subset = all_ids(opened(tmp_path / "cache", keys, data=corpus))
    with pytest.raises(xp.MismatchError, match="corpus.subset_seed: 3 in the cache, 0 asked for(.|\n)*corpus.train_subset_fraction: 0.5 in the cache, 1.0"):
        opened(tmp_path / "cache", data=corpus)
    everything = all_ids(opened(tmp_path / "cache", {**keys, "train_subset_fraction": 1}, data=corpus))
    assert 0 < len(subset) < len(everything) and set(subset) < set(everything)
    opened(tmp_path / "cache", {"subset_seed": 4}, data=corpus)  # which means nothing without a subset


def test_what_the_configuration_does_not_say_may_be_the_caches(corpus, tmp_path):
    xp.build(corpus, tmp_path / "cache", settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS}, language="sw", progress=False)
    opened(tmp_path / "cache")


def test_a_part_of_a_cache_is_not_complete(corpus, tmp_path):
    xp.build(corpus, tmp_path / "part", settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS}, partition=(1, 1), progress=False)
    with pytest.raises(xp.MismatchError, match="is a part of one. This joins them:\n    xtts-precompute merge"):
        opened(tmp_path / "part")


def test_a_cache_that_is_not_finished_is_called_so(tmp_path):
    (tmp_path / "cache/.build").mkdir(parents=True)
    with pytest.raises(xp.NotFoundError, match="is begun, but not finished"):
        opened(tmp_path / "cache", data="data")


def spoiled(path):
    manifest = path / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"generation"', b'"generatiom"', 1))


def test_the_command_of_the_error_mends_a_damaged_cache(corpus, own_path):
    spoiled(own_path)
    with pytest.raises(xp.CorruptError, match="the cache is damaged") as damage:
        opened(own_path, data=corpus)
    run_command_of(damage.value)
    assert len(opened(own_path).reader()) > 1


# ---- auto

AUTO = {"preprocessing_mode": "auto", "auto_rebuild_mel_cache": True}


def contents(path):
    return {file: file.read_bytes() for file in Path(path).rglob("*") if file.is_file()}


def test_auto_uses_a_valid_cache_as_it_is(own_path):
    before = contents(own_path)
    dataset = opened(own_path, AUTO, data="nowhere")
    assert dataset.mode == "precompute" and contents(own_path) == before


def test_auto_makes_a_missing_cache_and_tells_of_its_progress(corpus, tmp_path):
    told = []
    dataset = opened(tmp_path / "cache", AUTO, data=corpus, progress=told.append)
    assert dataset.mode == "precompute" and told[-1].done == told[-1].total == len(xp.open(tmp_path / "cache"))
    # Of the same bytes as the one that the command line makes.
    told.clear()
    opened(tmp_path / "cache", AUTO, data=corpus, progress=told.append)
    assert not told


def test_auto_makes_a_cache_anew_that_is_another_one(corpus, own_path):
    with pytest.warns(UserWarning, match="is made anew, because .*\n    features.mel.n_mels: 80 in the cache, 40 asked for"):
        dataset = opened(own_path, {**AUTO, "n_mels": 40}, data=corpus)
    assert next(iter(dataset.reader())).mel.shape == (4, MAX_FRAMES, 40)


def test_auto_mends_a_damaged_cache(corpus, own_path):
    spoiled(own_path)
    assert len(opened(own_path, AUTO, data=corpus).reader()) > 1
    assert xp.verify(own_path, progress=False).ok


RANK = """
import sys, warnings
import xtts_precompute as xp
warnings.simplefilter("ignore")
config = {"preprocessing_mode": "auto", "auto_rebuild_mel_cache": True, "max_mel_frames": 64, "n_mels": int(sys.argv[3])}
tokenizer = (lambda text: [len(text)]) if len(sys.argv) > 4 else None
dataset = xp.myxtts.open(config, sys.argv[2], sys.argv[1], progress=False, tokenizer=tokenizer)
assert tokenizer is None or set(dataset.source.columns) == {"mel", "tokens", "tokenizer_tokens"}
print(dataset.source.digest, next(iter(dataset.reader(batch_size=4))).mel.shape[2])
"""


@pytest.mark.parametrize(("begun", "tokenizer"), [("missing", []), ("of another recipe", []), ("missing", ["tokenizer"])])
def test_ranks_that_find_no_cache_make_it_once(corpus, tmp_path, begun, tokenizer):
    cache = tmp_path / "cache"
    if begun != "missing":
        run_python(RANK, corpus, cache, 80)
    ranks = [subprocess.Popen([sys.executable, "-c", RANK, corpus, cache, "40", *tokenizer], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [rank.communicate(timeout=120)[0].split() for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0, 0]
    assert {channels for _, channels in said} == {"40"}
    assert len({digest for digest, _ in said}) == 1


def test_auto_without_leave_to_build_says_so_and_computes_at_runtime(corpus, tmp_path):
    with pytest.warns(UserWarning) as told:
        dataset = opened(tmp_path / "cache", {"preprocessing_mode": "auto"}, data=corpus)
    (said,) = [str(one.message) for one in told]
    assert "computed on the fly, because the cache" in said and "data.auto_rebuild_mel_cache: true would make it here" in said
    assert told[0].filename == __file__
    assert dataset.mode == "runtime" and not (tmp_path / "cache").exists()
    run_command_of(said)
    stored = opened(tmp_path / "cache")
    assert stored.mode == "precompute" and all_ids(stored) == all_ids(dataset)


def test_auto_that_does_not_know_the_data_says_what_is_missing(tmp_path):
    with pytest.warns(UserWarning, match="auto_rebuild_mel_cache needs to know where the data is"), pytest.raises(xp.NotFoundError, match="where is the data"):
        opened(tmp_path / "cache", AUTO)


# ---- runtime


@pytest.mark.parametrize("pads", [True, False])
@pytest.mark.parametrize("shuffle", [True, False])
def test_batches_at_runtime_are_those_of_the_cache(corpus, path, pads, shuffle):
    keys = {"pad_to_fixed_length": pads}
    stored = opened(path, keys).reader(shuffle=shuffle, drop_last=False, ids=True)
    made = opened(path, {**keys, "preprocessing_mode": "runtime"}, data=corpus)
    assert made.mode == "runtime"
    made = made.reader(shuffle=shuffle, drop_last=False, ids=True)
    assert len(stored) == len(made)
    for _ in range(2):
        pairs = list(zip(kept(stored), kept(made), strict=True))
        assert len(pairs) > 1
        for one, other in pairs:
            assert one.ids == other.ids
            for first, second in zip(one, other, strict=True):
                assert first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


@pytest.mark.filterwarnings("ignore:.*no text")
def test_clips_without_text_are_left_out_at_runtime(with_an_empty_text):
    made = opened(None, {"preprocessing_mode": "runtime"}, data=with_an_empty_text, split=None)
    assert all_ids(made) == all_ids(opened(None, data=with_an_empty_text, split=None))


def test_there_are_no_states_at_runtime(corpus):
    made = opened(None, {"preprocessing_mode": "runtime"}, data=corpus)
    with pytest.raises(xp.UnsupportedError, match="keep no state"):
        made.reader().state_dict()


def test_the_tokenizer_is_called_at_runtime(corpus, path):
    dataset = opened(path, {"preprocessing_mode": "runtime"}, data=corpus, tokenizer=lambda text: [len(text), ord(text[-1])])
    cache = xp.open(path)
    for batch in dataset.reader(ids=True):
        for row, clip_id in enumerate(batch.ids):
            words = cache[clip_id].text
            assert batch.text_len[row] == 2 and batch.tokens[row].tolist() == [len(words), ord(words[-1])] + [0] * (MAX_TOKENS - 2)


def test_what_has_no_effect_is_not_warned_of(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(path, {"num_workers": 18, "enable_xla": True})
