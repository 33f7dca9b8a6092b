"""Of PyTorch's DataLoader, and of the shapes of its batches."""

CASES = {
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
    "no_workers: an option whose default is set elsewhere": """\
        import argparse
        from torch.utils.data import DataLoader

        parser = argparse.ArgumentParser()
        parser.add_argument("--workers", type=int, default=0)
        parser.add_argument("--others", type=int)
        parser.set_defaults(others=0)
        args = parser.parse_args()
        if args.workers == 0:
            args.workers = 4
        a = DataLoader(train_set, num_workers=args.workers)  #! workers_restart
        b = DataLoader(train_set, num_workers=args.others)  #! no_workers
        """,
    "no_workers: a loop that trains is enough": {
        "main.py": """\
        from torch.utils.data import DataLoader

        loader = DataLoader(Clips(), batch_size=4)  #! no_workers
        others = DataLoader(Clips(), batch_size=4)
        for batch in loader:
            model(batch).backward()
        for batch in others:
            model(batch)
        """,
    },
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

            def copied(self):
                self.workers = self.settings.workers  # another object's, and no new value of the option

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
}
