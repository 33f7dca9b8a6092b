"""A small text-to-speech network for PyTorch, to time training steps with.

`xtts-precompute profile` and samples/train_torch.py train it. It has the shape of Tacotron and its
Transformer heirs, and 1.1 million parameters, which a CPU can train. Text goes through an embedding
and two convolutions. Groups of 8 frames go through a prenet, attention to the text and three causal
convolutions, which predict the next group (teacher forcing). It learns, but it is not meant to
speak. reference_tensorflow.py is the same network.
"""

from __future__ import annotations

from typing import Any

from ._base.frameworks import framework

torch: Any = framework("torch", "torch")

GROUP = 8  # frames that are predicted at once; Tacotron's r
WIDTH = 192
SYMBOLS = 512  # larger tokens are folded in


class SmallTts(torch.nn.Module):  # type: ignore[misc]
    """Predicts mel [B, frames, mels] from the mel before, and from tokens [B, n] and text_len [B].

    `has_text=False` leaves the text out.
    """

    def __init__(self, mel_count: int = 80, has_text: bool = True) -> None:
        super().__init__()
        nn = torch.nn
        self.has_text = has_text
        if has_text:
            self.embedding = nn.Embedding(SYMBOLS, WIDTH)
            self.encoder = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 5, padding=2) for _ in range(2))
            self.query = nn.Linear(WIDTH, WIDTH)
        self.prenet = nn.Sequential(nn.Linear(GROUP * mel_count, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.decoder = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 3) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.projection = nn.Linear(WIDTH, GROUP * mel_count)

    def forward(self, mel: Any, tokens: Any = None, text_len: Any = None) -> Any:
        batch, frames, mels = mel.shape
        # Shifted by one group: each group is predicted from those before it.
        known = torch.nn.functional.pad(mel, (0, 0, GROUP, -frames % GROUP))[:, :-GROUP]
        state = self.prenet(known.reshape(batch, -1, GROUP * mels))
        if self.has_text:
            state = state + self._attend(state, tokens, text_len)
        for convolution, norm in zip(self.decoder, self.norms):
            past = torch.nn.functional.pad(norm(state).transpose(1, 2), (2, 0))
            state = state + torch.relu(convolution(past)).transpose(1, 2)
        return self.projection(state).reshape(batch, -1, mels)[:, :frames]

    def _attend(self, state: Any, tokens: Any, text_len: Any) -> Any:
        text = self.embedding(tokens.long() % SYMBOLS).transpose(1, 2)
        for convolution in self.encoder:
            text = text + torch.relu(convolution(text))
        scores = self.query(state) @ text / WIDTH**0.5
        is_padding = torch.arange(tokens.shape[1], device=tokens.device) >= text_len.clamp(min=1)[:, None]
        weights = torch.softmax(scores.masked_fill(is_padding[:, None], -1e9), -1)
        return weights @ text.transpose(1, 2)


def mel_loss(predicted: Any, mel: Any, mel_len: Any) -> Any:
    """Returns the mean absolute error over true frames."""
    is_true = (torch.arange(mel.shape[1], device=mel.device) < mel_len[:, None])[..., None]
    return ((predicted - mel).abs() * is_true).sum() / (mel_len.sum().clamp(min=1) * mel.shape[2])
