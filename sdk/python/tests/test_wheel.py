"""What is published: a wheel for every platform, one that brings the program, and the source."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

from conftest import ROOT

GUARDED = """
import unloop
from unloop.guard._binary import find
guard = unloop.Guard()
search = guard.tool(lambda: {"hits": []}, name="search")
print([type(search()).__name__ for _ in range(3)], search()["hits"], find())
"""


def build(folder: Path, *what: str, **env: str) -> set[str]:
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(folder), str(ROOT / "sdk/python")]
    built = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=180)
    assert built.returncode == 0, built.stdout + built.stderr
    return {path.name for path in folder.iterdir()}


def test_the_wheel_and_the_source_are_made(tmp_path: Path) -> None:
    made = build(tmp_path)  # the wheel from the source
    assert made == {"unloop-0.1.0-py3-none-any.whl", "unloop-0.1.0.tar.gz"}
    inside = zipfile.ZipFile(tmp_path / "unloop-0.1.0-py3-none-any.whl").namelist()
    assert {"unloop/__init__.py", "unloop/py.typed", "unloop/guard/_subprocess.py"} <= set(inside)
    assert not [name for name in inside if "_bin/" in name or "test" in name]
    with tarfile.open(tmp_path / "unloop-0.1.0.tar.gz") as file:
        source = file.getnames()
    assert "unloop-0.1.0/src/unloop/__init__.py" in source
    assert not [name for name in source if "__pycache__" in name or "_bin/" in name]


def test_a_wheel_with_the_program_guards_from_a_fresh_environment(tmp_path: Path, unloop_bin: str) -> None:
    (wheel,) = build(tmp_path / "dist", "--wheel", UNLOOP_WHEEL_BIN=unloop_bin)
    assert wheel.startswith("unloop-0.1.0-py3-none-")
    assert not wheel.endswith("any.whl")
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    target = subprocess.run(
        [python, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True, check=True
    ).stdout.strip()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", target, str(tmp_path / "dist" / wheel)], check=True, timeout=180)
    env = {"PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run([python, "-c", GUARDED], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=180)
    assert done.stderr == ""
    assert done.stdout.split(" ", 5)[:3] == ["['dict',", "'dict',", "'dict']"]
    assert done.stdout.strip().endswith(f"{target}/unloop/_bin/unloop")
