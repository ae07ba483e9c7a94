"""Adds the program that UNLOOP_WHEEL_BIN names to the wheel. The wheel is then for this platform, and its guard needs no other
installation. Without UNLOOP_WHEEL_BIN the wheel is for all platforms, and the guard searches the PATH for the program."""

import os
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramInWheel(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("UNLOOP_WHEEL_BIN")
        if not program or version == "editable":
            return
        if not os.access(program, os.X_OK):
            raise FileNotFoundError(f"UNLOOP_WHEEL_BIN is {program}, which is not an executable program")
        name = "unloop.exe" if program.endswith(".exe") else "unloop"
        platform = os.environ.get("UNLOOP_WHEEL_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["force_include"][os.path.abspath(program)] = f"unloop/_bin/{name}"
        build_data["tag"] = "py3-none-" + platform
        build_data["pure_python"] = False
