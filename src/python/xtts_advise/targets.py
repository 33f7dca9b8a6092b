"""The users' own targets for steps and batches, in words."""

_GOOD_STEPS, _FAIR_STEPS = 10.0, 5.0  # a second
_GOOD_BATCH_MS, _FAIR_BATCH_MS = 100.0, 200.0


def of_steps(per_s: float) -> str:
    word = "good" if per_s > _GOOD_STEPS else "acceptable" if per_s >= _FAIR_STEPS else "below the target"
    return f"{word} (good is above 10 a second)"


def of_batch(ms: float) -> str:
    word = "good" if ms < _GOOD_BATCH_MS else "acceptable" if ms <= _FAIR_BATCH_MS else "slow"
    return f"{word} (good is below 100 ms)"
