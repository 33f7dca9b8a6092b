"""What xp.myxtts depends on in the reference trainer, restated.

It stands for masoodafar-web/MyXTTSModel at 7e78353: myxtts/data/ljspeech.py, utils/text.py,
utils/commons.py, config/config.py, training/trainer.py, cli.py and train_main.py. LJSpeechDataset
reads a list, splits it and makes tokens. Its own batches are a text here, so that a test sees which
of the two it has got. XTTSTrainer trains nothing, and its checkpoints are their metadata alone. The
trainer itself is in test_myxtts_trainer.py.
"""

import importlib
import os
import sys
import types
from pathlib import Path

import numpy as np
from support import framework, ran

SOURCE = """
import numpy as np

class Frame:
    def __init__(self, rows):
        self.iloc = rows

    def __len__(self):
        return len(self.iloc)

class AudioProcessor:
    sample_rate, n_fft, hop_length, win_length, n_mels, vad_model = 22050, 1024, 256, 1024, 80, None

    def __init__(self, config):
        self.trim_silence, self.enable_vad = config.trim_silence, False
        self.enable_loudness_normalization = config.enable_loudness_normalization

class TextProcessor:
    def text_to_sequence(self, text):
        return [ord(one) for one in text]

class LJSpeechDataset:
    def __init__(self, data_path, config, subset="train", download=True, preprocess=True):
        self.data_path, self.config, self.subset = data_path, config, subset
        self.audio_processor, self.text_processor = AudioProcessor(config), TextProcessor()
        name = config.metadata_train_file if subset == "train" else config.metadata_eval_file
        self.use_custom_metadata, self._custom_index_map = bool(name), None
        self.metadata_file, self.wavs_dir = data_path / (name or "metadata.csv"), data_path / "wavs"
        self.splits_file = data_path / "processed/splits.json"
        lines = [line.split("|") for line in self.metadata_file.read_text(encoding="utf-8").splitlines()]
        lines = [line for line in lines if (self.wavs_dir / f"{line[0]}.wav").exists()]
        self.metadata = Frame([dict(id=one[0], transcription=one[1], normalized_transcription=one[-1])
                               for one in lines])
        all_lines = list(range(len(lines)))
        self.items = all_lines if name else getattr(config, "splits", {}).get(subset, all_lines)

    def __len__(self):
        return len(self.items)

    def _detect_language(self, text, audio_id):
        return self.config.language

    def _apply_phone_level_normalization(self, text, language):
        return text

    def create_tf_dataset(self, **options):
        if options["memory_cache"]:
            from .tf_native_loader import TFNativeDataLoader
        return "the trainer's own batches"
"""
# Letters are numbered as they come, as the trainer's phonemes are; a phonemizer doubles each.
TEXT_SOURCE = """
class Phonemizer:
    def version(self):
        return (1, 51)

class TextProcessor:
    def __init__(self, language="en", cleaner_names=None, add_blank=True, use_phonemes=True,
                 phoneme_language=None, custom_symbols=None,
                 tokenizer_type="custom", tokenizer_model="some/model", allow_symbol_growth=True):
        if use_phonemes and language == "tlh":
            raise RuntimeError("Phonemizer backend failed to initialise for language 'tlh'")
        self.language, self.cleaner_names = language, cleaner_names or ["english_cleaners"]
        self.add_blank, self.use_phonemes = add_blank, use_phonemes
        self.phoneme_language_override = phoneme_language
        self.tokenizer_type, self.tokenizer_model = tokenizer_type, tokenizer_model
        self.allow_symbol_growth = allow_symbol_growth or custom_symbols is None
        self.symbols = list(custom_symbols or "_^~")
        self.phonemizer = Phonemizer() if use_phonemes else None

    def text_to_phonemes(self, text):
        return "".join(2 * one for one in text)

    def text_to_sequence(self, text):
        made = [1]
        for one in text.lower():
            if one not in self.symbols and self.use_phonemes and self.allow_symbol_growth:
                self.symbols.append(one)
            if one in self.symbols:
                made += [self.symbols.index(one)] + [0] * (self.add_blank and one != " ")
        return made + [2]
"""
IMPORTER = "from .data.ljspeech import LJSpeechDataset\n"
CONFIG_SOURCE = """
import json
from dataclasses import dataclass, field

@dataclass
class DataConfig:
    sample_rate: int = 22050
    trim_silence: bool = True
    normalize_audio: bool = True
    enable_loudness_normalization: bool = True
    language: str = "en"
    max_mel_frames: int = 1024
    max_text_length: int = 200
    max_text_tokens: int = 1024
    pad_to_fixed_length: bool = False
    use_tf_native_loading: bool = True
    metadata_train_file: str = None
    metadata_eval_file: str = None
    wavs_train_dir: str = None
    wavs_eval_dir: str = None
    batch_size: int = 4
    prefetch_buffer_size: int = 12
    pipeline_buffer_size: int = 50
    enable_pitch_shift: bool = False
    enable_noise_mixing: bool = False
    prefetch_to_gpu: bool = True

@dataclass
class TrainingConfig:
    checkpoint_dir: str = "./checkpoints"
    epochs: int = 1

@dataclass
class XTTSConfig:
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    @classmethod
    def from_yaml(cls, path):
        read = json.load(open(path))
        return cls(DataConfig(**read.get("data", {})), TrainingConfig(**read.get("training", {})))
"""
# Its TensorFlow is imported here, as in the trainer.
COMMONS_SOURCE = """
import os
import tensorflow

def find_latest_checkpoint(folder):
    found = [name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if name.endswith("_metadata.json")]
    steps = [int(step) for step in (name.split("_")[1] for name in found) if step.isdigit()]
    return os.path.join(folder, f"checkpoint_{max(steps)}") if steps else None
"""
TRAINER_SOURCE = """
import json
import os
from ..data.ljspeech import LJSpeechDataset
from ..utils.commons import find_latest_checkpoint

class XTTSTrainer:
    device = "CPU"

    def __init__(self, config, resume_checkpoint=None):
        self.config, self.current_step = config, 0
        if resume_checkpoint:
            self._load_checkpoint(resume_checkpoint)

    def _load_checkpoint(self, path):
        try:
            self.current_step = json.load(open(path + "_metadata.json"))["step"]
        except Exception:
            print("Training will start from scratch")

    def prepare_datasets(self, train_data_path, val_data_path=None):
        from pathlib import Path
        data = self.config.data
        train = LJSpeechDataset(Path(train_data_path), data, "train")
        val = LJSpeechDataset(Path(val_data_path or train_data_path), data, "val")
        self.steps = -(-len(train) // data.batch_size)
        options = {"batch_size": data.batch_size, "drop_remainder": False}
        return train.create_tf_dataset(**options), val.create_tf_dataset(**options, shuffle=False, repeat=False)

    def train(self, train_dataset, val_dataset):
        for _ in range(self.config.training.epochs):
            self._train_epoch(train_dataset, self.steps)
            self._save_checkpoint()

    def _train_epoch(self, train_dataset, steps_per_epoch=None):
        batches = iter(train_dataset)
        for _ in range(steps_per_epoch):
            next(batches)
            self.current_step += 1

    def _save_checkpoint(self, is_best=False):
        self._write(f"checkpoint_{self.current_step}")

    def save_checkpoint(self, path):
        self._write(os.path.basename(path))

    def _write(self, name):
        folder = self.config.training.checkpoint_dir
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + "_metadata.json"), "w") as file:
            json.dump({"step": self.current_step, "name": name}, file)
"""
CLI_SOURCE = """
import argparse
import sys
from .config.config import XTTSConfig
from .training.trainer import XTTSTrainer

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    for name in ("--config", "--data-path", "--val-data-path", "--resume-from"):
        parser.add_argument(name)
    args = parser.parse_args()
    try:
        config = XTTSConfig.from_yaml(args.config)
        trainer = XTTSTrainer(config=config, resume_checkpoint=args.resume_from)
        trainer.train(*trainer.prepare_datasets(train_data_path=args.data_path, val_data_path=args.val_data_path))
    except KeyboardInterrupt:
        print("Interrupted by user")
        sys.exit(1)
    except Exception as error:
        print(f"Error: {error}")
        sys.exit(1)
    print("Training completed!")

if __name__ == "__main__":
    main()
"""
TRAIN_MAIN_SOURCE = """
import argparse
import tensorflow as tf
from myxtts.config.config import DataConfig, TrainingConfig, XTTSConfig
from myxtts.training.trainer import XTTSTrainer
from myxtts.utils.commons import find_latest_checkpoint

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train-data")
    parser.add_argument("--val-data")
    parser.add_argument("--checkpoint-dir", default="./checkpointsmain")
    parser.add_argument("--reset-training", action="store_true")
    args = parser.parse_args()
    frames = 96 if not tf.config.list_physical_devices("GPU") else 64
    data = DataConfig(max_mel_frames=frames, pad_to_fixed_length=True, max_text_tokens=200,
                      metadata_train_file="metadata_train.csv", metadata_eval_file="metadata_eval.csv",
                      wavs_train_dir="wavs", wavs_eval_dir="wavs")
    resumes = None if args.reset_training else find_latest_checkpoint(args.checkpoint_dir)
    config = XTTSConfig(data, TrainingConfig(checkpoint_dir=args.checkpoint_dir))
    trainer = XTTSTrainer(config=config, resume_checkpoint=resumes)
    trainer.train(*trainer.prepare_datasets(train_data_path=args.train_data, val_data_path=args.val_data))
    print("trained up to step", trainer.current_step)

if __name__ == "__main__":
    main()
"""


