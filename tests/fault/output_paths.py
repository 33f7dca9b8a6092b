#!/usr/bin/env python3
"""output_paths PROGRAM: `show --npy`, `--png`, `--wav` and `bench --png` write onto whatever stands
at a path. It is written through, replaced as a whole, or refused. Nothing else of the user's is
changed."""

import ast
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))


def is_npy(data):
    if data[:6] != b"\x93NUMPY":
        return False
    length = int.from_bytes(data[8:10], "little")
    head = ast.literal_eval(data[10 : 10 + length].decode())
    return len(data) == 10 + length + 4 * head["shape"][0] * head["shape"][1]


def main():
    program = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="output paths ")
    os.chdir(folder)

    def show(*arguments, **settings):
        return subprocess.run(
            [program, "show", "cache", "clip-0001", *arguments],
            timeout=60,
            capture_output="stdout" not in settings,
            **settings,
        )

    def read(path):
        with open(path, "rb") as file:
            return file.read()

    def write(path, text):
        with open(path, "w") as file:
            file.write(text)

    try:
        subprocess.run([sys.executable, os.path.join(HERE, "make_clips.py"), "data", "2"], check=True)
        subprocess.run([program, "build", "data", "cache", "--quiet", "--set", "features.max_frames=96"], check=True)

        write("x.npy.tmp", "the user's")
        write("x.npy", "old")
        done = show("--npy", "x.npy")
        assert done.returncode == 0 and is_npy(read("x.npy")), done.stderr
        assert read("x.npy.tmp") == b"the user's"
        array = read("x.npy")

        # Links stay, and lead to what was written. So does one that led nowhere.
        os.mkdir("target")
        write("target/old.npy", "old")
        for name in ("old.npy", "new.npy"):
            os.symlink(os.path.join("target", name), "link-" + name)
            assert show("--npy", "link-" + name).returncode == 0
            assert os.path.islink("link-" + name) and read(os.path.join("target", name)) == array

        # Standard output is a pipe, a file or a device, under several names. Then nothing else is
        # printed there.
        for path in ("/dev/stdout", "/proc/self/fd/1"):
            done = show("--npy", path)
            assert done.returncode == 0 and done.stdout == array, (path, done.stdout[-200:], done.stderr)
            with open("redirected", "wb") as redirected:
                redirected.write(b"before ")
                redirected.flush()
                done = show("--npy", path, stdout=redirected, stderr=subprocess.PIPE)
            assert done.returncode == 0 and read("redirected") == b"before " + array, done.stderr
        assert stat.S_ISLNK(os.lstat("/dev/stdout").st_mode)
        assert show("--npy", "/dev/stdout", "--json").returncode == 2

        # A FIFO is written to and stays one.
        os.mkfifo("fifo")
        got = []
        reader = threading.Thread(target=lambda: got.append(read("fifo")))
        reader.start()
        done = show("--npy", "fifo")
        reader.join(60)
        assert done.returncode == 0 and got == [array] and stat.S_ISFIFO(os.lstat("fifo").st_mode), done.stderr

        # One device takes all, one is full. Root makes nodes of its own that could be replaced.
        devices = {"/dev/null": 0, "/dev/full": 6}
        if os.geteuid() == 0:
            os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            devices["null"] = 0
        for path, code in devices.items():
            if not stat.S_ISCHR(os.stat(path).st_mode):
                continue  # a container may have made it a file
            for option in ("--npy", "--png", "--wav"):
                done = show(option, path)
                assert done.returncode == code, (path, option, done.returncode, done.stderr)
            assert stat.S_ISCHR(os.stat(path).st_mode), path
        if os.geteuid() == 0:
            assert (
                subprocess.run(
                    [program, "bench", "cache", "--batch-size", "1", "--num-batches", "1", "--png", "null"],
                    stdout=subprocess.DEVNULL,
                ).returncode
                == 0
            )
            assert stat.S_ISCHR(os.lstat("null").st_mode)

        for path in ("target", "missing/x.npy"):
            done = show("--npy", path)
            assert done.returncode in (2, 6) and path.encode() in done.stderr, (path, done.returncode, done.stderr)
        left = [name for name in os.listdir(".") if name.endswith(".tmp")]
        assert left == ["x.npy.tmp"], left
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    print("output paths: all as they should be")


if __name__ == "__main__":
    main()
