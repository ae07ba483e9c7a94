"""Chooses the guard: the program as a child process, or a server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .. import _core
from ._binary import ProgramMissing, find
from ._decision import GuardUnavailable
from ._remote import Remote
from ._subprocess import process_for
from ._transport import Transport

HELP = (
    "install a wheel that contains the program, set UNLOOP_BIN to its path, or set UNLOOP_ENDPOINT to a server; "
    'on_missing="warn" lets the agent run unguarded'
)


def transport_for(profile: str, settings: Mapping[str, Any] | None, endpoint: str | None, token: str | None) -> Transport:
    """Returns the server at endpoint; without one, the program; without a program, the server of the package's settings, which is
    UNLOOP_ENDPOINT. It contacts neither."""
    configured = _core.settings()
    token = configured.token if token is None else token
    if endpoint:
        return Remote(endpoint, token, profile, settings)
    if configured.enabled and not _has_program():
        return Remote(configured.endpoint, token, profile, settings)
    return process_for(profile, settings)


def _has_program() -> bool:
    """Reports whether a child process can be tried. A wrong UNLOOP_BIN can: its error names the mistake."""
    if os.name == "nt":
        return False
    try:
        find()
    except ProgramMissing:
        return False
    except GuardUnavailable:
        return True
    return True
