"""xp.buckets and xp.open(URL): caches in object stores, over the loopback interface.

Files are published to S3 (moto) and to a folder. A small HTTP server serves that folder, and fails
as stores and proxies do.
"""

import contextlib
import http.server
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp
from support import build, make_corpus, tell
from xtts_precompute.buckets import bucket as bucket_module
from xtts_precompute.buckets import checks, fetch, filler, layout, locks, publish
from xtts_precompute.buckets.command import main

pytest.importorskip("obstore", reason="obstore is not installed: no bucket is tried")
pytest.importorskip("xxhash", reason="xxhash is not installed: no bucket is tried")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    """In this process, and in fillers that it starts."""
    monkeypatch.setattr(bucket_module, "_FIRST_PAUSE_S", 0.001)
    short = (
        "from xtts_precompute.buckets import bucket, filler; bucket._FIRST_PAUSE_S = 0.001;"
        "filler._FAILED_S = 0.5; filler.main()"
    )
    monkeypatch.setattr(filler, "_PROGRAM", ("-c", short))


@pytest.fixture(scope="module")
def parts(path, second_path, tmp_path_factory):
    """A set of two caches in its folder."""
    folder = tmp_path_factory.mktemp("set") / "corpus"
    for number, one in enumerate((path, second_path)):
        shutil.copytree(one, folder / f"parts/{number}")
    tell("set", folder, *sorted((folder / "parts").iterdir()))
    return folder


@pytest.fixture(scope="module")
def next_generation(corpus, path, tmp_path_factory):
    """The cache of `path`, and one generation more."""
    folder = tmp_path_factory.mktemp("next")
    make_corpus(folder / "data", 5, seed=9, prefix="late")
    data, late = folder / "all", folder / "data"
    shutil.copytree(corpus, data)
    for wav in late.glob("*.wav"):
        shutil.copy(wav, data)
    with open(data / "metadata.csv", "a", encoding="utf-8") as file:
        file.writelines((late / "metadata.csv").read_text(encoding="utf-8").splitlines(keepends=True)[1:])
    return build(data, shutil.copytree(path, folder / "cache"))


def in_folder(path, folder):
    """Publishes a cache to a folder; returns its URL."""
    url = f"file://{folder}"
    publish(path, url)
    return url


def served_files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def assert_equal(one, other):
    """Compares ids, records and an epoch's order."""
    assert one.ids[:] == other.ids[:]
    for here, there in zip(one.reader(batch_size=8, seed=3), other.reader(batch_size=8, seed=3), strict=True):
        assert here.ids == there.ids
        np.testing.assert_array_equal(here.mel, there.mel)


# ---- to and from a folder


@pytest.mark.parametrize("form", ["lmdb-padded-float32", "hdf5-packed-float32", "lmdb-packed-float16"])
def test_a_cache_is_read_from_where_it_was_published(caches, tmp_path, form):
    url = in_folder(caches(form), tmp_path / "bucket")
    assert_equal(xp.open(url, local=tmp_path / "local"), xp.open(caches(form)))
    assert json.loads(tell("verify", fetch(url, tmp_path / "local"), "--json"))["findings"] == []


def test_a_set_is_read_from_where_it_was_published(parts, tmp_path):
    url = in_folder(parts, tmp_path / "bucket")
    assert_equal(xp.open(url, local=tmp_path / "local"), xp.open(parts))


def test_the_copy_has_the_files_that_a_reader_needs(parts, tmp_path):
    copy = Path(fetch(in_folder(parts, tmp_path / "bucket"), tmp_path / "local"))
    assert served_files(copy) == served_files(tmp_path / "bucket")
    whole = served_files(parts)
    assert all(whole[name] == content for name, content in served_files(copy).items())


def test_what_is_there_does_not_go_again(path, tmp_path):
    url = in_folder(path, tmp_path / "bucket")
    assert publish(path, url).uploaded_files == 0
    shard = next((tmp_path / "bucket").glob("shards/mel/*"))
    shard.unlink()
    done = publish(path, url)
    assert (done.uploaded_files, done.uploaded_bytes) == (1, shard.stat().st_size)
    assert done.bytes == sum(file.stat().st_size for file in (tmp_path / "bucket").rglob("*-*") if file.is_file())


