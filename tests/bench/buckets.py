#!/usr/bin/env python3
"""tests/bench/buckets.py CACHE [MB/s ...]: reads a published cache over HTTP, beside plain downloads.

nginx serves the cache on the loopback interface, with a limit of so many MB/s over eight connections
(100 and 300). In each round, in one run: curl copies all files, eight at once; fetch() copies and
checks them; xp.open() gives the first batch, and then the epoch. Needs nginx, curl and
xtts_precompute[buckets].
"""

import getpass
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import xtts_precompute as xp
from xtts_precompute.buckets import fetch, publish

CONNECTIONS = 8
PORT = 18080
ROUNDS = 3
_CONFIGURATION = """
pid {work}/pid; error_log {work}/error; worker_processes 1; daemon off; user {user};
events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 100000; client_body_temp_path {work}/body; proxy_temp_path {work}/proxy;
        fastcgi_temp_path {work}/fastcgi; uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
        server {{ listen 127.0.0.1:{port}; root {root}; limit_rate {rate}; sendfile on; }} }}
"""


def seconds(call, *arguments, **options):
    begin = time.perf_counter()
    call(*arguments, **options)
    return time.perf_counter() - begin


def read_epoch(cache):
    """Returns the seconds to the first batch, and to the last."""
    begin = time.perf_counter()
    first = None
    for batch in cache.reader(batch_size=32, split="train", shuffle="window", seed=1):
        first = first or time.perf_counter() - begin
        batch.release()
    return first, time.perf_counter() - begin


def measure(served, files, work, rate_mb):
    url = f"http://127.0.0.1:{PORT}"
    configuration = work / "nginx.conf"
    rate = int(rate_mb * 1e6 / CONNECTIONS)
    user = getpass.getuser()
    configuration.write_text(_CONFIGURATION.format(work=work, port=PORT, root=served, rate=rate, user=user))
    server = subprocess.Popen(["nginx", "-p", str(work), "-c", str(configuration)])
    try:
        time.sleep(0.5)
        size_mb = sum((served / file).stat().st_size for file in files) / 1e6
        for _ in range(ROUNDS):
            local, plain = work / "local", work / "plain"
            names = "\n".join(f'url = "{url}/{file}"\noutput = "{plain}/{file}"' for file in files)
            curl = ["curl", "-sf", "-Z", "--parallel-max", str(CONNECTIONS), "--create-dirs", "-K", "-"]
            plain_s = seconds(subprocess.run, curl, input=names, text=True, check=True)
            fetch_s = seconds(fetch, url, local)
            shutil.rmtree(local)
            begin = time.perf_counter()
            cache = xp.open(url, local=local)
            open_s = time.perf_counter() - begin
            first_s, epoch_s = read_epoch(cache)
            print(
                f"{rate_mb} MB/s, {size_mb:.0f} MB: curl {size_mb / plain_s:.0f} MB/s, "
                f"fetch {size_mb / fetch_s:.0f} MB/s ({plain_s / fetch_s:.0%}); "
                f"open {open_s:.2f} s, first batch {first_s:.2f} s, epoch {epoch_s:.2f} s "
                f"({plain_s / (open_s + epoch_s):.0%} of curl)",
                flush=True,
            )
            del cache
            shutil.rmtree(local)
            shutil.rmtree(plain)
    finally:
        server.terminate()
        server.wait()


def main():
    cache, *rates = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        publish(cache, f"file://{work}/served")
        files = [str(file.relative_to(work / "served")) for file in (work / "served").rglob("*") if file.is_file()]
        for rate in rates or ("100", "300"):
            measure(work / "served", files, work, int(rate))


main()
