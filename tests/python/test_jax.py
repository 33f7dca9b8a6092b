"""JAX: the same bytes, one compilation for all epochs, shardings, slots."""

import os
import socket
import subprocess
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"

import numpy as np
import pytest
import xtts_precompute as xp
from support import ALL_FIELDS, SOME_FORMS, framework, grown_kib, same_bytes

jax = framework("jax")
jnp = jax.numpy

WAITS_FOR_SLOTS = True  # JAX lets go of batches, not the test


def rows():
    mesh = jax.sharding.Mesh(jax.devices("cpu")[:2], "data")
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))


@pytest.mark.parametrize("form", SOME_FORMS)
@pytest.mark.parametrize("shuffle", ["global", "none"])
@pytest.mark.parametrize("where", ["default", "second device", "both devices"])  # default: a GPU where one is
def test_batches_are_those_of_the_reader(form, shuffle, where, caches):
    device = {"default": None, "second device": jax.devices("cpu")[1], "both devices": rows()}[where]
    options = {"batch_size": 8, "shuffle": shuffle, "seed": 3, "drop_last": False}
    cache = xp.open(caches(form))
    loader = xp.jax.Loader(cache, device=device, fields=ALL_FIELDS, **options)
    assert len(loader) == 5
    for batch, expected in zip(loader, cache.reader(**options)):
        assert tuple(batch) == ALL_FIELDS and batch.mel is batch["mel"]
        assert same_bytes(batch.mel, expected.mel) and same_bytes(batch.tokens, expected.tokens)
        assert same_bytes(batch.mel_len, expected.mel_len) and same_bytes(batch.text_len, expected.text_len)
        assert same_bytes(batch.speaker, expected.speaker) and same_bytes(batch.language, expected.language)
        assert batch.ids == expected.ids + [""] * (8 - expected.valid_count)
        assert len(batch.mel.devices()) == (2 if where == "both devices" else 1)


def test_a_step_is_traced_once(cache):
    traces = []

    @jax.jit
    def step(weights, batch):
        traces.append(1)
        return weights + 1e-3 * batch.mel.sum() + batch["mel_len"].sum() + batch.tokens.sum()

    weights = jnp.zeros(())
    loader = xp.jax.Loader(cache, batch_size=8, drop_last=False)
    for _ in range(5):
        for batch in loader:
            weights = step(weights, batch)
    assert len(traces) == 1
    assert type(jax.tree_util.tree_map(lambda value: value, batch)) is xp.jax.ArrayBatch
    assert str(jax.tree_util.tree_flatten_with_path(batch)[0][0][0]) == "(DictKey(key='mel'),)"


@pytest.mark.parametrize("shuffle", ["global", "none"])
def test_donated_batches_change_nothing(shuffle, cache):
    # XLA may write results into a donated array. If that were the cache's own file ("none"), it
    # would end the process.
    step = jax.jit(lambda batch: jax.tree_util.tree_map(lambda value: value * 2 + 1, batch), donate_argnums=0)
    reader = cache.reader(batch_size=8, shuffle=shuffle)
    loader = xp.jax.Loader(cache, batch_size=8, shuffle=shuffle)
    for batch in reader:
        before = batch.mel.copy()
        doubled = step(loader._convert(batch))
        np.testing.assert_array_equal(doubled.mel, before * 2 + 1)
        np.testing.assert_array_equal(batch.mel, before)
        del batch


def test_slots_come_back(cache):
    loader = xp.jax.Loader(cache, batch_size=4, prefetch=3)

    @jax.jit
    def step(batch):
        return batch.mel.sum()

    for _ in range(30):
        with pytest.raises(RuntimeError):
            for batch in loader:
                raise RuntimeError(str(step(batch)))
        del batch
    for _ in range(5):
        for batch in loader:
            step(batch)


def test_states_and_epochs(cache):
    loader = xp.jax.Loader(cache, batch_size=8, seed=5, fields=("ids",))
    expected = [[batch.ids for batch in loader] for _ in range(2)]
    assert expected[0] != expected[1] and loader.epoch == 2
    loader.set_epoch(1)
    for _ in loader:
        break
    other = xp.jax.Loader(cache, batch_size=8, seed=5, fields=("ids",))
    other.load_state_dict(loader.state_dict())
    assert [batch.ids for batch in other] == expected[1][1:]


def test_ranks_are_processes(cache):
    assert xp.jax.share() == (0, 1)
    expected = [batch.ids for batch in cache.reader(batch_size=8, rank=1, world_size=2)]
    assert [
        batch.ids for batch in xp.jax.Loader(cache, batch_size=8, rank=1, world_size=2, fields=("ids",))
    ] == expected


def test_two_processes_share_an_epoch(path, tmp_path):
    try:
        socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        pytest.skip(
            f"this machine's name, {socket.gethostname()}, has no address (/etc/hosts), and JAX's processes meet by it"
        )
    code = """
import os, sys
rank = int(sys.argv[3])
import jax
import numpy as np
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"127.0.0.1:{sys.argv[2]}", 2, rank)
import xtts_precompute as xp
assert xp.jax.share() == (rank, 2)
mesh = jax.sharding.Mesh(jax.devices(), "data")
device = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
loader = xp.jax.Loader(sys.argv[1], batch_size=4, seed=1, device=device, fields=("mel", "ids"))
total = jax.jit(lambda mel: mel.sum())
found = []
for batch in loader:
    assert batch.mel.shape == (8, 64, 80)
    float(total(batch.mel))
    found += batch.ids
print(*found)
jax.distributed.shutdown()
"""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "XLA_FLAGS": "", "JAX_PLATFORMS": "cpu"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, path, str(port), str(rank)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0], said[0][1] + said[1][1]
    for rank, (out, _) in enumerate(said):
        reader = xp.open(path).reader(batch_size=4, seed=1, rank=rank, world_size=2)
        assert out.splitlines()[-1].split() == [clip for batch in reader for clip in batch.ids]


def test_wrong_arguments_are_told_at_once(cache):
    with pytest.raises(xp.InvalidArgumentError, match=r"jax\.devices\(\)"):
        xp.jax.Loader(cache, device="gpu")
    with pytest.raises(xp.NotFoundError, match="did you mean 'mel'"):
        xp.jax.Loader(cache, fields=("mell",))


def test_memory_stays_flat(path):
    code = """
import sys
import jax, xtts_precompute as xp

step = jax.jit(lambda batch: batch.mel.sum())
loader = xp.jax.Loader(sys.argv[1], batch_size=4)

def epochs(count):
    for _ in range(count):
        for batch in loader:
            step(batch)
"""
    grown = grown_kib(code, 60, 100, path)
    assert grown < 4096, f"{grown} KiB more"
