"""doctor: its checks of what other programs answer or have written, whose shape may be any."""

import contextlib
import copy
import json
import os

import pytest
from xtts_advise import findings
from xtts_advise.doctor import code, frameworks, profile_file, trace_file
from xtts_advise.ranges import Range
from xtts_advise.words import Failure

SCAN = {
    "files_read": 3,
    "not_read": [{"file": "old.py", "reason": "Python 2"}],
    "loader": {"kind": "cannot_tell", "file": "data.py", "line": 4, "text": "two are built"},
    "finds": [
        {
            "rule": "librosa_in_getitem", "file": "data.py", "line": 12, "status": "fail",
            "text": "Features are computed in __getitem__.", "why": "Each batch waits for it.",
            "remedy": "Read them from a cache.",
        }
    ],
}  # fmt: skip
GRAPH = {
    "name": "graph", "what": "tf.function against eager", "status": "measured",
    "speedup": {"median": 4.0, "low": 3.0, "high": 5.0},
}  # fmt: skip
TENSORFLOW = {
    "name": "tensorflow", "installed": "yes", "version": "2.21.0", "measurements": [GRAPH],
    "cuda": {
        "built_for": "12.4", "source": "build_info.py",
        "needs": {"status": "pass", "text": "CUDA 12.4, and the driver runs CUDA up to 12.8"},
    },
}  # fmt: skip
TRACE = {
    "step_ms": 200.0,
    "wait_ms": 120.0,
    "notes": ["Recording took 1 % of one processor's time."],
    "findings": [
        {
            "title": "soundfile.read: 9 ms and 80 % of a sample", "file": "data.py", "line": 17, "share": 0.48,
            "remedy": "A cache holds it.", "gain": [1.5, 2.4], "evidence": ["called 2 times in a sample"],
        },
        {
            "title": "copy.deepcopy: 1 ms", "file": "data.py", "line": None, "share": 0.07, "remedy": "Copy less.",
            "gain": [1.0, 1.0], "evidence": [],
        },
    ],
}  # fmt: skip
PROFILE = {
    "step": {"ms": {"mean": 184}}, "batch_size": 8, "data": {"share": 0.54}, "device": "cpu",
    "synthetic": {"steps": 100, "step": {"ms": {"mean": 44, "std": 5}}, "data_share": 0.76},
    "gpu": {"utilization": {"mean": 18, "std": 14}},
}  # fmt: skip


def probe_of(**changed):
    return {"frameworks": [TENSORFLOW | changed]}


def of_graph(has_gpu=True, **changed):
    return frameworks.check(probe_of(**changed), has_gpu)[0]


def of_cuda(has_gpu=True, **changed):
    return frameworks.check(probe_of(**changed), has_gpu)[1]


def written(tmp_path, content):
    path = tmp_path / "file.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(path)


# ---- code


def test_a_find_becomes_a_finding_with_its_place():
    made = code.check(SCAN, "trainer")
    (found,) = made.findings
    assert made.status == found.status == "fail" and found.place == "data.py:12"
    assert found.text == "Features are computed in __getitem__. Each batch waits for it. [librosa_in_getitem]"
    assert made.summary == "1 place in 3 files may starve a GPU. 1 file was not read."
    assert [(one.what, one.value, one.source) for one in made.evidence] == [
        ("files", "3 files read, 1 not", "trainer"),
        ("the loader in use", "cannot tell", "data.py:4: two are built"),
        ("not read: old.py", "Python 2", "the scan"),
    ]


@pytest.mark.parametrize(
    "scan, status, words",
    [
        ({"files_read": 3}, "pass", "None of the known patterns that starve a GPU is in 3 files."),
        ({"files_read": 0}, "cannot_tell", "There is no Python file to read in trainer."),
        ({"files_read": "three", "finds": 7}, "cannot_tell", "There is no Python file"),
        ([], "cannot_tell", "There is no Python file"),
        ("no Python", "cannot_tell", "The code in trainer was not read: no Python."),
    ],
)
def test_clean_code_passes_and_no_code_is_no_answer(scan, status, words):
    made = code.check(scan, "trainer")
    assert made.status == status and made.summary.startswith(words)


