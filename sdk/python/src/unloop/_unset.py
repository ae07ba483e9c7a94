"""The mark for "nothing was given", where None is a value of its own: a tool that returned None did answer."""

import enum
from typing import Final


class Unset(enum.Enum):
    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