def test_a_damaged_cache_is_not_published(own_path, tmp_path):
    shard = next(own_path.glob("shards/mel/*"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    with pytest.raises(xp.CorruptError, match=re.escape(shard.name)):
        publish(own_path, f"file://{tmp_path}/bucket")
    assert not (tmp_path / "bucket/manifest.json").exists()


def test_each_byte_of_a_shard_and_an_index_is_checked(caches, tmp_path):
    """Every byte lies in a checked region (formats/cache-v1.md, §1)."""
    for form in ("lmdb-padded-float32", "hdf5-packed-float32"):
        cache = caches(form)
        files = layout.files_of((cache / "manifest.json").read_bytes(), "manifest.json")
        blocks = checks.Blocks(cache / files.index.key, files.index)
        damaged = tmp_path / "damaged"
        for shard in files.shards:
            content = bytearray((cache / shard.key).read_bytes())
            checks.check_shard(cache / shard.key, shard, blocks)
            places = {0, len(content) - 1, *random.Random(1).sample(range(len(content)), 150)}
            for place in places:
                content[place] ^= 0x10
                damaged.write_bytes(content)
                with pytest.raises(xp.CorruptError):
                    checks.check_shard(damaged, shard, blocks)
                content[place] ^= 0x10
        content = bytearray((cache / files.index.key).read_bytes())
        for place in random.Random(2).sample(range(len(content)), 150):
            content[place] ^= 0x10
            damaged.write_bytes(content)
            with pytest.raises(xp.CorruptError):
                checks.Blocks(damaged, files.index)
            content[place] ^= 0x10


# ---- generations


def test_a_new_generation_takes_the_place_of_an_earlier_one(path, next_generation, tmp_path):
    url = in_folder(path, tmp_path / "bucket")
    before = xp.open(url, local=tmp_path / "local")
    in_folder(next_generation, tmp_path / "new")  # a folder has no conditional replacement: see the tests with S3
    shutil.copytree(tmp_path / "new", tmp_path / "bucket", dirs_exist_ok=True)
    after = xp.open(url, local=tmp_path / "local")
    assert len(after) == len(before) + 5
    assert_equal(before, xp.open(path))  # its files wait until it is closed
    assert_equal(after, xp.open(next_generation))
    folder = Path(after.path)
    assert len(list(folder.glob("index-*"))) == 2
    del before
    fetch(url, tmp_path / "local")  # waits for the filler
    assert [file.name for file in folder.glob("index-*")] == [
        layout.files_of((folder / "manifest.json").read_bytes(), "manifest.json").index.key
    ]


def test_something_else_is_not_replaced_by_mistake(path, second_path, parts, tmp_path):
    url = in_folder(path, tmp_path / "bucket")
    with pytest.raises(xp.MismatchError, match="replace"):
        publish(second_path, url)
    with pytest.raises(xp.MismatchError, match=re.escape("has a manifest.json")):
        publish(parts, url)
    with pytest.raises(xp.UnsupportedError, match="cannot do it"):  # a folder has no conditional replacement
        publish(second_path, url, replace=True)
    assert_equal(xp.open(url, local=tmp_path / "local"), xp.open(path))


def test_a_set_of_caches_elsewhere_is_not_published(path, second_path, tmp_path):
    tell("set", tmp_path / "set", path, second_path)
    with pytest.raises(xp.InvalidArgumentError, match="outside"):
        publish(tmp_path / "set", f"file://{tmp_path}/bucket")


# ---- the folder on this machine


def test_local_holds_what_it_may(path, tmp_path):
    url = in_folder(path, tmp_path / "bucket")
    needed = sum(file.stat().st_size for file in (tmp_path / "bucket").rglob("*-*") if file.is_file())
    with pytest.raises(xp.ResourceError, match="larger size"):
        xp.open(url, local=tmp_path / "local", size=needed - 1)
    xp.open(url, local=tmp_path / "local", size=f"{needed / 1000:.3f}KB")
    with pytest.raises(xp.InvalidArgumentError, match="200GB"):
        xp.open(url, local=tmp_path / "local", size="much")


def test_a_full_disk_is_a_resource_error(path, tmp_path):
    url = in_folder(path, tmp_path / "bucket")
    (tmp_path / "local").write_text("a file")
    with pytest.raises(xp.ResourceError):
        xp.open(url, local=tmp_path / "local")


def test_a_url_needs_a_folder_and_a_path_none(path, tmp_path):
    with pytest.raises(xp.InvalidArgumentError, match="local=DIR"):
        xp.open("s3://bucket/cache")
    with pytest.raises(xp.InvalidArgumentError, match="for URLs"):
        xp.open(path, local=tmp_path)
    with pytest.raises(xp.InvalidArgumentError, match="cannot be used"):
        xp.open("gopher://bucket/cache", local=tmp_path)


def test_what_is_missing_is_told(tmp_path):
    (tmp_path / "bucket").mkdir()
    with pytest.raises(xp.NotFoundError, match="no cache and no set"):
        xp.open(f"file://{tmp_path}/bucket", local=tmp_path / "local")
    with pytest.raises(xp.NotFoundError, match="no cache and no set"):
        publish(tmp_path / "nothing", f"file://{tmp_path}/bucket")


@pytest.mark.parametrize("name", ["../outside", "/outside", "a/../../outside", "", "a\\b", "a//b"])
def test_a_set_leads_nowhere_else(parts, tmp_path, name):
    import xxhash

    document = json.loads((parts / "set.json").read_bytes())
    del document["xxh3_128"]
    document["caches"][0]["path"] = name
    body = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()[:-1]
    (tmp_path / "bucket").mkdir()
    trailer = f',"xxh3_128":"{xxhash.xxh3_128_hexdigest(body)}"}}\n'
    (tmp_path / "bucket/set.json").write_bytes(body + trailer.encode())
    with pytest.raises(xp.CorruptError, match="does not lie below"):
        fetch(f"file://{tmp_path}/bucket", tmp_path / "local")


def test_one_process_transfers_and_the_others_wait(path, tmp_path):
    in_folder(path, tmp_path / "bucket")
    with Server(tmp_path / "bucket") as server:
        one = (
            f"import xtts_precompute as xp; cache = xp.open({server.url!r}, local={str(tmp_path / 'local')!r});"
            "print(sum(batch.valid_count for batch in cache.reader(batch_size=4)))"
        )
        running = [subprocess.Popen([sys.executable, "-c", one], stdout=subprocess.PIPE) for _ in range(3)]
        assert {int(each.communicate()[0]) for each in running} == {
            sum(batch.valid_count for batch in xp.open(path).reader(batch_size=4))
        }
        shards = [name for name in server.asked if "/shards/" in name]
        assert len(shards) == len(set(shards)) > 0


def test_a_process_that_dies_leaves_the_turn_to_the_next(path, tmp_path):
    in_folder(path, tmp_path / "bucket")
    with Server(tmp_path / "bucket") as server:
        server.stall = True
        one = f"import xtts_precompute as xp; xp.open({server.url!r}, local={str(tmp_path / 'local')!r})"
        running = subprocess.Popen([sys.executable, "-c", one])
        while not server.asked:
            time.sleep(0.01)
        running.kill()
        running.wait()
        server.stall = False
        assert_equal(xp.open(server.url, local=tmp_path / "local"), xp.open(path))


# ---- the filler


def test_a_cache_is_open_before_its_shards_are_there(parts, tmp_path):
    in_folder(parts, tmp_path / "bucket")
    with Server(tmp_path / "bucket") as server:
        server.fault = lambda name: server.held.wait() and None if "/shards/" in name else None
        cache = xp.open(server.url, local=tmp_path / "local")
        assert cache.ids[:] == xp.open(parts).ids[:]
        assert not list(Path(cache.path).rglob("shards/*/*-*.lmdb"))
        threading.Timer(0.3, server.held.set).start()
        assert_equal(cache, xp.open(parts))


def test_what_a_reader_asks_for_comes_first(parts, tmp_path):
    in_folder(parts, tmp_path / "bucket")
    folder = Path(fetch(f"file://{tmp_path}/bucket", tmp_path / "local"))
    shards = sorted(str(shard.relative_to(folder)) for shard in folder.rglob("shards/*/*"))
    for shard in shards:
        (folder / shard).unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        filling = filler.Filler(f"file://{tmp_path}/bucket", folder, listening)
    order = [filling._next() for _ in range(2)]
    filling._asked_for.append(shards[-1])
    order.append(filling._next())
    assert order[2] == shards[-1] and len(set(order)) == 3
    assert order[:2] == list(filling._missing)[:2]


def test_a_filler_that_dies_is_told_and_the_next_goes_on(parts, tmp_path):
    in_folder(parts, tmp_path / "bucket")
    with Server(tmp_path / "bucket") as server:
        server.fault = lambda name: server.held.wait() and None if "/shards/mel" in name else None
        cache = xp.open(server.url, local=tmp_path / "local")
        threading.Timer(0.5, filler._started[-1].kill).start()
        with pytest.raises(xp.ResourceError, match="has ended: open the cache again"):
            next(iter(cache.reader(batch_size=2, on_damage="skip")))
        server.held.set()
        assert_equal(xp.open(server.url, local=tmp_path / "local"), xp.open(parts))
        assert_equal(cache, xp.open(parts))


def test_a_filler_ends_with_its_users(path, tmp_path):
    in_folder(path, tmp_path / "bucket")
    with Server(tmp_path / "bucket") as server:
        server.fault = lambda name: server.held.wait() and None if "/shards/" in name else None
        one = f"import xtts_precompute as xp; xp.open({server.url!r}, local={str(tmp_path / 'local')!r})"
        subprocess.run([sys.executable, "-c", one], check=True)
        began = time.monotonic()
        threading.Timer(30, server.held.set).start()
        while (turn := locks.take_turn(next((tmp_path / "local").glob("*.lock")))) is None:
            time.sleep(0.05)
        turn.close()
        assert time.monotonic() - began < 20
        server.held.set()


# ---- S3


@pytest.fixture(scope="module")
def s3():
    """A bucket of moto's, whose name the environment's credentials open."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed: conditional writes are not tried")
    import boto3

    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keys = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        client = boto3.client("s3", endpoint_url=keys["AWS_ENDPOINT_URL"], region_name="us-east-1")
        client.create_bucket(Bucket="bucket")
        yield client
    server.stop()


def test_s3_has_the_cache_and_then_its_next_generation(s3, path, next_generation, tmp_path):
    url = "s3://bucket/generations"
    publish(path, url)
    assert_equal(xp.open(url, local=tmp_path / "local"), xp.open(path))
    done = publish(next_generation, url)
    assert 0 < done.uploaded_files < done.files
    assert_equal(xp.open(url, local=tmp_path / "local"), xp.open(next_generation))
    with pytest.raises(xp.MismatchError, match="replace"):
        publish(path, url)
    publish(path, url, replace=True)
    assert_equal(xp.open(url, local=tmp_path / "local"), xp.open(path))


def test_s3_has_a_set(s3, parts, tmp_path):
    publish(parts, "s3://bucket/set")
    assert_equal(xp.open("s3://bucket/set", local=tmp_path / "local"), xp.open(parts))


@pytest.mark.parametrize("is_there", [False, True])
def test_of_two_publishers_one_wins_and_the_other_is_told(
    s3, path, next_generation, second_path, monkeypatch, is_there, tmp_path
):
    url = f"s3://bucket/race-{is_there}"
    if is_there:
        publish(path, url)
    replace = bucket_module.Bucket.replace

    def late(bucket, key, text, version):
        monkeypatch.setattr(bucket_module.Bucket, "replace", replace)
        publish(second_path, url, replace=True)  # the other one, just before this one's last step
        replace(bucket, key, text, version)

    monkeypatch.setattr(bucket_module.Bucket, "replace", late)
    with pytest.raises(xp.BusyError, match="another publisher"):
        publish(next_generation, url)
    assert_equal(xp.open(url, local=tmp_path / "local"), xp.open(second_path))


def test_a_lost_answer_to_the_last_write_is_no_second_publisher(s3, path, monkeypatch):
    import obstore

    put = obstore.put
    lost = []

    def lose_one(store, key, *arguments, **options):
        done = put(store, key, *arguments, **options)
        if key == "manifest.json" and not lost:
            lost.append(key)
            raise bucket_module.package("obstore.exceptions").GenericError("the answer was lost")
        return done

    monkeypatch.setattr(obstore, "put", lose_one)
    publish(path, "s3://bucket/lost")
    assert lost


# ---- faults


class Server:
    """Serves a folder with ranges and tags, and fails as `fault` says for a request: see _FAULTS."""

    def __init__(self, folder):
        self.asked = []  # paths, in order
        self.faults = 0
        self.fault = lambda path: None
        self.stall = False
        self.held = threading.Event()  # for faults that wait
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(False)

            def do_GET(self):
                self.answer(True)

            def answer(self, has_body):
                path = folder / self.path.lstrip("/")
                if not path.is_file():
                    return self.tell(404)
                server.asked.append(self.path)
                while server.stall:
                    time.sleep(0.01)
                content = path.read_bytes()
                tag = f'"{path.stat().st_mtime_ns}"'
                fault = server.fault(self.path)
                server.faults += fault is not None
                if fault in (403, 429, 500, 503):
                    return self.tell(fault)
                if fault == "changed" or self.headers.get("If-Match", tag) != tag:
                    return self.tell(412)
                range_of = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                begin, end = (int(range_of[1]), int(range_of[2]) + 1) if range_of else (0, len(content))
                body = bytearray(content[begin:end])
                if fault == "corrupt":
                    body[random.randrange(len(body))] ^= 1 << random.randrange(8)
                elif fault == "another":  # a proxy that mixes up its answers
                    body = bytearray(random.randbytes(len(body)))
                self.send_response(206 if range_of else 200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", tag)
                self.send_header("Last-Modified", "Sun, 29 Nov 2026 12:00:00 GMT")
                if range_of:
                    self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
                self.end_headers()
                if fault == "late":
                    time.sleep(0.02)
                if fault == "cut":
                    del body[random.randrange(len(body)) :]
                    self.close_connection = True
                if has_body:
                    self.wfile.write(body)
                return None

            def tell(self, status):
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # clients that have gone
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stall = False
        self.held.set()
        self._server.shutdown()
        self._server.server_close()


_FAULTS = (429, 500, 503, "changed", "corrupt", "another", "late", "cut")


@pytest.mark.parametrize("fault", _FAULTS)
def test_a_fault_that_passes_is_not_seen(path, tmp_path, fault):
    in_folder(path, tmp_path / "bucket")
    seen = set()

    def once(name):
        if name in seen or (name == "/manifest.json" and fault in ("changed", "corrupt", "another")):
            return None
        seen.add(name)
        return fault

    with Server(tmp_path / "bucket") as server:
        server.fault = once
        assert_equal(xp.open(server.url, local=tmp_path / "local"), xp.open(path))
        assert server.faults == len(seen) > 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (403, xp.SourceIoError),
        (503, xp.SourceIoError),
        ("cut", xp.SourceIoError),
        ("changed", xp.MismatchError),
        ("corrupt", xp.CorruptError),
        ("another", xp.CorruptError),
    ],
)
def test_a_fault_that_stays_is_told(path, tmp_path, fault, error):
    in_folder(path, tmp_path / "bucket")
    with Server(tmp_path / "bucket") as server:
        server.fault = lambda name: fault if "/shards/" in name else None
        with pytest.raises(error, match=re.escape(server.url)):
            fetch(server.url, tmp_path / "local")
        for _ in range(2):  # the first process that meets it, and the next
            cache = xp.open(server.url, local=tmp_path / "local")
            with pytest.raises(xp.ResourceError, match=re.escape(server.url)):
                next(iter(cache.reader(batch_size=2, on_damage="skip")))
        server.fault = lambda name: None
        time.sleep(0.6)  # until the filler tries again
        assert_equal(xp.open(server.url, local=tmp_path / "local"), xp.open(path))


def test_no_batch_is_false_for_many_faults(parts, tmp_path):
    """XTTS_BUCKET_FAULTS: how many faults, in place of 150."""
    wanted = int(os.environ.get("XTTS_BUCKET_FAULTS", "150"))
    in_folder(parts, tmp_path / "bucket")
    chance = random.Random(5)
    told = 0
    with Server(tmp_path / "bucket") as server:
        server.fault = lambda name: chance.choice(_FAULTS) if chance.random() < 0.3 else None
        while server.faults < wanted:
            with contextlib.suppress(xp.CorruptError, xp.MismatchError, xp.SourceIoError, xp.ResourceError):
                told += 1
                if chance.random() < 0.8:
                    fetch(server.url, tmp_path / "local")
                cache = xp.open(server.url, local=tmp_path / "local")
                assert_equal(cache, xp.open(parts))
                told -= 1
                del cache
                shutil.rmtree(tmp_path / "local", ignore_errors=True)  # a filler may be ending
    print(f"{server.faults} faults, {told} of them told")


# ---- the command


def test_the_command_publishes_and_fetches(path, tmp_path, capsys):
    url = f"file://{tmp_path}/bucket"
    assert main(["publish", str(path), url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["uploaded_files"] > 1
    assert main(["fetch", url, str(tmp_path / "local"), "--size", "1GB"]) == 0
    assert_equal(xp.open(capsys.readouterr().out.strip()), xp.open(path))


def test_the_command_tells_what_is_wrong(tmp_path, capsys):
    assert main(["fetch", f"file://{tmp_path}", str(tmp_path / "local"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "not_found"
    assert main(["publish", "./cache"]) == 2
    assert "--help says more" in capsys.readouterr().err
