"""The parts of a traced step (xtts_advise.trace.judge.parts), from invented stacks of PyTorch, TensorFlow and Keras."""

import pytest
from test_trace import document
from xtts_advise.trace.judge.findings import judge
from xtts_advise.trace.judge.recording import Recording
from xtts_advise.trace.judge.text import text_of

OWN, TORCH, TENSORFLOW, KERAS = "/home/me/train.py", "/lib/torch.py", "/lib/tensorflow.py", "/lib/keras.py"
LOOP = [OWN, 10, "train", "main", "own"]
VALIDATE = [OWN, 50, "train", "validate", "own"]


def own(function):
    return [OWN, 60, "train", function, "own"]


def place(module, function):
    return [f"/lib/{module}.py", 1, module, function, "library"]


CALL = place("torch.nn.modules.module", "Module._call_impl")
LINEAR = place("torch.nn.modules.linear", "Linear.forward")
MSE = place("torch.nn.modules.loss", "MSELoss.forward")
F_LOSS = place("torch.nn.functional", "l1_loss")
BACKWARD = place("torch._tensor", "Tensor.backward")
ADAM = place("torch.optim.adam", "Adam.step")
ZERO_GRAD = place("torch.optim.optimizer", "Optimizer.zero_grad")
DENSE = place("keras.src.layers.layer", "Layer.__call__")
KERAS_LOSS = place("keras.src.losses.loss", "Loss.__call__")
GRADIENT = place("tensorflow.python.eager.backprop", "GradientTape.gradient")
APPLY = place("keras.src.backend.tensorflow.optimizer", "TFOptimizer.apply_gradients")
FUNCTION = place("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function.__call__")
EXECUTE = place("tensorflow.python.eager.execute", "quick_execute")
FIT = place("keras.src.backend.tensorflow.trainer", "TensorFlowTrainer.fit")
SAVEFIG = place("matplotlib.pyplot", "savefig")
CLOSURE = place("lightning.pytorch.loops.optimization.automatic", "Closure.closure")
DISABLED = place("torch._dynamo.eval_frame", "DisableContext.__call__._fn")
LOG = place("lightning.pytorch.core.module", "LightningModule.log_dict")
LIGHTNING = place("lightning.pytorch.trainer.trainer", "Trainer.fit")
SAVE_WEIGHTS = place("torch.serialization", "save")
START = place("multiprocessing.popen_fork", "Popen.__init__")


def parts_of(*paths, wait=0.2, **more):
    """Paths below the loop, a second of each in ten steps of 1 s."""
    places = [LOOP, *(one for path in paths for one in path)]
    stacks, number = [], 1
    for path in paths:
        stacks.append(([0, *range(number, number + len(path))], 1.0))
        number += len(path)
    steps = [[float(at), wait, 1.0] for at in range(10)]
    loop = more.pop("loop", {})
    made = document(stacks, steps, places=places, **more)
    made["loops"][0].update(loop)
    report = judge([Recording(made)])
    return dict(report.parts), text_of(report), report


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ([CALL, own("Net.forward")], "forward"), ([CALL, LINEAR], "forward"), ([DENSE], "forward"),
        ([CALL, MSE], "loss"), ([CALL, own("MelLoss.forward")], "loss"), ([F_LOSS], "loss"), ([KERAS_LOSS], "loss"),
        ([own("mel_loss")], "loss"), ([own("compute_loss"), CALL, own("Net.forward")], "forward"),
        ([BACKWARD], "backward"), ([BACKWARD, CALL, LINEAR], "backward"), ([GRADIENT, DENSE], "backward"),
        ([ADAM, CLOSURE, CALL, LINEAR], "forward"), ([ADAM, CLOSURE, BACKWARD], "backward"),
        ([LOG, DISABLED], "summaries"), ([ADAM], "optimizer"), ([APPLY], "optimizer"),
        ([FUNCTION], "the compiled step"), ([SAVEFIG], "pictures"),
        ([place("torch._dynamo.eval_frame", "_TorchDynamoContext.__call__._fn"), LINEAR], "the compiled step"),
        ([place("torch._dynamo.eval_frame", "DisableContext.__call__._fn"), ZERO_GRAD], "optimizer"),
    ],
)  # fmt: skip
def test_a_stack_belongs_to_its_part(path, name):
    parts, text, _ = parts_of(path)
    assert parts == pytest.approx({"data": 0.2, name: 0.8})
    assert f"Its parts: data 200 ms (20 %), {name} 800 ms (80 %)." in text


