"""Edits of a YAML text: each changes exactly what it is asked for, or nothing."""

import os

import config_texts
import pytest
from xtts_advise.config.edit import remove_key, set_value
from xtts_advise.config.scalars import as_float, as_int, bool_of, kind_of, number_of
from xtts_advise.config.tree import read_map
from xtts_advise.words import Failure

SEED = int(os.environ.get("XTTS_SEED", "0")) or int.from_bytes(os.urandom(4), "little")


def changed(text, key, value, is_text=False):
    return set_value(text, "f.yaml", key, value, is_text)


def removed(text, key):
    return remove_key(text, "f.yaml", key)


def refusal(text, key="data.a", value="3"):
    with pytest.raises(Failure) as caught:
        changed(text, key, value)
    return caught.value


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        (
            "# top\ndata:\n    a: 1   # one\n\n    b: [x, y]\nmodel:\n  a: 1\n", "20",
            "# top\ndata:\n    a: 20  # one\n\n    b: [x, y]\nmodel:\n  a: 1\n",
        ),
        ("data:\n  a: 100 # x\n", "2", "data:\n  a: 2   # x\n"),
        ("data:\n  a: 1 # x\n", "200", "data:\n  a: 200 # x\n"),
        ("data:\n  a : 1\n", "2", "data:\n  a : 2\n"),
        ('data:\n  "a": 1\n', "2", 'data:\n  "a": 2\n'),
        ("data:\n  a:\t1\t# x\n", "2", "data:\n  a:\t2\t# x\n"),
        ("---\ndata:\n  a: 1\n...\n", "2", "---\ndata:\n  a: 2\n...\n"),
        ("\ufeffdata:\r\n  a: 1\r\n", "2", "\ufeffdata:\r\n  a: 2\r\n"),
        ("data:\n  a:\n  b: 1\n", "2", "data:\n  a: 2\n  b: 1\n"),
        ("data:\n  a: # none\n", "2", "data:\n  a: 2 # none\n"),
        ("data:\n  a: ~\n", "2", "data:\n  a: 2\n"),
        ('data:\n  a: "true"\n', "true", "data:\n  a: true\n"),
    ],
)  # fmt: skip
def test_a_set_changes_one_value_and_keeps_all_else(before, value, after):
    assert changed(before, "data.a", value) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("data:\r\n  a: 1\r\n", "data:\r\n  a: 1\r\n  b: 2\r\n"),
        ("data:\r\n  a: 1", "data:\r\n  a: 1\r\n  b: 2"),
        ("data:\n  a: 1", "data:\n  a: 1\n  b: 2"),
        (
            "data:\n   a: 1\n   # about nothing\n\n# next\nmodel:\n   a: 1\n",
            "data:\n   a: 1\n   # about nothing\n   b: 2\n\n# next\nmodel:\n   a: 1\n",
        ),
        ("data:\n  a:\n  - x\n  - y\n", "data:\n  a:\n  - x\n  - y\n  b: 2\n"),
        ("model:\n    a: 1\ndata:\n", "model:\n    a: 1\ndata:\n    b: 2\n"),
        ("data:\n  a: |\n    text\n    # no comment\n", "data:\n  a: |\n    text\n    # no comment\n  b: 2\n"),
        ("model:\n    a: 1\n", "model:\n    a: 1\ndata:\n    b: 2\n"),
        ("model:\n  a: 1\n...\n", "model:\n  a: 1\ndata:\n  b: 2\n...\n"),
    ],
)
def test_a_key_comes_at_the_end_of_its_section(before, after):
    assert changed(before, "data.b", "2") == after


def test_texts_have_the_quotes_that_they_need():
    assert changed("data:\n  m: 'x' # y\n", "data.m", "z", True) == "data:\n  m: 'z' # y\n"
    assert changed('data:\n  m: "a # \\" b" # y\n', "data.m", "z", True) == 'data:\n  m: "z"        # y\n'
    assert changed("data:\n  m: 'it''s'\n", "data.m", "that's", True) == "data:\n  m: 'that''s'\n"
    assert changed("data:\n  m: no\n", "data.m", "no", True) == 'data:\n  m: "no"\n'
    assert changed("data:\n  m: x\n", "data.m", "a: b", True) == 'data:\n  m: "a: b"\n'


def test_a_removal_makes_comments():
    assert removed("data:\n  a: 1 # one\n  b: 2\n", "data.a") == "data:\n  # a: 1 # one\n  b: 2\n"
    assert (
        removed("data:\n  b: 2\n  a:\n  - x\n\n  - y\n# end\n", "data.a")
        == "data:\n  b: 2\n  # a:\n  # - x\n\n  # - y\n# end\n"
    )
    assert removed("data:\n  a: |\n    x\n    y\n  b: 2\n", "data.a") == "data:\n  # a: |\n  #   x\n  #   y\n  b: 2\n"
    assert removed("data:\n  b: 2\nmodel:\n", "model") == "data:\n  b: 2\n# model:\n"
    with pytest.raises(Failure, match=r"there is no data\.b"):
        removed("data:\n  a: 1\n", "data.b")


