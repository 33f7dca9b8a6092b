"""The trainer's own text processing: how it is found and set up, and how its version is told."""

import json

import numpy as np
import pytest
import trainer_interface as trainer
import xtts_precompute as xp
from support import run_python
from xtts_precompute.myxtts.tokens import COLUMN, version_of

LIST = {"b-1": "Bad a", "a-1": "cab!", "a-2": "dead"}  # the order is not the cache's
KEYS = {"use_tf_native_loading": False, "batch_size": 1, "text_cleaners": ["basic_cleaners"]}


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    trainer.forget()
    monkeypatch.syspath_prepend(trainer.write(tmp_path / "trainer"))
    yield
    trainer.forget()


@pytest.fixture
def data(corpus, tmp_path):
    folder = tmp_path / "data"
    (folder / "wavs").mkdir(parents=True)
    for number, clip_id in enumerate(LIST):
        (folder / f"wavs/{clip_id}.wav").write_bytes((corpus / f"clip-00{number}.wav").read_bytes())
    (folder / "metadata.csv").write_text(
        "".join(f"{clip_id}|x|{text}\n" for clip_id, text in LIST.items()), encoding="utf-8"
    )
    xp.build(folder, tmp_path / "data.cache", progress=False)
    return folder


def tokens_by(data, symbols=None, **keys):
    dataset = xp.myxtts.open({**KEYS, **keys}, data=data, split=None, progress=False)
    return {one.ids[0]: one.tokens.tolist() for one in dataset}, dataset.source.columns[COLUMN].version


def expected(text, symbols, blank=True):
    found = [symbols.index(one) for one in text.lower() if one in symbols]
    return [1, *(one for number in found for one in ([number, 0] if blank and symbols[number] != " " else [number])), 2]


def test_tokens_are_those_of_the_trainers_text_processing(data):
    """Phonemes are numbered in the order of the training list, not in that of the cache."""
    symbols = [*"_^~", *"bad c!e"]
    made, _ = tokens_by(data)
    assert made == {clip_id: expected(text, symbols) for clip_id, text in LIST.items()}
    assert not (data / "processed").exists()  # only the trainer writes it


def test_of_two_folders_the_training_list_numbers(data, tmp_path):
    """DATA may hold the trainer's two folders, each with its list."""
    for name, lines in {"train": [0, 1], "eval": [2]}.items():
        folder = tmp_path / f"both/dataset_{name}"
        (folder / "wavs").mkdir(parents=True)
        chosen = [(data / "metadata.csv").read_text().splitlines()[number] for number in lines]
        (folder / f"metadata_{name}.csv").write_text("".join(f"{line}\n" for line in chosen))
        for line in chosen:
            (folder / f"wavs/{line.split('|')[0]}.wav").write_bytes(
                (data / f"wavs/{line.split('|')[0]}.wav").read_bytes()
            )
    keys = {"metadata_train_file": "metadata_train.csv", "metadata_eval_file": "metadata_eval.csv"}
    config = xp.myxtts.Config({**KEYS, **keys})
    with config.arguments() as arguments:
        xp.build(tmp_path / "both", tmp_path / "both.cache", progress=False, **arguments)
    symbols = [*"_^~", *"bad c!"]  # only the other list has an e
    for split, ids in (("train", {"b-1", "a-1"}), ("val", {"a-2"})):
        dataset = xp.myxtts.open(
            {**KEYS, **keys}, tmp_path / "both.cache", tmp_path / "both", split=split, progress=False
        )
        assert {one.ids[0].split("/")[-1]: one.tokens.tolist() for one in dataset} == {
            clip_id: expected(LIST[clip_id], symbols) for clip_id in ids
        }


