"""Values as JSON, as they are now: an agent may change them a moment later, and a thread that sends must not look at them.

Whatever comes in, JSON comes out: bounded in size and depth, of cycles, of objects whose repr fails, of numbers that JSON does
not have. What is cut keeps a digest of the whole, so that equal values stay equal and different ones different, which is what
loops are told by.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import hashlib
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Set
from decimal import Decimal
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any
from uuid import UUID

MAX_DEPTH = 32
MAX_NODES = 10_000
MAX_BITS = 4096  # of a whole number; beyond that it is a text
DIGESTED = 4 << 20  # characters of a text that its digest looks at

_INT64 = 1 << 63


def _encoder(ascii: bool) -> Callable[[object], str]:
    """Returns json's encoder. It makes the part of it that is in C once, and not for each value anew."""
    whole = json.JSONEncoder(ensure_ascii=ascii, check_circular=False, allow_nan=False, separators=(",", ":"))
    quote = encode_basestring_ascii if ascii else encode_basestring
    try:
        pieces = json.encoder.c_make_encoder(None, whole.default, quote, None, ":", ",", False, False, False)  # type: ignore[attr-defined]
        pieces("", 0)
    except (AttributeError, TypeError):  # a Python that has no such part
        return whole.encode
    return lambda value: "".join(pieces(value, 0))


_ascii, _unicode = _encoder(ascii=True), _encoder(ascii=False)
_address = re.compile(r" at 0x[0-9a-fA-F]+")
_letters = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")
_hostile = (Exception, SystemExit, GeneratorExit)  # what somebody's __repr__ may raise and still harm nobody


def quote(text: str) -> str:
    """Returns text as a JSON string."""
    return encode_basestring_ascii(text) if text.isascii() else encode_basestring(text)


def _encode(value: object) -> str:
    """Returns the JSON of what is JSON's own. For the most part that is ASCII, for which Python is three times as fast."""
    text = _ascii(value)
    return _unicode(value) if "\\" in text and "\\u" in text else text  # one letter is found much faster than two


def freeze(value: object, most: int) -> tuple[str, bool]:
    """Returns value as JSON of about most characters, and whether that is all of it and of JSON's own kinds."""
    if type(value) is str and len(value) <= most:
        return quote(value), True
    try:
        if _fits(value, most):
            return _encode(value), True
    except (ValueError, RuntimeError):  # a number that JSON does not have; a change meanwhile
        pass
    walk = _Walk(most)
    try:
        return _encode(walk.plain(value, 0)), walk.exact
    except _hostile:
        return quote(f"<{_kind(value)} that cannot be read>"), False


def _fits(value: Any, left: int) -> bool:
    """Reports whether value is JSON's own and within the bounds, level by level. It is most of the cost of an event, so it has
    no calls and makes no copy; what does not fit is walked with more care."""
    kind, nodes = type(value), MAX_NODES
    if kind is not dict and kind is not list and kind is not tuple:
        return value is None or kind is bool or kind is float or (kind is int and -_INT64 < value < _INT64)
    level = [value]
    for _ in range(MAX_DEPTH):
        below = []
        for container in level:
            nodes -= len(container)
            if nodes < 0 or left < 0:
                return False
            items = container
            if type(container) is dict:
                items = container.values()
                for key in container:
                    if type(key) is not str:
                        return False
                    left -= len(key)
            for item in items:
                kind = type(item)
                if kind is str:
                    left -= len(item)
                elif kind is int:
                    if not -_INT64 < item < _INT64:
                        return False
                elif kind is dict or kind is list or kind is tuple:
                    below.append(item)
                elif item is not None and kind is not float and kind is not bool:
                    return False
        if not below:
            return left >= 0
        level = below
    return False


def hidden(value: object) -> str:
    """Returns JSON that stands for a value which shall not be told: its digest, by which it can be seen to come again."""
    text, _ = freeze(value, DIGESTED)
    return f'{{"digest":"{digest(text)}","size_bytes":{len(text)}}}'


def digest(text: str) -> str:
    """Returns letters only: what has digits could be taken for an id that changes from call to call."""
    if len(text) > DIGESTED:
        half = DIGESTED // 2
        text = f"{len(text)} {text[:half]}{text[-half:]}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest().translate(_letters)