SAVE = [
    place("keras.src.callbacks.callback_list", "CallbackList.on_train_batch_end"),
    place("keras.src.callbacks.model_checkpoint", "ModelCheckpoint.on_train_batch_end"),
    place("keras.src.saving.saving_lib", "save_model"),
]


def findings_of(*paths, **more):
    return parts_of(*paths, **more)[2].findings


def test_a_callback_of_kerass_own_is_named_and_is_no_forward():
    parts, _, report = parts_of([*SAVE, DENSE], [FUNCTION])
    assert parts == pytest.approx({"data": 0.2, "the compiled step": 0.4, "checkpoints": 0.4})
    (found,) = report.findings
    assert (found.call, found.cause, found.cache) == ("keras.ModelCheckpoint", "checkpoint", "no")
    plain = place("keras.src.callbacks.lambda_callback", "LambdaCallback.on_train_batch_end")
    assert findings_of([SAVE[0], plain], [FUNCTION])[0].cause == "callback"


def test_a_step_of_tensorflow_without_a_function_is_told():
    eager = {"facts": {"kind": "tf.data", "data": "tf.data", "workers": 0}}
    _, text, report = parts_of([DENSE, EXECUTE], [GRADIENT], loop=eager)
    assert not report.findings and "a tf.function compiles them" in text  # which may be meant so
    (found,) = findings_of([FIT, DENSE, EXECUTE], [GRADIENT], loop=eager)
    assert (found.cause, found.gain) == ("eager", (1.0, 1.0))
    assert found.remedy.startswith("Leave out run_eagerly=True")
    assert not findings_of([FUNCTION, EXECUTE], [GRADIENT], loop=eager)
    assert not findings_of([DENSE, EXECUTE], [GRADIENT])  # of a DataLoader


def test_the_parts_are_the_step():
    parts, _, _ = parts_of([LINEAR], [MSE], [BACKWARD], [ADAM], [SAVEFIG])
    assert list(parts) == ["data", "forward", "loss", "backward", "optimizer", "pictures"]
    assert sum(parts.values()) == pytest.approx(1.0)


def test_what_no_stack_covers_is_other():
    assert parts_of()[0] == pytest.approx({"data": 0.2, "other": 0.8})


def test_a_validation_within_the_steps_is_no_forward():
    other = {
        **document([], [])["loops"][0], "file": OWN, "line": 50, "function": "validate", "trains": 0, "step_s": 0.0,
    }  # fmt: skip
    made = document(
        [([0, 1, 2], 1.0), ([0, 2], 1.0)], [[float(at), 0.2, 1.0] for at in range(10)], places=[LOOP, VALIDATE, LINEAR]
    )
    made["loops"].append(other)
    assert dict(judge([Recording(made)]).parts) == pytest.approx({"data": 0.2, "forward": 0.4, "validation": 0.4})


def test_what_a_librarys_fit_calls_is_told_by_its_causes():
    model = [LIGHTNING, ADAM, CLOSURE, BACKWARD]
    report = parts_of(model, model, model, [LIGHTNING, SAVE_WEIGHTS], [LIGHTNING, START])[2]
    found = {finding.cause: finding for finding in report.findings}
    assert found.keys() == {"checkpoint", "process"}
    assert found["checkpoint"].call == "torch.save"
    assert found["checkpoint"].seconds_per_step == pytest.approx(0.16)  # a fifth of what is no wait