def write(folder):
    """Writes the trainer's package, with one module that imports its class as XTTSTrainer does."""
    package = folder / "myxtts"
    for name in ("data", "utils", "config", "training"):
        (package / name).mkdir(parents=True)
    sources = {
        "__init__": "",
        "data/__init__": "",
        "utils/__init__": "",
        "config/__init__": "",
        "training/__init__": "",
        "data/ljspeech": SOURCE,
        "data/tf_native_loader": "",
        "utils/text": TEXT_SOURCE,
        "utils/commons": COMMONS_SOURCE,
        "config/config": CONFIG_SOURCE,
        "training/trainer": TRAINER_SOURCE,
        "cli": CLI_SOURCE,
        "trainer": IMPORTER,
    }
    for name, text in sources.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "train_main.py").write_text(TRAIN_MAIN_SOURCE, encoding="utf-8")
    return folder


def forget():
    """Makes Python import the trainer anew, as in a new process."""
    for name in [name for name in sys.modules if name.split(".")[0] == "myxtts"]:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("xtts_precompute")]


def config(**keys):
    """Returns the trainer's DataConfig, with its own defaults."""
    defaults = {
        "sample_rate": 22050, "trim_silence": True, "normalize_audio": True,
        "enable_loudness_normalization": True, "language": "en",
        "max_mel_frames": 1024, "max_text_length": 200, "max_text_tokens": 1024,
        "pad_to_fixed_length": False, "use_tf_native_loading": True,
        "metadata_train_file": None, "metadata_eval_file": None,
        "wavs_train_dir": None, "wavs_eval_dir": None, "batch_size": 4,
        "prefetch_buffer_size": 12, "pipeline_buffer_size": 50, "enable_pitch_shift": False,
        "enable_noise_mixing": False, "prefetch_to_gpu": True,
    }  # fmt: skip
    return types.SimpleNamespace(**{**defaults, **keys})


