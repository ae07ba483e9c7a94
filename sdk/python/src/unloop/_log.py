"""The logger of the package, and warnings that are logged once. The text of agents, tools and users is never logged."""

from __future__ import annotations

import logging

log = logging.getLogger("unloop")

_logged: dict[str, object] = {}


def warn_once(key: str, message: str, *args: object) -> None:
    """Logs a warning the first time it is called with key. Later calls with the same key do nothing."""
    marker = object()
    if _logged.setdefault(key, marker) is marker:  # one atomic step: another thread could hold a lock at a fork
        log.warning(message, *args)


def skip_warning(key: str) -> None:
    """Keeps the warning of key from being logged until it is reset."""
    _logged[key] = object()


def reset_warning(key: str) -> None:
    """Lets the warning of key be logged once more."""
    _logged.pop(key, None)
