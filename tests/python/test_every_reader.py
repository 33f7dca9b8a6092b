"""Every shipped recipe by every way to read: the same record, row by row and bit by bit.

test_recipes.py compares records with the code of their model. Most clips here are shorter than the
record, and recipes that pad sound have another padding for each.
"""

import shutil
import subprocess

import numpy as np
import pytest
import xtts_precompute as xp
from support import PROJECT, make_corpus, needs, tell

RECIPES = sorted(path.stem for path in (PROJECT / "configs/recipes").glob("*.yaml"))
EACH_HAS_ITS_OWN = {"whisper-80", "whisper-128"}  # recipes whose padding differs from clip to clip
CLIPS = 7
WAITS_FOR_SLOTS = True  # frameworks let go of batches, not the test


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("every") / "data"
    make_corpus(folder, CLIPS, seed=5, seconds=(0.9, 2.2))
    return folder


@pytest.fixture(scope="module")
def cache_of(data, tmp_path_factory):
    """Gives a function: the cache of a recipe in a layout, which is built at its first use."""
    folder = tmp_path_factory.mktemp("caches")

    def of(recipe, layout="padded"):
        path = folder / f"{recipe}-{layout}"
        if not path.exists():
            tell("build", data, path, "--quiet", "--recipe", recipe, "--layout", layout)
        return xp.open(path)

    return of


@pytest.fixture(scope="module")
def read_rows(tmp_path_factory):
    """The program read_rows.cpp, compiled as its users would."""
    package = xp._core.__file__.rpartition("/")[0]
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    program = tmp_path_factory.mktemp("program") / "read_rows"
    library = f"{package}/libxtts_reader.so.0"
    command = [compiler, "-std=c++20", "-O1", f"-I{PROJECT / 'include'}", PROJECT / "tests/python/read_rows.cpp"]
    subprocess.run([*command, library, f"-Wl,-rpath,{package}", "-o", program], check=True)
    return program


def rows(cache, batches):
    """Returns the columns of all clips [clips, ...], from (positions, a mapping of columns)."""
    found = {name: [None] * len(cache) for name in cache.columns}
    for positions, batch in batches:
        for row, position in enumerate(positions):
            for name in found:
                found[name][position] = np.array(batch[name][row])
    return {name: np.stack(records) for name, records in found.items()}


def truth_of(cache):
    reader = cache.reader(batch_size=3, shuffle="none", drop_last=False)
    return rows(cache, ((batch.positions, batch) for batch in reader))


