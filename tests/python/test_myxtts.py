"""xp.myxtts: what a trainer's configuration says, and the batches it comes to. (How TensorFlow and PyTorch get them: test_myxtts_tensorflow.py,
test_myxtts_torch.py; which cache, or none: test_myxtts_modes.py.)"""

import dataclasses
import enum
import json
import shutil
import subprocess
import types
import warnings
import wave
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp

from myxtts_support import KEYS, SETTINGS, all_ids, command_of, kept, opened, run_command_of, yaml_file
from support import MAX_FRAMES, MAX_TOKENS, PROGRAM, make_corpus

# All that the users say of their configuration (keys of `data:`).
USERS_KEYS = """
    sample_rate, n_mels, n_fft, hop_length, win_length, trim_silence, normalize_audio, enable_loudness_normalization, target_loudness_lufs,
    max_audio_length, max_mel_frames, max_text_length, max_text_tokens, text_cleaners, language, train_split, val_split, train_subset_fraction,
    subset_seed, speaker_id_pattern, metadata_train_file, metadata_eval_file, wavs_train_dir, wavs_eval_dir, batch_size, num_workers,
    prefetch_buffer_size, pipeline_buffer_size, prefetch_to_gpu, enhanced_gpu_prefetch, optimize_cpu_gpu_overlap, use_tf_native_loading,
    pin_memory, enable_memory_mapping, pad_to_fixed_length, enable_xla, mixed_precision, preprocessing_mode, cache_verification,
    auto_rebuild_mel_cache, data_gpu, model_gpu, cache_path
"""


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


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_an_epoch_without_a_batch_is_warned_of(corpus, path, mode):
    loader = opened(path, {"preprocessing_mode": mode}, data=corpus).reader(batch_size=1000)
    with pytest.warns(UserWarning, match=r"an epoch has no batch: \d+ clips do not fill one of 1000 on each of 1 ranks; drop_last=False keeps them"):
        assert list(loader) == []


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


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_the_state_behind_the_last_batch_is_the_next_epochs(corpus, path, mode, drop_last):
    dataset = opened(path, {"preprocessing_mode": mode, "batch_size": 5}, data=corpus)
    loader = dataset.reader(drop_last=drop_last)
    for _, batch in zip(range(len(loader)), loader):  # who counts batches does not ask for the one behind the last
        del batch
    state = loader.state_dict()
    assert (state["epoch"], state["samples_consumed"]) == (1, 0)
    other = dataset.reader(drop_last=drop_last)
    other.load_state_dict(state)
    assert sum(1 for _ in other) == len(loader) > 1


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


@pytest.mark.parametrize(("split", "ranks"), [("val", 2), ("train", 3), (None, 3)])
@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_a_last_batch_without_clips_on_some_ranks_is_warned_of(corpus, path, mode, split, ranks):
    lengths = []
    for rank in range(ranks):
        dataset = opened(path, {"preprocessing_mode": mode}, data=corpus, split=split, rank=rank, world_size=ranks)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            lengths.append([len(batch.mel) for batch in dataset.reader(drop_last=False)][-1])
        told = [str(one.message) for one in caught if "a mean over it is NaN" in str(one.message)]
    empty = lengths.count(0)
    assert bool(told) == bool(empty) and len(told) <= 1
    assert not empty or f"{sum(lengths)} clips are left for the last step of an epoch, which is a batch without clips on {empty} of {ranks} ranks" in told[0]


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


@pytest.mark.filterwarnings("ignore:.*no text")
def test_clips_without_text_are_left_out_at_runtime(with_an_empty_text):
    made = opened(None, {"preprocessing_mode": "runtime"}, data=with_an_empty_text, split=None)
    assert all_ids(made) == all_ids(opened(None, data=with_an_empty_text, split=None))


def test_cache_verification_decides_whether_records_are_checked(cache, tmp_path):
    copy = damaged(cache, tmp_path)
    with pytest.raises(xp.CorruptError, match="clip-"):
        kept(opened(copy, {"cache_verification": True}).reader())
    with pytest.raises(xp.CorruptError, match="clip-"):
        kept(opened(copy).reader())
    assert len(kept(opened(copy, {"cache_verification": False}).reader())) > 1