def lj_corpus(table, folder, lists=("metadata.csv",)):
    """Returns the corpus of support.make_corpus() in LJSpeech's layout, dealt out to these lists."""
    (folder / "wavs").mkdir(parents=True)
    lines = [
        line.split(",")[:2] for line in (Path(table) / "metadata.csv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    for file, _ in lines:
        (folder / "wavs" / file).write_bytes((Path(table) / file).read_bytes())
    for number, name in enumerate(lists):
        rows = [f"{file.removesuffix('.wav')}|{text}|{text}" for file, text in lines[number :: len(lists)]]
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def tokens(text):
    return np.array([ord(one) for one in text], np.int32)


def dataset(data, subset="train", **keys):
    """Returns the data set that the trainer makes."""
    made = importlib.import_module("myxtts.trainer").LJSpeechDataset
    return made(data, config(**{"max_mel_frames": 96, **keys}), subset)


def batches(data, subset="train", **keys):
    """Returns the batches of one epoch, in the list's order."""
    framework("tensorflow")
    made = dataset(data, subset, **keys).create_tf_dataset(shuffle=False, repeat=False)
    return [tuple(part.numpy() for part in batch) for batch in made]


def launch(*arguments, folder, **environment):
    """Runs the launcher; returns how it ended."""
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "TF_CPP_MIN_LOG_LEVEL": "3", **environment}
    return ran(sys.executable, "-m", "xtts_precompute.myxtts", *arguments, cwd=folder, environment=environment)