def test_a_check_of_code_stays_readable():
    made = code.check(SCAN | {"finds": SCAN["finds"] * 1000}, "trainer")
    assert len(made.findings) == 200 and made.summary.startswith("1,000 places in 3 files")


# ---- frameworks


def test_a_framework_that_compiles_passes():
    graph, cuda = frameworks.check(probe_of(), True)
    assert graph.status == cuda.status == "pass"
    assert graph.summary == (
        "Compiling works here: tensorflow 2.21.0, tf.function against eager, is 3.0 to 5.0 times as fast. A step of a "
        "large network gains less."
    )
    assert graph.evidence[0].number == 4.0
    assert (cuda.evidence[0].what, cuda.evidence[0].value) == ("tensorflow 2.21.0", "CUDA 12.4")
    assert cuda.summary == "tensorflow 2.21.0: CUDA 12.4, and the driver runs CUDA up to 12.8."


@pytest.mark.parametrize("measured", [GRAPH | {"name": "retracing"}, GRAPH | {"speedup": {"low": 1.1, "high": 2.0}}])
def test_what_is_not_clearly_faster_is_evidence_alone(measured):
    made = of_graph(measurements=[measured])
    assert (made.status, made.summary) == ("pass", "No compiled step was clearly faster here.")
    assert len(made.evidence) == 1 and not made.findings


def test_a_gpu_that_the_framework_does_not_see_is_told():
    made = of_cuda(gpus=[], gpus_reason="libcudnn.so.9 is missing")
    assert made.status == "fail"
    assert "tensorflow 2.21.0 sees no GPU, though the driver names one: libcudnn.so.9 is missing." in made.summary
    assert "tensorflow[and-cuda]" in made.findings[0].remedy
    assert of_cuda(gpus=[{"index": 0}]).status == of_cuda(gpus=None).status == "pass"
    assert of_cuda(has_gpu=False, gpus=[]).status == "cannot_tell"


@pytest.mark.parametrize("has_gpu, status", [(True, "fail"), (False, "warn")])
def test_a_compiler_that_fails_is_the_finding(has_gpu, status):
    broken = GRAPH | {"status": "failed", "speedup": None, "reason": "no C++ compiler"}
    made = of_graph(has_gpu, measurements=[GRAPH, broken])
    assert made.status == status
    assert made.summary.endswith("cannot compile a step here (tf.function against eager): no C++ compiler.")


def test_a_measurement_that_tells_nothing_is_no_failure():
    made = of_graph(measurements=[GRAPH | {"status": "cannot_tell", "speedup": None, "reason": "its rounds differ"}])
    assert made.status == "cannot_tell" and made.summary.endswith("its rounds differ.")
    assert made.evidence[0].value == "cannot tell" and not made.findings[0].remedy


@pytest.mark.parametrize(
    "installed, status, words, remedy",
    [
        ("unclear", "cannot_tell", "tensorflow cannot be judged: still busy.", "Ask again"),
        ("broken", "fail", "tensorflow is installed, and cannot be used: still busy.", "Install it anew"),
    ],
)
def test_a_framework_that_does_not_come_up_is_found(installed, status, words, remedy):
    made = of_graph(installed=installed, reason="still busy")
    assert (made.status, made.summary) == (status, words)
    assert made.findings[0].remedy.startswith(remedy)


@pytest.mark.parametrize(
    "needs, status, summary",
    [
        ({"status": "fail", "text": "it needs CUDA 13"}, "fail", "tensorflow 2.21.0: it needs CUDA 13."),
        ({"status": "odd"}, "cannot_tell", "tensorflow 2.21.0: its needs are not known."),
        (None, "cannot_tell", "tensorflow 2.21.0: its needs are not known."),
    ],
)
def test_a_build_that_does_not_fit_the_driver_is_found(needs, status, summary):
    made = of_cuda(cuda={"built_for": "13.0", "needs": needs})
    assert (made.status, made.summary) == (status, summary)
    assert bool(made.findings[0].remedy) == (status == "fail")


