"""Writes the files beside this script: python make_files.py, with pyarrow 26 (pip install pyarrow).

The sound of a row is no sound, but bytes that tests know: b"RIFF of row N". Row 1 has no sound at
all, row 2 names a file instead. Each file is as Hugging Face's `datasets` writes it, except for
what its name says.
"""

import datetime
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
SOUND = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def table(row_count):
    sounds = []
    for row in range(row_count):
        sounds.append({"bytes": b"RIFF of row %d" % row, "path": f"clip_{row}.wav"})
    sounds[1] = None
    sounds[2] = {"bytes": None, "path": "wavs/outside.wav"}
    day = datetime.date(2024, 5, 17)
    return pa.table(
        {
            "id": pa.array(range(100, 100 + row_count)),
            "audio": pa.array(sounds, SOUND),
            "text": [f"Text of row {row}" for row in range(row_count)],
            "speaker_id": pa.array([row % 2 for row in range(row_count)], pa.int16()),
            "words": [[{"word": "Text", "start": 0.5}]] * row_count,
            "recorded": [day] * row_count,
            "embedding": [b"\x00\x01"] * row_count,
        }
    )


def write_stream(name, rows, batch_rows, **options):
    with pa.ipc.new_stream(HERE / name, rows.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(rows, batch_rows)


rows = table(5)
write_stream("stream.arrow", rows, 2)
write_stream("packed.arrow", rows, 5, compression="lz4")
large = rows.set_column(
    1, "audio", rows["audio"].cast(pa.struct([("bytes", pa.large_binary()), ("path", pa.string())]))
)
write_stream("large.arrow", large.select(["audio", "text"]), 5)
write_stream("texts.arrow", rows.select(["text"]), 5)

plain = {"compression": {"audio.bytes": "none", "text": "snappy"}, "use_dictionary": ["text"], "row_group_size": 3}
pq.write_table(rows, HERE / "plain.parquet", data_page_size=16, write_batch_size=2, **plain)
pq.write_table(rows, HERE / "plain_v2.parquet", data_page_version="2.0", **plain)
pq.write_table(rows, HERE / "dictionary.parquet", compression="none", row_group_size=3)
pq.write_table(rows, HERE / "snappy.parquet", compression="snappy", use_dictionary=False)
pq.write_table(rows, HERE / "snappy_dictionary.parquet", compression="snappy", row_group_size=3)
pq.write_table(rows, HERE / "zstd_v2.parquet", compression="zstd", data_page_version="2.0", use_dictionary=False)
pq.write_table(rows.select(["text"]), HERE / "texts.parquet")
