"""Building and verifying: reports, progress, Ctrl-C, and a reader-only installation's errors."""

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import xtts_precompute as xp
from support import MAX_FRAMES, MAX_TOKENS, PADDING, PROJECT, make_corpus, ran, run_python, tell
from xtts_precompute._build import arguments

SETTINGS = {"max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS, "features.pad_value": PADDING}
FOLDER = Path(xp.__file__).parent
as_installed = pytest.mark.skipif(
    "python-in-place" in str(FOLDER), reason="the package is tried in place: nobody installed it"
)


def build(data, cache, **options):
    return xp.build(data, cache, settings=SETTINGS, **{"progress": False, **options})


@pytest.fixture(scope="module")
def built(corpus, tmp_path_factory):
    """A cache made by xp.build(), its report, and the progress that it told."""
    path = tmp_path_factory.mktemp("built") / "cache"
    told = []
    return path, build(corpus, path, progress=told.append), told


@pytest.fixture
def copy(built, tmp_path):
    return shutil.copytree(built[0], tmp_path / "cache")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A corpus with so many clips that a build takes seconds on one thread."""
    folder = tmp_path_factory.mktemp("many") / "data"
    make_corpus(folder, 50)
    lines = (folder / "metadata.csv").read_text().splitlines()
    for turn in range(1, 40):
        for line in lines[1:]:
            name = line.split(",")[0]
            (folder / f"{turn}-{name}").hardlink_to(folder / name)
        lines += [f"{turn}-{line}" for line in lines[1:51]]
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")
    return folder


def files(cache):
    return {
        path.relative_to(cache): path.read_bytes()
        for path in Path(cache).rglob("*")
        if path.is_file() and path.name != "sources.bin"
    }


def flip_a_byte(cache):
    shard = next((Path(cache) / "shards/mel").iterdir())
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 0x10
    shard.write_bytes(content)
    return shard


def test_lengths_are_those_of_the_corpus(corpus, tmp_path):
    report = xp.build(corpus, tmp_path / "cache", recipe="tacotron2", progress=False)
    cache = xp.open(tmp_path / "cache")
    frames, tokens = report.lengths["max_frames"], report.lengths["max_tokens"]
    assert frames["looked_at"]["longer"] == 0 and frames["looked_at"]["longest"] == max(len(c.mel) for c in cache)
    assert frames["number"] == -(-frames["looked_at"]["longest"] // 32) * 32
    assert tokens["number"] == -(-max(len(c.text.encode()) for c in cache) // 8) * 8
    assert cache[0].padded("mel").shape == (frames["number"], 80)
    columns = xp.runtime(corpus, recipe="tacotron2", progress=False).columns
    assert (columns["mel"].shape[0], columns["tokens"].shape[0]) == (frames["number"], tokens["number"])
    same = xp.build(corpus, tmp_path / "cache", recipe="tacotron2", settings={"max_frames": "auto"}, progress=False)
    assert same.unchanged and same.lengths["max_frames"] == {"number": frames["number"], "looked_at": None}
    with pytest.raises(xp.MismatchError, match="features.max_frames"):
        xp.build(corpus, tmp_path / "cache", recipe="tacotron2", settings={"max_frames": 999}, progress=False)


def test_a_build_makes_the_command_lines_cache(built, path):
    cache, report, told = built
    assert files(cache) == files(path)
    assert report.records == report.computed == report.clips == len(xp.open(cache)) and not report.unchanged
    assert report.rejects["count"] == 0 and report.bytes > 0 and report.cache == str(cache)
    assert told[-1].done == told[-1].total == report.records and told[-1].rejects == 0
    assert all(isinstance(progress, xp.BuildProgress) for progress in told)


def test_a_second_build_has_nothing_to_do(built, corpus, copy):
    before = files(copy)
    report = build(corpus, copy)
    assert report.unchanged and report.computed == 0 and report.reused == report.records == len(xp.open(copy))
    assert files(copy) == before


def test_the_names_of_reports_are_those_of_the_json(built, corpus, tmp_path):
    def names(kind):
        return {field.name for field in dataclasses.fields(kind)}

    cache = tmp_path / "cache"
    assert names(xp.BuildPreview) == set(json.loads(tell("build", corpus, cache, "--dry-run", "--json")))
    assert names(xp.BuildReport) == set(json.loads(tell("build", corpus, cache, "--json")))
    assert names(xp.VerifyReport) == set(json.loads(tell("verify", cache, "--json")))
    flip_a_byte(cache)
    damaged = json.loads(
        subprocess.run([FOLDER / "xtts-precompute", "verify", cache, "--json"], capture_output=True, check=False).stdout
    )
    assert names(xp.Finding) == set(damaged["findings"][0])
    mended = json.loads(tell("verify", cache, "--repair", "--json"))
    assert names(xp.Repaired) == set(mended["repaired"][0])


def test_a_dry_run_only_looks(corpus, tmp_path):
    preview = build(corpus, tmp_path / "cache", dry_run=True)
    assert (
        isinstance(preview, xp.BuildPreview) and preview.clips == preview.to_compute == 37 and preview.sound_seconds > 0
    )
    assert not (tmp_path / "cache/manifest.json").exists()


def test_a_dry_run_says_that_nothing_is_to_be_done(corpus, tmp_path):
    report = build(corpus, tmp_path / "cache")
    preview = build(corpus, tmp_path / "cache", dry_run=True)
    assert isinstance(preview, xp.BuildPreview) and preview.clips == 37
    assert preview.to_compute == 0 and preview.reused == report.records
    assert preview.rejects["count"] == report.rejects["count"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"store": "hdf5", "layout": "packed", "dtype": "float16"}, ("packed", "float16")),
        ({"settings": ["storage.dtype=bfloat16", "max_frames=32"]}, ("padded", "bfloat16")),
    ],
)
def test_options_reach_the_build(options, expected, corpus, tmp_path):
    xp.build(
        corpus,
        tmp_path / "cache",
        progress=False,
        threads=1,
        memory="600M",
        max_rejects=0.1,
        max_dropped=1.0,
        language="tlh",
        **options,
    )
    said = json.loads(tell("info", tmp_path / "cache", "--json"))
    assert (said["columns"][0]["layout"], said["columns"][0]["dtype"]) == expected


def test_parts_are_built_one_by_one(corpus, tmp_path):
    reports = [build(corpus, tmp_path / str(part), partition=(part, 2)) for part in (1, 2)]
    assert sum(report.records for report in reports) == 37
    tell("merge", tmp_path / "whole", tmp_path / "1", tmp_path / "2", "--quiet")
    assert len(xp.open(tmp_path / "whole")) == 37


def test_parts_of_a_plan_are_built_one_by_one(corpus, tmp_path):
    tell("plan", corpus, tmp_path / "plan", "--parts", 2, "--max-rejects", "50%", "--max-dropped", "100%", "--quiet")
    limits = {"max_rejects": "50%", "max_dropped": "100%", "progress": False}
    for part in ("0001", "0002"):
        xp.build(cache=tmp_path / part, part=tmp_path / "plan" / part, **limits)
    tell("merge", tmp_path / "whole", tmp_path / "0001", tmp_path / "0002", "--max-rejects", "50%", "--quiet")
    xp.build(corpus, tmp_path / "one", **limits)
    whole, one = files(tmp_path / "whole"), files(tmp_path / "one")
    assert {name: whole[name] for name in whole if name != "sources.bin"} == {
        name: one[name] for name in one if name != "sources.bin"
    }
    with pytest.raises(xp.InvalidArgumentError, match="settings.* is decided by the plan"):
        xp.build(cache=tmp_path / "no", part=tmp_path / "plan/0001", settings={"max_frames": 3}, progress=False)


def test_verify_and_repair(built, copy):
    whole = files(copy)
    told = []
    report = xp.verify(copy, progress=told.append)
    assert report.ok and report.findings == [] and report.repaired == [] and report.records == 2 * len(xp.open(copy))
    assert told[-1].stage == "check" and told[-1].done == told[-1].total
    shard = flip_a_byte(copy)

    damaged = xp.verify(copy, progress=False)
    assert not damaged.ok and damaged.finding_count == len(damaged.findings) == 1
    assert damaged.findings[0].file == str(shard.relative_to(copy)) and damaged.findings[0].clip in xp.open(copy).ids

    told.clear()
    mended = xp.verify(copy, repair=True, progress=told.append)
    assert mended.ok and mended.findings == [] and [one.file for one in mended.repaired] == [damaged.findings[0].file]
    assert "repair" in {progress.stage for progress in told}
    assert files(copy) == whole

    deep = xp.verify(copy, "deep", sample=0.25, seed=3, progress=False)
    assert deep.ok and 0 < deep.recomputed < deep.sampled_of == 37 and deep.comparison == "bit for bit"


def test_failures_are_typed(corpus, built, tmp_path):
    with pytest.raises(xp.NotFoundError):
        build(tmp_path / "nowhere", tmp_path / "cache")
    with pytest.raises(xp.NotFoundError, match="did you mean 'myxtts'"):
        build(corpus, tmp_path / "cache", recipe="myxtt")
    with pytest.raises(xp.MismatchError):
        xp.build(corpus, built[0], settings={"n_mels": 40}, progress=False)
    with pytest.raises(xp.NotFoundError):
        xp.verify(tmp_path / "nowhere", progress=False)
    bad = shutil.copytree(corpus, tmp_path / "bad")
    (bad / "clip-000.wav").write_bytes(b"no sound")
    with pytest.raises(xp.TooManyRejectsError, match="clip-000"):
        build(bad, tmp_path / "cache", max_rejects=0)
    report = build(bad, tmp_path / "cache", max_rejects=1)
    assert report.rejects["by_class"] == {"input": 1} and report.records == 36


def test_messages_name_arguments_as_python_has_them(corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "data")
    build(data, tmp_path / "cache")
    lines = (data / "metadata.csv").read_text().splitlines()
    (data / "metadata.csv").write_text("\n".join(lines[:-10]) + "\n")
    with pytest.raises(xp.TooManyRejectsError, match='Run again with max_gone="[0-9.]*%"') as error:
        build(data, tmp_path / "cache")
    assert "--" not in str(error.value)
    build(data, tmp_path / "cache", max_gone=str(error.value).split('max_gone="')[1].split('"')[0])


def test_a_list_that_nobody_can_read_is_left_to_no_text(corpus, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    shutil.copy(next(corpus.glob("*.wav")), data / "one.wav")
    (data / "train.csv").write_text("sound_of_it,bytes,what_is_said\none.wav,1,Hello.\n")
    for make in (
        lambda **options: build(data, tmp_path / "cache", **options),
        lambda **options: xp.runtime(data, progress=False, **options),
    ):
        with pytest.raises(xp.InvalidArgumentError, match="or give no_text=True"):
            make()
        assert make(no_text=True)
    assert len(xp.runtime(data, no_text=True, progress=False)) == 1


def test_a_recipe_without_tokens_keeps_the_texts(corpus, built, tmp_path):
    texts = {clip.id: clip.text for clip in xp.open(built[0])}
    assert len(set(texts.values())) > 1
    for name, options in {"texts": {}, "silent": {"no_text": True}}.items():
        xp.build(corpus, tmp_path / name, recipe="hifigan", progress=False, **options)
        cache = xp.open(tmp_path / name)
        assert "tokens" not in cache.columns
        kept = {clip.id: clip.text for clip in cache}
        assert kept == (texts if name == "texts" else dict.fromkeys(texts))
    live = xp.runtime(corpus, recipe="hifigan", progress=False)
    assert {clip.id: clip.text for clip in live} == texts


def test_lists_of_another_encoding_are_read_and_normalized(corpus, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    shutil.copy(next(corpus.glob("*.wav")), data / "one.wav")
    (data / "metadata.csv").write_bytes("file,text\none.wav,\u0643\u062a\u0627\u0628 \u0645\u0646\n".encode("cp1256"))
    with pytest.raises(xp.InvalidArgumentError, match="corpus.encoding=cp1256"):
        build(data, tmp_path / "cache")
    settings = {"corpus.encoding": "cp1256", "text.normalize": ["arabic_letters"]}
    xp.build(data, tmp_path / "cache", settings=settings, progress=False)
    (clip,) = xp.open(tmp_path / "cache")
    assert clip.text == "\u0643\u062a\u0627\u0628 \u0645\u0646"
    assert clip.text_normalized == "\u06a9\u062a\u0627\u0628 \u0645\u0646"


def test_a_clip_that_nothing_makes_again_is_let_go(corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "data")
    build(data, tmp_path / "cache")
    next((tmp_path / "cache/shards/mel").iterdir()).unlink()
    (data / "clip-000.wav").unlink()
    refused = xp.verify(tmp_path / "cache", repair=True, progress=False)
    assert not refused.ok and "--max-gone" in refused.remedy
    mended = xp.verify(tmp_path / "cache", repair=True, max_gone=0.05, progress=False)
    assert mended.ok and "clip-000" in "".join(file.what for file in mended.repaired)
    assert xp.verify(tmp_path / "cache", progress=False).ok


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": "lmbd"}, "did you mean 'lmdb'"),
        ({"threads": 0}, "from 1 to 1024"),
        ({"memory": "12X"}, "memory '12X': a size such as 512M"),
        ({"max_rejects": "many"}, "max_rejects 'many': a number of clips"),
        ({"partition": (3, 2)}, "partition '3/2': I/N"),
        ({"partition": 3}, r"partition must be \(i, n\)"),
        ({"progress": "yes"}, "progress must be True, False or a function"),
        ({"dry_run": "yes"}, "dry_run must be True or False"),
        ({"recipe": 3}, "recipe must be a path"),
        ({"cache": ""}, "cache is '', which is no path"),
        ({"settings": "max_frames=3"}, "not one text"),
        ({"settings": {"max_frames": object()}}, "setting max_frames must be"),
    ],
)
def test_wrong_arguments_say_what_is_right(options, message, corpus, tmp_path):
    with pytest.raises(xp.InvalidArgumentError, match=message):
        xp.build(**{"data": corpus, "cache": tmp_path / "cache", "progress": False, **options})


def test_warnings_are_pythons(corpus, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("data:\n  sample_rate: 22050\n  add_noise: true\n")
    said = ran(FOLDER / "xtts-precompute", "build", corpus, tmp_path / "a", "--config", config).stderr
    expected = [line.removeprefix("warning: ") for line in said.splitlines() if line.startswith("warning: ")]
    assert expected
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        xp.build(corpus, tmp_path / "b", config=config, progress=False)
    assert [str(warning.message) for warning in caught] == expected
    assert caught[0].filename == __file__


def test_an_exception_of_progress_stops_the_build(many, tmp_path):
    calls = []

    def stop(progress):
        calls.append(progress)
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        build(many, tmp_path / "cache", progress=stop, threads=1)
    assert len(calls) == 1 and calls[0].done < calls[0].total
    assert not (tmp_path / "cache/manifest.json").exists()
    report = build(many, tmp_path / "cache")
    assert report.records == 2000 and xp.verify(tmp_path / "cache", progress=False).ok


INTERRUPTED = """
import signal, sys, time
import xtts_precompute as xp

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests in the background ignores it

def tell(progress):
    print(progress.done, flush=True)

try:
    xp.build(sys.argv[1], sys.argv[2], settings={"max_frames": 64}, threads=1, progress=tell)
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
"""


def test_ctrl_c_stops_a_build_within_a_second(many, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, many, tmp_path / "cache"], stdout=subprocess.PIPE, text=True
    ) as program:
        program.stdout.readline()
        asked = time.monotonic()
        program.send_signal(signal.SIGINT)
        said = program.stdout.read()
        assert program.wait(timeout=30) == 0
    assert float(said.split("interrupted")[1]) - asked < 1
    assert not (tmp_path / "cache/manifest.json").exists()
    report = xp.build(many, tmp_path / "cache", settings={"max_frames": 64}, progress=False)
    assert report.records == 2000


def test_other_threads_run_meanwhile_and_callbacks_come_in_the_callers(many, tmp_path):
    run_python(
        """
import sys, threading, time
import xtts_precompute as xp

turns = 0
done = threading.Event()

def turn():
    global turns
    while not done.is_set():
        turns += 1
        time.sleep(0.001)

other = threading.Thread(target=turn)
other.start()
threads = set()
xp.build(sys.argv[1], sys.argv[2], settings={"max_frames": 64}, threads=1,
         progress=lambda _: threads.add(threading.get_ident()))
done.set()
other.join()
assert threads == {threading.get_ident()}
assert turns > 20, turns
""",
        many,
        tmp_path / "cache",
    )


def test_a_daemon_threads_build_ends_with_the_interpreter(many, tmp_path):
    began = time.monotonic()
    run_python(
        """
import sys, threading
import xtts_precompute as xp

begun = threading.Event()

def build():
    try:
        xp.build(sys.argv[1], sys.argv[2], settings={"max_frames": 64}, threads=1, progress=lambda _: begun.set())
    except xp.Error:  # nobody would hear of it
        pass

threading.Thread(target=build, daemon=True).start()
begun.wait()
""",
        many,
        tmp_path / "cache",
    )
    assert time.monotonic() - began < 20
    assert not (tmp_path / "cache/manifest.json").exists()


def test_a_forked_child_is_told_to_spawn(corpus, tmp_path):
    run_python(
        """
import os, sys, warnings
import xtts_precompute as xp
warnings.simplefilter("ignore")

xp.build(sys.argv[1], sys.argv[2] + "/a", progress=False)
child = os.fork()
if child == 0:
    try:
        xp.build(sys.argv[1], sys.argv[2] + "/b", progress=False)
    except xp.UnsupportedError as error:
        os._exit(0 if "spawn" in str(error) else 2)
    os._exit(3)
assert os.waitpid(child, 0)[1] == 0
""",
        corpus,
        tmp_path,
    )


DISPLAYED = """
import sys
hidden = sys.argv[3].split(",")
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in hidden else found(name, *rest)
import xtts_precompute as xp
from xtts_precompute._build import progress
progress._LINE_EVERY_S = 0
xp.build(sys.argv[1], sys.argv[2], settings={"max_frames": 64})
xp.verify(sys.argv[2])
"""


@pytest.mark.parametrize(("hidden", "sign"), [("", "37/37"), ("tqdm", "100%"), ("tqdm,rich", "build: 37 of 37 clips")])
def test_progress_is_drawn_by_whatever_draws_here(hidden, sign, corpus, tmp_path):
    done = ran(sys.executable, "-c", DISPLAYED, corpus, tmp_path / "cache", hidden, timeout=60, check=True)
    assert done.stdout == "" and sign in done.stderr, done.stderr


def test_the_builder_is_loaded_only_when_something_is_built(path):
    run_python(
        """
import sys
import xtts_precompute as xp
next(iter(xp.open(sys.argv[1]).reader(batch_size=4)))
assert "xtts_precompute._builder" not in sys.modules and "libavformat" not in open("/proc/self/maps").read()
""",
        path,
    )


def test_a_process_that_builds_loads_no_codec(corpus, tmp_path):
    run_python(
        """
import sys
import xtts_precompute as xp
xp.build(sys.argv[1], sys.argv[2], progress=False)
maps = open("/proc/self/maps").read()
assert "libxtts_builder" in maps and "libavcodec" not in maps
""",
        corpus,
        tmp_path / "cache",
    )


def test_a_reader_only_installation_says_what_to_do(corpus, tmp_path):
    # The package without its builder, as it is installed if the tools' libraries are missing.
    parts = ("_builder.", "libxtts_builder.", "xtts-precompute", "xtts-decode")
    shutil.copytree(
        FOLDER, tmp_path / "xtts_precompute", ignore=lambda _, names: [name for name in names if name.startswith(parts)]
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    code = "import sys, xtts_precompute as xp; xp.build(sys.argv[1], sys.argv[2])"
    done = ran(sys.executable, "-c", code, corpus, tmp_path / "c", env=environment)
    said = done.stderr.splitlines()
    assert (
        done.returncode == 1
        and "UnsupportedError: this installation of xtts_precompute is the reader alone" in done.stderr
    )
    assert "libavformat-dev" in done.stderr
    command = next(line for line in said if line.startswith("then: ")).removeprefix("then: ").split()
    assert (
        command[:4] == [sys.executable, "-m", "pip", "install"]
        and "--config-settings=cmake.define.XTTS_BUILD_TOOLS=ON" in command
    )
    assert command[-1] == "xtts-precompute" or Path(command[-1]).suffix in ("", ".gz", ".whl")

    done = ran(sys.executable, "-m", "xtts_precompute", "--version", env=environment)
    assert done.returncode == 2 and "pip install" in done.stderr and done.stdout == ""


@as_installed
def test_a_builder_that_cannot_be_loaded_says_why(corpus, tmp_path):
    copied = shutil.copytree(FOLDER, tmp_path / "xtts_precompute")
    (copied / "libxtts_builder.so.0").unlink()  # as if a library that it needs had another version now
    code = "import sys, xtts_precompute as xp; xp.build(sys.argv[1], sys.argv[2])"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = ran(sys.executable, "-c", code, corpus, tmp_path / "c", env=environment)
    assert (
        done.returncode == 1
        and "cannot be loaded: libxtts_builder.so.0: cannot open shared object file" in done.stderr
        and "pip install" in done.stderr
    )


@as_installed
@pytest.mark.parametrize(
    "command", [[Path(sys.executable).with_name("xtts-precompute")], [sys.executable, "-m", "xtts_precompute"]]
)
def test_the_command_line_comes_with_the_package(command, corpus, tmp_path):
    def run(*arguments):
        return ran(*command, *arguments)

    assert run("--version").stdout.startswith(f"xtts-precompute {xp.__version__}")
    assert run("buidl").returncode == 2
    done = run(corpus, tmp_path / "cache", "--json", "--set", f"max_frames={MAX_FRAMES}")
    assert done.returncode == 0 and json.loads(done.stdout)["records"] == 37


@pytest.mark.parametrize("struct", ["BuildOptions", "VerifyOptions"])
def test_each_option_of_the_builder_has_a_row(struct):
    header = (PROJECT / "include/xtts/builder.hpp").read_text()
    body = header.split(f"struct {struct} {{", 1)[1].split("\n}", 1)[0]
    members = set(re.findall(r"^  [\w:<>]+ (\w+) = ", body, re.MULTILINE)) - {"program"}  # of the installation
    rows = (PROJECT / "src/python/builder_options.cpp").read_text()
    assert set(re.findall(rf"put_member<&{struct}::(\w+)>", rows)) == members
    taken = {member or name for name, (_, member) in arguments._OPTIONS.items()} | {"overwrite", "overwrite_only"}
    assert members <= taken