def test_without_a_gpu_cuda_is_no_question():
    made = of_cuda(False, cuda={"needs": {"status": "fail", "text": "it is for CPUs"}})
    assert (made.status, made.findings, made.evidence[0].value) == ("cannot_tell", [], "built for CPUs")


@pytest.mark.parametrize("probe", [probe_of(installed="no"), [], "no Python"])
def test_without_a_framework_it_cannot_tell(probe):
    graph, cuda = frameworks.check(probe, True)
    assert graph.status == cuda.status == "cannot_tell"
    assert ("no Python" in graph.summary) == (probe == "no Python")


# ---- trace


def test_calls_are_named_with_their_places_and_gains():
    made = trace_file.check(TRACE)
    first, second = made.findings
    assert (made.name, made.status) == ("trace", "fail")
    assert made.summary == "2 calls of the training take time that a step waits for."
    one = trace_file.check({**TRACE, "findings": TRACE["findings"][:1]})
    assert one.summary == "1 call of the training takes time that a step waits for."
    assert first.text == "soundfile.read: 9 ms and 80 % of a sample. Also: called 2 times in a sample."
    assert (first.place, first.remedy) == ("data.py:17", "A cache holds it.")
    assert (first.gain.low, first.gain.high, first.gain.basis) == (1.5, 2.4, "measured by trace")
    assert (second.status, second.place, second.gain) == ("warn", "data.py", None)
    assert [one.number for one in made.evidence] == [200.0, 120.0]


@pytest.mark.parametrize(
    "changed, status, words",
    [
        ({"wait_ms": 4.0}, "pass", "Its steps wait for nothing"),
        ({}, "cannot_tell", "Its steps wait for data, and no call was found"),
        ({"wait_ms": None}, "cannot_tell", "No call was found; how long"),
        ({"step_ms": None}, "cannot_tell", "Recording took"),
        ({"step_ms": True}, "cannot_tell", "Recording took"),
        ({"step_ms": 0, "notes": []}, "cannot_tell", "No training was traced."),
    ],
)
def test_nothing_found_passes_only_where_the_step_does_not_wait(changed, status, words):
    made = trace_file.check(TRACE | {"findings": []} | changed)
    assert made.status == status and made.summary.startswith(words)


def test_a_trace_is_a_profile_too():
    facts = trace_file.profile_of(TRACE)
    assert facts.step_ms == Range(80.0, 80.0).wider(0.1)
    assert facts.real_step_ms == Range(200.0, 200.0).wider(0.1)
    assert facts.data_share == pytest.approx(0.6)
    # A step that only waits has something of its own, which is not known better.
    assert trace_file.profile_of(TRACE | {"wait_ms": 200.0}).step_ms == Range(2.0, 2.0).wider(0.1)
    unknown = trace_file.profile_of(TRACE | {"wait_ms": None})
    assert unknown.real_step_ms and unknown.data_share is unknown.step_ms is None
    assert trace_file.profile_of(TRACE | {"step_ms": None}) == profile_file.ProfileFacts()


# ---- profile


def test_a_profile_has_the_step_with_data_for_free(tmp_path):
    assert profile_file.read(written(tmp_path, PROFILE)) == profile_file.ProfileFacts(
        step_ms=Range(43.0, 45.0),
        real_step_ms=Range(184.0, 184.0),
        data_share=0.76,
        batch_size=8,
        is_on_cpu=True,
        gpu_utilization=18.0,
        gpu_utilization_std=14.0,
    )


