"""The Claude Agent SDK with its own Claude Code: what the server knows of its sessions, and how they are nudged and stopped."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage, create_sdk_mcp_server, query, tool

import unloop
from adapters import calls, told, types
from adaptersuite import AdapterSuite
from conftest import Server
from modelapi import Call, ModelAPI, Say, Turn, search, serve
from unloop.claude_agent_sdk import Unloop

PREFIX = "mcp__archive__"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code keeps things below the user's folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(tmp_path)


def environment(api: ModelAPI) -> dict[str, str]:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"}
    return {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none", **quiet}


def options(api: ModelAPI, tools: list[Callable[..., str]], **more: Any) -> ClaudeAgentOptions:
    def served(one: Callable[..., str]) -> Any:
        async def call(args: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": one(**args)}]}

        parameters = {name: {"int": int, "str": str}[p.annotation] for name, p in inspect.signature(one).parameters.items()}
        return tool(one.__name__, one.__doc__ or "", parameters)(call)

    server = create_sdk_mcp_server("archive", tools=[served(one) for one in tools])
    allowed = [PREFIX + one.__name__ for one in tools]
    fixed: dict[str, Any] = {"setting_sources": [], "tools": [], "system_prompt": "Find.", "model": "coder-2"}
    return ClaudeAgentOptions(mcp_servers={"archive": server}, allowed_tools=allowed, env=environment(api), **fixed, **more)


class TestClaudeAgentSDK(AdapterSuite):
    name = "claude-agent-sdk"
    agent = "claude"
    prefix = PREFIX

    def run_id(self, name: str) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, name))

    def answered(self, count: int) -> list[dict[str, int]]:
        """Claude Code tells of output tokens at the end only, in sum."""
        asked = {"input_tokens": 100, "cached_input_tokens": 50, "cache_write_tokens": 10}
        return [asked] * (count - 1) + [{**asked, "output_tokens": 10 * count}]

    def environment(self, api: ModelAPI) -> dict[str, str]:
        return environment(api)

    def play(self, api: ModelAPI, tools: list[Callable[..., str]], run: str, guarded: bool) -> str:
        watched = Unloop(unloop.AsyncGuard(on_missing="warn") if guarded else None)

        async def main() -> str:
            said = ""
            asked = watched.add_hooks(options(api, tools, session_id=run))
            async for message in watched.watch(query(prompt="find it", options=asked)):
                said = message.result or "" if isinstance(message, ResultMessage) else said
            return said

        return asyncio.run(main())


def test_a_client_that_nobody_watches_is_recorded_and_stopped(server: Server, guard_bin: str) -> None:
    """Its second turn continues the session."""
    watched = Unloop(unloop.AsyncGuard())
    turns: list[Turn] = [*[Call(PREFIX + "search", {"query": "loops"})] * 12, Say("I give up.")]

    ended: list[str | None] = []

    async def main(api: ModelAPI) -> None:
        async with ClaudeSDKClient(watched.add_hooks(options(api, [search]))) as client:
            for prompt in ("say hello", "find it"):
                await client.query(prompt)
                ended.extend([m.result async for m in client.receive_response() if isinstance(m, ResultMessage)])

    with serve([Say("hello"), *turns]) as api:
        asyncio.run(main(api))
    assert ended == ["hello", ""]
    assert unloop.flush()
    [run] = server.runs()
    events = server.events(run["id"])
    assert [type for type in types(events) if type.startswith("run_")] == [
        "run_started",
        "run_completed",
        "run_started",
        "run_failed",
    ]
    assert [e["text"] for e in events if e["type"] == "message"] == ["say hello", "find it"]
    assert calls(events)[-1][0] == "blocked"


def test_a_session_within_a_trace_belongs_to_its_run(server: Server) -> None:
    async def main(api: ModelAPI) -> None:
        watched = Unloop()
        with unloop.trace("outer", id="outer"):
            async for _ in watched.watch(query(prompt="find it", options=watched.add_hooks(options(api, [search])))):
                pass

    with serve([Call(PREFIX + "search", {"query": "tides"}), Say("done")]) as api:
        asyncio.run(main(api))
    events = told(server, "outer")
    assert [run["id"] for run in server.runs()] == ["outer"]
    assert types(events).count("llm_call_completed") == 2
    assert [row[0] for row in calls(events)] == ["asked", "completed"]
