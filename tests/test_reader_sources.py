"""Where rows come from: files, patterns, pipes, compressed bytes; passes, threads, positions."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from recalltree.readers import DamagedFileError, OneReadError, open_rows

zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")

COMPRESS = {
    "plain": bytes,
    "gzip": gzip.compress,
    "zstd": zstd.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def text(n=1000, first=0):
    return b"".join(b"%d %d:%d\n" % (i, i % 50 + 1, i) for i in range(first, first + n))


def labels(reader):
    return [label for batch in reader for label in batch.y.tolist()]


@pytest.mark.parametrize("name", COMPRESS)
def test_compression_is_told_by_content(name, tmp_path):
    path = tmp_path / "rows.svm"  # whose name does not tell
    path.write_bytes(COMPRESS[name](text()))
    reader = open_rows(path)
    for _ in range(2):
        assert labels(reader) == list(range(1000))
        assert reader.position == (path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize("name", COMPRESS)
def test_streams_that_follow_one_another(name):
    data = b"".join(COMPRESS[name](text(300, first)) for first in (0, 300, 600))
    assert labels(open_rows(io.BytesIO(data))) == list(range(900))


@pytest.mark.parametrize("name", [name for name in COMPRESS if name != "plain"])
@pytest.mark.parametrize("share", [0.3, 0.95])
def test_a_compressed_file_that_was_cut_off_is_an_error(name, share):
    random = np.random.default_rng(0)
    rows = b"".join(b"%d 1:%.9f\n" % (i, random.random()) for i in range(20_000))
    data = COMPRESS[name](rows)
    reader = open_rows(
        io.BytesIO(data[: int(len(data) * share)]), on_error="skip", format="svmlight"
    )
    with pytest.raises(DamagedFileError, match=f"{name} data end too early"):
        list(reader)


@pytest.mark.parametrize("name", [name for name in COMPRESS if name != "plain"])
def test_damaged_compressed_bytes_are_an_error(name):
    data = bytearray(COMPRESS[name](text(20_000)))
    data[len(data) // 2 :: 7] = b"\x55" * len(data[len(data) // 2 :: 7])
    with pytest.raises(DamagedFileError, match=f"<BytesIO>: .*{name} data"):
        list(open_rows(io.BytesIO(bytes(data)), on_error="skip", format="svmlight"))


@pytest.mark.parametrize("name", ["gzip", "zstd", "bzip2", "xz"])
def test_a_bomb_is_unpacked_a_piece_at_a_time(name):
    from recalltree.readers.compression import PIECE, decompress

    data = io.BytesIO(COMPRESS[name](bytes(1 << 26)))
    pieces = decompress(data.read, "bomb")
    assert max(len(piece) for piece in itertools.islice(pieces, 100)) <= PIECE


def test_zstd_without_its_package(monkeypatch):
    for module in ("compression", "backports"):
        monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, f"{module}.zstd", None)
    with pytest.raises(ImportError, match=r"recalltree\[zstd\]"):
        list(open_rows(io.BytesIO(zstd.compress(text())), format="svmlight"))


# several files


def test_files_lists_and_patterns(tmp_path):
    for i in range(3):
        (tmp_path / f"part-{i}.svm").write_bytes(text(10, 10 * i))
    assert labels(open_rows(str(tmp_path / "part-*.svm"))) == list(range(30))
    assert labels(open_rows(tmp_path / "part-[02].svm")) == [*range(10), *range(20, 30)]
    paths = [tmp_path / "part-2.svm", str(tmp_path / "part-0.svm"), io.BytesIO(text(2, 50))]
    assert labels(open_rows(paths)) == [*range(20, 30), *range(10), 50, 51]


def test_a_file_whose_name_looks_like_a_pattern(tmp_path):
    (tmp_path / "part[1].svm").write_bytes(text(3))
    assert labels(open_rows(tmp_path / "part[1].svm")) == [0, 1, 2]


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.svm"):
        open_rows(tmp_path / "nothing.svm")
    with pytest.raises(FileNotFoundError, match=r"no file matches the pattern .*\*\.svm"):
        open_rows(tmp_path / "*.svm")
    with pytest.raises(IsADirectoryError, match=r"give its files"):
        open_rows(tmp_path)
    with pytest.raises(ValueError, match="paths is empty"):
        open_rows([])


def test_rows_do_not_cross_files(tmp_path):
    for name, rows in {"a": b"1 1:1\n2 1:1", "b": b"3 1:1"}.items():
        (tmp_path / f"{name}.svm").write_bytes(rows)  # no end of the last line
    assert labels(open_rows(tmp_path / "*.svm")) == [1, 2, 3]


@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_rows_do_not_depend_on_the_pieces_in_which_bytes_come(piece):
    class Slow(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(min(piece, size))

    data = "\ufeff3 |a x:1\r\n\r\n4 |b ü\n5 | z".encode()
    expected = list(open_rows(io.BytesIO(data), format="vw"))
    found = list(open_rows(Slow(data), format="vw"))
    assert len(expected) == len(found) == 1
    assert (expected[0].X != found[0].X).nnz == 0
    assert found[0].y.tolist() == [3, 4, 5]


def test_batches_have_the_size_asked_for():
    sizes = [len(batch) for batch in open_rows(io.BytesIO(text(1000)), batch_rows=300)]
    assert sizes == [300, 300, 300, 100]


def test_wide_rows_make_smaller_batches():
    row = b"1 " + b" ".join(b"%d:1" % i for i in range(1, 200_001)) + b"\n"
    sizes = [len(batch) for batch in open_rows(io.BytesIO(row * 30), n_features=200_000)]
    assert sum(sizes) == 30
    assert max(sizes) <= 21


def test_empty_files():
    assert list(open_rows(io.BytesIO(b""), format="vw")) == []
    assert list(open_rows(io.BytesIO(b"\n\n"), format="svmlight")) == []


def test_a_file_opened_as_text():
    with pytest.raises(TypeError, match="mode 'rb'"):
        list(open_rows(io.StringIO("1 1:1"), format="svmlight"))


# passes, and leaving them


def test_a_pass_can_be_broken_off_and_begun_again():
    reader = open_rows(io.BytesIO(text(10_000)), batch_rows=100)
    for batch in reader:
        assert batch.y[0] == 0
        break
    assert labels(reader) == list(range(10_000))
    assert reader.n_rows == 10_000


def test_threads_end_with_the_pass():
    before = set(threading.enumerate())
    with open_rows(io.BytesIO(text(100_000)), batch_rows=10) as reader:
        next(iter(reader))
        began = set(threading.enumerate()) - before
        assert began
    assert not any(thread.is_alive() for thread in began)
    list(reader)
    assert not set(threading.enumerate()) - before


def test_memory_is_bounded_by_batches_that_wait():
    class Counting(io.BytesIO):
        n_read = 0

        def read1(self, size=-1):
            data = super().read1(size)
            self.n_read += len(data)
            return data

    file = Counting(text(2_000_000))
    reader = open_rows(file, batch_rows=1000)
    next(iter(reader))
    time.sleep(0.5)
    assert file.n_read < 4 << 20  # of more than 25 MB
    reader.close()


def test_position_and_counts_follow_the_rows_that_were_given():
    data = text(200_000)
    reader = open_rows(io.BytesIO(data), batch_rows=1000)
    seen = 0
    for batch in reader:
        seen += len(batch)
        assert reader.n_rows == seen
        read, size = reader.position
        assert size == len(data)
    assert read == size


# pipes


def test_a_pipe_can_be_read_once():
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as pipe:
        pipe.write(text(100))
    with os.fdopen(read_end, "rb") as pipe:
        reader = open_rows(pipe)  # its format is told by the first line, which is not lost
        assert reader.format == "svmlight"
        assert labels(reader) == list(range(100))
        assert reader.position[1] is None
        with pytest.raises(OneReadError, match="only once: save it to a file"):
            list(reader)


def test_nothing_of_a_long_pipe_is_lost_by_looking_at_its_format():
    read_end, write_end = os.pipe()

    def write():
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(text(200_000))

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(read_end, "rb") as pipe:
        assert labels(open_rows(pipe)) == list(range(200_000))
    writer.join()


def test_rows_of_a_slow_pipe_come_at_once():
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as source, os.fdopen(write_end, "wb", buffering=0) as pipe:
        batches = iter(open_rows(source, format="svmlight"))
        for i in range(3):
            pipe.write(b"%d 1:1\n" % i)
            assert next(batches).y.tolist() == [i]
        pipe.close()
        assert list(batches) == []


def test_leaving_a_pipe_that_says_nothing_takes_no_time():
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as source, os.fdopen(write_end, "wb", buffering=0) as pipe:
        reader = open_rows(source, format="svmlight")
        pipe.write(b"1 1:1\n")
        next(iter(reader))
        start = time.monotonic()
        reader.close()
        assert time.monotonic() - start < 5
        pipe.close()
        time.sleep(0.2)  # for the thread to see the end before the file is closed


def test_a_named_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(text(100))))
    writer.start()
    assert labels(open_rows(path)) == list(range(100))
    writer.join()


CHILD = """
import sys
from recalltree.readers import open_rows
for batch in open_rows("-"):
    print(*batch.y.tolist(), sep="\\n", flush=True)
    if "leave" in sys.argv:
        sys.exit(3)
