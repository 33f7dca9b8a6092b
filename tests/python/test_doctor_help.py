"""The doctor's prediction (xtts_advise.doctor.help): known answers of its model, and what it does not promise."""

import re

import pytest
from xtts_advise.doctor import help
from xtts_advise.doctor.help import Measured, Question, Supply, predict
from xtts_advise.ranges import Range


def slow_loader(**given):
    """A machine with a GPU, whose loader makes 200 clips a second: a batch of 32 takes 160 ms."""
    question = Question(
        Supply("librosa, 8 workers", Range(190, 210), cpu_ms_per_clip=40.0),
        Supply("from a cache", Range(50_000, 100_000)),
        clip_count=10_000,
        usable_cores=8,
        build_s=Range(20, 40),
    )
    for name, value in given.items():
        setattr(question, name, value)
    return question


def at(step_ms):
    return Range(step_ms, step_ms)


def test_says_yes_where_the_step_is_shorter_than_loading():
    question = slow_loader(step_ms=at(50))
    check = help.check(question)
    assert check.status == "fail"
    assert check.summary.startswith("Yes: against loading librosa, 8 workers, training becomes 2.")
    assert check.findings[0].gain.low == pytest.approx(152 / 50, abs=0.3)
    assert check.findings[0].gain.low < check.findings[0].gain.high
    assert "trace -- python train.py" in check.findings[0].remedy
    assert not check.findings[0].changes  # which keys a trainer has is another question
    assert help.picture_of(question) == help.DATA_LATE
    assert [chart.title for chart in check.charts] == ["A training step, before and after", "The split of a step now"]


def test_says_no_where_the_model_is_the_limit():
    question = slow_loader(step_ms=at(900))
    assert help.check(question).status == "pass"
    assert "No: data is not what training waits for" in help.check(question).summary
    assert help.picture_of(question) == help.MODEL


@pytest.mark.parametrize("is_overlapped", [True, False])
@pytest.mark.parametrize("uses_cpu", [True, False])
def test_the_step_that_it_names_is_the_one_up_to_which_it_says_yes(is_overlapped, uses_cpu):
    """The first sentence must not contradict what the same question gives with a step."""
    question = slow_loader(step_uses_cpu=uses_cpu)
    question.on_the_fly.is_overlapped = is_overlapped
    check = help.check(question)
    assert check.status == "cannot_tell"
    assert "--step-ms" in check.summary
    step_ms = float(re.search(r"takes less than about (\d+)", check.summary)[1])
    assert predict(question, at(0.9 * step_ms)).gain.middle >= 1.15
    assert predict(question, at(1.1 * step_ms)).gain.middle < 1.15


def test_with_a_cache_it_does_not_ask_for_one():
    check = help.check(slow_loader(step_ms=at(50), has_cache=True))
    assert check.findings[0].remedy.startswith("Train from the cache.")
    assert "Building" not in check.summary
    assert "Building takes 30 s, which is saved after 1 to 2 epochs." in help.check(slow_loader(step_ms=at(50))).summary


def test_without_a_cache_nothing_is_predicted():
    check = help.check(slow_loader(step_ms=at(50), cache=None))
    assert (check.status, check.summary) == ("cannot_tell", "No cache could be measured, so nothing is predicted.")


def test_promises_no_factor_to_a_trainer_whose_loader_was_not_timed():
    """The trainer's native loader may be ten times as fast as librosa, and then a factor is untrue."""
    question = slow_loader(step_ms=at(50), trainer="config.yaml")
    check = help.check(question)
    assert check.status == "cannot_tell"
    assert "no gain is promised" in check.summary
    assert "xtts-precompute trace -- python train.py" in check.findings[0].remedy
    assert check.findings[0].gain is None
    assert "times" not in [row.unit for row in check.evidence]
    question.step_ms = None
    assert "no gain is promised" in help.check(question).summary
    question.measured, question.step_ms = Measured(Range(300, 310)), at(50)
    assert help.check(question).findings[0].gain