def cut(text: str, most: int) -> str:
    """Returns text, its end replaced by a digest of the whole if it has more than most characters."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… [cut: {len(text)} characters, {digest(text)}]"


def shorten(name: str, most: int) -> str:
    """Returns name in at most most bytes of UTF-8, as the server does: of a longer one whole characters from its beginning, …, and
    the SHA-256 hash of the whole, so that different names stay different."""
    whole = name.encode("utf-8", "replace")
    if len(whole) <= most:
        return name
    end = "…" + hashlib.sha256(whole).hexdigest()
    return whole[: most - len(end.encode())].decode("utf-8", "ignore") + end


def wording(error: object) -> str:
    """Returns what an exception says, as the last line of a traceback does."""
    if not isinstance(error, BaseException):
        return _words(error, str)
    said = _words(error, str)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _words(value: object, how: Any) -> str:
    try:
        text = how(value)
        return text if type(text) is str else str.__str__(text)
    except _hostile:
        return f"<{_kind(value)} that cannot be told>"


def _kind(value: object) -> str:
    return str(type(value).__qualname__)


class _Walk:
    """Makes a copy of a value that has nothing but JSON's kinds in it."""

    def __init__(self, most: int, whole: bool = True) -> None:
        self.left = most
        self.nodes = MAX_NODES if whole else 4 * MAX_NODES
        self.exact = True
        self.above: set[int] = set()
        self.beyond = _Walk(DIGESTED, whole=False) if whole else None  # walks what is cut off, for its digest

    def plain(self, value: Any, depth: int) -> Any:
        self.nodes -= 1
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return self.whole(value)
        if kind is float:
            return self.inexact(repr(value)) if not math.isfinite(value) else value
        if kind is dict or kind is list or kind is tuple:
            return self.container(value, kind is dict, depth)
        return self.other(value, depth)

    def text(self, value: str) -> str:
        size = len(value)
        if size > self.left:
            value, self.exact = cut(value, max(self.left, 0)), False
        self.left -= size
        return value

    def whole(self, value: int) -> Any:
        bits = value.bit_length()
        self.left -= bits // 3 + 1
        if bits <= MAX_BITS:
            return value
        self.exact = False
        return hex(value) if bits <= 4 * MAX_BITS else f"<int of {bits} bits>"

    def inexact(self, text: str) -> str:
        self.exact = False
        return self.text(text)

    def container(self, value: Any, mapping: bool, depth: int) -> Any:
        if id(value) in self.above:
            return self.inexact("<cycle>")
        if depth >= MAX_DEPTH:
            return self.inexact(f"<{_kind(value)} too deep>")
        self.above.add(id(value))
        try:
            return self.members(value, depth) if mapping else self.items(value, depth)
        except RuntimeError:  # another thread changed it meanwhile
            return self.inexact(f"<{_kind(value)} that changes>")
        finally:
            self.above.discard(id(value))

    def full(self) -> bool:
        return self.left <= 0 or self.nodes <= 0

    def members(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        left = iter(value.items())
        for done, (key, item) in enumerate(left):
            if self.full():
                result["…"] = self.rest(len(value) - done, (key, item), left, depth)
                break
            if type(key) is str and len(key) <= self.left:
                self.left -= len(key)
            else:
                key = self.inexact(_words(key, str))
            result[key] = self.plain(item, depth + 1)
        return result

    def items(self, value: Any, depth: int) -> list[Any]:
        result: list[Any] = []
        left = iter(value)
        for item in left:
            if self.full():
                result.append("… " + self.rest(len(value) - len(result), item, left, depth))
                break
            result.append(self.plain(item, depth + 1))
        return result

    def rest(self, number: int, first: Any, left: Iterator[Any], depth: int) -> str:
        """Returns words for what is cut off, with a digest of it."""
        self.exact = False
        if self.beyond is None:
            return f"[cut: {number} more]"
        some = [first, *itertools.islice(left, max(self.beyond.nodes, 0))]
        return f"[cut: {number} more, {digest(_encode(self.beyond.plain(some, depth)))}]"

    def other(self, value: Any, depth: int) -> Any:
        """What JSON has no word for. An object that knows its own members is told by them."""
        self.exact = False
        if depth >= MAX_DEPTH:
            return self.text(f"<{_kind(value)} too deep>")
        if isinstance(value, enum.Enum):
            return self.plain(value.value, depth + 1)
        if isinstance(value, str):
            return self.text(str.__str__(value))
        if isinstance(value, int):
            return self.whole(int.__int__(value))
        if isinstance(value, float):
            return self.plain(float.__float__(value), depth)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self.bytes(value)
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return self.text(value.isoformat())
        if isinstance(value, (UUID, Decimal, os.PathLike)):
            return self.text(_words(value, str))
        if isinstance(value, BaseException):
            return self.text(wording(value))
        return self.composed(value, depth)

    def composed(self, value: Any, depth: int) -> Any:
        try:
            if isinstance(value, Mapping):
                return self.container(value, True, depth)
            if isinstance(value, Set):
                some = self.container(list(itertools.islice(value, max(self.nodes, 0))), False, depth)
                return sorted(some, key=_encode) if isinstance(some, list) else some
            if isinstance(value, (tuple, list)):
                return self.container(value, False, depth)
            if dataclasses.is_dataclass(value) and not isinstance(value, type):
                fields = {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
                return self.container(fields, True, depth)
            dump = getattr(value, "model_dump", None)  # Pydantic's models
            if callable(dump) and not isinstance(value, type):
                return self.plain(dump(), depth + 1)
        except _hostile:
            pass
        return self.text(_address.sub("", _words(value, repr)))

    def bytes(self, value: Any) -> str:
        data = bytes(value[: max(self.left, 0)])
        size = len(value) if not isinstance(value, memoryview) else value.nbytes
        try:
            if len(data) == size:
                return self.text(data.decode())
        except UnicodeDecodeError:
            pass
        whole = hashlib.blake2b(value, digest_size=8).hexdigest().translate(_letters)
        return self.text(f"<{size} bytes, {whole}>")