def test_a_pass_goes_on_behind_a_damaged_record(cache, tmp_path):
    loader = opened(damaged(cache, tmp_path), split=None).reader(ids=True)
    passing, count, raised = iter(loader), 0, 0
    while True:
        try:
            next(passing)
            count += 1
        except xp.CorruptError:
            raised += 1
        except StopIteration:
            break
    assert raised >= 1 and count + raised == len(loader)


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
    pad_to_fixed_length: bool = True
    use_tf_native_loading: bool = False
    batch_size: int = 4
    wavs_train_dir: Path = None
    preprocessing_mode: Mode = Mode.PRECOMPUTE
    speaker_id_pattern: str = '^(?P<who>[a-z"]+)\\d é'
    text_cleaners: list = dataclasses.field(default_factory=list)


class Plain:
    batch_size = 4
    pad_to_fixed_length = True
    use_tf_native_loading = False
    _hidden = 3

    def __init__(self):
        self.max_mel_frames = MAX_FRAMES
        self.max_text_length = MAX_TOKENS

    def save(self, path):
        raise AssertionError("a method is no setting")


IN_YAML = f"data:\n  max_mel_frames: {MAX_FRAMES}\n  max_text_length: {MAX_TOKENS}\n  pad_to_fixed_length: true\n  use_tf_native_loading: false\n"
CONFIGURATIONS = {
    "dict": lambda folder: dict(KEYS),
    "sections": lambda folder: {"data": KEYS, "training": {"mixed_precision": True}, "model": {"n_mels": 80, "decoder_dim": 1536}, "epochs": 3},
    "dataclass": lambda folder: DataConfig(),
    "object of sections": lambda folder: types.SimpleNamespace(data=DataConfig(), training=None, model=types.SimpleNamespace(n_mels=80)),
    "data section with a model": lambda folder: {**KEYS, "model": {"n_mels": 80}},
    "namespace with a model": lambda folder: types.SimpleNamespace(**KEYS, model=types.SimpleNamespace(n_mels=80)),
    "namespace": lambda folder: types.SimpleNamespace(**KEYS),
    "object": lambda folder: Plain(),
    "file": lambda folder: yaml_file(folder, IN_YAML + "  batch_size: 4  # of 24 GB\n"),
    "text": lambda folder: str(CONFIGURATIONS["file"](folder)),
}


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_a_configuration_is_a_file_a_dict_or_an_object(kind, tmp_path, path):
    # The tests' cache leaves out what is too long, where the trainer cuts it.
    config = xp.myxtts.Config(CONFIGURATIONS[kind](tmp_path), settings={**SETTINGS, "features.too_long": "auto", "text.too_long": "drop"})
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
    kinds = {key.name.removeprefix("data."): key.kind for key in config.keys if not key.is_default}
    assert list(kinds) == names
    assert not any("unknown" in key.note for key in config.keys)
    assert not {name for name, kind in kinds.items() if kind == "not reproduced"}
    assert {name for name, kind in kinds.items() if kind == "no effect"} == {
        "trim_silence", "normalize_audio", "enable_loudness_normalization",  # with use_tf_native_loading
        "num_workers", "pipeline_buffer_size", "enhanced_gpu_prefetch", "optimize_cpu_gpu_overlap", "enable_memory_mapping", "enable_xla",
        "mixed_precision", "target_loudness_lufs", "max_audio_length", "train_subset_fraction", "subset_seed",
    }  # fmt: skip


def test_a_key_that_changes_the_sound_stops_precompute_unless_it_is_accepted(path):
    keys = {"enable_noise_mixing": True, "enable_pitch_shift": True, "enable_vad": False}
    with pytest.raises(xp.InvalidArgumentError) as stopped:
        opened(path, keys)
    assert "data.enable_noise_mixing: changes clips at random" in str(stopped.value) and "enable_vad" not in str(stopped.value)
    assert str(stopped.value).endswith("accept=('enable_noise_mixing', 'enable_pitch_shift',)")
    with pytest.raises(xp.InvalidArgumentError, match="data.enable_pitch_shift"):
        opened(path, keys, accept=["enable_noise_mixing"])
    assert len(opened(path, keys, accept=("enable_noise_mixing", "data.enable_pitch_shift")).reader()) > 1
    with pytest.raises(xp.InvalidArgumentError, match=r"accept=\('enable_noise_mixing',\)"):
        opened(path, keys, accept="enable_noise_mixing")


