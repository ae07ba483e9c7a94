"""The sender and the settings of the process, and how both behave at a fork and at exit."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading

from . import _settings
from ._sender import Sender, Stats
from ._settings import Settings

_lock = threading.RLock()
_settings_now: Settings | None = None
_sender: Sender | None = None
_forking: Sender | None = None  # the sender whose lock a fork holds; configure() may replace _sender in the meantime


def settings() -> Settings:
    """Returns the current settings. The first call reads the environment."""
    global _settings_now
    if _settings_now is None:
        with _lock:
            if _settings_now is None:
                _settings_now = _settings.from_environment()
    return _settings_now


def sender() -> Sender:
    """Returns the sender. The first call creates it."""
    global _sender
    if _sender is None:
        with _lock:
            if _sender is None:
                _sender = Sender(settings(), _at_exit)
    return _sender


def configure(
    *,
    endpoint: str | None = None,
    token: str | None = None,
    project: str | None = None,
    enabled: bool | None = None,
    capture_inputs: bool | None = None,
    capture_outputs: bool | None = None,
    buffer: str | os.PathLike[str] | None = None,
    buffer_bytes: int | None = None,
    queue_events: int | None = None,
    queue_bytes: int | None = None,
    value_bytes: int | None = None,
    exit_timeout: float | None = None,
) -> None:
    """Changes settings. Arguments that are None leave their setting unchanged.

    Call it before the first event. Events that were recorded earlier are still sent to the previous endpoint, for at most
    exit_timeout seconds; the rest is buffered. Sizes are in bytes, exit_timeout is in seconds.
    """
    values = {name: value for name, value in locals().items() if value is not None}
    global _settings_now, _sender
    with _lock:
        new = _settings.changed(settings(), values)
        if new == _settings_now:
            return
        old, _sender, _settings_now = _sender, None, new
    if old is not None:
        old.close(new.exit_timeout)


def flush(timeout: float = 5.0) -> bool:
    """Waits up to timeout seconds until the server has all events recorded so far, and returns whether it has.

    On False the remaining events are buffered on disk or still queued.
    """
    return _sender is None or _sender.flush(timeout)


def shutdown(timeout: float = 5.0) -> None:
    """Sends events for up to timeout seconds, buffers the rest, and stops the sending thread. It runs automatically at exit."""
    if _sender is not None:
        _sender.close(timeout)


def stats() -> Stats:
    """Returns the counts of events by outcome."""
    return _sender.stats() if _sender is not None else Stats()


def _at_exit() -> None:
    with contextlib.suppress(Exception, KeyboardInterrupt):
        shutdown(settings().exit_timeout)


def _before_fork() -> None:
    global _forking
    _forking = _sender
    if _forking is not None:
        _forking.lock.acquire()


def _in_parent() -> None:
    if _forking is not None:
        with contextlib.suppress(RuntimeError):
            _forking.lock.release()


def _in_child() -> None:
    global _lock
    _lock = threading.RLock()
    if _sender is not None:
        _sender.after_fork()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
