#!/usr/bin/env python3
"""list_memory.py PROGRAM: how much memory the lists of a corpus take in the real program.

A clip of a list takes some hundred bytes, with all that planning makes of it. A list that needs
more than --memory is refused before that much is taken, and the message says how much it needs.
With that much it is read. A plan sorts outside of memory, and takes little whatever the rows.
"""

import os
import re
import resource
import struct
import subprocess
import sys
import tempfile

CLIP_BYTES_MAX = 520  # measured: 340 to 400; it was 1,030
PLAN_BYTES_MAX = 300 << 20  # measured: 143 MB for a million rows, 265 MB for a hundred


def write_corpus(folder: str, rows: int) -> None:
    """Writes a list whose rows all name one sound of a second."""
    os.makedirs(folder)
    data = bytes(16000)
    with open(f"{folder}/sound.wav", "wb") as file:
        file.write(
            b"RIFF"
            + struct.pack(
                "<I4s4sIHHIIHH4sI", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16, b"data", len(data)
            )
            + data
        )
    with open(f"{folder}/train.csv", "w", encoding="utf-8") as file:
        file.write("audio,id,text,speaker\n")
        file.writelines(
            f"sound.wav,utterance-{row:08d},{f'what is said in row {row}':.<60},speaker-{row % 50}\n"
            for row in range(rows)
        )


def dry_run(program: str, folder: str, *more: str) -> tuple[int, str, int]:
    return measured([program, "build", f"{folder}", f"{folder}-cache", "--dry-run", "--quiet", *more])


def measured(command: list[str]) -> tuple[int, str, int]:
    """Gives exit code, messages, and the most memory that the program had."""
    report, sender = os.pipe()
    child = os.fork()
    if child == 0:  # a process of its own: the system tells only the largest of all children
        done = subprocess.run(command, capture_output=True, text=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        os.write(sender, f"{done.returncode} {peak} {done.stderr}".encode())
        os._exit(0)
    os.close(sender)
    with open(report, encoding="utf-8") as file:
        code, peak, errors = file.read().split(" ", 2)
    os.waitpid(child, 0)
    return int(code), errors, int(peak)


def main() -> int:
    program = sys.argv[1]
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        few, many, endless = (f"{folder}/{name}" for name in ("few", "many", "endless"))
        write_corpus(few, 1_000)
        write_corpus(many, 101_000)
        peaks = []
        for corpus in (few, many):
            code, errors, peak = dry_run(program, corpus)
            peaks.append(peak)
            if code:
                faults.append(f"{corpus}: exit code {code}: {errors}")
        clip_bytes = (peaks[1] - peaks[0]) // 100_000
        print(f"{clip_bytes} bytes a clip")
        if clip_bytes > CLIP_BYTES_MAX:
            faults.append(f"a clip takes {clip_bytes} bytes")

        write_corpus(endless, 800_000)
        code, errors, peak = dry_run(program, endless, "--memory", "512M")
        print(f"800,000 clips: exit code {code}, {peak >> 20} MiB: {errors.strip()}")
        needed = re.search(r"give --memory (\d+)M", errors)
        if code != 6 or not needed:
            faults.append(f"more than --memory: exit code {code}: {errors}")
        if peak > 512 << 20:
            faults.append(f"--memory 512M took {peak >> 20} MiB")
        if needed:
            enough = int(needed[1])
            code, errors, peak = dry_run(program, endless, "--memory", f"{enough}M")
            if code or peak > enough << 20:
                faults.append(f"--memory {enough}M: exit code {code}, {peak >> 20} MiB: {errors}")
        command = [program, "plan", endless, f"{folder}/plan", "--parts", "3", "--memory", "512M", "--quiet"]
        code, errors, peak = measured(command)
        print(f"plan of 800,000 clips: exit code {code}, {peak >> 20} MiB")
        if code or peak > PLAN_BYTES_MAX:
            faults.append(f"a plan: exit code {code}, {peak} bytes: {errors}")
    for fault in faults:
        print("FAILED:", fault)
    return bool(faults)


sys.exit(main())
