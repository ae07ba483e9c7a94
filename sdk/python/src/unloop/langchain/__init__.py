"""LangChain and LangGraph: UnloopCallbackHandler tells a server what a graph does, UnloopMiddleware stops one that goes round.

The handler needs langchain-core only, so it is there for graphs without the package langchain; the middleware is for
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
