#!/usr/bin/env python3
"""config_trains.py PROGRAM TRAINER [FILE...]: does MyXTTS train with what `config check --fix` makes of its files?

TRAINER is a checkout of masoodafar-web/MyXTTSModel at 7e78353, whose TensorFlow is this Python's. Without FILE: its own
configuration files, and what XTTSConfig().to_yaml() writes; with --documents, the texts of its documents. Each is
mended; then the trainer's own command trains two epochs with it, on clips whose last batch is a short one, and most
weights have to differ between their ends. Texts that say the same to the trainer are trained once. OVERRIDES alone
differ from the file: graph mode, XLA, accumulation, padding and lengths are the file's. With preprocessing_mode, the
launcher starts the trainer.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import wave
from pathlib import Path

import h5py
import numpy as np
import yaml

# A tiny model and few clips: what makes a step small and changes nothing of how it runs.
OVERRIDES = {
    "model": {
        "text_encoder_dim": 64, "text_encoder_layers": 1, "text_encoder_heads": 2,
        "audio_encoder_dim": 64, "audio_encoder_layers": 1, "audio_encoder_heads": 2,
        "decoder_dim": 64, "decoder_layers": 1, "decoder_heads": 2, "speaker_embedding_dim": 32,
    },
    "data": {"batch_size": 2, "train_split": 0.5, "val_split": 0.34, "dataset_path": "",
             "metadata_train_file": None, "metadata_eval_file": None},
    "training": {"epochs": 2, "use_wandb": False},
}  # fmt: skip
CLIPS = 6  # three train: a whole batch and a short one
LIMIT_S = 900
TEXT = re.compile(r"^([ \t]*)```ya?ml[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
SECTION = re.compile(rf"^(?:{'|'.join(OVERRIDES)}):", re.MULTILINE)


def make_corpus(folder):
    (folder / "wavs").mkdir(parents=True)
    random = np.random.default_rng(1)
    lines = []
    for number in range(CLIPS):
        with wave.open(str(folder / f"wavs/c{number}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(22050)
            file.writeframes((random.normal(0, 3000, 22050)).astype("<i2").tobytes())
        lines.append(f"c{number}|this is clip {number}|this is clip {number}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_texts(trainer, folder):
    """Each fenced block of YAML with a section of the trainer becomes a file: DOCUMENT:LINE."""
    files = []
    for path in sorted(trainer.rglob("*.md")):
        document = path.read_text(encoding="utf-8")
        for block in TEXT.finditer(document):
            text = textwrap.dedent(block[2])
            if SECTION.search(text):
                line = document.count("\n", 0, block.start()) + 1
                name = f"{path.relative_to(trainer)}:{line}".replace("/", "_")
                files.append(folder / name)
                files[-1].write_text(text, encoding="utf-8")
    return files


def write_default(trainer, folder):
    made = "from myxtts.config.config import XTTSConfig; XTTSConfig().to_yaml('made.yaml')"
    environment = {**os.environ, "PYTHONPATH": str(trainer)}
    subprocess.run([sys.executable, "-c", made], cwd=folder, env=environment, check=True, capture_output=True)
    return folder / "made.yaml"


def mended(program, file):
    """Returns what `config check` says of a file that it has mended; a text, where it refuses the file."""
    check = [program, "config", "check", file.name, "--gpu", "24GB", "--gpus", "1", "--fix", "--json"]
    done = subprocess.run(check, cwd=file.parent, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def overridden(source, target):
    sections = yaml.safe_load(source.read_text(encoding="utf-8"))
    for name, values in OVERRIDES.items():
        section = sections.setdefault(name, {})
        # A text where a number belongs stays: the trainer is to meet it.
        for key, value in values.items():
            if not (isinstance(value, (int, float)) and isinstance(section.get(key), str)):
                section[key] = value
    target.write_text(yaml.safe_dump(sections), encoding="utf-8")
    return sections


def resolved(sections):
    """Returns what the trainer makes of the sections; as they are, where it refuses them."""
    from myxtts.config.config import DataConfig, ModelConfig, TrainingConfig

    data = {key: value for key, value in sections["data"].items() if key != "preprocessing_mode"}
    mode = sections["data"].get("preprocessing_mode")
    try:
        made = [ModelConfig(**sections["model"]), DataConfig(**data), TrainingConfig(**sections["training"])]
    except TypeError:
        made = [sections]
    return repr((mode, made))


def changed_weights(checkpoints):
    """Returns how many of the model's arrays the second epoch changed, and how many there are."""
    epochs = [{}, {}]
    for arrays, path in zip(epochs, sorted(checkpoints.glob("*.weights.h5")), strict=True):
        with h5py.File(path) as file:
            file.visititems(
                lambda name, item, into=arrays: into.update({name: item[()]} if hasattr(item, "shape") else {})
            )
    first, second = epochs
    return sum(not np.array_equal(array, second[name]) for name, array in first.items()), len(first)


def train(trainer, config, corpus, work):
    command = [sys.executable]
    if "preprocessing_mode" in config["data"]:
        command += ["-m", "xtts_precompute.myxtts", "--cache", str(work / "cache"), "--build"]
    command += ["-m", "myxtts.cli", "train", "--config", str(work / "tiny.yaml"), "--data-path", str(corpus)]
    command += ["--checkpoint-dir", str(work / "checkpoints")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(trainer), os.environ.get("PYTHONPATH", "")])}
    environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    try:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT_S} s"
    told = done.stdout + done.stderr
    (work / "told.txt").write_text(told, encoding="utf-8")
    if done.returncode == 0 and "Training completed!" in told:
        changed, count = changed_weights(work / "checkpoints")
        return "trains" if 2 * changed > count else f"stands still: {changed} of {count} weights changed"
    lines = [line for line in told.splitlines() if "Error" in line or "rror:" in line] or told.splitlines()
    return f"stops: {lines[-1].strip() if lines else done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("trainer", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--documents", action="store_true", help="the texts of the trainer's documents")
    parser.add_argument("--no-fix", action="store_true", help="train with the files as they are")
    options = parser.parse_args()
    trainer = options.trainer.resolve()
    sys.path.insert(0, str(trainer))
    answers = {}  # of what the trainer is told
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = [path.resolve() for path in options.files]
        if options.documents:
            files += write_texts(trainer, folder)
        elif not files:
            files = [*sorted(trainer.glob("configs/*.yaml")), *sorted(trainer.glob("examples/*.yaml"))]
            files.append(write_default(trainer, folder))
        make_corpus(folder / "data")
        for number, file in enumerate(files):
            work = folder / str(number)
            work.mkdir()
            shutil.copy(file, work / file.name)
            if not options.no_fix:
                check = mended(options.program, work / file.name)
                if isinstance(check, str):
                    counts["refused"] += 1
                    print(f"{file.name}: refused: {check}", flush=True)
                    continue
                print(f"{file.name}: mended {len(check['fixed'])} keys", flush=True)
                for finding in check["checks"][0]["findings"]:
                    if finding["status"] == "fail":
                        print(f"  left: {finding['text']}")
            sections = overridden(work / file.name, work / "tiny.yaml")
            told = resolved(sections)
            if told not in answers:
                start = time.monotonic()
                answers[told] = train(trainer, sections, folder / "data", work)
                print(f"  {time.monotonic() - start:.0f} s")
            counts[answers[told].partition(":")[0]] += 1
            print(f"  {answers[told]}", flush=True)
    print(f"{len(files)} texts, {len(answers)} of them different to the trainer: {dict(counts)}")
    return 0 if counts["trains"] == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
