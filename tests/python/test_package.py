"""The package as a whole: what it needs, how it describes itself, and what type checkers see."""

import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import xtts_precompute as xp
from support import PROJECT, ran, run_python

FOLDER = Path(xp.__file__).parent
CHECKED_IN = PROJECT / "src/python/xtts_precompute"


def test_it_is_the_installed_one():
    assert PROJECT / "src" not in FOLDER.parents
    adviser = [file for file in CHECKED_IN.parent.glob("xtts_advise/**/*.*") if file.suffix != ".pyc"]  # its data, too
    for file in sorted([*CHECKED_IN.rglob("*.py*"), *adviser]):
        assert (FOLDER.parent / file.relative_to(CHECKED_IN.parent)).read_bytes() == file.read_bytes(), (
            f"{file} was not installed anew"
        )


def test_versions_agree():
    in_cmake = re.search(r"project\(xtts-precompute VERSION (\S+)", (PROJECT / "CMakeLists.txt").read_text()).group(1)
    assert importlib.metadata.version("xtts-precompute") == in_cmake == xp.__version__
    with pytest.raises(AttributeError, match="has no attribute 'opne'"):
        xp.opne
    advise = ['ruamel.yaml>=0.17; extra == "advise"', 'jinja2>=3; extra == "advise"']
    extras = [
        *advise,
        'ml_dtypes>=0.3; extra == "bfloat16"',
        'obstore>=0.12; extra == "buckets"',
        'xxhash>=3; extra == "buckets"',
        'pyarrow>=14; extra == "huggingface"',
        'ray>=2.9; extra == "ray"',
    ]
    assert importlib.metadata.requires("xtts-precompute") == ["numpy>=1.23", *extras]


RUNTIME = r"lib(stdc\+\+|gcc_s|m|c)\.so\.\d+|ld-linux.*\.so\.\d+"
TOOLS = r"lib(soxr|yaml-cpp|z|lmdb|fftw3f?)\.so[.\d]*"


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        (["_core.*.so", "libxtts_reader.so.0"], rf"{RUNTIME}|libxtts_reader\.so\.0"),
        (["_builder.*.so", "libxtts_builder.so.0", "xtts-precompute"], rf"{RUNTIME}|libxtts_builder\.so\.0|{TOOLS}"),
        (["xtts-decode"], rf"{RUNTIME}|lib(avformat|avcodec|avutil|soxr)\.so[.\d]*"),
    ],
)
def test_compiled_parts_need_what_is_theirs(names, allowed):
    allowed = re.compile(allowed)
    parts = [part for name in names for part in FOLDER.glob(name)]
    assert len(parts) == len(names), parts
    assert len(list(FOLDER.glob("*.so*"))) == 4
    for part in parts:
        said = ran("readelf", "-Wd", part, check=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
        assert needed and all(allowed.fullmatch(name) for name in needed), (part.name, needed)
        assert "RPATH" not in said and re.findall(r"\(RUNPATH\).*\[(.*)\]", said) in ([], ["$ORIGIN"])


def test_import_is_quick_and_takes_only_numpy():
    run_python(
        """
import sys
import numpy
try:
    import ml_dtypes
except ImportError:
    pass
before = set(sys.modules)
import xtts_precompute
standard = sys.stdlib_module_names
known = standard | {"xtts_precompute", "numpy"}
strange = {name for name in set(sys.modules) - before if name.split(".")[0] not in known}
assert not strange, strange
"""
    )


def test_everything_public_has_a_docstring():
    missing = []
    for name in xp.__all__:
        thing = getattr(xp, name)
        if not inspect.getdoc(thing):
            missing.append(name)
        if inspect.isclass(thing):
            ours = [kind for kind in thing.__mro__ if kind.__module__.startswith("xtts_precompute")]
            for member, value in [one for kind in ours for one in vars(kind).items()]:
                if member.startswith("_") or not (callable(value) or isinstance(value, property)):
                    continue
                if not inspect.getdoc(getattr(thing, member)):
                    missing.append(f"{name}.{member}")
    assert missing == []
    assert sorted(xp.__all__) == xp.__all__


@pytest.mark.parametrize("name", ["_core", "_builder"])
def test_the_stub_is_that_of_the_module(name, tmp_path):
    # Made anew with: python -m nanobind.stubgen -m xtts_precompute._core -o src/python/xtts_precompute/_core.pyi
    stub = tmp_path / f"{name}.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", f"xtts_precompute.{name}", "-o", stub], check=True
    )
    made = stub.read_text()
    # Needed from Python 3.12 on.
    made = re.sub(r'    def __buffer__\(self, flags, /\):\n        """\n.*?"""\n\n', "", made, flags=re.DOTALL)
    assert made == (CHECKED_IN / stub.name).read_text()


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy; what it has found out about the package serves all tests."""
    known = tmp_path_factory.mktemp("mypy")

    def run(*arguments):
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", known, *arguments]
        return ran(*command)

    return run


def test_the_package_passes_mypy(mypy):
    done = mypy("-p", "xtts_precompute")
    assert done.returncode == 0, done.stdout + done.stderr


USER = """
import numpy as np
import numpy.typing as npt
import xtts_precompute as xp

cache = xp.open("./cache")
mel: xp.Array = cache["LJ001-0001"].mel
text: str | None = cache[0].text
names: list[str] = list(cache.ids) + cache.ids[2:5] + [cache.ids[0]]
reader = cache.reader(batch_size=8, shuffle="window", columns={"mel": "float16", "tokens": None},
                      weights={"by": "language", "temperature": 0.5}, buckets=[{"batch_size": 4, "mel": 400}, {}],
                      crop={"frames": 3})
