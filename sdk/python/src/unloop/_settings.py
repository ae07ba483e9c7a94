"""What the package can be told: by the environment (UNLOOP_*), and by configure(), which goes before it."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._log import log

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
        return Path(self.buffer).expanduser() if self.buffer else _state_folder() / "unloop" / "buffer"


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
    return dataclasses.replace(result, endpoint=result.endpoint.rstrip("/"), token=_header(result.token))


def _header(token: str) -> str:
    """Leaves out a token that can be none, perhaps one with a line end in it: it would break every request."""
    if all("!" <= c <= "~" for c in token):
        return token
    log.warning("the token has characters that no token has, perhaps a line end; it is not used")
    return ""


def _parse(default: object, text: str) -> object:
    """Reads a setting of the kind that its default has."""
    if isinstance(default, bool):
        return _truth(text)
    if isinstance(default, int):
        return int(text.replace("_", ""))
    if isinstance(default, float):
        return float(text)
    return text


def _truth(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")
