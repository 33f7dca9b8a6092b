"""What xp.myxtts depends on in the reference trainer, restated.

It stands for masoodafar-web/MyXTTSModel at 7e78353, myxtts/data/ljspeech.py and utils/text.py. The
class reads a list, splits it and makes tokens. Its own batches are a text here, so that a test sees
which of the two it has got. The trainer itself is in test_myxtts_trainer.py.
"""

import sys
import types
from pathlib import Path

import numpy as np

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
        self.metadata_file = data_path / (name or "metadata.csv")
        lines = [line.split("|") for line in self.metadata_file.read_text(encoding="utf-8").splitlines()]
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


def write(folder):
    """Writes the trainer's package, with one module that imports its class as XTTSTrainer does."""
    package = folder / "myxtts"
    for name in ("data", "utils"):
        (package / name).mkdir(parents=True)
    sources = {
        "__init__": "",
        "data/__init__": "",
        "utils/__init__": "",
        "data/ljspeech": SOURCE,
        "utils/text": TEXT_SOURCE,
        "trainer": IMPORTER,
    }
    for name, text in sources.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
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
