"""Serializes values as JSON when they are recorded: the agent may change them later, while the sending thread runs.

Every value gives valid JSON of bounded size and depth, also a cycle, an object whose repr fails, or a number that JSON lacks.
Truncated values end in a digest of the whole value. Equal values so give equal JSON, and different values different JSON,
which loop detection depends on.
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
MAX_BITS = 4096  # of an integer; a longer one becomes a string
DIGESTED = 4 << 20  # characters of a text that its digest covers

_INT64 = 1 << 63


def _encoder(ascii: bool) -> Callable[[object], str]:
    """Returns the encode function of json. It creates the encoder in C once instead of once per value."""
    whole = json.JSONEncoder(ensure_ascii=ascii, check_circular=False, allow_nan=False, separators=(",", ":"))
    quote = encode_basestring_ascii if ascii else encode_basestring
    try:
        pieces = json.encoder.c_make_encoder(None, whole.default, quote, None, ":", ",", False, False, False)  # type: ignore[attr-defined]
        pieces("", 0)
    except (AttributeError, TypeError):  # a Python without the C encoder
        return whole.encode
    return lambda value: "".join(pieces(value, 0))


_ascii, _unicode = _encoder(ascii=True), _encoder(ascii=False)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_HEX_TO_LETTERS = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")
_REPR_ERRORS = (Exception, SystemExit, GeneratorExit)  # errors of a foreign __repr__ that are ignored


def quote(text: str) -> str:
    """Returns text as a JSON string."""
    return encode_basestring_ascii(text) if text.isascii() else encode_basestring(text)


def _encode(value: object) -> str:
    """Returns the JSON of a value of JSON types. Most values are ASCII, which Python encodes three times as fast."""
    text = _ascii(value)
    return _unicode(value) if "\\" in text and "\\u" in text else text  # searching one character is much faster than two


def serialize(value: object, limit: int) -> tuple[str, bool]:
    """Returns value as JSON of about limit characters, and whether the JSON is the exact value: complete, of JSON types only."""
    if type(value) is str and len(value) <= limit:
        return quote(value), True
    try:
        if _fits(value, limit):
            return _encode(value), True
    except (ValueError, RuntimeError):  # a number that JSON lacks, or a concurrent change
        pass
    copier = _Copier(limit)
    try:
        return _encode(copier.copy(value, 0)), copier.exact
    except _REPR_ERRORS:
        return quote(f"<{_kind(value)} that cannot be read>"), False


def _fits(value: Any, left: int) -> bool:
    """Reports whether value has JSON types only and is within the limits. It checks level by level.

    Most of the cost of an event is here, so the loop calls no functions and copies nothing. _Copier handles the other values.
    """
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


def redact(value: object) -> str:
    """Returns the JSON that replaces a value which must not be sent: its digest and size. Equal values have equal digests."""
    text, _ = serialize(value, DIGESTED)
    return f'{{"digest":"{digest(text)}","size_bytes":{len(text)}}}'


def digest(text: str) -> str:
    """Returns a hash of text in letters. Detectors may treat text with digits as an id that changes from call to call."""
    if len(text) > DIGESTED:
        half = DIGESTED // 2
        text = f"{len(text)} {text[:half]}{text[-half:]}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest().translate(_HEX_TO_LETTERS)


def truncate(text: str, limit: int) -> str:
    """Returns text. If it has more than limit characters, a digest of the whole replaces its end."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [cut: {len(text)} characters, {digest(text)}]"


def shorten(name: str, limit: int) -> str:
    """Returns name in at most limit bytes of UTF-8, with the rules of the server.

    A longer name becomes its first whole characters, "…", and the SHA-256 hash of the whole, so that different names differ.
    """
    whole = name.encode("utf-8", "replace")
    if len(whole) <= limit:
        return name
    end = "…" + hashlib.sha256(whole).hexdigest()
    return whole[: limit - len(end.encode())].decode("utf-8", "ignore") + end


def error_text(error: object) -> str:
    """Returns an exception as in the last line of a traceback. Other values are converted with str."""
    if not isinstance(error, BaseException):
        return to_text(error, str)
    message = to_text(error, str)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def to_text(value: object, convert: Callable[[Any], str] = str) -> str:
    """Returns the text of a value, also if its conversion fails."""
    try:
        text = convert(value)
        return text if type(text) is str else str.__str__(text)
    except _REPR_ERRORS:
        return f"<{_kind(value)} that cannot be read>"


def _kind(value: object) -> str:
    return str(type(value).__qualname__)


