import shutil
import subprocess

import pytest
import trainer_interface
import xtts_precompute as xp
from support import PROJECT, Truth, build, make_corpus

CLIPS = 37  # not a multiple of any batch size in the tests

# Store, layout and dtype: each value stands with each value of the others once.
FORMS = {
    "lmdb-padded-float32": ("lmdb", "padded", "float32"),
    "lmdb-packed-float16": ("lmdb", "packed", "float16"),
    "lmdb-padded-bfloat16": ("lmdb", "padded", "bfloat16"),
    "hdf5-packed-float32": ("hdf5", "packed", "float32"),
    "hdf5-padded-float16": ("hdf5", "padded", "float16"),
    "hdf5-packed-bfloat16": ("hdf5", "packed", "bfloat16"),
}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "data"
    make_corpus(folder, CLIPS)
    return folder


@pytest.fixture(scope="session")
def sample_corpus(tmp_path_factory):
    """The corpus that the pages tell the reader to make."""
    script = PROJECT / "samples/make_corpus.sh"
    if not script.exists() or not shutil.which("espeak-ng") or not shutil.which("ffmpeg"):
        pytest.skip("samples/, espeak-ng or ffmpeg is missing: the sample corpus cannot be made")
    folder = tmp_path_factory.mktemp("sample") / "data"
    subprocess.run([script, folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def caches(corpus, tmp_path_factory):
    """Gives a function: the path of the cache of a form, which is built at its first use."""
    folder = tmp_path_factory.mktemp("caches")

    def of(form):
        path = folder / form
        if not path.exists():
            store, layout, dtype = FORMS[form]
            build(corpus, path, "--store", store, "--layout", layout, "--dtype", dtype)
        return path

    return of


@pytest.fixture(scope="session")
def truths(caches, tmp_path_factory):
    known = {}

    def of(form):
        if form not in known:
            known[form] = Truth(caches(form), tmp_path_factory.mktemp("truth"))
        return known[form]

    return of


@pytest.fixture(scope="session")
def path(caches):
    """The cache of the default form; no test may change it."""
    return caches("lmdb-padded-float32")


@pytest.fixture(scope="session")
def truth(truths):
    return truths("lmdb-padded-float32")


@pytest.fixture
def cache(path):
    return xp.open(path)


@pytest.fixture(autouse=True)
def no_patience(request, monkeypatch):
    """A reader whose batches are all held raises BusyError at once, but where the test's file WAITS_FOR_SLOTS."""
    if not hasattr(request.module, "WAITS_FOR_SLOTS"):
        monkeypatch.setattr(xp._cache.reader, "_WAIT_FOR_SLOT_S", 0)


@pytest.fixture
def own_path(path, tmp_path):
    """A copy of the cache, which a test may damage."""
    return shutil.copytree(path, tmp_path / "cache")


@pytest.fixture(scope="session")
def second_path(tmp_path_factory):
    """A cache of other clips, in which two speakers have other numbers."""
    folder = tmp_path_factory.mktemp("second")
    make_corpus(folder / "data", 11, seed=1, prefix="more")
    table = folder / "data/metadata.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("ada", "zoë"), encoding="utf-8")
    return build(folder / "data", folder / "cache")


@pytest.fixture
def trainer_package(tmp_path_factory, monkeypatch):
    """The folder of the trainer's interface, which can be imported as `myxtts`."""
    trainer_interface.forget()
    folder = trainer_interface.write(tmp_path_factory.mktemp("trainer"))
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    trainer_interface.forget()


@pytest.fixture(scope="module")
def data(corpus, tmp_path_factory):
    """The corpus in the layout of LJSpeech."""
    return trainer_interface.lj_corpus(corpus, tmp_path_factory.mktemp("lj") / "data")
