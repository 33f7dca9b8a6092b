"""The trainer's tokenizer: which one it is, and its column of the cache."""

import functools
import re
import resource

import numpy as np
import pytest
import xtts_precompute as xp
from myxtts_support import KEYS
from support import MAX_FRAMES, MAX_TOKENS, PADDING, make_corpus, run_python
from xtts_precompute.myxtts.tokens import COLUMN, TokensOf, version_of

TABLE = {"a": 1, "b": 2}
PATTERN = re.compile("[a-z]")


def by_table(text, offset=3):
    return [helper(character) + offset for character in text.lower() if PATTERN.match(character)]


def helper(character):
    return TABLE.get(character, 0)


def made(source, name="tokenize", **globals_):
    exec(source, globals_)
    return globals_[name]


def test_a_version_that_is_given_is_taken():
    assert version_of(len, "v3") == version_of(print, "v3") == "v3"
    assert version_of(len, 4) == "4"


SOURCE = (
    "def tokenize(text, first=1):\n    import re\n    return [first + table[c] + inner(c) for c in "
    "text]\ndef inner(c):\n    return 2\n"
)


@pytest.mark.parametrize(
    ("source", "table"),
    [
        (SOURCE.replace("first=1", "first=2"), {"a": 1}),  # a default
        (SOURCE.replace("return 2", "return 3"), {"a": 1}),  # a constant of a function that it calls
        (SOURCE.replace("first +", "first -"), {"a": 1}),  # its code
        (SOURCE, {"a": 2}),  # a global
    ],
)
def test_whatever_decides_the_tokens_changes_the_version(source, table):
    before = version_of(made(SOURCE, table={"a": 1}), None)
    assert before == version_of(made(SOURCE, table={"a": 1}), None)
    assert before != version_of(made(source, table=table), None)


def test_what_a_function_closes_over_changes_the_version():
    def tokenizer_with(table):
        return lambda text: [table[character] for character in text]

    one, same, other = tokenizer_with({"a": 1}), tokenizer_with({"a": 1}), tokenizer_with({"a": 2})
    assert version_of(one, None) == version_of(same, None) != version_of(other, None)
    assert version_of(functools.partial(by_table, offset=4), None) != version_of(
        functools.partial(by_table, offset=5), None
    )


def test_the_version_is_the_same_in_another_process(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import re\nTABLE = {'a': 1}\nWORDS = {'x', 'y', 'z', 'ä'}\ndef tokenize(text):\n    'About.'\n "
        "   return [TABLE.get(c, 0) for c in re.findall('[a-z]', text) if c in WORDS or c in {'q', 'r'}]\n"
    )
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import mine; from "
        "xtts_precompute.myxtts.tokens import version_of; print(version_of(mine.tokenize, None))"
    )
    # The first process compiles it, and sets are in another order in each.
    assert len({run_python(code, tmp_path) for _ in range(3)}) == 1


class Tokenizer:
    def __call__(self, text):
        return self.encode(text)

    def encode(self, text):
        return [1] * len(text)


@pytest.mark.parametrize(
    "tokenizer",
    [
        Tokenizer(),
        Tokenizer().encode,
        "abc".find,
        made("def tokenize(text):\n    return thing.encode(text)\n", thing=Tokenizer()),
    ],
    ids=["object", "method", "built-in method", "global object"],
)
def test_what_may_change_unseen_needs_a_version(tokenizer):
    with pytest.raises(xp.InvalidArgumentError, match="which may change unseen: give tokenizer_version="):
        version_of(tokenizer, None)
    assert version_of(tokenizer, "1") == "1"