def check(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape, name
        assert found[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize("recipe", RECIPES)
def test_layouts_clips_and_orders(recipe, cache_of):
    cache, packed = cache_of(recipe), cache_of(recipe, "packed")
    expected = truth_of(cache)
    check(truth_of(packed), expected)
    for one in (cache, packed):
        for seed in range(2):
            reader = one.reader(batch_size=4, seed=seed, drop_last=False)
            check(rows(one, ((batch.positions, batch) for batch in reader)), expected)
        check({name: np.stack([clip.padded(name) for clip in one]) for name in one.columns}, expected)
        for name, array in expected.items():
            for clip, record in zip(one, array):
                assert len(clip[name]) <= len(record) and (record[len(clip[name]) :] == clip.padding(name)).all()
    first = next(name for name in expected if name != "tokens")
    assert any(len(clip[first]) < len(expected[first][0]) for clip in cache)
    assert (len({clip.padding(first) for clip in cache}) > 1) == (recipe in EACH_HAS_ITS_OWN)


@pytest.mark.parametrize("layout", ["padded", "packed"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_padding_of_halves_is_what_the_column_holds(dtype, layout, data, tmp_path):
    tell("build", data, tmp_path / "c", "--quiet", "--recipe", "whisper-80", "--dtype", dtype, "--layout", layout)
    cache = xp.open(tmp_path / "c")
    for columns in (["mel"], {"mel": "float32"}):
        reader = cache.reader(batch_size=3, shuffle="none", drop_last=False, columns=columns)
        for clip, record in zip(
            cache, (row for batch in reader for row in np.array(batch.mel[: len(batch)], np.float32))
        ):
            behind = record[len(clip["mel"]) :]
            assert behind.size > 0 and (behind == np.float32(clip.padding("mel"))).all()
            assert (np.asarray(clip.padded("mel"), np.float32) == record).all()


@pytest.mark.parametrize("recipe", RECIPES)
def test_without_a_cache(recipe, cache_of, data):
    expected = truth_of(cache_of(recipe))
    with xp.runtime(data, recipe, workers=1, progress=False).reader(batch_size=3, seed=2, drop_last=False) as reader:
        check(rows(cache_of(recipe), ((batch.positions, batch) for batch in reader)), expected)
    clips = xp.runtime(data, recipe, workers=1, progress=False)
    check({name: np.stack([clip.padded(name) for clip in clips]) for name in clips.columns}, expected)


@pytest.mark.parametrize("layout", ["padded", "packed"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_c_and_cpp(recipe, layout, cache_of, read_rows, tmp_path):
    cache = cache_of(recipe, layout)
    subprocess.run([read_rows, cache.path, tmp_path], check=True)
    for name, array in truth_of(cache).items():
        for way in ("cpp_read", "cpp_view", "cpp_batch", "c_read", "c_view", "c_batch"):
            assert (tmp_path / f"{way}-{name}").read_bytes() == array.tobytes(), (way, name)


# ---- frameworks


def by_id(cache, batches):
    """Returns the columns of all clips, from batches with ids."""

    def positions(batch):
        ids = [clip if isinstance(clip, str) else clip.decode() for clip in batch["ids"]]
        return [cache[clip].position for clip in ids if clip]  # rows without a clip come last

    return rows(cache, ((positions(batch), batch) for batch in batches))


def as_numpy(batch):
    return {name: value if isinstance(value, list) else np.asarray(value) for name, value in batch.items()}


@pytest.mark.parametrize("layout", ["padded", "packed"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_torch(recipe, layout, cache_of):
    needs("torch")
    import torch

    cache = cache_of(recipe, layout)
    expected = truth_of(cache)
    fields = (*cache.columns, "ids")
    options = {"batch_size": 3, "fields": fields, "drop_last": False}
    loaders = [xp.torch.Loader(cache, seed=1, **options), xp.torch.Loader(cache, shuffle="none", **options)]
    loaders.append(torch.utils.data.DataLoader(xp.torch.BatchDataset(cache, seed=2, **options), batch_size=None))
    for collates in (True, False):
        for order in (range(len(cache)), reversed(range(len(cache))), np.random.default_rng(9).permutation(len(cache))):
            dataset = xp.torch.ClipDataset(cache, fields=fields)
            given = {"collate_fn": dataset.collate} if collates else {}
            loaders.append(torch.utils.data.DataLoader(dataset, batch_size=2, sampler=[int(i) for i in order], **given))
    for loader in loaders:
        check(by_id(cache, map(as_numpy, loader)), expected)
    dataset = xp.torch.ClipDataset(cache, fields=fields)
    singles = (dataset[position] for position in (3, 1, 0, 6, 5, 2, 4))
    check(
        by_id(cache, ({n: [v] if n == "ids" else v[None].numpy() for n, v in one.items()} for one in singles)), expected
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_tensorflow(recipe, cache_of):
    needs("tensorflow")
    cache = cache_of(recipe, "packed")
    # TensorFlow's integers are int32, those of a wave, too (integers=).
    expected = {name: one.astype("int32") if one.dtype.kind == "i" else one for name, one in truth_of(cache).items()}
    fields = (*cache.columns, "ids")
    for options in ({"seed": 1}, {"shuffle": "none"}):
        options = {"batch_size": 3, "fields": fields, "drop_last": False, **options}
        check(by_id(cache, map(as_numpy, xp.tensorflow.Loader(cache, **options))), expected)
        check(by_id(cache, xp.tensorflow.dataset(cache, **options).as_numpy_iterator()), expected)


@pytest.mark.parametrize("recipe", RECIPES)
def test_jax(recipe, cache_of):
    needs("jax")
    cache = cache_of(recipe)
    expected = truth_of(cache)
    fields = (*cache.columns, "ids")
    for options in ({"seed": 1}, {"shuffle": "none"}):
        loader = xp.jax.Loader(cache, batch_size=3, fields=fields, drop_last=False, **options)
        check(by_id(cache, map(as_numpy, loader)), expected)