"""


def test_standard_input():
    child = subprocess.run(
        [sys.executable, "-c", CHILD], input=b"3 |a x\n4 |a y", capture_output=True
    )
    assert child.stdout.split() == [b"3", b"4"]
    assert child.stderr == b""


def test_a_program_can_leave_while_it_reads():
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, "leave"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        child.stdin.write(b"3 1:1\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"3\n"
        assert child.wait(30) == 3  # though its input goes on
        child.stdin.close()
        assert child.stderr.read() == b""


# formats


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.svm", "svmlight"),
        ("a.libsvm.gz", "svmlight"),
        ("a.VW", "vw"),
        ("a.train.ft.zst", "fasttext"),
    ],
)
def test_names_tell_formats(name, format, tmp_path):
    (tmp_path / name).write_bytes(b"")
    assert open_rows(tmp_path / name).format == format


def test_formats_that_cannot_be_told(tmp_path):
    with pytest.raises(ValueError, match=r"pass format=.*svmlight, vw"):
        open_rows(io.BytesIO(b"one two three"))
    (tmp_path / "a.vw").write_bytes(b"")
    (tmp_path / "b.svm").write_bytes(b"")
    with pytest.raises(ValueError, match=r"a\.vw looks like vw and .*b\.svm like svmlight"):
        open_rows([tmp_path / "a.vw", tmp_path / "b.svm"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format must be 'auto' or one of svmlight"),
        ({"format": "vw", "zero_based": True}, "zero_based=True has no meaning.*'vw'.*svmlight"),
        ({"format": "svmlight", "quadratic": "ab"}, "quadratic='ab' has no meaning"),
        ({"format": "vw", "quadratic": "abc"}, "quadratic takes pairs.*got 'abc'"),
        ({"format": "vw", "on_error": "ignore"}, "on_error must be one of raise, skip, warn"),
        ({"format": "vw", "n_features": 1000}, "not a power of two.*bits=10 for 1024"),
        ({"format": "vw", "bits": 40}, "bits must be an integer from 0 to 29; got 40"),
        ({"format": "svmlight", "n_features": 0}, "n_features must be an integer from 1"),
        ({"format": "svmlight", "batch_rows": 0}, "batch_rows must be an integer from 1"),
        ({"format": "fasttext", "label_prefix": ""}, "label_prefix must not be empty"),
        ({"format": "vw", "features": "dictionary", "frozen": True}, "frozen=True needs the state"),
        ({"format": "fasttext", "weighting": "tf-idf", "frozen": True}, "frozen=True needs the st"),
        ({"format": "svmlight", "state": {}}, "state: rows without named features"),
        (
            {"format": "vw", "features": "dictionary", "state": {"names": "x"}},
            "state does not fit",
        ),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        open_rows(io.BytesIO(b""), **options)