def test_a_module_without_a_version_may_change_unseen(tmp_path, monkeypatch):
    (tmp_path / "no_version.py").write_text("def clean(text):\n    return text\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(xp.InvalidArgumentError, match="the module no_version"):
        version_of(made("def tokenize(text):\n    import no_version\n    return no_version.clean(text)\n"), None)
    with pytest.raises(xp.InvalidArgumentError, match="the module no_version"):
        version_of(made("import no_version\ndef tokenize(text):\n    return no_version.clean(text)\n"), None)
    version_of(made("import numpy as np\ndef tokenize(text):\n    return np.arange(len(text))\n"), None)


def tokens_of(tokenizer, **settings):
    return TokensOf(tokenizer, xp.myxtts.Config(KEYS, settings=settings))


def test_tokens_are_int32_and_at_most_so_many():
    assert tokens_of(lambda text: [7, 8]).of("x", "text").tolist() == [7, 8]
    assert tokens_of(lambda text: np.array([7, 8], np.uint8)).of("x", "text").dtype == np.int32
    assert len(tokens_of(lambda text: []).of("x", "text")) == 0
    assert len(tokens_of(lambda text: 1 / 0).of("x", None)) == 0  # there is no text to make tokens of
    assert len(tokens_of(lambda text: range(MAX_TOKENS)).of("x", "text")) == MAX_TOKENS
    # The trainer cuts them there, too.
    assert tokens_of(lambda text: range(MAX_TOKENS + 1)).of("x", "text").tolist() == list(range(MAX_TOKENS))
    assert len(tokens_of(lambda text: range(MAX_TOKENS + 1), **{"text.too_long": "drop"}).of("x", "text")) == 0


@pytest.mark.parametrize("wrong", [[1.5], "abc", [[1], [2]], [[1], [2, 3]], [2**31], 3])
def test_a_tokenizer_that_makes_something_else_is_an_error_that_names_the_clip(wrong):
    with pytest.raises(xp.InvalidArgumentError, match="^clip x: the tokenizer"):
        tokens_of(lambda text: wrong).of("x", "text")


@pytest.mark.parametrize("error", [KeyError("é"), ValueError("no such character"), RuntimeError("no model")])
def test_what_a_tokenizer_raises_names_the_clip_and_its_text(error):
    def tokenizer(text):
        raise error

    with pytest.raises(
        xp.InvalidArgumentError,
        match=f"^clip x: the tokenizer raised {type(error).__name__}: .*; the text is 'some text'",
    ) as raised:
        tokens_of(tokenizer).of("x", "some text")
    assert raised.value.__cause__ is error


def test_what_transformers_give_is_an_error_with_the_way_out():
    with pytest.raises(xp.InvalidArgumentError, match=r'tokenizer\(text\)\["input_ids"\]'):
        tokens_of(lambda text: {"input_ids": [1], "attention_mask": [1]}).of("x", "text")
    with pytest.raises(xp.InvalidArgumentError, match="take row 0"):
        tokens_of(lambda text: [[1, 2]]).of("x", "text")


def test_keys_about_text_are_the_tokenizers_business():
    keys = {"text_cleaners": ["english"], "add_blank": True, "use_phonemes": True, "enable_pitch_shift": True}
    config = {**KEYS, **keys}
    assert [key.name for key in xp.myxtts.Config(config).not_reproduced()] == ["data.enable_pitch_shift"]
    names = [key.name for key in xp.myxtts.Config(config, tokenizer="recipe").not_reproduced()]
    assert names == ["data.text_cleaners", "data.add_blank", "data.use_phonemes", "data.enable_pitch_shift"]


def opened(cache, tokenizer, **options):
    return xp.myxtts.open(
        KEYS, cache, settings={"features.pad_value": PADDING}, tokenizer=tokenizer, progress=False, **options
    )


def codes(text):
    return [ord(character) for character in text[::2]]


def test_the_tokenizers_output_is_in_the_cache_and_in_batches(own_path):
    dataset = opened(own_path, codes, split=None)
    assert COLUMN in xp.open(own_path).columns and dataset.source.columns["tokens"]
    for batch in dataset.reader(ids=True):
        assert batch.tokens.shape == (4, MAX_TOKENS) and batch.tokens.dtype == np.int32
        for row, clip_id in enumerate(batch.ids):
            expected = codes(dataset.source[clip_id].text)
            assert batch.text_len[row] == len(expected)
            assert batch.tokens[row].tolist() == expected + [0] * (MAX_TOKENS - len(expected))


def test_the_column_is_made_anew_only_when_the_version_changes(own_path, monkeypatch):
    calls = []

    def counting(text):
        calls.append(text)
        return [len(calls)]

    clips = len(opened(own_path, counting, tokenizer_version="1").source)
    assert len(calls) == clips
    with monkeypatch.context() as patch:
        patch.setattr(xp.Cache, "add_column", None)  # a user who trains may have no right to write
        opened(own_path, counting, tokenizer_version="1")
    assert len(calls) == clips
    dataset = opened(own_path, counting, tokenizer_version="2")
    assert len(calls) == 2 * clips
    assert min(int(clip[COLUMN][0]) for clip in dataset.source) == clips + 1


def test_a_cache_that_cannot_be_written_to_says_what_to_do(own_path, monkeypatch):
    add_column = xp.Cache.add_column

    def without_room(*arguments, **options):
        # Python ignores SIGXFSZ, so a file that may not grow makes the write fail.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            return add_column(*arguments, **options)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    with (
        monkeypatch.context() as patched,
        pytest.raises(
            xp.ResourceError, match=r"\.build.*\. What the tokenizer makes is kept in the cache .*: make it writable"
        ) as refused,
    ):
        patched.setattr(xp.Cache, "add_column", without_room)
        opened(own_path, codes)
    assert str(own_path) in str(refused.value)
    assert opened(own_path, codes).source.columns[COLUMN].version