def test_other_keys_that_are_not_as_the_trainer_has_them_are_told_a_line_each(path):
    keys = {"n_mells": 100, "add_blank": True, "use_phonemes": False}
    with pytest.warns(UserWarning) as told:
        assert len(opened(path, keys).reader()) > 1
    assert [str(one.message) for one in told] == [
        "the configuration: data.n_mells: unknown here; the nearest known key is data.n_mels",
        "the configuration: data.add_blank: tokens are those of the cache's recipe",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(path, keys, accept=("n_mells", "add_blank"))


def test_other_modes_warn_of_what_changes_the_sound(path):
    with pytest.warns(UserWarning, match="data.enable_pitch_shift: changes clips at random"):
        opened(path, {"enable_pitch_shift": True, "preprocessing_mode": "auto"})


# ---- what the trainer takes where a configuration says nothing


def test_absent_keys_are_the_trainers_defaults():
    config = xp.myxtts.Config({})
    assert config.recipe_name == "myxtts-tf" and config.is_native
    features, text = config.sections["features"], config.sections["text"]
    assert (features["max_frames"], features["too_long"], text["max_tokens"], text["too_long"]) == (1024, "truncate", 1024, "truncate")
    assert (config.whole("batch_size", None, 1, 99), config.whole("prefetch_buffer_size", None, 1, 99)) == (56, 12)
    assert not config.switch("pad_to_fixed_length", True) and config.switch("prefetch_to_gpu", False) and config.switch("use_phonemes", False)
    assert config.items("text_cleaners") == ["english_cleaners"] and config.value("training.checkpoint_dir") == "./checkpoints"
    assert not config.says("batch_size") and xp.myxtts.Config({"batch_size": 3}).says("batch_size")


def test_native_loading_is_the_trainers_other_recipe(corpus, tmp_path):
    xp.build(corpus, tmp_path / "cache", progress=False)
    with pytest.raises(xp.MismatchError) as other:
        xp.myxtts.open({}, tmp_path / "cache", corpus)
    assert 'recipe: "myxtts" in the cache, "myxtts-tf" asked for\n' in str(other.value) and "recipe='myxtts' trains on those that the cache has" in str(other.value)
    with pytest.warns(UserWarning, match="data.use_tf_native_loading: absent, so the trainer's default; .* this cache holds those of myxtts, which was asked for"):
        xp.myxtts.open({}, tmp_path / "cache", recipe="myxtts", tokenizer="recipe")


def test_a_cache_of_the_two_commands_opens_where_native_loading_is_off(corpus, tmp_path):
    xp.build(corpus, tmp_path / "cache", language="sw", progress=False)
    for keys in ({}, {"language": "en"}, {"max_mel_frames": 800, "max_text_length": 200, "pad_to_fixed_length": True}, {"max_mel_frames": 700}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if keys.get("language") == "en":
                with pytest.raises(xp.MismatchError, match='corpus.language: "sw" in the cache, "en" asked for'):
                    xp.myxtts.open({"use_tf_native_loading": False, **keys}, tmp_path / "cache", tokenizer="recipe")
                continue
            dataset = xp.myxtts.open({"use_tf_native_loading": False, "batch_size": 4, **keys}, tmp_path / "cache", tokenizer="recipe")
        batch = next(iter(dataset.reader()))
        assert batch.mel.shape[1:] == ((800, 80) if "pad_to_fixed_length" in keys else (int(batch.mel_len.max()), 80))


def test_records_that_are_longer_than_the_trainers_are_cut(path, truth):
    """The tests' records have 64 frames and 48 tokens."""
    dataset = opened(path, {"max_mel_frames": 20, "max_text_length": 6}, split=None)
    for batch in dataset.reader(ids=True):
        assert batch.mel.shape == (4, 20, 80) and batch.tokens.shape == (4, 6)
        for row, clip_id in enumerate(batch.ids):
            np.testing.assert_array_equal(batch.mel[row], truth.padded_mel(clip_id)[:20])
            np.testing.assert_array_equal(batch.tokens[row], truth.padded_tokens(clip_id)[:6])
            assert batch.mel_len[row] == min(20, len(truth.mels[clip_id])) and batch.text_len[row] == 6


def test_records_that_may_have_cut_something_are_refused(corpus, tmp_path, path):
    settings = {**SETTINGS, "max_frames": 20, "features.too_long": "truncate", "max_tokens": MAX_TOKENS}
    xp.build(corpus, tmp_path / "cache", settings=settings, progress=False)
    with pytest.raises(xp.MismatchError, match=r"\d+ clips of the cache .* fill its records of 20, and the trainer reads up to 64 frames"):
        opened(tmp_path / "cache")
    with pytest.raises(xp.MismatchError, match="have 64 rows of mel, and pad_to_fixed_length asks for 100 frames"):
        opened(path, {"max_mel_frames": 100})
    assert len(opened(path, {"max_mel_frames": 100, "pad_to_fixed_length": False}).reader()) > 1


def test_clips_that_the_caches_rules_have_left_out_are_told(corpus, tmp_path):
    settings = {**SETTINGS, "max_frames": 40, "max_tokens": MAX_TOKENS}
    report = xp.build(corpus, tmp_path / "cache", settings=settings, max_dropped=1.0, progress=False)
    with pytest.warns(UserWarning, match=rf"{report.accounting['dropped']} clips are not in the cache .* because they are too long for its recipe \(clip-.*The trainer cuts them"):
        opened(tmp_path / "cache", {"max_mel_frames": 40}, data=corpus)


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
@pytest.mark.parametrize("pads", [True, False])
@pytest.mark.parametrize("mel_len", ["trainer", "true"])
def test_native_batches_say_the_lengths_of_the_trainer_or_the_true_ones(corpus, tmp_path, mode, pads, mel_len):
    keys = {"max_mel_frames": MAX_FRAMES, "max_text_length": MAX_TOKENS, "max_text_tokens": MAX_TOKENS, "batch_size": 4, "pad_to_fixed_length": pads}
    config = xp.myxtts.Config(keys)
    with config.arguments() as arguments:
        xp.build(corpus, tmp_path / "cache", progress=False, **arguments)
    dataset = xp.myxtts.open(keys, tmp_path / "cache", corpus, mode=mode, tokenizer="recipe", mel_len=mel_len, progress=False)
    cache = xp.open(tmp_path / "cache")
    for batch in dataset.reader(ids=True):
        assert batch.mel.shape == (4, MAX_FRAMES, 80)  # which the trainer's native loader pads to, whether texts are padded or not
        assert (batch.tokens.shape[1] == MAX_TOKENS) == pads and batch.mel_len.dtype == np.int32
        for row, clip_id in enumerate(batch.ids):
            true = len(cache[clip_id].mel)
            assert batch.mel_len[row] == (MAX_FRAMES if mel_len == "trainer" else true)
            assert not batch.mel[row][true:].any()
    with pytest.raises(xp.InvalidArgumentError, match="mel_len"):
        xp.myxtts.open(keys, tmp_path / "cache", mel_len="both")


def test_the_mode_may_be_an_argument(corpus, path):
    """The trainer's newer versions refuse the key in their own file."""
    assert opened(path, {"preprocessing_mode": "precompute"}, data=corpus, mode="runtime").mode == "runtime"
    with pytest.raises(xp.InvalidArgumentError, match="mode"):
        opened(path, mode="sometimes")


# ---- whose split


def lj_data(corpus, folder):
    """The trainer's folder, with its list of the tests' clips, one of which has no sound; and the ids by its numbers."""
    (folder / "wavs").mkdir(parents=True)
    names = sorted(file.stem for file in corpus.glob("*.wav"))[::-1]
    lines = ["ID|text|normalized text", f"{names[0]}|a|b|c", "no bars", "", "not there|x|y"] + [f"{name}|this is {name}|this is {name}" for name in names[1:]]
    (folder / "metadata.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    for name in names:
        shutil.copy(corpus / f"{name}.wav", folder / "wavs")
    return names


def test_the_trainers_own_split_is_read(corpus, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    settings = {**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS}
    xp.build(tmp_path / "data", tmp_path / "cache", settings=settings, max_rejects=2, progress=False)  # two lines of the list are no clips
    (tmp_path / "data/processed").mkdir()
    splits = tmp_path / "data/processed/splits.json"
    places = {"train": [5, 0, *range(8, len(names)), 3], "val": [1, 2], "test": [4, 6, 7]}
    splits.write_text(json.dumps(places))
    for split, numbers in places.items():
        dataset = opened(tmp_path / "cache", data=tmp_path / "data", split=split)
        assert all_ids(dataset) == sorted(names[number] for number in numbers) == sorted(one.ids[0] for one in dataset)
    # Sound that is gone from DATA does not renumber the clips, as long as the cache has them.
    shutil.rmtree(tmp_path / "data/wavs")
    assert all_ids(opened(tmp_path / "cache", data=tmp_path / "data", split="val")) == sorted(names[1:3])
    table = tmp_path / "data/metadata.csv"
    table.write_text("\n".join(table.read_text(encoding="utf-8").splitlines()[:-1]), encoding="utf-8")
    with pytest.raises(xp.MismatchError, match=f"divides {len(names)} clips, and .*metadata.csv has {len(names) - 1}: one of the two has changed since"):
        opened(tmp_path / "cache", data=tmp_path / "data", split="val")


@pytest.mark.parametrize("text", ["[]", "{", "{}", '{"train": 1, "val": [], "test": []}', '{"train": [1e400], "val": [], "test": []}',
                                  '{"train": [0], "val": [-1], "test": []}', '{"train": ["0"], "val": [1], "test": []}', "\xff"])  # fmt: skip
def test_a_file_that_is_no_split_is_named(corpus, path, tmp_path, text):
    lj_data(corpus, tmp_path / "data")
    (tmp_path / "data/processed").mkdir()
    (tmp_path / "data/processed/splits.json").write_text(text, encoding="latin-1")
    with pytest.raises(xp.InvalidArgumentError, match="splits.json is no file of the trainer's splits"):
        opened(path, data=tmp_path / "data")


def test_an_empty_split_of_the_trainers_is_told(corpus, path, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    (tmp_path / "data/processed").mkdir()
    (tmp_path / "data/processed/splits.json").write_text(json.dumps({"train": list(range(len(names))), "val": [], "test": []}))
    dataset = opened(path, data=tmp_path / "data", split="test")
    assert len(dataset) == 0
    with pytest.raises(xp.InvalidArgumentError, match="no clip is chosen: the trainer's own split has none for test"):
        dataset.reader()


@pytest.mark.parametrize("kind", ["file", "dict"])
def test_the_trainers_two_folders_have_a_cache_each(corpus, tmp_path, kind):
    """Its train_main.py names both lists, and has a folder for each."""
    keys = {
        **KEYS, "metadata_train_file": "metadata_train.csv", "metadata_eval_file": "metadata_eval.csv", "wavs_train_dir": "wavs", "wavs_eval_dir": "wavs",
    }  # fmt: skip
    config = keys if kind == "dict" else yaml_file(tmp_path, "data:\n" + "".join(f"  {name}: {value}\n" for name, value in keys.items()))
    for name in ("train", "eval"):
        names = lj_data(corpus, tmp_path / name)
        (tmp_path / name / "metadata.csv").unlink()
        chosen = names[:9] if name == "eval" else names[9:]
        (tmp_path / name / f"metadata_{name}.csv").write_text("".join(f"{one}|x|this is {one}\n" for one in chosen))
        arguments = {"cache": tmp_path / f"cache-{name}", "data": tmp_path / name, "settings": SETTINGS, "tokenizer": "recipe"}
        with pytest.raises(xp.NotFoundError) as missing:
            xp.myxtts.open(config, **arguments, split="train" if name == "train" else "val")
        run_command_of(missing.value)
        other = "val" if name == "train" else "train"
        with pytest.raises(xp.InvalidArgumentError, match=f"and not metadata_.*.csv, which has the clips of {'validation' if other == 'val' else other}: give data="):
            xp.myxtts.open(config, **arguments, split=other)
        for split in ("train",) if name == "train" else ("val", "test"):  # it tests with the list that it validates with
            assert all_ids(xp.myxtts.open(config, **arguments, split=split)) == sorted(chosen)


def test_one_list_alone_is_divided_so_that_no_clip_is_in_two_splits(corpus, path, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    (tmp_path / "data/metadata.csv").rename(tmp_path / "data/metadata_train.csv")
    keys = {"metadata_train_file": "metadata_train.csv", "wavs_train_dir": "wavs"}
    splits = [set(all_ids(opened(path, keys, data=tmp_path / "data", split=split))) for split in ("train", "val")]
    assert splits[0] and splits[1] and not splits[0] & splits[1] and splits[0] | splits[1] <= set(names)


def test_texts_that_were_edited_since_are_told(corpus, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    table = tmp_path / "data/metadata.csv"
    lines = [f"{name}|this is {name}|this is {name}" for name in names]
    table.write_text("\n".join(lines) + "\n")
    xp.build(tmp_path / "data", tmp_path / "cache", settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS}, progress=False)
    (tmp_path / "data/processed").mkdir()
    (tmp_path / "data/processed/splits.json").write_text(json.dumps({"train": list(range(len(names))), "val": [], "test": []}))
    arguments = {"cache": tmp_path / "cache", "data": tmp_path / "data"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(**arguments)
    table.write_text("\n".join(["edited".join(lines[0].rsplit("this is", 1)), *lines[1:]]) + "\n")
    with pytest.warns(UserWarning, match=f"1 clips have other texts in the trainer's list than in .*: {names[0]}. This brings it up to date:\n    xtts-precompute"):
        opened(**arguments)


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_each_clip_comes_once_in_validation(corpus, path, mode):
    pytest.importorskip("torch", reason="PyTorch is not installed here; tests/python/run.sh has an environment with it")
    dataset = opened(path, data=corpus, mode=mode, split="val")
    for loader in (dataset.reader(batch_size=1000, ids=True), dataset.create_torch_loader(batch_size=1000, ids=True)):
        assert sorted(clip_id for batch in loader for clip_id in batch.ids) == sorted(one.ids[0] for one in dataset)
        assert len(dataset)


def test_the_trainer_changes_the_sound_of_training_clips_alone(path):
    assert len(opened(path, {"enable_pitch_shift": True}, split="val"))
    with pytest.raises(xp.InvalidArgumentError, match="data.enable_pitch_shift"):
        opened(path, {"enable_pitch_shift": True}, split="train")


def test_other_shares_of_the_splits_are_those_of_a_new_cache(corpus, own_path):
    keys = {"train_split": 0.5, "val_split": 0.5}
    with pytest.raises(xp.MismatchError) as other:
        opened(own_path, keys, data=corpus)
    run_command_of(other.value)
    counts = [len(opened(own_path, keys, data=corpus, split=split)) for split in ("train", "val")]
    assert min(counts) > 10  # of 37 clips


@pytest.mark.parametrize("native", [True, False])
def test_without_a_limit_nothing_is_cut(corpus, tmp_path, native):
    """A clip of 31 s beside the others: the command drops it loudly, or makes longer records where it is told to."""
    keys = {"use_tf_native_loading": native, "max_mel_frames": None, "batch_size": 4}
    shutil.copytree(corpus, tmp_path / "data")
    with wave.open(str(tmp_path / "data/clip-000.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(22050)
        file.writeframes((8000 * np.sin(np.arange(31 * 22050) / 20)).astype("<i2").tobytes())
    arguments = {"cache": tmp_path / "cache", "data": tmp_path / "data", "tokenizer": "recipe", "split": None, "progress": False}
    with pytest.raises(xp.NotFoundError) as missing:
        xp.myxtts.open(keys, **arguments)
    command = [*command_of(missing.value), "--quiet"]
    refused = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False)
    assert refused.returncode == 3 and "max_frames" in refused.stderr
    done = subprocess.run([PROGRAM, *command, "--set", "features.max_frames=2671"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    dataset = xp.myxtts.open(keys, **arguments)
    batch = next(iter(dataset.reader(batch_size=len(dataset))))
    assert len(dataset) == 37 and batch.mel.shape[1] == batch.mel_len.max() > 2600


def test_the_command_keeps_a_recipe_that_was_named(corpus, tmp_path):
    config = yaml_file(tmp_path, "data:\n  batch_size: 4\n")
    for recipe, name in ((None, "myxtts-tf"), ("myxtts", "myxtts"), ("myxtts-tf", "myxtts-tf")):
        with pytest.raises(xp.NotFoundError) as missing:
            xp.myxtts.open(config, tmp_path / f"cache of {recipe}", corpus, recipe=recipe)
        run_command_of(missing.value)
        assert xp.open(tmp_path / f"cache of {recipe}").recipe == name
        xp.myxtts.open(config, tmp_path / f"cache of {recipe}", corpus, recipe=recipe)


def test_texts_are_cut_before_they_are_padded(own_path):
    keys = {"max_text_tokens": 6, "max_text_length": 40}
    dataset = opened(own_path, keys, tokenizer=lambda text: list(range(1, 1 + len(text))), tokenizer_version="1")
    for batch in dataset.reader():
        assert batch.tokens.shape == (4, 40) and (batch.text_len == 6).all() and not batch.tokens[:, 6:].any() and batch.tokens[:, :6].all()
    assert [len(one.tokens) for one in dataset] == [6] * len(dataset)


def test_clips_of_a_data_set_are_cut_as_batches_are(path):
    for one in opened(path, {"max_mel_frames": 20, "max_text_length": 6}):
        assert len(one.mel) == one.mel_len <= 20 and len(one.tokens) == one.text_len == 6


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_a_split_may_be_a_list_of_ids(corpus, path, mode):
    chosen = ["clip-007", "clip-003", "clip-030"]
    dataset = opened(path, data=corpus, mode=mode, ids=chosen)
    assert all_ids(dataset) == sorted(chosen) == sorted(one.ids[0] for one in dataset) and len(dataset) == 3
    with pytest.raises(xp.NotFoundError, match="1 of 2 clips are not in .*: nobody"):
        opened(path, data=corpus, mode=mode, ids=["clip-007", "nobody"])
    for wrong, says in (([], "ids is empty"), ("clip-007", "not one text"), ([7], "one of ids must be a text")):
        with pytest.raises(xp.InvalidArgumentError, match=says):
            opened(path, ids=wrong)


def test_a_split_of_the_caches_own_is_told_where_there_is_a_checkpoint(path, tmp_path):
    sections = {"data": KEYS, "training": {"checkpoint_dir": str(tmp_path / "checkpoints")}}

    def told(**options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            xp.myxtts.open(sections, path, settings=SETTINGS, tokenizer="recipe", **options)
        return [str(one.message) for one in caught]

    assert not told()
    (tmp_path / "checkpoints").mkdir()
    assert not told()
    (tmp_path / "checkpoints/checkpoint_12_model.weights.h5").touch()
    assert len(told()) == 1 and "has a checkpoint, and the clips of train are those of the cache's split" in told()[0]
    assert not told(ids=["clip-007"]) and not told(split=None)


def test_the_recipe_of_native_loading_reproduces_it():
    key = {key.name: key for key in xp.myxtts.Config({"use_tf_native_loading": True}, recipe="myxtts-tf").keys}["data.use_tf_native_loading"]
    assert key.kind == "honoured"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"n_mels": "many"}, "^config: data.n_mels: "),
        ({"batch_size": [16, 32]}, "the configuration: data.batch_size is a list, and has to be a single value"),
        ({"cache_verification": [False]}, "the configuration: data.cache_verification is a list"),
        ({"batch_size": 0}, "the configuration: data.batch_size is 0, but must be from 1 to"),
        ({"batch_size": "a lot"}, "the configuration: data.batch_size is 'a lot', which is no whole number"),
        ({"pin_memory": "maybe"}, "the configuration: data.pin_memory is 'maybe', which is neither true nor false"),
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
    assert config.switch("pin_memory", True) is False  # as None is to the trainer
    assert config.whole("model_gpu", None, 0, 9) is None


def test_what_has_no_effect_is_not_warned_of(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(path, {"num_workers": 18, "enable_xla": True})
