"""xtts-precompute profile and the training samples, run with PyTorch and TensorFlow.

They run where the frameworks are installed (tests/python/frameworks.sh).
"""

import importlib.util
import json
import os
import sys
import xml.dom.minidom

import numpy as np
import pytest
import xtts_precompute as xp
from support import PROJECT, build, needs, ran, write_wav
from xtts_precompute.profile import command

FRAMEWORKS = ("torch", "tensorflow")
DEADLINE_S = 600  # for a program that takes some seconds on an idle machine


def run(*arguments, **environment):
    command = [sys.executable, *map(str, arguments)]
    return ran(*command, timeout=DEADLINE_S, environment={"OMP_NUM_THREADS": "1", **environment})


def profile(*arguments):
    return run("-m", "xtts_precompute.profile", *arguments)


# ---- the command


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_five_steps_are_timed_and_compared(name, path, tmp_path):
    needs(name)
    done = profile(
        path,
        "--framework",
        name,
        "--num-steps",
        5,
        "--warmup",
        2,
        "--batch-size",
        4,
        "--json",
        "--plot",
        tmp_path / "steps.svg",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["steps"], found["warmup_steps"], found["batch_size"], found["device"], found["clock"]) == (
        5,
        2,
        4,
        "cpu",
        "wall",
    )
    assert found["framework"].lower().startswith("pytorch" if name == "torch" else name) and found["has_text"] is True
    assert 1_000_000 < found["parameters"] < 3_000_000 and found["cache"] == str(path)
    assert [phase["name"] for phase in found["phases"]] == ["data", "forward", "loss", "backward", "optimizer", "other"]
    assert sum(phase["share"] for phase in found["phases"]) == pytest.approx(1)
    shares = {phase["name"]: phase["share"] for phase in found["phases"]}
    assert shares["forward"] + shares["backward"] > 0.3 and shares["backward"] > shares["loss"]
    assert found["synthetic"]["steps"] == 5 and found["synthetic"]["gain"] > 0
    assert xml.dom.minidom.parse(str(tmp_path / "steps.svg")).documentElement.tagName == "svg"


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_cache_without_texts_trains_on_mels_alone(name, tmp_path):
    needs(name)
    sounds = tmp_path / "data"
    sounds.mkdir()
    for number in range(6):
        write_wav(sounds / f"{number}.wav", 8000 * np.sin(np.arange(9000) / (9 + number)))
    cache = build(sounds, tmp_path / "cache")
    assert set(xp.open(cache).columns) == {"mel"}
    done = profile(cache, "--framework", name, "--num-steps", 2, "--warmup", 1, "--batch-size", 2, "--no-synthetic")
    assert done.returncode == 0, done.stderr
    assert "on mel alone, since the cache has no tokens" in done.stdout and "2 steps of 2 samples" in done.stdout
    assert "data for free" not in done.stdout


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_two_gpus_where_there_are_none_share_the_cpu(name, path):
    needs(name)
    few = ("--num-steps", 2, "--warmup", 1, "--batch-size", 4, "--no-synthetic")
    done = profile(path, "--framework", name, "--data-gpu", 0, "--model-gpu", 1, *few, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if found["device"] == "cpu":
        assert "data and model share the CPU" in found["note"] and "data_gpu" not in found


def test_with_two_gpus_the_loader_copies_from_one_to_the_other(path, tmp_path, monkeypatch):
    needs("torch")
    import torch
    from xtts_precompute.profile import placement, runs

    if torch.cuda.is_available():
        pytest.skip("there is CUDA here")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    (tmp_path / "placed_step.py").write_text("def step(batch): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    options = command._parser().parse_args(
        [str(path), "--framework", "torch", "--step", "placed_step:step", "--batch-size", "4"]
    )
    with pytest.warns(UserWarning, match="data_device without effect"):  # the reader knows of no GPU
        run = runs.prepare(options, xp.StepProfiler(clock="wall", gpu=None), placement.place(0, 1, 2))
    assert (str(run.loader._device), run.loader._options["data_device"]) == ("cuda:1", "cuda:0")


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_step_of_ones_own_takes_the_batches_of_a_cache(name, path, tmp_path):
    needs(name)
    (tmp_path / "own_step.py").write_text("def step(batch): assert batch['mel'].shape[0] == 4 and 'mel_len' in batch\n")
    few = ("--num-steps", 2, "--warmup", 1, "--batch-size", 4, "--json")
    folders = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    module = ("-m", "xtts_precompute.profile")
    done = run(*module, path, "--framework", name, "--step", "own_step:step", *few, PYTHONPATH=folders)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["parameters"] is None and found["batch_size"] == 4
    assert {"train", "forward, loss"} & {phase["name"] for phase in found["phases"]}


def test_half_the_digits_train_too(caches):
    needs("torch")
    done = profile(
        caches("lmdb-packed-float16"),
        "--framework",
        "torch",
        "--num-steps",
        2,
        "--warmup",
        0,
        "--batch-size",
        4,
        "--no-synthetic",
    )
    assert done.returncode == 0, done.stderr


def test_errors_say_what_to_do_and_end_with_the_codes_of_the_readme(path, own_path, tmp_path, monkeypatch, capsys):
    def fails(code, words, *arguments):
        assert command.main([str(one) for one in arguments]) == code
        said = capsys.readouterr()
        assert words in said.err and said.err.startswith("xtts-precompute profile: ") and said.out == "", said

    fails(2, "there is no cache at", tmp_path / "nothing")
    fails(6, "name another one", path, "--plot", tmp_path / "nothing/x.svg")
    with monkeypatch.context() as patched:
        patched.setattr(importlib.util, "find_spec", lambda name: None)
        fails(2, "pip install torch or pip install tensorflow-cpu", path)
    (own_path / "manifest.json").write_bytes(b"{}")
    fails(4, "manifest", own_path)
    for wrong, words in (
        (["--num-steps", "0"], "from 1 to 1000000, not '0'"),
        (["--batch-size", "many"], "not 'many'"),
        (["--device", "gpu"], "is cpu, cuda, cuda:N or auto, not 'gpu'"),
        (["--plot", "x.gif"], "ends with .svg or .png"),
        (["--framework", "caffe"], "invalid choice"),
    ):
        fails(2, words, path, *wrong)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_too_few_clips_and_no_mel_are_said(name, path, tmp_path):
    needs(name)
    done = profile(path, "--framework", name, "--batch-size", 1000)
    assert done.returncode == 2 and "too few clips for a batch of 1000: ask for a smaller --batch-size" in done.stderr
    cuda = profile(path, "--framework", name, "--device", "cuda", "--num-steps", 1)
    assert cuda.returncode in (0, 2) and (cuda.returncode == 0 or "CUDA" in cuda.stderr or "0 GPUs" in cuda.stderr)


def test_damage_on_the_way_is_exit_code_four(own_path):
    needs("torch")
    (shard,) = (own_path / "shards/mel").iterdir()
    with open(shard, "r+b") as file:
        size = file.seek(0, 2)
        for place in range(20_000, size, 20_000):
            file.seek(place)
            file.write(b"\xff" * 16)
    done = profile(own_path, "--framework", "torch", "--num-steps", 8, "--batch-size", 8)
    assert done.returncode == 4 and "xtts-precompute profile: " in done.stderr, (done.returncode, done.stderr)


def test_tensorflows_clock_waits_for_its_devices():
    needs("tensorflow")
    done = run(
        "-c",
        """
import tensorflow as tf
import xtts_precompute as xp
waits = []
ask = tf.test.experimental.sync_devices
tf.test.experimental.sync_devices = lambda: (waits.append(1), ask())
profiler = xp.StepProfiler(warmup=0, clock="tensorflow")
matrix = tf.random.normal([512, 512])
for _ in profiler.batches([matrix] * 4):
    with profiler.phase("forward"):
        tf.matmul(matrix, matrix)
report = profiler.report()
assert report.clock == "tensorflow" and report.to_json()["batch_size"] == 512
assert [phase.name for phase in report.real.phases] == ["data", "forward", "other"]
assert report.real.phase("forward").share > 0.5
assert len(waits) == 4 * 5 + 1, waits  # each mark, and the wait for a fifth batch
""",
    )
    assert done.returncode == 0, done.stderr


def test_the_package_has_the_command():
    assert (
        'xtts-precompute-profile = "xtts_precompute.profile.command:main"' in (PROJECT / "pyproject.toml").read_text()
    )
    done = profile("--help")
    assert done.returncode == 0 and "xtts-precompute profile ./cache --fail-over 5% --json" in done.stdout


# ---- the network


@pytest.mark.parametrize("has_text", [True, False])
def test_the_network_learns_and_never_sees_what_it_predicts(has_text):
    needs("torch")
    import torch
    from xtts_precompute.reference_torch import GROUP, SmallTts, mel_loss

    torch.manual_seed(0)
    mel, tokens, text_len = torch.randn(3, 37, 20), torch.randint(0, 9000, (3, 11)), torch.tensor([11, 4, 0])
    text = (tokens, text_len) if has_text else ()
    model = SmallTts(20, has_text)
    with torch.no_grad():
        before = model(mel, *text)
        changed = mel.clone()
        changed[:, 2 * GROUP :] += 1
        after = model(changed, *text)
    assert before.shape == mel.shape and torch.isfinite(before).all()
    # Groups up to the third are predicted only from groups before the change.
    assert torch.equal(before[:, : 3 * GROUP], after[:, : 3 * GROUP]) and not torch.equal(before, after)
    mel_len = torch.tensor([37, 20, 5])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(40):
        loss = mel_loss(model(mel, *text), mel, mel_len)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    padding = mel.clone()
    padding[1, 20:] = 1e6  # padding has no effect
    assert mel_loss(mel, padding, mel_len) == 0 and mel_loss(mel + 2, mel, mel_len) == pytest.approx(2, rel=1e-5)


def test_both_frameworks_have_the_same_network():
    needs("torch")
    needs("tensorflow")
    done = run(
        "-c",
        """
import numpy as np, torch, tensorflow as tf
from xtts_precompute import reference_tensorflow, reference_torch
ours, theirs = reference_torch.SmallTts(80), reference_tensorflow.SmallTts(80)
random = np.random.default_rng(0)
def give(layer, theirs):
    for name, weight in zip(("weight", "bias"), theirs.trainable_weights):
        new = random.normal(0, 0.05, weight.shape).astype("f")
        weight.assign(new)
        turned = new.transpose(range(new.ndim)[::-1]).copy() if new.ndim > 1 and name == "weight" else new
        getattr(layer, name).data = torch.from_numpy(turned)
give(ours.query, theirs.query); give(ours.projection, theirs.projection)
for a, b in zip((ours.prenet[0], ours.prenet[2], *ours.decoder, *ours.norms, *ours.encoder),
                (*theirs.prenet, *theirs.decoder, *theirs.norms, *theirs.encoder)):
    give(a, b)
table = random.normal(0, 0.05, theirs.embedding.trainable_weights[0].shape).astype("f")
theirs.embedding.trainable_weights[0].assign(table); ours.embedding.weight.data = torch.from_numpy(table)
mel, tokens = random.normal(0, 1, (3, 37, 80)).astype("f"), random.integers(0, 900, (3, 11)).astype("i4")
text_len, mel_len = np.array([11, 4, 1], "i4"), np.array([37, 20, 5], "i4")
a = ours(torch.from_numpy(mel), torch.from_numpy(tokens), torch.from_numpy(text_len))
b = theirs(tf.constant(mel), tf.constant(tokens), tf.constant(text_len))
np.testing.assert_allclose(a.detach().numpy(), b.numpy(), atol=1e-4)
np.testing.assert_allclose(reference_torch.mel_loss(a, torch.from_numpy(mel), torch.from_numpy(mel_len)).item(),
                           float(reference_tensorflow.mel_loss(b, tf.constant(mel), tf.constant(mel_len))), rtol=1e-5)
""",
    )
    assert done.returncode == 0, done.stderr


# ---- the samples


@pytest.fixture(scope="session")
def sample_corpus(tmp_path_factory):
    """A corpus in LJSpeech's layout."""
    folder = tmp_path_factory.mktemp("ljspeech") / "data"
    (folder / "wavs").mkdir(parents=True)
    random = np.random.default_rng(5)
    lines = []
    for number in range(8):
        time = np.arange(int(22050 * (0.5 + 0.1 * number))) / 22050
        sound = np.sin(2 * np.pi * (150 + 10 * number) * time * (1 + time)) + 0.01 * random.standard_normal(len(time))
        write_wav(folder / f"wavs/c{number}.wav", 9000 * sound)
        lines.append(f"c{number}|No. {number}|number {number}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_sample_trains_before_and_after(name, sample_corpus, tmp_path):
    needs(name)
    done = run(
        PROJECT / f"samples/train_{name}.py",
        sample_corpus,
        "--cache",
        tmp_path / "cache",
        "--steps",
        2,
        "--warmup",
        1,
        "--batch-size",
        4,
    )
    assert done.returncode == 0, done.stderr
    table = done.stdout[done.stdout.index("wait ms") :].splitlines()
    ways = [line.split("  ")[0] for line in table if "->" in line]
    before = {
        "torch": ["on the fly, DataLoader, 0 workers", "on the fly, DataLoader, 2 workers"],
        "tensorflow": ["on the fly, tf.data"],
    }[name]
    after = {
        "torch": ["cache, xp.torch.Loader"],
        "tensorflow": ["cache, xp.tensorflow.Loader", "cache, xp.tensorflow.dataset"],
    }[name]
    if importlib.util.find_spec("librosa") is None:
        assert "NOT SHOWN: loading on the fly" in done.stderr and "pip install librosa" in done.stderr and ways == after
        return
    assert ways == before + after
    if name == "torch":  # first losses, of the same weights and clips in another order: the features are the same
        losses = [float(line.split()[-3]) for line in table if "->" in line]
        assert max(losses) - min(losses) < 0.2 * max(losses)


def test_the_samples_features_on_the_fly_are_the_caches(sample_corpus, tmp_path):
    needs("librosa")
    cache = tmp_path / "cache"
    xp.build(sample_corpus, cache)
    sys.path.insert(0, str(PROJECT / "samples"))
    try:
        import common
    finally:
        sys.path.pop(0)
    clips = common.clips_of(sample_corpus)
    assert len(clips) == 8
    for file, text in clips:
        stored = xp.open(cache)[file.rpartition("/")[2][:-4]]
        tokens, mel, text_len, mel_len = common.padded(common.mel_on_the_fly(file), text)
        assert mel_len == len(stored.mel) and text_len == len(stored.tokens)
        np.testing.assert_allclose(mel[:mel_len], stored.mel, atol=2e-3)
        np.testing.assert_array_equal(tokens[:text_len], stored.tokens)