def test_the_trainers_own_numbers_come_first(data):
    folder = data / "processed/tokens_custom_ph_noblank_fr"
    folder.mkdir(parents=True)
    symbols = [*"_^~", *"edcba"]
    (folder / "symbols.json").write_text(json.dumps(symbols))
    made, version = tokens_by(data, language="fr", add_blank=False)
    assert made == {clip_id: expected(text, symbols, blank=False) for clip_id, text in LIST.items()}
    (folder / "symbols.json").write_text(json.dumps(symbols[::-1]))
    assert tokens_by(data, language="fr", add_blank=False)[1] != version


def test_letters_need_no_list(data):
    made, _ = tokens_by(data, use_phonemes=False)
    assert all(tokens == [1, 2] for tokens in made.values())  # trainer_interface.py's class knows three symbols


def test_texts_are_phonemes_first_where_the_trainer_makes_them_so(data):
    plain, doubled = tokens_by(data)[0], tokens_by(data, enable_phone_normalization=True)[0]
    assert len(doubled["a-2"]) - 2 == 2 * (len(plain["a-2"]) - 2)


def test_the_column_is_made_anew_only_when_something_decides_otherwise(data):
    before = xp.open(f"{data}.cache").generation
    _, version = tokens_by(data)
    assert tokens_by(data)[1] == version and xp.open(f"{data}.cache").generation == before + 1
    assert tokens_by(data, add_blank=False)[1] != version


def processor(**options):
    from myxtts.utils.text import TextProcessor

    return TextProcessor(**options)


@pytest.mark.parametrize(
    "other",
    [
        {"language": "fr"},
        {"cleaner_names": ["x"]},
        {"add_blank": False},
        {"use_phonemes": False},
        {"phoneme_language": "fr"},
        {"custom_symbols": ["a"]},
    ],
)
def test_a_processors_version_is_told_by_what_decides_its_tokens(other):
    fixed = {"custom_symbols": ["_", "^", "~", "a"], "allow_symbol_growth": False}
    version = version_of(processor(**fixed), None)
    assert version == version_of(processor(**fixed), None) == version_of(processor(**fixed).text_to_sequence, None)
    assert version != version_of(processor(**{**fixed, **other}), None)


FIXED = {"custom_symbols": ["_", "^", "~", "a"], "allow_symbol_growth": False}


def test_a_processors_version_is_told_by_the_code_that_runs(tmp_path):
    version = version_of(processor(**FIXED), None)
    file = tmp_path / "trainer/myxtts/utils/text.py"
    # The new text has another length, so Python compiles it anew.
    file.write_text(file.read_text().replace("text.lower()", "text.strip().upper()"))
    assert version_of(processor(**FIXED), None) == version  # the loaded code runs on
    trainer.forget()
    assert version_of(processor(**FIXED), None) != version

    class Mine(type(processor(**FIXED))):
        def text_to_sequence(self, text):
            return super().text_to_sequence(text[::-1])

    assert version_of(Mine(**FIXED), None) != version_of(processor(**FIXED), None)


def test_a_processors_version_is_the_same_in_another_process(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from myxtts.utils.text import TextProcessor; from "
        "xtts_precompute.myxtts.tokens import version_of; "
        "print(version_of(TextProcessor(custom_symbols=['_', 'a'], allow_symbol_growth=False), None))"
    )
    assert len({run_python(code, tmp_path / "trainer") for _ in range(3)}) == 1


def test_a_processor_that_numbers_as_it_goes_needs_a_version():
    with pytest.raises(
        xp.InvalidArgumentError,
        match="its tokens depend on the order of texts: give it custom_symbols= and allow_symbol_growth=False",
    ):
        version_of(processor(), None)
    assert version_of(processor(), "1") == "1"
    version_of(processor(use_phonemes=False), None)  # its symbols do not grow