def test_an_alias_is_replaced_and_an_anchor_is_not():
    text = "data:\n  a: &x 1\n  b: *x\n  c: 2\n"
    assert changed(text, "data.b", "3") == "data:\n  a: &x 1\n  b: 3\n  c: 2\n"
    assert "f.yaml:2: the value has an anchor" in str(refusal(text))
    with pytest.raises(Failure):
        removed(text, "data.a")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("data: {a: 1, b: 2}\n", "braces"),
        ("data: {\n  a: 1,\n  b: 2}\n", "braces"),
        ("{data: {a: 1}}\n", "does not begin its line"),
        ("data: &d\n  a: 1\nother: *d\n", "anchor"),
        ("data: !!map\n  a: 1\n", "tag"),
        ("data: !mine\n  a: 1\n", "tag"),
        ('data:\n  a: !!int "1"\n', "tag"),
        ("data:\n  a: |\n    1\n", "block of text"),
        ("data:\n  a: >-\n    1\n", "block of text"),
        ('data:\n  a: "1\n    2"\n', "on several"),
        ("data:\n  a: 1\n    2\n", "on several"),
        ("data:\n  a:\n    1\n", "on other lines"),
        ("data:\n  a: 1\n  a: 2\n", "twice"),
        ("data:\n  a: 1\ndata:\n  a: 2\n", "twice"),
        ("data:\n  a:\n    b: 1\n", "several parts"),
        ("data:\n  a: [1]\n", "several parts"),
        ("data: 5\n", "single value"),
        ("data:\n  ? a\n  : 1\n", "does not stand alone"),
        ("? data\n: a: 1\n", "does not begin its line"),
    ],
)
def test_what_it_cannot_edit_well_it_refuses(text, reason):
    error = refusal(text)
    assert error.code == "unsupported" and reason in str(error)


@pytest.mark.parametrize("text", ["", "data:\n\ta: 1\n", "a: 1\n---\nb: 2\n", "- x\n", "a: *x\n", "a: b: c\n"])
def test_it_reads_no_broken_text(text):
    assert refusal(text).code == "invalid_argument"


def test_a_text_that_looks_like_a_key_does_not_mislead():
    text = 'data:\n  note: "first\n  a: 7\n  last"\n  a: 1\n  # a: 9\nother: |\n  a: 8\n'
    assert changed(text, "data.a", "2") == text.replace("  a: 1\n", "  a: 2\n")


# ---- scalars, as PyYAML reads them


def test_scalars_are_those_of_pyyaml():
    yaml = pytest.importorskip("yaml")
    kinds = {bool: "bool", int: "int", float: "float", str: "text", type(None): "null"}
    texts = "yes No ON off true False y n 1 010 0x1F 0b11 1_000 12:30 1:2.5 1e-4 1.0e-4 1.e+3 .5 1. +7 -0 ~ null Null "
    texts += ".inf -.INF .nan 1e5 1.5e3 0o7 08 1__0 _1 2001 abc 3.x . e5 0.5e-3 1_0.5"
    for text in [*texts.split(), ""]:
        value = yaml.safe_load(text)
        assert kind_of(text) == kinds[type(value)], text
        if isinstance(value, bool):
            assert bool_of(text) is value
        elif isinstance(value, (int, float)) and ":" not in text and abs(value) < 1e300:
            assert number_of(text) == value, text


def test_numbers_are_written_as_they_are_meant():
    assert [as_float(one) for one in ("1e-4", "1E5", ".5e3", "-.5e3", "3", "0.5", "x")] == [
        "1.0e-4", "1.0e+5", "0.5e+3", "-0.5e+3", "3", "0.5", "",
    ]  # fmt: skip
    assert [as_int(one) for one in ("1e3", "20.0", "0x10", "1.5", "many")] == ["1000", "20", "16", "", ""]


# ---- random texts


def shape(node, place="", skipped=None):
    if place == skipped:
        return None
    inner = [shape(one, f"{place}[]", skipped) for one in node.items]
    inner += [shape(one.value, f"{place}.{one.key}".lstrip("."), skipped) for one in node.entries]
    return (place, node.kind, node.text, node.quoted, [one for one in inner if one is not None])


def entry_of(root, section, name):
    return next((one for part in root.find(section) for one in part.value.find(name)), None)


def test_a_set_changes_one_line_and_one_value():
    texts, made = config_texts.Texts(SEED), 0
    for _ in range(1500):
        text, section, name = texts.file(), texts.any(("model", "data", "training")), texts.key().strip("\"'")
        key = f"{section}.{name}"
        try:
            after = changed(text, key, "12345")
        except Failure:
            continue
        made += 1
        old, new = read_map(text, "f"), read_map(after, "f")
        assert entry_of(new, section, name).value.text == "12345"
        before = entry_of(old, section, name)
        if before is not None:
            assert shape(old, "", key) == shape(new, "", key), (SEED, text)
            lines = [one.split("\n") for one in (text, after)]
            for one in lines:
                del one[before.line - 1]
            assert lines[0] == lines[1], (SEED, text)
        assert changed(after, key, "12345") == after, (SEED, text)
    assert made > 100


def test_a_removal_loses_no_byte():
    texts, made = config_texts.Texts(SEED), 0
    for _ in range(1500):
        text = texts.file()
        try:
            root = read_map(text, "f")
            section = texts.any(root.entries)
            entry = texts.any(section.value.entries or [None])
            after = entry and removed(text, f"{section.key}.{entry.key}")
        except Failure:
            continue
        if not after:
            continue
        made += 1
        assert entry_of(read_map(after, "f"), section.key, entry.key) is None, (SEED, text)
        # Without the signs that are new, the lines are the old ones.
        for old, new in zip(text.split("\n"), after.split("\n"), strict=True):
            assert new == old or new.replace("# ", "", 1) == old, (SEED, text)
    assert made > 100
