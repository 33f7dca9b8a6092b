"""Where the two halves of a two-GPU training run: data on one GPU, the model on the other."""

from __future__ import annotations

from dataclasses import dataclass

from .._base.errors import InvalidArgumentError

# The users' tiers of utilization, in percent: good from here, acceptable above there, bad below.
_GOOD = {"data": 60, "model": 85}
_ACCEPTABLE = {"data": 50, "model": 80}
_BAD = 30


@dataclass(frozen=True)
class Placement:
    """The GPUs by CUDA's number, or None for the CPU. `note` says what cannot be measured here."""

    data: int | None
    model: int | None
    note: str = ""

    @property
    def is_split(self) -> bool:
        return self.data != self.model

    def only_watched(self) -> Placement:
        """Returns the same for a loader and a step of the user's own, which decide where data and model are."""
        note = "--data-gpu and --model-gpu place nothing here, because your own code decides where data and model are"
        if self.model is None:
            return Placement(None, None, f"{note}; and the framework finds no GPU that could be watched.")
        watched = f"GPUs {self.data} and {self.model} are" if self.is_split else f"GPU {self.model} is"
        return Placement(self.data, self.model, f"{note}: {watched} only watched.")


def place(data_gpu: int | None, model_gpu: int | None, gpu_count: int) -> Placement:
    """Returns where data and model go. Where one number is not given, data is on 0 and the model on 1."""
    data, model = 0 if data_gpu is None else data_gpu, 1 if model_gpu is None else model_gpu
    if gpu_count == 0:
        return Placement(
            None,
            None,
            "--data-gpu and --model-gpu are for two GPUs, and the framework finds none, so data and model share the "
            "CPU. What data costs such a step is measured; the copy between GPUs and how busy they are is not.",
        )
    if gpu_count == 1:
        return Placement(
            0,
            0,
            "--data-gpu and --model-gpu are for two GPUs, and the framework finds one, so data and model share "
            "GPU 0. What data costs a step is measured; the copy from GPU to GPU, and the two at work at the same "
            "time, is not.",
        )
    for option, number in (("--data-gpu", data), ("--model-gpu", model)):
        if number >= gpu_count:
            raise InvalidArgumentError(
                f"{option} {number}: the framework finds {gpu_count} GPUs, which are 0 to {gpu_count - 1}"
            )
    return Placement(data, model)


def tier(part: str, percent: float) -> str:
    """Returns the users' word for a utilization of the "data" or the "model" GPU."""
    if percent >= _GOOD[part]:
        return "good"
    if percent > _ACCEPTABLE[part]:
        return "acceptable"
    return "low" if percent >= _BAD else "bad"
