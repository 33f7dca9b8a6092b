"""What holds for all integrations: import at first use, and the bytes that C++ gives."""

import hashlib
import inspect
import itertools
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp
from runtime_support import runtime
from support import PROJECT, SOME_FORMS, needs, ran, run_python

FRAMEWORKS = ("torch", "tensorflow", "jax")
WAITS_FOR_SLOTS = True  # frameworks let go of batches, not the test


def test_frameworks_are_imported_when_they_are_asked_for():
    run_python(
        """
import sys
import xtts_precompute as xp
assert not {"torch", "tensorflow", "jax"} & set(sys.modules)
assert not {"torch", "tensorflow", "jax"} & set(vars(xp))
"""
    )


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_missing_framework_is_named_with_its_installation(name):
    run_python(
        """
import sys
import xtts_precompute as xp
name = sys.argv[1]
sys.modules[name] = None  # as where it is not installed
for _ in range(2):
    try:
        getattr(xp, name)
    except xp.MissingPackageError as error:
        assert f"needs {name}: pip install " in str(error) and error.name == name
        assert isinstance(error, ImportError) and isinstance(error, xp.UnsupportedError)
    else:
        raise AssertionError("no error")
""",
        name,
    )


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_everything_public_has_a_docstring(name):
    needs(name)
    module = getattr(xp, name)
    for thing in module.__all__:
        assert inspect.getdoc(getattr(module, thing)), thing
    members = [member for member in dir(module.Loader) if not member.startswith("_")]
    assert not [member for member in members if not inspect.getdoc(getattr(module.Loader, member))]


CPP = """
#include <cstdio>
#include <xtts/batch.hpp>
// Two epochs' numbers, as they are, on standard output.
int main(int, char** arguments) {
  auto cache = xtts::Cache::open(arguments[1]);
  if (!cache.ok()) return 1;
  auto reader = xtts::Reader::open(*cache, {.batch_size = 8, .seed = 11, .last_batch = xtts::LastBatch::kPad});
  if (!reader.ok()) return 2;
  for (int epoch = 0; epoch < 2; ++epoch) {
    reader->set_epoch(epoch);
    for (;;) {
      auto batch = reader->next();
      if (!batch.ok()) return 4;
      if (!*batch) break;
      for (const char* name : {"mel", "tokens"}) {
        const auto* column = (*batch)->find(name);
        std::fwrite(column->bytes.data(), 1, column->bytes.size(), stdout);
        std::fwrite(column->lengths.data(), 4, column->lengths.size(), stdout);
      }
    }
  }
}
"""


@pytest.fixture(scope="session")
def cpp_program(tmp_path_factory):
    """A C++ program that reads the same batches with the package's own library.

    The public headers are those of the source tree.
    """
    folder = tmp_path_factory.mktemp("cpp")
    (folder / "batches.cpp").write_text(CPP)
    library = Path(xp.__file__).parent
    linked = (f"-I{PROJECT}/include", library / "libxtts_reader.so.0", f"-Wl,-rpath,{library}")
    ran("c++", "-std=c++20", "-O1", folder / "batches.cpp", "-o", folder / "batches", *linked, check=True)
    return folder / "batches"


def loader_batches(name, cache, options):
    loader = getattr(xp, name).Loader(cache, **options)
    for _ in range(2):
        for batch in loader:
            fields = batch.mel, batch.mel_len, batch.tokens, batch.text_len
            if name == "torch":
                yield tuple(field.view(xp.torch.torch.uint8).numpy() for field in fields)
            else:
                yield tuple(map(np.asarray, fields))


@pytest.mark.parametrize("form", SOME_FORMS)
def test_batches_are_equal_to_cpps_in_every_bit(form, caches, cpp_program):
    expected = subprocess.run([cpp_program, caches(form)], capture_output=True, check=True).stdout
    reader = xp.open(caches(form)).reader(batch_size=8, seed=11, drop_last=False)
    found = hashlib.sha256()
    for batch in itertools.chain(reader, reader):
        for array in (batch.mel, batch.mel_len, batch.tokens, batch.text_len):
            found.update(np.ascontiguousarray(array).view(np.uint8).tobytes())
    assert len(expected) > 2 * 5 * 8 * 64 * 80 and found.hexdigest() == hashlib.sha256(expected).hexdigest()


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_clips_without_a_cache_give_the_batches_of_a_cache(name, cache, corpus):
    needs(name)
    options = {"batch_size": 8, "seed": 11, "drop_last": False}
    made, stored = (
        [[array.tobytes() for array in batch] for batch in loader_batches(name, clips, options)]
        for clips in (runtime(corpus), cache)
    )
    assert made == stored and len(made) == 10


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_loader_of_clips_without_a_cache_goes_on_in_another_process(name, corpus):
    needs(name)
    with getattr(xp, name).Loader(runtime(corpus), batch_size=4, seed=3, fields=("mel_len", "ids")) as loader:
        taken = next(iter(loader))
        again = pickle.loads(pickle.dumps(loader))
        left = [np.asarray(batch["mel_len"]).tolist() for batch in again]
        assert loader.cache.digest == again.cache.digest and again.cache is not loader.cache
    whole = [
        np.asarray(batch["mel_len"]).tolist()
        for batch in getattr(xp, name).Loader(runtime(corpus), batch_size=4, seed=3)
    ]
    assert [np.asarray(taken["mel_len"]).tolist(), *left] == whole and len(whole) == 9
