"""Projects with planted faults, and with code that looks alike, for test_code_scan.py.

Each entry is a project, in files or as one file that trains. A comment `#! RULE` marks a line where
exactly that rule has to find something.
"""

CASES = {
    "python_in_pipeline: a function that is handed to map": """\
        import tensorflow as tf

        def load(path):
            return tf.numpy_function(read, [path], tf.float32)  #! python_in_pipeline

        dataset = tf.data.Dataset.list_files("*.wav").map(load, num_parallel_calls=4).prefetch(1)
        """,
    "python_in_pipeline: a lambda, and a function behind another": """\
        import tensorflow as tf

        def inner(path):
            return tf.compat.v1.py_func(read, [path], tf.float32)  #! python_in_pipeline

        def outer(path):
            return inner(path), path

        a = tf.data.Dataset.range(3).map(outer, num_parallel_calls=2)
        b = tf.data.Dataset.range(3).map(lambda x: tf.py_function(read, [x], tf.int64), 2)  #! python_in_pipeline
        c = a.prefetch(1)
        """,
    "python_in_pipeline: not in validation, nor of another library": """\
        import other
        import tensorflow as tf

        def make_eval_data():
            data = tf.data.Dataset.from_generator(read, tf.int32).map(lambda x: tf.py_function(read, [x], tf.int64))
            return data.batch(8)

        def load(x):
            return other.py_function(read, x)

        def make_data():
            return tf.data.Dataset.range(8).map(load, num_parallel_calls=2).prefetch(1)
        """,
    "python_in_pipeline: not in a metric outside of a pipeline": """\
        import tensorflow as tf

        def error_rate(truth, guess):
            return tf.py_function(edit_distance, [truth, guess], tf.float32)

        model.compile(metrics=[error_rate])
        """,
    "from_generator": """\
        from mypackage import tf
        data = tf.data.Dataset.from_generator(read, output_types=tf.int32).prefetch(1)  #! from_generator
        other = Reader.from_generator(read)
        """,
    "from_generator: not in a data set that only other files use": {
        "data.py": """\
        import tensorflow as tf

        class Texts:
            def create(self):
                return tf.data.Dataset.from_generator(read, tf.int32).prefetch(1)

        class Clips:
            def create(self):
                return tf.data.Dataset.from_generator(read, tf.int32).prefetch(1)  #! from_generator
        """,
        "__init__.py": "from data import Clips, Texts\n",
        "decode_texts.py": "from data import Clips, Texts\n",
        "train.py": "from data import Clips\n",
    },
    "from_generator: not in a benchmark": {
        "benchmark_loader.py": """\
        import tensorflow as tf
        data = tf.data.Dataset.from_generator(read, output_types=tf.int32)
        """
    },
    "map_in_sequence": """\
        import tensorflow as tf
        data = tf.data.Dataset.list_files("*")
        data = data.map(load)  #! map_in_sequence
        data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE).map(load, 4).map(load, **options)
        data = data.map(lambda a, b: (a, b["mel"]))
        data = data.map(lambda a: parse(a))  #! map_in_sequence
        lines = pool.map(load)
        names = frame.map(load)
        data = data.prefetch(1)
        """,
    "no_prefetch": """\
        import tensorflow.compat.v2 as tf

        def make_train_data(files):
            data = tf.data.Dataset.from_tensor_slices(files)
            return data.batch(8)  #! no_prefetch
        """,
    "no_prefetch: buckets": """\
        import tensorflow as tf
        data = tf.data.Dataset.list_files("*")
        data = data.apply(tf.data.experimental.bucket_by_sequence_length(length, edges, sizes))  #! no_prefetch
        data = data.apply(tf.data.experimental.ignore_errors())
        """,
    "no_prefetch: a caller prefetches, or the batch is none of tf.data": {
        "data.py": """\
        import tensorflow as tf

        def make(files):
            return tf.data.Dataset.from_tensor_slices(files).batch(8)

        def other(rows):
            return rows.batch(8)
        """,
        "train.py": """\
        from data import make
        data = make(files).prefetch(2)
        """,
    },
    "eager_mode": """\
        import tensorflow as tf
        tf.config.run_functions_eagerly(True)  #! eager_mode
        tf.config.run_functions_eagerly(False)
        tf.config.run_functions_eagerly(arguments.slow)
        tf.config.experimental_run_functions_eagerly(run_eagerly=True)  #! eager_mode
        """,
    "step_not_compiled: a function, a method, and a step behind another": """\
        import tensorflow as tf

        def update(batch):  #! step_not_compiled
            with tf.GradientTape() as tape:
                loss = model(batch)
            optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

        class Trainer:
            def _step(self, batch):  #! step_not_compiled
                with tf.GradientTape() as tape:
                    loss = model(batch)
                self.optimizer.minimize(loss, v, tape=tape)

            def step(self, batch):
                return self._step(batch)

            def fit(self, data):
                for batch in data:
                    self.step(batch)

        for batch in data:
            update(batch)
        """,
    "step_not_compiled: wrapped in each way that there is": """\
        import functools
        import tensorflow as tf

        def gradient(batch):
            with tf.GradientTape() as tape:
                loss = model(batch)
            return tape.gradient(loss, v)

        @tf.function
        def a(batch):
            return gradient(batch)

        def b(batch):
            with tf.GradientTape() as tape:
                return tape.gradient(model(batch), v)

        compiled = tf.function(b, input_signature=signature)
        jitted = tf.function(jit_compile=True)

        @functools.partial(tf.function, jit_compile=True)
        def c(batch):
            with tf.GradientTape() as tape:
                return tape.gradient(model(batch), v)

        @tf.function(jit_compile=True)
        def d(batch):
            return strategy.run(e, args=(batch,))

        def e(batch):
            with tf.GradientTape() as tape:
                return tape.gradient(model(batch), v)

        class Model(tf.keras.Model):
            def train_step(self, batch):
                with tf.GradientTape() as tape:
                    return tape.gradient(self(batch), v)

        @tf.function
        def g():
            def inner(batch):
                with tf.GradientTape() as tape:
                    return tape.gradient(model(batch), v)
            return inner(batch)

        for batch in data:
            a(batch), compiled(batch), c(batch), d(batch), model.train_step(batch), g()
        """,
    "step_not_compiled: not what runs once, or looks for a size": """\
        import tensorflow as tf

        def saliency(clip):
            with tf.GradientTape() as tape:
                return tape.gradient(model(clip), clip)

        def find_batch_size():
            for size in range(8):
                with tf.GradientTape() as tape:
                    tape.gradient(model(size), v)

        saliency(clip)
        """,
    "host_sync: a loop of PyTorch": """\
        import torch

        def train(loader):
            for step, batch in enumerate(loader):
                mel = batch["mel"].to(device)
                loss = model(mel)
                total += loss.item()  #! host_sync
                loss.backward()
                kept.append(loss.detach().cpu().numpy())  #! host_sync
                history.append(float(loss))  #! host_sync
                norms.append(grad_norm.to("cpu"))  #! host_sync
                if use_amp:
                    scale.append(scaler_value.tolist())  #! host_sync
        """,
    "host_sync: a script that trains outside of every function": """\
        import torch

        model = torch.nn.Linear(2, 2).cuda()
        for epoch in range(10):
            for batch in loader:
                loss = model(batch.cuda()).mean()
                loss.backward()
                print(loss.item())  #! host_sync
                if step % 100 == 0:
                    print(loss.item())
            print(loss.item())

        def show(loss):
            print(loss.item())
        """,
    "host_sync: a script that trains on the CPU": """\
        import torch

        model = torch.nn.Linear(2, 2)
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            print(loss.item())
        """,
    "step_not_compiled: a script that trains outside of every function": """\
        import tensorflow as tf

        for batch in batches:
            with tf.GradientTape() as tape:  #! step_not_compiled
                loss = model(batch)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        """,
    "host_sync: a threshold is no seldom condition, and each of several loops counts": """\
        class Trainer:
            def train_step(self, batch):
                steps = self.steps.item()
                for part in parts:
                    loss = model(part)
                    loss.backward()
                    if self.steps > self.config["generator_start"]:
                        self.sums += loss.item()  #! host_sync
                for part in parts:
                    other = model(part)
                    other.backward()
                    if self.steps == 0:
                        print(other.item())
                    if self.rank == 0:
                        self.sums += accelerator.gather(other).mean().item()  #! host_sync

            def fit(self, data):
                while self.steps < 10:
                    self.train_step(next(data))
        """,
    "host_sync: seldom, on the host, or not in training": """\
        import numpy as np

        def train(loader):
            for step, (texts, lengths) in enumerate(loader):
                longest = lengths.max().item()
                texts = texts.cuda()
                loss = model(texts, longest)
                loss.backward()
                if step % 100 == 0:
                    print(loss.item())
                if step % hps.log_interval == 0 and rank == 0:
                    writer.add_scalar("loss", loss.item())
                if should_save:
                    torch.save(model.cpu())
                rate = float(config.lr)
                share = np.mean(lengths.numpy()).item()
                for batch in val_loader:
                    sum += model(batch).item()
                with torch.no_grad():
                    accuracy = measure().item()
                def shown():
                    return loss.item()
                try:
                    optimizer.step()
                except RuntimeError:
                    print(loss.item())
            print(loss.item())

        def validate(loader):
            for batch in loader:
                loss = model(batch)
                loss.backward()
                total += loss.item()

        def read(rows):
            for row in rows:
                yield row.item()
        """,
    "host_sync: the step is a function, and the waits are in the loop or in the step": {
        "trainer.py": """\
        class Trainer:
            def train_step(self, batch):
                loss = self.model(batch)
                self.seen = loss.item()  #! host_sync
                loss.backward()
                return {"loss": loss}

            def train(self):
                for batch in self.loader:
                    losses = self.train_step(batch)
                    for key, value in losses.items():
                        self.sums[key] += float(value)  #! host_sync
                self.report(float(losses["loss"]))
        """,
        "module.py": """\
        import pytorch_lightning as pl

        class Module(pl.LightningModule):
            def training_step(self, batch, index):
                loss = self(batch)
                self.last = loss.item()  #! host_sync
                return loss

            def validation_step(self, batch, index):
                return self(batch).item()
        """,
    },
    "host_sync: a compiled step cannot wait": """\
        import tensorflow as tf

        @tf.function
        def train_step(batch):
            with tf.GradientTape() as tape:
                loss = model(batch)
            try:
                shown = float(loss.numpy())
            except AttributeError:
                shown = None
            return tape.gradient(loss, v)

        for batch in data:
            train_step(batch)
        """,
    "no_workers, no_pinned_memory, workers_restart": """\
        import torch
        from torch.utils.data import DataLoader

        device = torch.device("cuda")
        a = DataLoader(train_set, 16, shuffle=True)  #! no_workers no_pinned_memory
        b = DataLoader(train_set, num_workers=0, pin_memory=True)  #! no_workers
        c = DataLoader(train_set, num_workers=4, pin_memory=False, persistent_workers=True)  #! no_pinned_memory
        d = DataLoader(train_set, num_workers=workers, pin_memory=pinned)  #! workers_restart
        e = DataLoader(train_set, num_workers=4, pin_memory=True, persistent_workers=False)  #! workers_restart
        f = DataLoader(train_set, num_workers=4, pin_memory=True, persistent_workers=keep)
        g = DataLoader(train_set, **options)
        """,
    "DataLoader: not one that validates, reads in order, or is another": """\
        import torch
        from torch.utils.data import DataLoader
        from tables import DataLoader as Table

        torch.cuda.is_available()
        eval_loader = DataLoader(eval_set, shuffle=True)
        loaders["dev"] = DataLoader(rows, shuffle=True)
        table = Table(train_set)

        def make(is_eval):
            if is_eval:
                loader = DataLoader(rows, shuffle=True)
            else:
                loader = DataLoader(rows, shuffle=True)  #! no_workers no_pinned_memory
            return loader

        def val_dataloader():
            return DataLoader(rows, shuffle=True)

        def synthesize(texts):
            return DataLoader(texts)
        """,
    "DataLoader: in order, in a file without a word on training": {
        "spectrograms.py": """\
        from torch.utils.data import DataLoader
        loader = DataLoader(rows, batch_size=1)
        shuffled = DataLoader(rows, shuffle=True)  #! no_workers
        """
    },
    "DataLoader: made by a function that hands its options on": {
        "data.py": """\
        from torch.utils.data import DataLoader

        def make(rows, **options):
            return DataLoader(rows, collate_fn=None, **options)

        def other(rows, *, num_workers=0, **kwargs):
            return DataLoader(rows, num_workers=num_workers, shuffle=True)  #! no_workers

        def given(rows, num_workers=0):
            return DataLoader(rows, num_workers=num_workers, shuffle=True)  #! workers_restart

        def first(rows, num_workers=0, batch_size=8):
            return DataLoader(rows, num_workers=num_workers, shuffle=True)  #! no_workers
        """,
        "train.py": """\
        from data import make
        self.loader = make(rows, shuffle=True)  #! no_workers
        self.valid_loader = make(rows, shuffle=True)
        self.other = make(rows, shuffle=True, num_workers=3)  #! workers_restart
        self.unknown = make(rows, **settings)
        given(rows, num_workers=8)
        first(rows, batch_size=3)
        """,
    },
    "DataLoader: what a data set's own file tries": {
        "data.py": """\
        from torch.utils.data import DataLoader

        class Clips:
            def __getitem__(self, index):
                return self.clips[index]

        if __name__ == "__main__":
            train_loader = DataLoader(Clips(), shuffle=True)
        """,
        "main.py": """\
        from torch.utils.data import DataLoader
        from data import Clips

        if __name__ == "__main__":
            train_loader = DataLoader(Clips(), shuffle=True)  #! no_workers
        """,
    },
    "no_pinned_memory: not without a GPU": """\
        from torch.utils.data import DataLoader
        loader = DataLoader(train_set, num_workers=2, persistent_workers=True)
        """,
    "no_workers: a command's option that is 0 by default": """\
        import argparse
        from torch.utils.data import DataLoader

        parser = argparse.ArgumentParser()
        parser.add_argument("--dataloader-workers", type=int, default=0)
        parser.add_argument("-j", "--workers", type=int, default=4)
        args = parser.parse_args()
        a = DataLoader(train_set, num_workers=args.dataloader_workers)  #! no_workers
        b = DataLoader(train_set, num_workers=args.workers)  #! workers_restart
        c = DataLoader(train_set, num_workers=config.dataloader_workers)  #! workers_restart
        """,
    "no_workers: an option of the trainer's own function": """\
        import argparse
        from torch.utils.data import DataLoader

        def options():
            parser = argparse.ArgumentParser()
            parser.add_argument("--workers", type=int, default=0)
            return parser.parse_args()

        class Trainer:
            def __init__(self):
                self.settings = options()

            def train(self):
                return DataLoader(train_set, num_workers=self.settings.workers)  #! no_workers

        def main(given):
            return DataLoader(train_set, num_workers=given.workers)  #! no_workers

        main(options())
        """,
    "no_workers: not where only another loader of the function trains": """\
        from torch.utils.data import DataLoader
        from tqdm import tqdm

        def main():
            sample_loader = DataLoader(prompts, batch_size=4)
            for prompt in tqdm(sample_loader):
                save(pipeline(prompt))
            loader = DataLoader(clips, batch_size=4, shuffle=True)  #! no_workers
            for epoch in range(10):
                for clip in loader:
                    model(clip).backward()
        """,
    "no_workers: Hugging Face's Trainer": """\
        from transformers import Seq2SeqTrainingArguments, TrainingArguments
        a = Seq2SeqTrainingArguments(output_dir="out", fp16=True)  #! no_workers
        b = TrainingArguments(output_dir="out", dataloader_num_workers=0)  #! no_workers
        c = TrainingArguments(output_dir="out", dataloader_num_workers=4)
        d = TrainingArguments(**settings)
        """,
    "varying_shapes: padded_batch and a step without a signature": """\
        import tensorflow as tf

        @tf.function
        def train_step(batch):
            return model(batch)

        data = tf.data.Dataset.list_files("*")
        a = data.padded_batch(8)  #! varying_shapes
        b = data.padded_batch(8, padded_shapes=([None], [None, 80]))  #! varying_shapes
        c = data.padded_batch(8, padded_shapes=([200], [800, 80])).prefetch(1)
        d = data.padded_batch(8, ([200], [800, 80]))
        """,
    "varying_shapes: not with a signature": """\
        import tensorflow as tf

        @tf.function(input_signature=signature)
        def train_step(batch):
            return model(batch)

        data = tf.data.Dataset.list_files("*").padded_batch(8).prefetch(1)
        """,
    "varying_shapes: a collate function and torch.compile": {
        "train.py": """\
        import torch
        from torch.utils.data import DataLoader
        from data import collate, fixed

        model = torch.compile(model)
        a = DataLoader(train_set, num_workers=1, persistent_workers=True, collate_fn=collate)  #! varying_shapes
        b = DataLoader(train_set, num_workers=1, persistent_workers=True, collate_fn=fixed)
        """,
        "data.py": """\
        def collate(rows):
            longest = max(len(row) for row in rows)
            return [pad(row, longest) for row in rows]

        def fixed(rows):
            return [pad(row, 800) for row in rows]
        """,
    },
    "varying_shapes: not for another file's function of the same name": {
        "train.py": """\
        import torch
        from torch.utils.data import DataLoader

        def collate(rows):
            return torch.stack(rows)

        model = torch.compile(model)
        a = DataLoader(train_set, num_workers=1, persistent_workers=True, collate_fn=collate)
        """,
        "other.py": """\
        from torch.nn.utils.rnn import pad_sequence

        def collate(rows):
            return pad_sequence(rows)
        """,
    },
    "varying_shapes: not where torch.compile is told": """\
        import torch
        from torch.nn.utils.rnn import pad_sequence
        from torch.utils.data import DataLoader

        def collate(rows):
            return pad_sequence(rows)

        model = torch.compile(model, dynamic=True)
        a = DataLoader(train_set, num_workers=1, persistent_workers=True, collate_fn=collate)
        """,
    "features_in_getitem: directly, in methods, in other files and in objects": {
        "data.py": """\
        import librosa, torchaudio
        from audio import read_clip
        from stft import Mels

        class Direct(Dataset):
            def __getitem__(self, index):
                return librosa.feature.melspectrogram(y=self.clips[index])  #! features_in_getitem

        class Base(Dataset):
            def load(self, path):
                return torchaudio.load(path)  #! features_in_getitem

        class Derived(Base):
            def __getitem__(self, index):
                return self.load(self.paths[index])

        class Far(Dataset):
            def __getitem__(self, index):
                return read_clip(self.paths[index])

        class Keeps(Dataset):
            def __init__(self):
                self.mels = Mels()
                self.resample = torchaudio.transforms.Resample(44100, 22050)

            def __getitem__(self, index):
                return self.mels.of(self.clips[index])

        class Resamples(Keeps):
            def __init__(self):
                self.slower = torchaudio.transforms.Resample(44100, 22050)

            def __getitem__(self, index):
                return self.slower(self.clips[index])  #! features_in_getitem

        class Holds(Dataset):
            def __getitem__(self, index):
                self.kept[index] = torchaudio.transforms.Resample(44100, 22050)
                return self.kept[index](self.clips[index])

        class Unknown(Dataset):
            def __getitem__(self, index):
                return self.processor.load_wav(self.paths[index])  #! features_in_getitem

        class Stream(IterableDataset):
            def __iter__(self):
                for path in self.paths:
                    yield torchaudio.load(path)  #! features_in_getitem

        class Collates(Dataset):
            def __getitem__(self, index):
                return self.paths[index]

            def collate_fn(self, rows):
                return [librosa.load(row) for row in rows]  #! features_in_getitem
        """,
        "audio.py": """\
        import soundfile as sf

        def read_clip(path):
            return sf.read(path)  #! features_in_getitem
        """,
        "stft.py": """\
        import torch

        class Mels:
            def of(self, clip):
                return torch.stft(clip, 1024)  #! features_in_getitem
        """,
        "train.py": """\
        from data import Direct, Derived, Far, Keeps, Resamples, Holds, Unknown, Stream, Collates
        """,
    },
    "features_in_getitem: a function is looked up where it is imported from": {
        "data.py": """\
        from stored import read_clip
        from package.sound import open_clip

        class Stored(Dataset):
            def __getitem__(self, index):
                return read_clip(index), open_clip(index)
        """,
        "stored.py": "import numpy as np\ndef read_clip(path):\n    return np.load(path)\n",
        "heard.py": "import librosa\nclass Heard:\n    def __getitem__(self, i):\n        return librosa.load(i)\n",
        "infer.py": "from heard import Heard\n",
        "sound.py": "import librosa\ndef read_clip(path):\n    return librosa.load(path)\nopen_clip = read_clip\n",
        "package/sound.py": "def open_clip(path):\n    return path\n",
        "other/sound.py": "import librosa\ndef open_clip(path):\n    return librosa.load(path)\n",
        "train.py": "from data import Stored\n",
    },
    "features_in_getitem: a question for the file that keeps nothing": {
        "data.py": """\
        import os
        import librosa, soundfile

        class Asks(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if os.path.exists(path):
                    return soundfile.read(path)  #! features_in_getitem
                raise KeyError(path)

        class Leaves(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if not os.path.exists(path):
                    return None
                return soundfile.read(path)  #! features_in_getitem

        class Logs(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if os.path.exists(path):
                    print(path)
                if self.trims:
                    print(path)
                return soundfile.read(path)  #! features_in_getitem

        class Helps(Dataset):
            def __getitem__(self, index):
                return self.load_wav(index)

            def load_wav(self, index):
                return librosa.load(self.paths[index])  #! features_in_getitem
        """,
        "train.py": "from data import Asks, Leaves, Logs, Helps\n",
    },
    "features_in_getitem: not what is stored, or done once": {
        "data.py": """\
        import os
        import librosa, torch, torchaudio
        import numpy as np

        class Stored(Dataset):
            def __init__(self):
                self.mel = librosa.feature.melspectrogram(y=clip)
                self.processor = Processor()

            def __getitem__(self, index):
                mel = np.load(self.paths[index])
                return self.processor.load_wav(mel), torch.load(self.paths[index]), self.clip(index), resample(mel)

        class Kept(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if os.path.exists(path):
                    mel = np.load(path)
                else:
                    mel = librosa.feature.melspectrogram(y=self.clips[index])
                return mel, self.pitch(path), self.energy(path), self.voice(path)

            def voice(self, path):
                missing = find_missing(path)
                if missing:
                    voice = librosa.pyin(path)
                    np.save(path, voice)
                return voice

            def pitch(self, path):
                if os.path.isfile(path):
                    return np.load(path)
                return librosa.pyin(path)

            def energy(self, path):
                try:
                    return np.load(path)
                except FileNotFoundError:
                    return librosa.stft(path)

        class Processor:
            def load_wav(self, path):
                return path

        def resample(mel):
            return mel[::2]

        class Loop:
            def __iter__(self):
                return iter(librosa.load(self.path))

            def collate(self, rows):
                return librosa.load(rows[0])

        class EvalDataset(Dataset):
            def __getitem__(self, index):
                return torchaudio.load(self.paths[index])

        def prepare(paths):
            return [torchaudio.load(path) for path in paths]
        """,
        "train.py": "from data import Stored, Kept, EvalDataset, Loop\n",
        "mel.py": "import librosa\ndef load_mel(path):\n    return librosa.load(path)\n",
    },
}
