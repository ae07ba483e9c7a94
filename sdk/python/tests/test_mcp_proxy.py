"""The proxy in front of MCP servers: the official SDK's client before it, and the SDK's server behind it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

SERVER = """
from mcp.server import MCPServer

server = MCPServer("search")


@server.tool()
def search(query: str) -> str:
    return "no results"


server.run("stdio")
"""


async def ask(program: str, server: Path) -> list[tuple[bool, str]]:
    """Calls a tool again and again until a call is blocked; returns what came."""
    command = StdioServerParameters(command=program, args=["mcp-proxy", "--", sys.executable, str(server)])
    answers: list[tuple[bool, str]] = []
    async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        assert [t.name for t in (await session.list_tools()).tools] == ["search"]
        for _ in range(40):
            result = await session.call_tool("search", {"query": "loops"})
            text = "\n".join(c.text for c in result.content if isinstance(c, TextContent))
            answers.append((bool(result.is_error), text))
            if result.is_error:
                break
    return answers


def test_a_repeated_call_is_nudged_then_blocked(unloop_bin: str, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    *passed, (failed, text) = asyncio.run(asyncio.wait_for(ask(unloop_bin, server), 60))
    assert failed
    assert text.startswith("[unloop] ")
    assert not any(error for error, _ in passed)
    assert any("[unloop] " in text and text.startswith("no results") for _, text in passed)
