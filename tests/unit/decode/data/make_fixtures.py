#!/usr/bin/env python3
"""Makes the files of this folder. Needs ffmpeg (5.1.9 was used), numpy, soxr (1.1.0) and torchaudio (2.6.0).

The signals are formulas that the tests repeat, so only the encoded bytes are stored:
  sweep(channel): 0.4 sin(2 pi (f0 t + 1500 t^2)), f0 = 300 Hz for the first channel, 700 Hz for the second
  noise: 16-bit values of the generator x = x * 1664525 + 1013904223 mod 2^32, the upper half, over 32768
"""

import pathlib
import subprocess

import numpy as np
import soxr
import torch
import torchaudio

HERE = pathlib.Path(__file__).parent
SECONDS = 0.4


def sweep(rate, f0):
    t = np.arange(round(rate * SECONDS)) / rate
    return (0.4 * np.sin(2 * np.pi * (f0 * t + 1500 * t * t))).astype(np.float32)


def noise(count):
    state, values = 1, np.empty(count, np.float32)
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        values[i] = ((state >> 16) - 32768) / 32768
    return values


def encode(name, rate, channels, *options):
    samples = np.stack([sweep(rate, f0) for f0 in (300, 700)[:channels]], axis=1)
    command = ["ffmpeg", "-v", "error", "-y", "-f", "f32le", "-ar", str(rate), "-ac", str(channels), "-i", "-"]
    # bitexact would leave out LAME's tag, which says where the sound begins and ends.
    exact = [] if "libmp3lame" in options else ["-flags", "+bitexact", "-fflags", "+bitexact"]
    subprocess.run([*command, *exact, *options, str(HERE / name)], input=samples.tobytes(), check=True)


def box(kind, payload):
    return (8 + len(payload)).to_bytes(4, "big") + kind + payload


def itunes_tag(delay, heard):
    padding = -(delay + heard) % 1024
    text = b" 00000000 %08X %08X %016X" % (delay, padding, heard) + b" 00000000" * 8
    return box(
        b"----",
        box(b"mean", bytes(4) + b"com.apple.iTunes")
        + box(b"name", bytes(4) + b"iTunSMPB")
        + box(b"data", b"\0\0\0\1" + bytes(4) + text),
    )


def encode_with_itunes_tag(name, rate):
    """Puts Apple's gapless tag in place of a comment of its size, so that no offset moves."""
    tag = itunes_tag(1024, round(rate * SECONDS))
    comment = "comment=" + "x" * (len(tag) - 8 - 16)
    encode(name, rate, 1, "-c:a", "aac", "-b:a", "160k", "-use_editlist", "0", "-metadata", comment)
    data = (HERE / name).read_bytes()
    begin = data.index(b"\xa9cmt") - 4
    assert int.from_bytes(data[begin : begin + 4], "big") == len(tag)
    (HERE / name).write_bytes(data[:begin] + tag + data[begin + len(tag) :])


def resample_as_ffmpeg(samples, rate, to):
    """What Whisper's load_audio() does, from samples of 16 bits or of float32."""
    kind = "s16le" if samples.dtype == np.int16 else "f32le"
    source = ["-f", kind, "-ar", str(rate), "-ac", "1", "-i", "-"]
    target = ["-f", "s16le", "-ac", "1", "-acodec", "pcm_s16le", "-ar", str(to), "-"]
    command = ["ffmpeg", "-v", "error", *source, *target]
    run = subprocess.run(command, input=samples.tobytes(), check=True, capture_output=True)
    return np.frombuffer(run.stdout, "<i2").astype("<f4") / 32768


def resampled_by_models():
    """The resamplers of torchaudio and of ffmpeg, which models use."""
    for rate, to in ((22050, 24000), (48000, 24000), (44100, 16000), (16000, 22050)):
        out = torchaudio.transforms.Resample(rate, to)(torch.from_numpy(noise(3001))).numpy()
        out.astype("<f4").tofile(HERE / f"noise_{rate}_to_{to}_torchaudio_sinc.f32")
    steps = np.int16(noise(3001) * 32768)
    for rate in (22050, 22254, 44100, 48000):
        resample_as_ffmpeg(steps, rate, 16000).tofile(HERE / f"noise_{rate}_to_16000_ffmpeg_swr.f32")
    floats = np.float32(noise(3001) * np.float32(0.7))
    resample_as_ffmpeg(floats, 44100, 16000).tofile(HERE / "noise_44100_to_16000_ffmpeg_swr_float.f32")


def main():
    resampled_by_models()
    for rate, channels in ((22050, 1), (44100, 2), (48000, 1)):
        stem = f"sweep_{rate}_{channels}"
        encode(stem + ".flac", rate, channels, "-c:a", "flac", "-sample_fmt", "s16", "-metadata_header_padding", "0")
        encode(stem + ".mp3", rate, channels, "-c:a", "libmp3lame", "-b:a", "64k")
        encode(stem + ".ogg", rate, channels, "-c:a", "libvorbis", "-q:a", "2")
        encode(stem + ".m4a", rate, channels, "-c:a", "aac", "-b:a", "160k")
    for channels in (1, 2):
        encode(f"sweep_48000_{channels}.opus", 48000, channels, "-c:a", "libopus", "-b:a", "48k")
    encode("sweep_16000_1.webm", 16000, 1, "-c:a", "libopus", "-b:a", "24k")
    encode("sweep_44100_1.ts", 44100, 1, "-c:a", "aac", "-b:a", "160k", "-f", "mpegts")
    encode("sweep_44100_1.aac", 44100, 1, "-c:a", "aac", "-b:a", "160k", "-f", "adts")
    encode_with_itunes_tag("itunes_44100_1.m4a", 44100)
    for rate, quality in ((44100, "HQ"), (48000, "HQ"), (48000, "VHQ"), (48000, "MQ"), (48000, "LQ"), (44100, "QQ")):
        out = soxr.resample(noise(9001), rate, 22050, quality=quality)
        out.astype("<f4").tofile(HERE / f"noise_{rate}_to_22050_{quality.lower()}.f32")


if __name__ == "__main__":
    main()