def test_without_the_trainers_loader_there_is_no_sure_no():
    """Librosa is slower than this program, so training may wait for it all the same."""
    question = slow_loader(step_ms=at(50_000))
    assert help.check(question).summary.startswith("No: ")
    question.is_trainers_way = False
    check = help.check(question)
    assert check.status == "cannot_tell"
    assert "Your loader was not measured" in check.summary
    assert "--python" in check.findings[0].remedy
    question.step_ms = at(50)
    assert "Your own loader was not measured" in help.check(question).summary


def test_a_profile_says_how_long_a_step_is_now():
    """The machine is busy now, but the profile was not taken now."""
    check = help.check(slow_loader(step_ms=at(50), measured=Measured(Range(300, 310)), is_trainers_way=False))
    assert "a step of 300 to 310 ms becomes" in check.summary
    assert "was not measured" not in check.summary
    assert check.findings[0].gain.high == pytest.approx(310 / 50, abs=0.3)


def test_does_not_promise_a_cache_to_a_step_that_is_not_compiled():
    """A steady 12 % while the step waits for nothing: eager mode."""
    question = slow_loader(step_ms=Range(300, 310), measured=Measured(None, 0.04, 12.0, 1.0))
    question.on_the_fly.clips_per_s = Range(5000, 6000)
    assert help.picture_of(question) == help.NOT_COMPILED
    first, second = help.check(question).findings
    assert first.text.startswith("No: data") and not first.remedy
    assert "not compiled" in second.text


def test_a_gpu_that_swings_while_its_step_waits_is_starved():
    question = slow_loader(step_ms=Range(50, 52), measured=Measured(None, 0.7, 18.0, 15.0))
    assert help.picture_of(question) == help.DATA_LATE


def test_an_uncertain_step_is_the_same_step_in_both_ways():
    """A step that is known to 10 % does not make a gain of 20 %."""
    found = predict(slow_loader(), Range(800, 1000))
    assert found.gain.high < 1.2
    assert found.step_ms_now.low == 800 and found.step_ms_now.high >= 1000


def test_a_loader_that_keeps_all_processors_busy_slows_the_step():
    """The trainer's own thread has to wait for a processor, though batches come early enough."""
    question = slow_loader()
    question.on_the_fly.cpu_ms_per_clip = 50.0  # 200 ms of all eight in a batch
    assert predict(question, at(200)).step_ms_now.high == pytest.approx(200 * 1.3)
    question.on_the_fly.cpu_ms_per_clip = 0.5
    assert predict(question, at(200)).step_ms_now.high == pytest.approx(200 * 1.1, abs=1)


def test_without_workers_loading_and_training_add_up():
    question = slow_loader()
    question.on_the_fly.is_overlapped = False
    now = predict(question, at(100)).step_ms_now
    assert (now.low, now.high) == pytest.approx((100 + 32e3 / 210, 100 + 32e3 / 190))


def test_a_corpus_that_does_not_fit_into_memory_waits_for_its_disk():
    supply = slow_loader().on_the_fly
    supply.disk_batch_ms = Range(330, 330)
    assert supply.batch_ms(32).high < 200
    supply.stays_in_memory = False
    assert supply.batch_ms(32).low == 330


def test_a_step_on_the_processor_is_slowed_by_the_loaders_work():
    on_gpu, on_cpu = (predict(slow_loader(step_uses_cpu=uses), at(150)) for uses in (False, True))
    assert on_cpu.step_ms_now.low > on_gpu.step_ms_now.low
    assert on_cpu.gain.high > on_gpu.gain.high


def test_building_pays_after_as_many_epochs_as_it_takes_to_save_its_time():
    question = slow_loader()
    found = predict(question, at(50))
    epochs = found.epochs_until_paid(question.build_s)
    assert (epochs.low, epochs.high) == pytest.approx((20 / found.saved_s.high, 40 / found.saved_s.low))
    assert predict(question, at(900)).epochs_until_paid(question.build_s) is None