def test_without_steps_on_one_batch_what_is_not_waiting_is_the_step(tmp_path):
    profile = {"step": {"ms": {"mean": 100}}, "data": {"share": 0.5}, "synthetic": None, "batch_size": None}
    facts = profile_file.read(written(tmp_path, profile))
    assert facts == profile_file.ProfileFacts(Range(40.0, 50.0), Range(100.0, 100.0), 0.5)


def test_the_profile_of_a_cache_says_nothing_of_the_users_own_loading(tmp_path):
    profile = {"cache": "./cache", "step": {"ms": {"mean": 100}}, "data": {"share": 0.01}, "synthetic": None}
    facts = profile_file.read(written(tmp_path, profile))
    assert facts == profile_file.ProfileFacts(step_ms=Range(pytest.approx(79.2), pytest.approx(99.0)))


# ---- files


NO_PROFILES = [b"", b"[]", b"{}", b"no JSON", b'{"step": {"ms": {"mean": "a"}}}', b'{"step": {"ms": {"mean": NaN}}}']
NO_TRACES = [b"", b"[]", b"{}", b'{"findings": [3], "wait_ms": 1}', b'{"findings": [{}], "wait_ms": 1}']


@pytest.mark.parametrize(
    "module, content, words",
    [
        *((profile_file, one, "is no profile") for one in NO_PROFILES),
        *((trace_file, one, "is no report of trace") for one in [*NO_TRACES, b'{"findings": []}']),
        (trace_file, b'{"a":' * 100_000, "it is no JSON object"),
        (trace_file, b'{"findings": [], "wait_ms": 1, "a": "\xff"}', "it is no JSON object"),
        (profile_file, b" " * ((4 << 20) + 1), "is too large"),
    ],
)
def test_other_files_are_refused(tmp_path, module, content, words):
    with pytest.raises(Failure, match=words) as failed:
        module.read(written(tmp_path, content))
    assert failed.value.code == "invalid_argument"


@pytest.mark.parametrize("module", [profile_file, trace_file])
def test_what_is_no_file_is_refused_at_once(tmp_path, module):
    os.mkfifo(tmp_path / "pipe")
    for path, expected in [("none", "not_found"), ("pipe/file", "not_found"), ("pipe", "invalid_argument")]:
        with pytest.raises(Failure) as failed:
            module.read(str(tmp_path / path))
        assert failed.value.code == expected, path


def test_a_trace_is_read(tmp_path):
    assert trace_file.read(written(tmp_path, TRACE)) == TRACE


ODD = [None, True, -1, 0, 2**70, 1e308, float("nan"), float("inf"), 10**400, "", "\udcff", [], [[]], {}, {"a": {}}]


def with_odd_parts(document):
    """The document with each of its parts, one at a time, replaced by each odd value."""
    for key in document if isinstance(document, dict) else range(len(document)):
        for odd in ODD:
            yield replaced(document, key, odd)
        if isinstance(document[key], (dict, list)):
            yield from (replaced(document, key, part) for part in with_odd_parts(document[key]))


def replaced(document, key, value):
    made = copy.copy(document)
    made[key] = value
    return made


def of_profile(path, document):
    """What is no profile is refused."""
    path.write_text(json.dumps(document))
    with contextlib.suppress(Failure):
        profile_file.read(str(path))
    return []


@pytest.mark.parametrize(
    "document, judge",
    [
        (SCAN, lambda scan, _: [code.check(scan, "trainer")]),
        (probe_of(reason="it broke"), lambda probe, _: frameworks.check(probe, True)),
        (TRACE, lambda trace, _: [trace_file.check(trace)]),
        (TRACE, lambda trace, _: trace_file.profile_of(trace) and []),
        (PROFILE, lambda profile, path: of_profile(path, profile)),
    ],
)
def test_an_answer_of_any_shape_is_judged(tmp_path, document, judge):
    for odd in with_odd_parts(document):
        checks = judge(odd, tmp_path / "file.json")
        assert all(check.status in findings.ORDER and check.summary for check in checks), odd
        json.dumps(findings.document_of(checks), ensure_ascii=False, allow_nan=False).encode()
