"""The clips: features from .npy files, and the characters of their texts."""

import pathlib

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

SYMBOLS = " abcdefghijklmnopqrstuvwxyz0123456789.,"


def read_list(path):
    lines = pathlib.Path(path).read_text().splitlines()
    return [line.split("|") for line in lines if not line.startswith("other")]


class Clips(Dataset):
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.rows = read_list(self.folder / "metadata.csv")
        self.symbols = {symbol: number for number, symbol in enumerate(SYMBOLS)}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        name, _, text = self.rows[index]
        return torch.as_tensor(self.features(name)), torch.as_tensor(self.tokens(text))

    def features(self, name):
        return np.load(self.folder / "mels" / f"{name}.npy")

    def tokens(self, text):
        return [self.symbols[symbol] for symbol in text.lower()]


def collate(batch):
    mels, tokens = zip(*batch)
    lengths = torch.tensor([len(mel) for mel in mels])
    return pad_sequence(mels, batch_first=True), lengths, pad_sequence(tokens, batch_first=True)


def make_loader(clips, args, collate):
    return DataLoader(
        clips,
        batch_size=args.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=args.workers,
        persistent_workers=args.workers > 0,
        collate_fn=collate,
    )
