"""Numbers in text: the nearest float32, exactly, and integers, against slow and obvious oracles."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recalltree._core import parse_floats, parse_integers

NO_NUMBER, TOO_LARGE, NOT_INTEGRAL = 1, 2, 3
LIMIT = (Fraction(2) - Fraction(1, 2**24)) * 2**127  # from here on the nearest float is infinite


def column(texts):
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return offsets, np.frombuffer(b"".join(encoded), dtype=np.uint8)


def parse(text):
    """Return the float of a text, or the reason why there is none."""
    values, status = parse_floats(*column([text]))
    return int(status[0]) or values[0]


def nearest(text):
    """Return the float32 nearest to a decimal number, ties to even."""
    exact = Fraction(text)
    if abs(exact) >= LIMIT:
        return TOO_LARGE
    with np.errstate(over="ignore"):
        near = np.float32(float(exact))
    around = [np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf)]
    finite = [value for value in (near, *around) if np.isfinite(value)]

    def distance(value):
        return abs(Fraction(float(value)) - exact), int(value.view(np.uint32)) & 1

    best = min(finite, key=distance)
    return np.copysign(best, np.float32(-1 if text.strip().startswith("-") else 1))


def same(found, expected):
    if isinstance(expected, int):
        return isinstance(found, int) and found == expected
    return isinstance(found, np.float32) and found.tobytes() == np.float32(expected).tobytes()


digits = st.text("0123456789", max_size=30)
decimals = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole or '0'}{fraction}{exponent}",
    st.sampled_from(["", "-", "+"]),
    digits,
    st.one_of(st.just(""), st.just("."), digits.map(".{}".format)),
    st.one_of(st.just(""), st.integers(-60, 60).map("e{}".format), st.just("E+07")),
)
bits = st.integers(0, 2**32 - 1).map(lambda b: np.uint32(b).view(np.float32))
floats = bits.filter(lambda value: bool(np.isfinite(value)))


@given(decimals)
@example("16777217")  # between two floats
@example("16777217.0000000000000000000000000000000001")
@example("1.00000005960464477539062500000000000000000001")
@example("1.000000059604644775390625")
@example("7.006492321624085e-46")  # half of the smallest
@example("7.0064923216240853546186479164495e-46")
@example("3.4028235677973366e38")
@example("3.40282356779733661637539395458142568447e38")
@example("0e400")
@example("0." + "0" * 25 + "1e26")
@settings(max_examples=1000, deadline=None)
def test_the_nearest_float(text):
    assert same(parse(text), nearest(text))


@given(floats)
@settings(max_examples=500, deadline=None)
def test_what_lies_between_two_floats(value):
    """The middle between neighbours, and a hair beside it: where rounding twice goes wrong."""
    after = np.nextafter(value, np.float32(np.inf))
    if not np.isfinite(after):
        return
    middle = (Fraction(float(value)) + Fraction(float(after))) / 2
    for beside in (Fraction(0), Fraction(1, 10**70), -Fraction(1, 10**70)):
        exact = middle + beside
        scaled = exact * 10**220
        if scaled.denominator != 1:
            continue
        text = f"{scaled.numerator}e-220"
        assert same(parse(text), nearest(text))


@given(floats)
@settings(max_examples=500, deadline=None)
def test_numpys_text_comes_back(value):
    for text in (repr(float(value)), str(value), f"{float(value):.9g}", f"{float(value):.60f}"):
        assert same(parse(text), value)


def test_numbers_in_bulk_against_numpy():
    random = np.random.default_rng(0)
    # Seven digits: rounding to double first does no harm, so NumPy gives the nearest float, too.
    texts = [
        f"{x:.7g}" for x in random.normal(size=50_000) * 10.0 ** random.integers(-30, 30, 50_000)
    ]
    values, status = parse_floats(*column(texts))
    assert not status.any()
    np.testing.assert_array_equal(values, np.array(texts, dtype=np.float64).astype(np.float32))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ".",
        "-",
        "+",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1 2",
        "--1",
        "1_000",
        "1,5",
        "0x1p3",
        "nan",
        "inf",
        "½",
        "١",
        "1\xa0",
    ],
)
def test_what_is_no_number(text):
    assert parse(text) == NO_NUMBER
    assert parse_integers(*column([text]))[1][0] == NO_NUMBER


@given(st.integers(-(2**64), 2**64), st.integers(0, 5), st.integers(0, 3))
@example(2**63 - 1, 0, 0)
@example(2**63, 0, 0)
@example(-(2**63), 0, 0)
@example(-(2**63) - 1, 0, 0)
@settings(deadline=None)
def test_integers(value, zeros, moved):
    texts = [str(value), f"{value}.{'0' * zeros}", f"{value}{'0' * moved}e-{moved}"]
    values, status = parse_integers(*column(texts))
    if -(2**63) <= value < 2**63:
        assert values.tolist() == [value] * 3
        assert status.tolist() == [0] * 3
    else:
        assert status.tolist() == [TOO_LARGE] * 3


@given(decimals)
@settings(max_examples=500, deadline=None)
def test_integral_numbers(text):
    exact = Fraction(text)
    (value,), (status,) = parse_integers(*column([text]))
    if exact.denominator != 1:
        # More digits than are kept may hide the fraction of a number that is too large anyway.
        assert status == NOT_INTEGRAL or (status == TOO_LARGE and abs(exact) > 2**59)
    elif -(2**63) <= exact < 2**63:
        assert (status, value) == (0, exact)
    else:
        assert status == TOO_LARGE
