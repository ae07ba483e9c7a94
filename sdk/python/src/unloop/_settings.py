"""What the package can be told: by the environment (UNLOOP_*), and by configure(), which goes before it."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ._log import log, once

DEFAULT_ENDPOINT = "http://127.0.0.1:8765"


@dataclasses.dataclass(frozen=True)
class Settings:
    """All settings as they hold. Sizes are in bytes, times in seconds."""

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
        """Where events wait for a server that is away; None if they shall not."""
        if self.buffer.lower() in ("off", "none", "false", "0"):
            return None
        try:
            return Path(self.buffer).expanduser() if self.buffer else _state_folder() / "unloop" / "buffer"
        except RuntimeError:  # nobody's home, as in a container with a user of its own
            once("home", "there is no home folder for a buffer; UNLOOP_BUFFER can name another, or be off")
            return None


def _state_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")


def from_environment(env: Mapping[str, str] = os.environ) -> Settings:
    """Reads UNLOOP_*. A value that makes no sense is told, and left out: it is no reason to stop an agent."""
    given: dict[str, object] = {}
    for field in dataclasses.fields(Settings):
        text = env.get("UNLOOP_" + field.name.upper(), "").strip()
        if not text or field.name == "enabled":
            continue
        try:
            given[field.name] = _parse(field.default, text)
        except ValueError as error:
            log.warning("UNLOOP_%s is not used: %s", field.name.upper(), error)
    if _truth(env.get("UNLOOP_DISABLED", "")):
        given["enabled"] = False
    return changed(Settings(), given)


def changed(settings: Settings, given: Mapping[str, object]) -> Settings:
    """Returns settings with what is given."""
    known = {f.name: f.default for f in dataclasses.fields(Settings)}
    new: dict[str, Any] = {}
    for name, value in given.items():
        new[name] = float(value) if isinstance(known[name], float) and isinstance(value, int) else value
        if isinstance(value, os.PathLike):
            new[name] = os.fspath(value)
    result = dataclasses.replace(settings, **new)
    return dataclasses.replace(result, endpoint=bare(result.endpoint), token=_header(result.token))


def bare(endpoint: str) -> str:
    """Returns an endpoint without user and password: they are not used, and would stand in the log."""
    try:
        parts = urlsplit(endpoint)
    except ValueError:  # it is said when it is used
        return endpoint
    if "@" in parts.netloc:
        log.warning("user and password in the endpoint are not used; see UNLOOP_TOKEN")
        endpoint = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return endpoint.rstrip("/")


def _header(token: str) -> str:
    """Leaves out a token that can be none, perhaps one with a line end in it: it would break every request."""
    if all("!" <= c <= "~" for c in token):
        return token
    log.warning("the token has characters that no token has, perhaps a line end; it is not used")
    return ""


def _parse(default: object, text: str) -> object:
    """Reads a setting of the kind that its default has."""
    if isinstance(default, bool):
        return _switch(text)
    if isinstance(default, int):
        return int(text.replace("_", ""))
    if isinstance(default, float):
        return _finite(text)
    return text


def _switch(text: str) -> bool:
    """Reads a switch. What is neither on nor off is told: it may have been meant to keep something from being sent."""
    if not _truth(text):
        return False
    if text.lower() not in ("1", "true", "yes", "on"):
        raise ValueError(f"{text!r} is neither true nor false")
    return True


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no time")
    return number


def _truth(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")