def test_an_open_cache_may_be_of_another_working_directory(own_path, monkeypatch, tmp_path):
    monkeypatch.chdir(own_path.parent)
    cache = xp.open(own_path.name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for _ in range(2):
        assert opened(cache, codes).source.columns[COLUMN].version


def test_an_open_cache_may_be_older_than_the_column(own_path):
    cache = xp.open(own_path)
    for split in ("train", "val"):
        dataset = opened(cache, codes, split=split)
        assert sum(len(batch.mel) for batch in dataset.reader(drop_last=False)) > 0


LJSPEECH = "clip-{0:03d}|Dr. {0}|Doctor {0}"


@pytest.mark.parametrize("settings", [{}, {"text.max_tokens": 4000}, {"text.too_long": "truncate"}])
def test_the_tokenizer_gets_normalized_texts_of_any_length(tmp_path, settings):
    make_corpus(tmp_path / "wavs", 9)
    (tmp_path / "wavs/metadata.csv").unlink()
    lines = [LJSPEECH.format(number) for number in range(8)] + ["clip-008|long|" + "long " * 20]
    (tmp_path / "metadata.csv").write_text("\n".join(lines) + "\n")
    xp.build(
        tmp_path,
        tmp_path / "cache",
        settings={"max_frames": MAX_FRAMES, "text.max_tokens": MAX_TOKENS, **settings},
        max_dropped=1.0,
        progress=False,
    )
    heard = []
    dataset = xp.myxtts.open(
        KEYS,
        tmp_path / "cache",
        settings=settings,
        split=None,
        tokenizer=lambda text: [len(heard.append(text) or text)],
        tokenizer_version="1",
        progress=False,
    )
    # Each of the recipe's tokens is a byte. A text that is too long for them may be short for a
    # tokenizer.
    assert sorted(set(heard)) == sorted(
        [f"Doctor {number}" for number in range(8)] + ([" ".join(20 * ["long"])] if settings else [])
    )
    assert [batch.tokens.shape for batch in dataset.reader()] == [(4, MAX_TOKENS)] * 2


def test_clips_without_tokens_are_left_out_and_named(own_path):
    with pytest.warns(UserWarning, match=r"1 clip is left out \(clip-003\)"):
        dataset = opened(own_path, lambda text: [] if "003" in text else [1], split=None, tokenizer_version="1")
    assert "clip-003" not in {clip_id for batch in dataset.reader(drop_last=False, ids=True) for clip_id in batch.ids}