class _Copier:
    """Copies a value with JSON types only, within the limits."""

    def __init__(self, limit: int, whole: bool = True) -> None:
        self.left = limit
        self.nodes = MAX_NODES if whole else 4 * MAX_NODES
        self.exact = True
        self.ancestors: set[int] = set()
        self.digest_copier = _Copier(DIGESTED, whole=False) if whole else None  # copies the part that is cut off, for its digest

    def copy(self, value: Any, depth: int) -> Any:
        self.nodes -= 1
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return self.whole(value)
        if kind is float:
            return self.replacement(repr(value)) if not math.isfinite(value) else value
        if kind is dict or kind is list or kind is tuple:
            return self.container(value, kind is dict, depth)
        try:
            return self.other(value, depth)
        except _REPR_ERRORS:  # only this value is lost, so that values which differ elsewhere stay different
            return self.replacement(f"<{_kind(value)} that cannot be read>")

    def text(self, value: str) -> str:
        size = len(value)
        if size > self.left:
            value, self.exact = truncate(value, max(self.left, 0)), False
        self.left -= size
        return value

    def whole(self, value: int) -> Any:
        bits = value.bit_length()
        self.left -= bits // 3 + 1
        if bits <= MAX_BITS:
            return value
        self.exact = False
        return hex(value) if bits <= 4 * MAX_BITS else f"<int of {bits} bits>"

    def replacement(self, text: str) -> str:
        self.exact = False
        return self.text(text)

    def container(self, value: Any, mapping: bool, depth: int) -> Any:
        if id(value) in self.ancestors:
            return self.replacement("<cycle>")
        if depth >= MAX_DEPTH:
            return self.replacement(f"<{_kind(value)} too deep>")
        self.ancestors.add(id(value))
        try:
            return self.members(value, depth) if mapping else self.items(value, depth)
        except RuntimeError:  # another thread changed it
            return self.replacement(f"<{_kind(value)} that changes>")
        finally:
            self.ancestors.discard(id(value))

    def full(self) -> bool:
        return self.left <= 0 or self.nodes <= 0

    def members(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        left = iter(value.items())
        for done, (key, item) in enumerate(left):
            if self.full():
                result["…"] = self.summary(len(value) - done, (key, item), left, depth)
                break
            if type(key) is str and len(key) <= self.left:
                self.left -= len(key)
            else:
                key = self.replacement(to_text(key, str))
            result[key] = self.copy(item, depth + 1)
        return result

    def items(self, value: Any, depth: int) -> list[Any]:
        result: list[Any] = []
        left = iter(value)
        for item in left:
            if self.full():
                result.append("… " + self.summary(len(value) - len(result), item, left, depth))
                break
            result.append(self.copy(item, depth + 1))
        return result

    def summary(self, number: int, first: Any, left: Iterator[Any], depth: int) -> str:
        """Returns the text that replaces the members that are cut off, with their number and digest."""
        self.exact = False
        if self.digest_copier is None:
            return f"[cut: {number} more]"
        sample = [first, *itertools.islice(left, max(self.digest_copier.nodes, 0))]
        return f"[cut: {number} more, {digest(_encode(self.digest_copier.copy(sample, depth)))}]"

    def other(self, value: Any, depth: int) -> Any:
        """Converts a value of another type. Mappings, dataclasses and Pydantic models become objects."""
        self.exact = False
        if depth >= MAX_DEPTH:
            return self.text(f"<{_kind(value)} too deep>")
        if isinstance(value, enum.Enum):
            return self.copy(value.value, depth + 1)
        if isinstance(value, str):
            return self.text(str.__str__(value))
        if isinstance(value, int):
            return self.whole(int.__int__(value))
        if isinstance(value, float):
            return self.copy(float.__float__(value), depth)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self.bytes(value)
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return self.text(value.isoformat())
        if isinstance(value, (UUID, Decimal, os.PathLike)):
            return self.text(to_text(value, str))
        if isinstance(value, BaseException):
            return self.text(error_text(value))
        return self.composed(value, depth)

    def composed(self, value: Any, depth: int) -> Any:
        try:
            if isinstance(value, Mapping):
                return self.container(value, True, depth)
            if isinstance(value, Set):
                sample = self.container(list(itertools.islice(value, max(self.nodes, 0))), False, depth)
                return sorted(sample, key=_encode) if isinstance(sample, list) else sample
            if isinstance(value, (tuple, list)):
                return self.container(value, False, depth)
            if dataclasses.is_dataclass(value) and not isinstance(value, type):
                fields = {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
                return self.container(fields, True, depth)
            dump = getattr(value, "model_dump", None)  # Pydantic models
            if callable(dump) and not isinstance(value, type):
                return self.copy(dump(), depth + 1)
        except _REPR_ERRORS:
            pass
        return self.text(_ADDRESS.sub("", to_text(value, repr)))

    def bytes(self, value: Any) -> str:
        data = bytes(value[: max(self.left, 0)])
        size = len(value) if not isinstance(value, memoryview) else value.nbytes
        try:
            if len(data) == size:
                return self.text(data.decode())
        except UnicodeDecodeError:
            pass
        whole = hashlib.blake2b(value, digest_size=8).hexdigest().translate(_HEX_TO_LETTERS)
        return self.text(f"<{size} bytes, {whole}>")
