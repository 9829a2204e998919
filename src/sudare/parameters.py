"""Parameter objects: what a function can be asked for, declared once as a frozen dataclass.

The function takes the object as ``parameters``, or its fields as keywords, or both (keywords then replace fields).
Recipes build the same object, and help and reference show its fields as the function's keywords.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from functools import wraps
from typing import Any, TypeVar

Result = TypeVar("Result")


def keywords_of(shape: type[Any]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Let the fields of ``shape`` be keywords of a function whose ``parameters`` is an object of it.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int
    ...     height: int = 1
    >>> @keywords_of(Size)
    ... def area(*, parameters: Size) -> int:
    ...     return parameters.width * parameters.height
    >>> area(width=3), area(parameters=Size(3), height=2)
    (3, 6)
    """
    names = {field.name for field in fields(shape)}

    def taking(function: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(function)
        def taken(*given: Any, **keywords: Any) -> Result:
            parameters = keywords.pop("parameters", None)
            own = {name: keywords.pop(name) for name in names & keywords.keys()}
            asked = shape(**own) if parameters is None else replace(parameters, **own)
            return function(*given, parameters=asked, **keywords)

        listed = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in inspect.signature(shape).parameters.values()
        ]
        signature = inspect.signature(function)
        shown: list[inspect.Parameter] = []
        for each in signature.parameters.values():
            shown += listed if each.name == "parameters" else [each]
        taken.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]  # read by inspect
        del taken.__wrapped__  # its source has other parameters than are shown
        return taken

    return taking
