"""UNSET is the value of an argument that was not passed. None is a valid result: a tool may return None."""

import enum
from typing import Final


class Unset(enum.Enum):
    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