def test_a_column_that_is_there_costs_no_phonemes(data, monkeypatch):
    tokens_by(data)
    from myxtts.utils.text import TextProcessor

    monkeypatch.setattr(TextProcessor, "text_to_sequence", None)
    monkeypatch.setattr("xtts_precompute.myxtts.text._put_module", lambda *_: None)
    monkeypatch.setattr("xtts_precompute.myxtts.tokens._has_tokens", lambda *_: True)
    assert len(xp.myxtts.open(KEYS, data=data, split=None)) == 3


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[]", "[1]", "\xff"])
def test_symbols_that_cannot_be_read_are_named(data, text):
    folder = data / "processed/tokens_custom_ph_blank_en"
    folder.mkdir(parents=True)
    (folder / "symbols.json").write_text(text, encoding="latin-1")
    with pytest.raises(xp.InvalidArgumentError, match="symbols.json"):
        xp.myxtts.open(KEYS, data=data, split=None).reader()


@pytest.mark.parametrize("text", ["1 / 0", "def", "import nothing_of_this_name", "class Other: pass"])
def test_a_trainer_that_cannot_be_imported_is_told(data, tmp_path, text):
    trainer.forget()
    (tmp_path / "trainer/myxtts/utils/text.py").write_text(text)
    with pytest.raises(xp.InvalidArgumentError, match="the trainer's text processing cannot be imported"):
        xp.myxtts.open(KEYS, data=data, split=None).reader()


def test_without_leave_to_write_there_is_the_caches_own(data, monkeypatch):
    def refused(*arguments, **options):
        raise xp.ResourceError("no")

    monkeypatch.setattr(xp.Cache, "add_column", refused)
    with pytest.raises(xp.InvalidArgumentError, match="tokenizer='recipe'"):
        xp.myxtts.open(KEYS, data=data, split=None).reader()


def test_a_processor_may_be_given(data):
    mine = processor(use_phonemes=False, custom_symbols=["_", "^", "~", "a", "b"])
    for tokenizer in (mine, mine.text_to_sequence):
        dataset = xp.myxtts.open(KEYS, data=data, split=None, tokenizer=tokenizer, progress=False)
        assert dataset.source.columns[COLUMN].version.startswith(version_of(mine, None))
        np.testing.assert_array_equal(dataset[0].tokens, expected("cab!", mine.symbols))


@pytest.mark.parametrize(
    ("keys", "where", "why"),
    [
        ({}, False, "the numbers of its phonemes come from the texts of its training list: give data="),
        ({"language": "tlh"}, True, "it cannot be set up: Phonemizer backend failed to initialise for language 'tlh'"),
    ],
)
def test_without_it_there_are_no_tokens_and_never_bytes(data, keys, where, why):
    dataset = xp.myxtts.open({**KEYS, **keys}, f"{data}.cache", data if where else None, split=None)
    assert len(dataset) == 3
    for ask in (lambda: dataset.reader(), lambda: dataset[0]):
        with pytest.raises(xp.InvalidArgumentError) as refused:
            ask()
        assert why in str(refused.value) and str(refused.value).endswith(
            "or take those of the cache's recipe: tokenizer='recipe'"
        )
    assert (
        next(
            iter(xp.myxtts.open({**KEYS, **keys}, f"{data}.cache", split=None, tokenizer="recipe").reader())
        ).tokens.min()
        >= 0
    )


def test_where_the_trainer_is_not_there_nobody_has_its_tokens(data, tmp_path):
    (tmp_path / "trainer/myxtts/utils/text.py").unlink()
    dataset = xp.myxtts.open(KEYS, f"{data}.cache", split=None)
    with pytest.raises(
        xp.InvalidArgumentError,
        match=r"the trainer \(myxtts\) cannot be imported here. Run where it can be imported, give tokenizer=",
    ):
        dataset.reader()


def test_texts_that_the_trainer_would_fail_at_are_named(data):
    with pytest.warns(
        UserWarning,
        match=r"3 texts are cut at 10 tokens \(max_text_length, .* The trainer itself fails at longer "
        r"ones: data.max_text_tokens: 10",
    ):
        xp.myxtts.open(
            {**KEYS, "max_text_length": 10, "pad_to_fixed_length": True, "max_mel_frames": 800},
            data=data,
            split=None,
            progress=False,
        )