cache.reader(columns=["mel", {"name": "tokens", "pad_value": 0.0}], ids=(name for name in names))
stats: xp.Statistics = cache.stats["mel"]
cache.reader(columns={"mel": {"normalize": "corpus"}})
cache.reader(columns={"mel": {"normalize": (stats.mean, [1.0, 2.0])}})
cache.reader(columns=[{"name": "mel", "normalize": stats}])
for batch in reader:
    numbers: npt.NDArray[np.float32] = batch.mel * 2
    length: int = int(batch.mel_len[0])
    ids: list[str] = batch.ids
state = reader.state_dict()
reader.load_state_dict(state)
mean: float = reader.stats().ms_mean
version: str = xp.__version__

def show(progress: xp.BuildProgress) -> None:
    print(progress.done / progress.total)

report: xp.BuildReport = xp.build("./data", "./cache", settings={"max_frames": 1024}, max_rejects=0.01, progress=show)
preview: xp.BuildPreview = xp.build("./data", "./cache", dry_run=True, partition=(1, 4))
findings: list[xp.Finding] = xp.verify("./cache", "deep", sample=0.01, repair=True).findings
clips = xp.runtime("./data", settings={"max_frames": 1024}, workers=2,
                   progress=lambda told: print(told.elapsed_s, told.clips))
computed: xp.Array = clips["LJ001-0001"]["mel"]
computed_ids: list[str] = clips.ids[2:5] + [clips.info(0).id]
for runtime_batch in clips.reader(batch_size=8, columns={"mel": {"normalize": stats}}, exclude=computed_ids):
    numbers = runtime_batch.mel * 2
    valid: int = runtime_batch.valid_count
try:
    clips[0]
except xp.RejectedClipError as rejected:
    why: str = rejected.stage + rejected.rule + rejected.reason
try:
    xp.verify("./cache", progress=False)
except xp.TooManyRejectsError as error:
    code: str = error.code
"""

WRONG = {
    'cache.reader(shufle="none")': "Unexpected keyword|incompatible type",
    'cache.reader(shuffle="globall")': "incompatible type",
    'cache.reader(weights={"by": "colour"})': "incompatible type",
    'cache.reader(columns=[{"name": "mel", "normalize": "corpse"}])': "incompatible type",
    'cache.reader(crop={"frame": 3})': "incompatible type|Missing key",
    "cache.ids[0] + 1": "Unsupported operand",
    "xp.opne": "has no attribute",
    "reader.stats().ms_median": "has no attribute",
    'xp.build("./data", "./cache", store="lmbd")': "No overload variant|incompatible type",
    "report.storage": "has no attribute",
    'xp.verify("./cache", "fully")': "incompatible type",
    'clips.reader(shuffle="windows")': "incompatible type",
    "clips.reader(workers=4)": "Unexpected keyword|incompatible type",
}


def test_a_users_program_passes_mypy(mypy, tmp_path):
    program = tmp_path / "user.py"
    program.write_text(USER)
    done = mypy(program)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_finds_a_users_errors(mypy, tmp_path):
    program = tmp_path / "user.py"
    program.write_text(USER + "\n".join(WRONG))
    done = mypy(program)
    errors = re.findall(r"user\.py:(\d+): error: (.*)", done.stdout)
    found = {line: [] for line in WRONG}
    for number, error in errors:
        found[program.read_text().split("\n")[int(number) - 1]].append(error)
    for line, expected in WRONG.items():
        assert re.search(expected, "\n".join(found[line])), (line, done.stdout + done.stderr)


def configure(folder, *settings):
    less = ("-DXTTS_BUILD_TOOLS=OFF", "-DXTTS_BUILD_TESTS=OFF")
    return ran("cmake", "-G", "Ninja", "-S", PROJECT, "-B", folder, *less, *settings)


def test_nothing_is_looked_for_that_only_the_builder_needs(tmp_path):
    hidden = ("PkgConfig", "yaml-cpp", "CLI11", "ZLIB", "GTest", "benchmark")
    done = configure(tmp_path, *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in hidden))
    assert done.returncode == 0, done.stderr
    known = (tmp_path / "CMakeCache.txt").read_text()
    assert "XTTS_XXHASH_INCLUDE" in known and not re.search("(?i)lmdb|ffmpeg|fftw|hdf5", known)


def test_without_the_tools_libraries_the_reader_alone_is_built(tmp_path):
    hidden = ("-DCMAKE_DISABLE_FIND_PACKAGE_yaml-cpp=ON", "-DXTTS_LMDB_LIBRARY=")
    done = configure(tmp_path, "-DXTTS_BUILD_TOOLS=AUTO", *hidden)
    assert done.returncode == 0 and "The reader alone is built: not found: yaml-cpp, LMDB\n" in done.stdout, done.stderr
    done = configure(tmp_path, "-DXTTS_BUILD_TOOLS=ON", *hidden)
    said = " ".join(done.stderr.split())
    assert (
        done.returncode != 0
        and "not found: yaml-cpp, LMDB." in said
        and "XTTS_BUILD_TOOLS=OFF builds the reader alone" in said
    )


@pytest.mark.parametrize(
    ("setting", "package"),
    [
        ("-DXTTS_XXHASH_INCLUDE=", "libxxhash-dev"),
        ("-DXTTS_FMT_INCLUDE=", "libfmt-dev"),
        ("-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON", "nlohmann-json3-dev"),
    ],
)
def test_what_is_missing_is_named_by_its_package(setting, package, tmp_path):
    done = configure(tmp_path, setting)
    said = " ".join(done.stderr.split())  # CMake breaks lines
    assert done.returncode != 0 and f"apt-get install {package}" in said
