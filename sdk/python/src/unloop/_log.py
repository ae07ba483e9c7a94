"""The one logger of the package, and saying a thing once. Nothing that an agent, a tool or a person said is logged."""

from __future__ import annotations

import logging

log = logging.getLogger("unloop")

_said: dict[str, object] = {}


def once(key: str, message: str, *args: object) -> None:
    """Logs a warning, the first time that key comes."""
    mine = object()
    if _said.setdefault(key, mine) is mine:  # in one step: a lock could be held by another thread at a fork
        log.warning(message, *args)


def again(key: str) -> None:
    """Has the thing be said again when it happens again."""
    _said.pop(key, None)
