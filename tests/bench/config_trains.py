#!/usr/bin/env python3
"""config_trains.py PROGRAM TRAINER [FILE...]: does MyXTTS train with what `config check --fix` makes of its files?

TRAINER is a checkout of masoodafar-web/MyXTTSModel at 7e78353, whose TensorFlow is this Python's. Without FILE: its own
configuration files, and what XTTSConfig().to_yaml() writes. Each is mended; then the trainer's own command trains one
epoch with it, on clips whose last batch is a short one. OVERRIDES alone differ from the file: graph mode, XLA,
accumulation, padding and lengths are the file's. With preprocessing_mode, the launcher starts the trainer.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import numpy as np

# A tiny model and few clips: what makes a step small and changes nothing of how it runs.
MODEL = {
    "text_encoder_dim": 64, "text_encoder_layers": 1, "text_encoder_heads": 2,
    "audio_encoder_dim": 64, "audio_encoder_layers": 1, "audio_encoder_heads": 2,
    "decoder_dim": 64, "decoder_layers": 1, "decoder_heads": 2, "speaker_embedding_dim": 32,
    "text_vocab_size": 1000, "use_gst": False, "use_pretrained_speaker_encoder": False,
}  # fmt: skip
DATA = {"batch_size": 2, "num_workers": 1, "use_phonemes": False, "train_split": 0.5, "val_split": 0.34,
        "dataset_path": "", "metadata_train_file": None, "metadata_eval_file": None}  # fmt: skip
TRAINING = {"epochs": 1, "enable_text2audio_eval": False, "spectrogram_log_interval": 0, "use_wandb": False,
            "save_step": 100000, "val_step": 100000}  # fmt: skip
CLIPS = 6  # three train: a whole batch and a short one
LIMIT_S = 900


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


def overridden(source, target):
    import yaml

    sections = yaml.safe_load(source.read_text(encoding="utf-8"))
    for name, values in (("model", MODEL), ("data", DATA), ("training", TRAINING)):
        section = sections.setdefault(name, {})
        section.update(values)
    target.write_text(yaml.safe_dump(sections), encoding="utf-8")
    return sections


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
        return "trains"
    lines = [line for line in told.splitlines() if "Error" in line or "rror:" in line] or told.splitlines()
    return f"stops: {lines[-1].strip() if lines else done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("trainer", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--no-fix", action="store_true", help="train with the files as they are")
    options = parser.parse_args()
    trainer = options.trainer.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = [path.resolve() for path in options.files]
        if not files:
            files = [*sorted(trainer.glob("configs/*.yaml")), *sorted(trainer.glob("examples/*.yaml"))]
            made = "from myxtts.config.config import XTTSConfig; XTTSConfig().to_yaml('made.yaml')"
            environment = {**os.environ, "PYTHONPATH": str(trainer)}
            subprocess.run([sys.executable, "-c", made], cwd=folder, env=environment, check=True, capture_output=True)
            files.append(folder / "made.yaml")
        make_corpus(folder / "data")
        stopped = 0
        for number, file in enumerate(files):
            work = folder / str(number)
            work.mkdir()
            shutil.copy(file, work / file.name)
            if not options.no_fix:
                check = [
                    options.program,
                    "config",
                    "check",
                    file.name,
                    "--gpu",
                    "24GB",
                    "--gpus",
                    "1",
                    "--fix",
                    "--json",
                ]
                fixed = json.loads(subprocess.run(check, cwd=work, capture_output=True, check=True).stdout)["fixed"]
                print(f"{file.name}: mended {len(fixed)} keys", flush=True)
            answer = train(trainer, overridden(work / file.name, work / "tiny.yaml"), folder / "data", work)
            stopped += answer != "trains"
            print(f"{file.name}: {answer}", flush=True)
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
