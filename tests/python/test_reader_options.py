"""Reader options have the same names and defaults in C++, C and Python.

The structs are read from their headers (include/xtts/batch.hpp, include/xtts/xtts.h); C's defaults
come out of the library.
"""

import ctypes
import inspect
import re
from pathlib import Path

import pytest
import xtts_precompute as xp
from support import PROJECT
from xtts_precompute._cache.options import READER_OPTIONS, core_options
from xtts_precompute._cache.readable import DEFAULTS
from xtts_precompute._loaders.loader import reader_options

# Members that Python has no argument for: it warns, and handles Ctrl-C by itself.
ONLY_COMPILED = {"log", "cancelled"}
# C++ members that C splits into several, because it has no lists, optionals or functions with a
# state.
IN_C = {
    "columns": ["columns", "column_count", "normalize", "normalize_count"],
    "ids": ["ids", "id_count"],
    "exclude": ["exclude", "exclude_count"],
    "weights": ["weight_by", "temperature", "draw_count"],
    "buckets": ["buckets", "bucket_count"],
    "log": ["log", "log_context"],
    "cancelled": [],  # for computed clips, which C cannot read
}


def is_option(name):
    return name != "struct_bytes" and not name.startswith("reserved")


C_TYPES = {
    "uint32_t": ctypes.c_uint32,
    "int32_t": ctypes.c_int32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
}


def members_of(header, opening):
    """Returns (type, name, default's text) of each member of a struct, in order."""
    text = (PROJECT / "include/xtts" / header).read_text()
    body = re.sub(r"//[^\n]*|/\*.*?\*/", "", text.split(opening, 1)[1].split("\n}", 1)[0], flags=re.DOTALL)
    found = [
        re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*(?:=\s*(.*))?", one, re.DOTALL) for one in body.split(";") if one.strip()
    ]
    return [(one.group(1).strip(), one.group(2), one.group(3)) for one in found]


@pytest.fixture(scope="module")
def in_cpp():
    return {name: default for _, name, default in members_of("batch.hpp", "struct ReaderOptions {")}


@pytest.fixture(scope="module")
def in_c():
    return [(kind, name) for kind, name, _ in members_of("xtts.h", "typedef struct xtts_reader_options {")]


def test_python_has_each_option_of_cpp(in_cpp):
    assert {option.member for option in READER_OPTIONS.values()} == set(in_cpp) - ONLY_COMPILED
    assert set(READER_OPTIONS) == set(DEFAULTS)


def value_of(text):
    """Returns a C++ default as the compiled part takes it.

    Numbers and texts stay; an enumerator becomes the word of its name.
    """
    if text == "{}":
        return None
    if text.startswith("k") or "::k" in text:
        return text.split("::k")[1].lower()
    return {"true": True, "false": False}.get(
        text, text.strip('"') if text.startswith('"') else float(text) if "." in text else text
    )


def test_defaults_of_python_are_those_of_cpp(in_cpp, cache):
    ours = core_options(cache.columns, DEFAULTS)
    for member, text in in_cpp.items():
        if member in ONLY_COMPILED:
            continue
        expected = value_of(text)
        if expected is None:  # {} means that nothing is chosen
            assert not ours[member], member
        else:
            assert str(ours[member]) == str(expected), member


def test_c_has_each_option_of_cpp(in_cpp, in_c):
    expected = [name for member in in_cpp for name in IN_C.get(member, [member])]
    assert sorted(expected) == sorted(name for _, name in in_c if is_option(name)), (
        "a member of ReaderOptions is a field of xtts_reader_options, which options_of() of "
        "src/api/c/capi_options.cpp carries, or stands in IN_C"
    )


def test_c_carries_each_option(in_cpp):
    made = (PROJECT / "src/api/c/capi_options.cpp").read_text().split("return xtts::ReaderOptions{")[1].split("};")[0]
    carried = [member for member in in_cpp if IN_C.get(member, [member])]
    forgotten = [member for member in carried if f".{member} = " not in made]
    assert not forgotten, "options_of() of src/api/c/capi_options.cpp makes nothing of them"


