"""Whatever a tool was given or gave, JSON comes of it, now, and bounded."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from unloop._serialize import error_text, redact, serialize, truncate

MOST = 10_000


class Hostile:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __repr__(self) -> str:
        raise self.error

    __str__ = __repr__


class Unbound:
    """A proxy without an object behind it, which fails even when it is asked for its class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError


class LyingText(str):
    def __str__(self) -> str:
        raise ValueError

    def __len__(self) -> int:
        return 1 << 60


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    friend: Any = None


class Modelled:
    def model_dump(self) -> dict[str, Any]:
        return {"name": "a model"}


Pair = collections.namedtuple("Pair", "a b")


class Plain:
    pass


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"q": "loops", "n": 3, "f": 1.5, "t": True, "none": None}, {"q": "loops", "n": 3, "f": 1.5, "t": True, "none": None}),
        ((1, (2,)), [1, [2]]),
        (2**200, 2**200),
    ],
)
def test_what_is_json_stays_what_it_is(value: object, told: object) -> None:
    text, exact = serialize(value, MOST)
    assert (json.loads(text), exact) == (told, True)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        ({1: "a", None: "b", (1, 2): "c"}, {"1": "a", "None": "b", "(1, 2)": "c"}),
        ({"b", "a"}, ["a", "b"]),
        (b"text", "text"),
        (Colour.RED, "red"),
        (Point(1, Point(2)), {"x": 1, "friend": {"x": 2, "friend": None}}),
        (Pair(1, "b"), [1, "b"]),
        (Modelled(), {"name": "a model"}),
        (datetime.date(2026, 3, 1), "2026-03-01"),
        (decimal.Decimal("1.50"), "1.50"),
        (Path("/etc/hosts"), "/etc/hosts"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ValueError("no such file"), "ValueError: no such file"),
        (10**5000, "<int of 16610 bits>"),
        (collections.OrderedDict(a=1), {"a": 1}),
        (Hostile(ValueError("secret")), "<Hostile that cannot be read>"),
        (Hostile(SystemExit(3)), "<Hostile that cannot be read>"),
        (Hostile(RecursionError()), "<Hostile that cannot be read>"),
        ({"a": Hostile(ValueError())}, {"a": "<Hostile that cannot be read>"}),
        ({"a": Unbound(), "q": "loops"}, {"a": "<Unbound that cannot be read>", "q": "loops"}),
        ([memoryview(b"a\xff" * 4)[::2], 1], ["aaaa", 1]),
        ([memoryview(b"\xffa" * 4)[::2], 1], ["<memoryview that cannot be read>", 1]),
        (LyingText("abc"), "abc"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_has_no_word_for_is_told_in_others(value: object, told: object) -> None:
    text, exact = serialize(value, MOST)
    assert (json.loads(text), exact) == (told, False)


def test_an_object_is_told_without_its_address() -> None:
    assert serialize(Plain(), MOST) == serialize(Plain(), MOST)


def test_half_a_character_is_no_reason_to_lose_an_event() -> None:
    assert serialize("a\ud800b", MOST)[0].encode("utf-8", "replace") == b'"a?b"'


def test_cycles_end() -> None:
    value: dict[str, Any] = {"name": "a"}
    value["self"] = value
    assert json.loads(serialize(value, MOST)[0]) == {"name": "a", "self": "<cycle>"}
    point = Point(1)
    point.friend = [point]
    assert len(serialize(point, MOST)[0]) < 2 * MOST


def test_what_stands_twice_is_no_cycle() -> None:
    twice = [1]
    assert serialize([twice, twice], MOST) == ("[[1],[1]]", True)


def test_depth_is_bounded() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    text, exact = serialize(deep, MOST)
    assert "too deep" in text
    assert not exact
    while deep:  # taken apart by hand: Python itself would recurse
        deep = deep[0]


@pytest.mark.parametrize(
    "big",
    [
        "x" * 50_000_000,
        list(range(5_000_000)),
        dict.fromkeys(map(str, range(1_000_000)), "value"),
        [["x" * 100] * 100] * 100_000,
        b"\xff" * 50_000_000,
        {"k" * 1_000_000: 1},
        range(10**9),
    ],
    ids=lambda v: type(v).__name__,
)
def test_size_and_time_are_bounded(big: object) -> None:
    began = time.thread_time()
    text, exact = serialize(big, MOST)
    assert time.thread_time() - began < 1
    assert len(text) < 4 * MOST
    assert not exact or len(text) <= MOST
    json.loads(text)


def test_what_is_cut_keeps_its_identity() -> None:
    a, b = "x" * 20_000 + "a", "x" * 20_000 + "b"
    assert serialize(a, MOST) == serialize(a, MOST)
    assert serialize(a, MOST) != serialize(b, MOST)
    assert truncate("short", 10) == "short"


@pytest.mark.parametrize(
    ("head", "tail"),
    [(["x" * 100] * 1000, ["{}", 1, 2]), ([0] * 12_000, ["{}"]), ([["x" * 100] * 50] * 10, [{"a": ["{}"]}])],
    ids=["texts", "numbers", "nested"],
)
def test_what_is_left_out_of_a_list_or_an_object_keeps_its_identity(head: list[Any], tail: list[Any]) -> None:
    def ending(word: str) -> list[Any]:
        return [*head, *json.loads(json.dumps(tail).replace("{}", word))]

    for a, b in ((ending("a"), ending("b")), (dict(enumerate(ending("a"))), dict(enumerate(ending("b"))))):
        assert serialize(a, MOST) == serialize(a, MOST)
        assert serialize(a, MOST) != serialize(b, MOST)
        assert redact(a) != redact(b)


def test_a_value_that_another_thread_changes_is_told_anyhow() -> None:
    changing = {i: i for i in range(1000)}
    stop = threading.Event()

    def change() -> None:
        number = 1000
        while not stop.is_set():
            changing[number] = number
            changing.pop(number - 500, None)
            number += 1

    thread = threading.Thread(target=change)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(200):
            json.loads(serialize(changing, 1 << 20)[0])
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


def test_what_is_hidden_can_be_seen_to_come_again() -> None:
    assert redact({"password": "hunter2"}) == redact({"password": "hunter2"})
    assert redact({"password": "hunter2"}) != redact({"password": "hunter3"})
    assert "hunter" not in redact({"password": "hunter2"})
    assert not any(c.isdigit() for c in json.loads(redact("a"))["digest"]), "digits could be taken for an id that changes"


def test_errors_are_worded_as_a_traceback_does() -> None:
    assert error_text(ValueError("no such file")) == "ValueError: no such file"
    assert error_text(KeyError()) == "KeyError"
    assert error_text("text") == "text"
    assert error_text(Hostile(ValueError())) == "<Hostile that cannot be read>"
