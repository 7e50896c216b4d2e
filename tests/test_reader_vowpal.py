"""Hashed features of Vowpal Wabbit's format have the columns that Vowpal Wabbit gives them."""

import io
import subprocess
import sys
from importlib import util

import numpy as np
import pytest

from recalltree.readers import open_rows

# As `vw --audit -b 18 -q ab -q aa --noconstant` prints them; a change here breaks stored models.
ROW = "1 |apple x:2 y z:0.5 |b:2 u:5 12 |apricot k | plain 7"
SINGLE = {
    **{72861: 2, 27898: 1, 36320: 0.5},  # apple^x, apple^y, apple^z
    **{40316: 10, 163343: 2},  # b^u, b^12
    **{12148: 1, 256121: 1, 7: 1},  # apricot^k, plain, 7
}
PRODUCTS = {
    **{71610: 4, 26589: 2, 34503: 1, 9299: 2, 254324: 1, 196718: 0.5},
    **{238330: 1, 252480: 0.25, 227540: 0.5, 171240: 1},
    **{38491: 20, 161064: 4, 200946: 10, 127873: 2, 248540: 5, 76207: 1, 143072: 10, 52627: 2},
}


def columns(text, **options):
    (batch,) = open_rows(io.BytesIO(text.encode()), format="vw", **options)
    return [
        dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        for row in (batch.X[i] for i in range(len(batch)))
    ]


def test_columns_are_those_of_vowpal_wabbit():
    assert columns(ROW) == [SINGLE]
    assert columns(ROW, quadratic=["ab", "aa"]) == [{**SINGLE, **PRODUCTS}]
    assert columns(ROW, bits=8)[0].keys() == {column % 256 for column in SINGLE}


@pytest.mark.skipif(
    util.find_spec("vowpalwabbit") is None,
    reason="the vowpalwabbit wheel is not installed (extra: bench)",
)
def test_columns_against_the_program(tmp_path):
    random = np.random.default_rng(0)
    letters = list("abcXYZ0123456789_-.é東😀/%")

    def name():
        return "".join(random.choice(letters, size=random.integers(1, 12)))

    def value():
        return f":{random.integers(1, 100) / 8}" if random.random() < 0.5 else ""

    lines = []
    for label in range(1, 60):
        spaces = [
            f"|{random.choice(['', 'a', 'b', 'ab', name()])} "
            + " ".join(name() + value() for _ in range(random.integers(0, 5)))
            for _ in range(random.integers(1, 4))
        ]
        lines.append(f"{label} {' '.join(spaces)}")
    path = tmp_path / "rows.vw"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "vowpalwabbit", "--audit", "-t", "--noconstant", "--quiet"]
    arguments = ["-d", str(path), "-b", "20", "-q", "ab", "-q", "aa"]
    audit = subprocess.run([*command, *arguments], capture_output=True, check=True).stdout.decode()
    expected = []
    for line in audit.splitlines():
        if "\t" not in line:
            continue  # the prediction
        row: dict[int, float] = {}
        for feature in line.strip().split("\t"):
            *_, column, amount, _ = feature.rsplit(":", 3)
            row[int(column)] = row.get(int(column), 0) + float(amount)
        expected.append(row)
    found = [row for row in columns("\n".join(lines), bits=20, quadratic=["ab", "aa"]) if row]
    assert len(expected) == len(found)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.keys() == theirs.keys()
        np.testing.assert_allclose(
            [ours[j] for j in ours], [theirs[j] for j in ours], rtol=1e-4
        )  # it prints six digits