@pytest.fixture(scope="module")
def library():
    return ctypes.CDLL(next(Path(xp.__file__).parent.glob("libxtts_reader.so*")))


@pytest.fixture
def options(in_c, library):
    """xtts_reader_options with its defaults."""
    fields = [(name, C_TYPES.get(kind, ctypes.c_void_p)) for kind, name in in_c]
    made = type("Options", (ctypes.Structure,), {"_fields_": fields})()
    library.xtts_reader_options_init(ctypes.byref(made), ctypes.c_size_t(ctypes.sizeof(made)))
    return made


def test_c_refuses_numbers_that_no_choice_or_switch_has(in_c, library, options, path):
    cache, reader = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.xtts_cache_open(str(path).encode(), ctypes.byref(cache), None) == 0
    for name in [name for kind, name in in_c if kind == "int32_t"]:
        default = getattr(options, name)
        for value in (-(2**31), -1, 99):
            setattr(options, name, value)
            code = library.xtts_reader_open(cache, ctypes.byref(options), ctypes.byref(reader), None)
            assert code == 1, f"{name} = {value} is not XTTS_INVALID_ARGUMENT"
        setattr(options, name, default)
    library.xtts_cache_close(cache)


def test_defaults_of_c_are_those_of_cpp(in_cpp, options):
    assert options.struct_bytes == ctypes.sizeof(options)
    for member, text in in_cpp.items():
        expected = value_of(text)
        for name in IN_C.get(member, [member]):
            found = getattr(options, name)
            if name == "device":
                assert ctypes.string_at(found).decode() == expected
            elif name == "temperature":
                assert found == 1
            elif expected is None:
                assert not found, name
            elif "::k" in text:
                assert found == enumerators(text.split("::")[0]).index(text.split("::k")[1]), name
            else:
                assert float(found) == float(expected), name


def enumerators(kind):
    text = (PROJECT / "include/xtts/batch.hpp").read_text().split(f"enum class {kind} ", 1)[1].split("};", 1)[0]
    return re.findall(r"^  k(\w+),", text, re.MULTILINE)


def test_the_stub_has_no_list_of_options():
    # A new option does not change the stub.
    assert (
        "def __init__(self, cache: Cache, options: dict[str, Any]) -> None"
        in (PROJECT / "src/python/xtts_precompute/_core.pyi").read_text()
    )


def test_each_option_is_described():
    told = inspect.getdoc(xp.Cache.reader).split("Args:", 1)[1].split("Raises:", 1)[0]
    described = {
        name for line in re.findall(r"^    (\w+(?:, \w+)*): ", told, re.MULTILINE) for name in line.split(", ")
    }
    assert described == set(READER_OPTIONS)


def test_runtime_mode_has_the_same_defaults():
    theirs = xp.RuntimeClips.reader.__kwdefaults__
    assert {name: DEFAULTS[name] for name in theirs if name in DEFAULTS} == {
        name: value for name, value in theirs.items() if name in DEFAULTS
    }


def test_loaders_of_frameworks_take_the_options_of_the_reader(cache):
    assert reader_options(cache, DEFAULTS) == DEFAULTS
    with pytest.raises(xp.InvalidArgumentError, match="no argument of a reader 'prefech' .did you mean 'prefetch'"):
        reader_options(cache, {"prefech": 3})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"banana": 1}, "there is no option 'banana' of a reader"),
        ({"batch_size": "x"}, "the reader's option 'batch_size' cannot be 'x'"),
        ({"batch_size": -1}, "cannot be -1"),
        ({"shuffle": "banana"}, "there is no choice 'banana'"),
        ({"columns": [("mel", "banana", None, "none", [], [])]}, "there is no dtype 'banana'"),
        ({"weights": 3}, "'weights' cannot be 3"),
    ],
)
def test_the_compiled_part_names_what_it_does_not_take(options, message, cache):
    with pytest.raises(xp.InvalidArgumentError, match=message):
        xp._core.Reader(cache._core, options)
