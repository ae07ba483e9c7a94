"""The settings of the package. They come from the environment (UNLOOP_*). configure() overrides the environment."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ._log import log, warn_once

DEFAULT_ENDPOINT = "http://127.0.0.1:8765"


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings. Sizes are in bytes, times in seconds."""

    endpoint: str = DEFAULT_ENDPOINT
    token: str = dataclasses.field(default="", repr=False)
    project: str = ""
    enabled: bool = True
    capture_inputs: bool = True
    capture_outputs: bool = True
    buffer: str = ""  # a folder, or "off"
    buffer_bytes: int = 256 << 20
    queue_events: int = 50_000
    queue_bytes: int = 32 << 20
    value_bytes: int = 64 << 10
    exit_timeout: float = 2.0

    @property
    def buffer_folder(self) -> Path | None:
        """The folder for events while the server is unavailable. None means that events are not buffered."""
        if self.buffer.lower() in ("off", "none", "false", "0"):
            return None
        try:
            return Path(self.buffer).expanduser() if self.buffer else _state_folder() / "unloop" / "buffer"
        except RuntimeError:  # the user has no home directory, as in some containers
            warn_once("home", 'no home directory for the buffer: set UNLOOP_BUFFER to a folder or to "off"')
            return None


def _state_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """Reads UNLOOP_*. An invalid value is logged and ignored, so that it does not stop the agent."""
    values: dict[str, object] = {}
    for field in dataclasses.fields(Settings):
        text = env.get("UNLOOP_" + field.name.upper(), "").strip()
        if not text or field.name == "enabled":
            continue
        try:
            values[field.name] = _parse(field.default, text)
        except ValueError as error:
            log.warning("UNLOOP_%s ignored: %s", field.name.upper(), error)
    if _is_true(env.get("UNLOOP_DISABLED", "")):
        values["enabled"] = False
    return changed(Settings(), values)


def changed(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Returns settings with values applied."""
    known = {f.name: f.default for f in dataclasses.fields(Settings)}
    new: dict[str, Any] = {}
    for name, value in values.items():
        new[name] = float(value) if isinstance(known[name], float) and isinstance(value, int) else value
        if isinstance(value, os.PathLike):
            new[name] = os.fspath(value)
    result = dataclasses.replace(settings, **new)
    return dataclasses.replace(result, endpoint=without_credentials(result.endpoint), token=_valid_token(result.token))


def without_credentials(endpoint: str) -> str:
    """Returns endpoint without user and password. They are not used, and would appear in the log."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:  # the first request reports it
        return endpoint
    if "@" in parts.netloc:
        log.warning("user and password in the endpoint ignored: use UNLOOP_TOKEN")
        endpoint = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return endpoint.rstrip("/")


def _valid_token(token: str) -> str:
    """Returns token if it is valid in a header, else "". A line end in it, for example, would break every request."""
    if all("!" <= c <= "~" for c in token):
        return token
    log.warning("invalid token ignored: want printable ASCII without spaces or line ends")
    return ""


def _parse(default: object, text: str) -> object:
    """Parses text as the type of default."""
    if isinstance(default, bool):
        return _parse_bool(text)
    if isinstance(default, int):
        return int(text.replace("_", ""))
    if isinstance(default, float):
        return _parse_finite(text)
    return text


def _parse_bool(text: str) -> bool:
    """Parses a boolean. Other values are errors: the user may have meant to keep data from being sent."""
    if not _is_true(text):
        return False
    if text.lower() not in ("1", "true", "yes", "on"):
        raise ValueError(f"invalid value {text!r}: want true or false")
    return True


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"invalid time {text}: want a finite number of seconds")
    return number


def _is_true(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")
