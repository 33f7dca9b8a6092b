"""xp.myxtts: a trainer's configuration, and the batches that it asks for.

Other files test how TensorFlow and PyTorch get them (test_myxtts_tensorflow.py,
test_myxtts_torch.py), which cache is used, or none (test_myxtts_modes.py), and which clips
(test_myxtts_splits.py).
"""

import dataclasses
import enum
import json
import shutil
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp
from myxtts_support import KEYS, SETTINGS, all_ids, kept, opened, yaml_file
from support import MAX_FRAMES, MAX_TOKENS, make_corpus

# All keys of `data:` that the users name.
USERS_KEYS = """
    sample_rate, n_mels, n_fft, hop_length, win_length, trim_silence, normalize_audio,
    enable_loudness_normalization, target_loudness_lufs,
    max_audio_length, max_mel_frames, max_text_length, max_text_tokens, text_cleaners, language,
    train_split, val_split, train_subset_fraction, subset_seed, speaker_id_pattern,
    metadata_train_file, metadata_eval_file, wavs_train_dir, wavs_eval_dir, batch_size, num_workers,
    prefetch_buffer_size, pipeline_buffer_size, prefetch_to_gpu, enhanced_gpu_prefetch,
    optimize_cpu_gpu_overlap, use_tf_native_loading, pin_memory, enable_memory_mapping,
    pad_to_fixed_length, enable_xla, mixed_precision, preprocessing_mode, cache_verification,
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
    assert len(trained) % 5  # else the test would show nothing
    batches = kept(dataset.reader(drop_last=False, ids=True))
    assert [len(batch.mel) for batch in batches] == [5] * (len(trained) // 5) + [len(trained) % 5]
    assert sorted(clip_id for batch in batches for clip_id in batch.ids) == trained
    assert all(len(part) == len(batch.ids) for batch in batches for part in batch)
    assert all((batch.mel_len > 0).all() for batch in batches)


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_an_epoch_without_a_batch_is_warned_of(corpus, path, mode):
    loader = opened(path, {"preprocessing_mode": mode}, data=corpus).reader(batch_size=1000)
    with pytest.warns(
        UserWarning,
        match=r"an epoch has no batch: \d+ clips do not fill one of 1000 on each of 1 rank; "
        r"drop_last=False keeps them",
    ):
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
    # A trainer that counts batches does not ask for one after the last.
    for _, batch in zip(range(len(loader)), loader):
        del batch
    state = loader.state_dict()
    assert (state["epoch"], state["samples_consumed"]) == (1, 0)
    other = dataset.reader(drop_last=drop_last)
    other.load_state_dict(state)
    assert sum(1 for _ in other) == len(loader) > 1


def test_splits_have_the_trainers_names(path, truth):
    for name, split in (
        ("train", "train"),
        ("val", "validation"),
        ("validation", "validation"),
        ("eval", "validation"),
    ):
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
    assert (
        not empty
        or f"{sum(lengths)} {'clip is' if sum(lengths) == 1 else 'clips are'} left for the last step of an epoch, "
        f"which is a batch without clips on {empty} of {ranks} ranks"
        in told[0]
    )


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
    xp.build(
        tmp_path / "data",
        tmp_path / "data.cache",
        settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS},
        progress=False,
    )
    return tmp_path / "data"


@pytest.mark.filterwarnings("ignore:.*no text")
def test_clips_without_text_are_left_out(with_an_empty_text):
    cache = xp.open(f"{with_an_empty_text}.cache")
    assert "clip-004" in cache and not len(cache["clip-004"].tokens)
    assert all_ids(opened(cache, split=None)) == sorted(set(cache.ids) - {"clip-004"})


def damaged(cache, folder):
    """Returns a copy of the cache in which each record of mels is damaged in the middle."""
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
    max_text_length: np.int64 = np.int64(MAX_TOKENS)  # noqa: RUF009  # it is immutable
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


IN_YAML = (
    f"data:\n  max_mel_frames: {MAX_FRAMES}\n  max_text_length: {MAX_TOKENS}\n  "
    "pad_to_fixed_length: true\n  use_tf_native_loading: false\n"
)
CONFIGURATIONS = {
    "dict": lambda folder: dict(KEYS),
    "sections": lambda folder: {
        "data": KEYS,
        "training": {"mixed_precision": True},
        "model": {"n_mels": 80, "decoder_dim": 1536},
        "epochs": 3,
    },
    "dataclass": lambda folder: DataConfig(),
    "object of sections": lambda folder: types.SimpleNamespace(
        data=DataConfig(), training=None, model=types.SimpleNamespace(n_mels=80)
    ),
    "data section with a model": lambda folder: {**KEYS, "model": {"n_mels": 80}},
    "namespace with a model": lambda folder: types.SimpleNamespace(**KEYS, model=types.SimpleNamespace(n_mels=80)),
    "namespace": lambda folder: types.SimpleNamespace(**KEYS),
    "object": lambda folder: Plain(),
    "file": lambda folder: yaml_file(folder, IN_YAML + "  batch_size: 4  # of 24 GB\n"),
    "text": lambda folder: str(CONFIGURATIONS["file"](folder)),
}


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_a_configuration_is_a_file_a_dict_or_an_object(kind, tmp_path, path):
    # The tests' cache leaves out clips that are too long; the trainer cuts them.
    config = xp.myxtts.Config(
        CONFIGURATIONS[kind](tmp_path), settings={**SETTINGS, "features.too_long": "auto", "text.too_long": "drop"}
    )
    cache = xp.open(path)
    assert config.fingerprints["features"] == cache.features_fingerprint
    assert config.fingerprints["text"] == cache.text_fingerprint
    assert config.whole("batch_size", None, 1, 100) == 4
    assert config.mode == ("precompute" if kind in ("dataclass", "object of sections") else "parity")
    assert "data.save" not in {key.name for key in config.keys} and "data._hidden" not in {
        key.name for key in config.keys
    }


@pytest.mark.parametrize(
    "keys",
    [
        {"normalize_audio": False},
        {"enable_loudness_normalization": False, "trim_silence": False},
        {"sample_rate": 24000, "n_fft": 2048, "win_length": 1200, "hop_length": 300, "n_mels": 100},
        {
            "language": "fa",
            "speaker_id_pattern": "(?P<who>p\\d+)_'x'",
            "metadata_train_file": "a b.csv",
            "metadata_eval_file": "é.csv",
        },
        {
            "train_split": 0.85,
            "val_split": 0.15,
            "train_subset_fraction": 0.3,
            "subset_seed": 12345,
            "max_audio_length": 11.0,
        },
        {"max_text_tokens": 1024, "max_text_length": 300, "max_mel_frames": 1024},
    ],
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"log.floor": 1e-4, "columns.wave": "int16", "text.tokens": "none"},
        {"storage.layout": "packed", "corpus.layout": "table"},
    ],
)
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
        "preprocessing_mode": "auto", "language": "en", "speaker_id_pattern": "(p)",
        "text_cleaners": ["english_cleaners"],
        "metadata_train_file": "t.csv", "metadata_eval_file": "e.csv", "wavs_train_dir": "t",
        "wavs_eval_dir": "e", "cache_path": "c",
        "train_split": 0.9, "val_split": 0.1, "train_subset_fraction": 0.5,
        "n_mels": 80, "n_fft": 1024, "hop_length": 256, "win_length": 1024,
        "sample_rate": 22050, "max_audio_length": 11.0,
        "max_mel_frames": 800, "target_loudness_lufs": -23.0,
    }  # fmt: skip
    names = [name.strip() for name in USERS_KEYS.split(",")]
    switches = (
        "trim_",
        "normalize_",
        "enable_",
        "prefetch_to",
        "pin_",
        "pad_",
        "mixed_",
        "cache_ver",
        "auto_",
        "use_",
        "enhanced",
        "optimize",
    )
    config = xp.myxtts.Config({name: values.get(name, True if name.startswith(switches) else 7) for name in names})
    kinds = {key.name.removeprefix("data."): key.kind for key in config.keys if not key.is_default}
    assert list(kinds) == names
    assert not any("unknown" in key.note for key in config.keys)
    assert not {name for name, kind in kinds.items() if kind == "not reproduced"}
    assert {name for name, kind in kinds.items() if kind == "no effect"} == {
        "trim_silence", "normalize_audio", "enable_loudness_normalization",  # ignored with use_tf_native_loading
        "num_workers", "pipeline_buffer_size", "enhanced_gpu_prefetch", "optimize_cpu_gpu_overlap",
        "enable_memory_mapping", "enable_xla",
        "mixed_precision", "target_loudness_lufs", "max_audio_length", "train_subset_fraction", "subset_seed",
    }  # fmt: skip


def test_a_key_that_changes_the_sound_stops_precompute_unless_it_is_accepted(path):
    keys = {"enable_noise_mixing": True, "enable_pitch_shift": True, "enable_vad": False}
    with pytest.raises(xp.InvalidArgumentError) as stopped:
        opened(path, keys)
    assert "data.enable_noise_mixing: changes clips at random" in str(stopped.value) and "enable_vad" not in str(
        stopped.value
    )
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
    assert (features["max_frames"], features["too_long"], text["max_tokens"], text["too_long"]) == (
        1024,
        "truncate",
        1024,
        "truncate",
    )
    assert (config.whole("batch_size", None, 1, 99), config.whole("prefetch_buffer_size", None, 1, 99)) == (56, 12)
    assert (
        not config.switch("pad_to_fixed_length", True)
        and config.switch("prefetch_to_gpu", False)
        and config.switch("use_phonemes", False)
    )
    assert (
        config.items("text_cleaners") == ["english_cleaners"]
        and config.value("training.checkpoint_dir") == "./checkpoints"
    )
    assert not config.says("batch_size") and xp.myxtts.Config({"batch_size": 3}).says("batch_size")


def test_native_loading_is_the_trainers_other_recipe(corpus, tmp_path):
    xp.build(corpus, tmp_path / "cache", progress=False)
    with pytest.raises(xp.MismatchError) as other:
        xp.myxtts.open({}, tmp_path / "cache", corpus)
    assert 'recipe: "myxtts" in the cache, "myxtts-tf" asked for\n' in str(
        other.value
    ) and "recipe='myxtts' trains on those that the cache has" in str(other.value)
    with pytest.warns(
        UserWarning,
        match="data.use_tf_native_loading: absent, so the trainer's default; .* this cache holds those "
        "of myxtts, which was asked for",
    ):
        xp.myxtts.open({}, tmp_path / "cache", recipe="myxtts", tokenizer="recipe")


def test_a_cache_of_the_two_commands_opens_where_native_loading_is_off(corpus, tmp_path):
    xp.build(corpus, tmp_path / "cache", language="sw", progress=False)
    for keys in (
        {},
        {"language": "en"},
        {"max_mel_frames": 800, "max_text_length": 200, "pad_to_fixed_length": True},
        {"max_mel_frames": 700},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if keys.get("language") == "en":
                with pytest.raises(xp.MismatchError, match='corpus.language: "sw" in the cache, "en" asked for'):
                    xp.myxtts.open({"use_tf_native_loading": False, **keys}, tmp_path / "cache", tokenizer="recipe")
                continue
            dataset = xp.myxtts.open(
                {"use_tf_native_loading": False, "batch_size": 4, **keys}, tmp_path / "cache", tokenizer="recipe"
            )
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
    with pytest.raises(
        xp.MismatchError,
        match=r"\d+ clips of the cache .* fill its records of 20, and the trainer reads up to 64 frames",
    ):
        opened(tmp_path / "cache")


@pytest.mark.parametrize("pads", [True, False])
def test_batches_are_longer_than_records_that_have_cut_nothing(path, truth, pads):
    for batch in opened(path, {"max_mel_frames": 100, "pad_to_fixed_length": pads}).reader(ids=True):
        assert batch.mel.shape == (4, 100 if pads else max(batch.mel_len), 80)
        for row, clip_id in enumerate(batch.ids):
            np.testing.assert_array_equal(batch.mel[row], truth.padded_mel(clip_id, frames=batch.mel.shape[1]))


def test_clips_that_the_caches_rules_have_left_out_are_told(corpus, tmp_path):
    settings = {**SETTINGS, "max_frames": 40, "max_tokens": MAX_TOKENS}
    report = xp.build(corpus, tmp_path / "cache", settings=settings, max_dropped=1.0, progress=False)
    with pytest.warns(
        UserWarning,
        match=rf"{report.accounting['dropped']} clips are not in the cache .*: too long for its "
        rf"recipe \(clip-.*The trainer cuts them",
    ):
        opened(tmp_path / "cache", {"max_mel_frames": 40}, data=corpus)


def test_clips_without_a_text_are_not_called_too_long(corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "data")
    table = data / "metadata.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("this is clip-003", ""), encoding="utf-8")
    settings = {**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS, "corpus.no_text": "drop"}
    xp.build(data, tmp_path / "cache", settings=settings, max_dropped=1.0, progress=False)
    (reject,) = map(json.loads, (tmp_path / "cache/rejects.jsonl").read_text().splitlines())
    assert (reject["id"], reject["class"], reject["stage"]) == ("clip-003", "policy", "text")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(opened(tmp_path / "cache", data=data, split=None)) == 36


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
@pytest.mark.parametrize("pads", [True, False])
@pytest.mark.parametrize("mel_len", ["trainer", "true"])
def test_native_batches_say_the_lengths_of_the_trainer_or_the_true_ones(corpus, tmp_path, mode, pads, mel_len):
    keys = {
        "max_mel_frames": MAX_FRAMES,
        "max_text_length": MAX_TOKENS,
        "max_text_tokens": MAX_TOKENS,
        "batch_size": 4,
        "pad_to_fixed_length": pads,
    }
    config = xp.myxtts.Config(keys)
    with config.arguments() as arguments:
        xp.build(corpus, tmp_path / "cache", progress=False, **arguments)
    dataset = xp.myxtts.open(
        keys, tmp_path / "cache", corpus, mode=mode, tokenizer="recipe", mel_len=mel_len, progress=False
    )
    cache = xp.open(tmp_path / "cache")
    for batch in dataset.reader(ids=True):
        # The trainer's native loader pads to it, whether texts are padded or not.
        assert batch.mel.shape == (4, MAX_FRAMES, 80)
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


def test_the_recipe_of_native_loading_reproduces_it():
    key = {key.name: key for key in xp.myxtts.Config({"use_tf_native_loading": True}, recipe="myxtts-tf").keys}[
        "data.use_tf_native_loading"
    ]
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
        f"data:\n  max_mel_frames: {MAX_FRAMES}\n  max_text_length: {MAX_TOKENS}\n  batch_size: 1_0\n  "
        "pad_to_fixed_length: No\n  pin_memory: ~\n  model_gpu:\n",
    )
    config = xp.myxtts.Config(file)
    assert config.whole("batch_size", None, 1, 100) == 10
    assert config.switch("pad_to_fixed_length", True) is False
    assert config.switch("pin_memory", True) is False  # None is off to the trainer, too
    assert config.whole("model_gpu", None, 0, 9) is None


def test_what_has_no_effect_is_not_warned_of(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(path, {"num_workers": 18, "enable_xla": True})
