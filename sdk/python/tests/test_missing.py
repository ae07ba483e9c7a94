"""An installation without the program and without a server, as each adapter's page describes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

ADAPTERS = {
    "docs/python.md": "import unloop; unloop.Guard({})",
    "docs/langgraph.md": "from unloop.langchain import UnloopMiddleware; UnloopMiddleware({})",
    "docs/crewai.md": "import unloop; unloop.Guard({})",  # which its Listener takes
    "docs/openai-agents.md": "import unloop; from unloop.openai_agents import LoopGuard; LoopGuard(unloop.AsyncGuard({}))",
    "docs/pydantic-ai.md": "import unloop; from unloop.pydantic_ai import Unloop; Unloop(unloop.AsyncGuard({}))",
    "docs/google-adk.md": "import unloop; unloop.Guard({})",
    "docs/strands.md": "import unloop; unloop.Guard({})",
    "docs/claude-agent-sdk.md": "import unloop; unloop.Guard({})",
    "docs/smolagents.md": "import unloop; unloop.Guard({})",
    "docs/llama-index.md": "import unloop; unloop.Guard({})",
    "docs/agent-framework.md": "import unloop; unloop.Guard({})",
    "docs/openai.md": "import unloop, unloop.openai; unloop.Guard({})",
    "docs/anthropic.md": "import unloop, unloop.anthropic; unloop.Guard({})",
}


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs code from an empty folder, with an environment that names neither a program nor a server that answers."""
    env = {"PATH": "", "HOME": str(folder), "PYTHONPATH": str(ROOT / "sdk/python/src"), "UNLOOP_ENDPOINT": "http://127.0.0.1:1"}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, timeout=180)


@pytest.mark.parametrize("page", ADAPTERS)
def test_a_guard_refuses_unless_it_is_told_to_warn_and_the_page_says_so(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text()
    assert "GuardUnavailable" in text
    assert 'on_missing="warn"' in text
    refused = run(ADAPTERS[page].format(""), tmp_path)
    assert refused.returncode == 1
    assert "GuardUnavailable: no guard is available: cannot reach the server at http://127.0.0.1:1" in refused.stderr
    assert 'on_missing="warn"' in refused.stderr
    assert "runs unguarded" not in refused.stderr  # no agent runs
    warned = run(ADAPTERS[page].format('on_missing="warn"'), tmp_path)
    assert warned.returncode == 0, warned.stderr
    assert warned.stderr.count("the agent runs unguarded") == 1


def test_an_installation_without_the_program_says_so(tmp_path: Path) -> None:
    done = run("import sys; from unloop._program import main; sys.exit(main())", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("unloop: program unloop not found")
    assert os.listdir(tmp_path) == []
