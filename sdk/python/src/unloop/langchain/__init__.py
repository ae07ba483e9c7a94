"""unloop for LangChain and LangGraph: UnloopCallbackHandler records a graph on a server, UnloopMiddleware stops looping agents.

The handler needs langchain-core only, so it works for graphs without the package langchain. The middleware is for agents of
langchain.agents.create_agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._handler import UnloopCallbackHandler

if TYPE_CHECKING:
    from ._middleware import UnloopMiddleware

__all__ = ["UnloopCallbackHandler", "UnloopMiddleware"]


def __getattr__(name: str) -> Any:
    if name == "UnloopMiddleware":
        from ._middleware import UnloopMiddleware

        return UnloopMiddleware
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
