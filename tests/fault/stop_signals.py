#!/usr/bin/env python3
"""stop_signals PROGRAM: one SIGTERM or SIGINT ends a command that waits, with 143 or 130 and the
reason: a reader that reads no further, a FIFO that nobody opens, a builder that may live. A signal
that the parent process had ignored stays ignored."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_MAX = 30  # for a second's work, on a busy machine


def decoders_of(process):
    """Gives the decoders that have begun, whichever of the process's threads started them."""
    found = []
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        try:
            with open(f"/proc/{process.pid}/task/{thread}/children", encoding="ascii") as children:
                for child in children.read().split():
                    with open(f"/proc/{child}/cmdline", encoding="utf-8") as words:
                        found += [int(child)] if "xtts-decode" in words.read() else []
        except OSError:
            pass  # it has ended
    return found


def stop_beside_stopped_decoders(program, number, count):
    """Suspends the decoders when so many run: the first when it has hardly begun, two while they work."""
    process = subprocess.Popen(
        [program, "build", "many", f"cache-{number}-{count}", "--quiet", "-j", "2", "--set", "features.max_frames=96"],
        stderr=subprocess.PIPE,
    )
    begin = time.monotonic()
    decoders = []
    while len(decoders) < count and process.poll() is None and time.monotonic() - begin < SECONDS_MAX:
        decoders = decoders_of(process)
    for child in decoders:
        os.kill(child, signal.SIGSTOP)
    time.sleep(1.0)
    assert len(decoders) == count and process.poll() is None, (decoders, process.poll())
    process.send_signal(number)
    try:
        code = process.wait(SECONDS_MAX)
    finally:
        process.kill()
    said = process.stderr.read().decode()
    assert code == 128 + number and "stopped" in said, (code, said)


def main():
    program = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="stop signals ")
    os.chdir(folder)

    def stop(arguments, number, stdout=subprocess.DEVNULL, wait_s=1.0):
        process = subprocess.Popen([program, *arguments], stdout=stdout, stderr=subprocess.PIPE)
        time.sleep(wait_s)
        assert process.poll() is None, f"{arguments}: did not wait: {process.communicate()}"
        process.send_signal(number)
        code = process.wait(SECONDS_MAX)
        said = process.stderr.read().decode()
        assert code == 128 + number, (arguments, code, said)
        assert "stopped" in said or "interrupted" in said, (arguments, said)

    try:
        subprocess.run([sys.executable, os.path.join(HERE, "make_clips.py"), "data", "2"], check=True)
        subprocess.run([sys.executable, os.path.join(HERE, "make_clips.py"), "many", "100", "5"], check=True)
        subprocess.run([program, "build", "data", "cache", "--quiet", "--set", "features.max_frames=96"], check=True)
        os.mkfifo("fifo")
        for number in (signal.SIGTERM, signal.SIGINT):
            stop(["show", "cache", "clip-0001", "--npy", "fifo"], number)
            # The output is a full pipe that somebody holds open.
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            try:
                while True:
                    os.write(writing, b"x" * 4096)
            except BlockingIOError:
                pass
            os.set_blocking(writing, True)
            for arguments in (
                ["ls", "cache"],
                ["info", "cache", "--json"],
                ["verify", "cache", "--json"],
                ["build", "data", "cache", "--json", "--set", "features.max_frames=96"],
                ["recipes"],
            ):
                stop(arguments, number, stdout=writing)
            os.close(reading)
            os.close(writing)
        # Its decoders stand still: suspended, or on a disk that does not answer.
        for number in (signal.SIGTERM, signal.SIGINT):
            for count in (1, 2):
                stop_beside_stopped_decoders(program, number, count)
        # The parent process ignored the signal: the command goes on until somebody reads the FIFO.
        process = subprocess.Popen(
            [program, "show", "cache", "clip-0001", "--npy", "fifo"],
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(1.5)
        assert process.poll() is None
        with open("fifo", "rb") as fifo:
            assert fifo.read(6) == b"\x93NUMPY"
            fifo.read()
        assert process.wait(SECONDS_MAX) == 0
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print("signals: every wait ended")


if __name__ == "__main__":
    main()
