"""How Babel finds the templates of errors: a method of extraction, which ``babel.cfg`` names.

A template is a text that is given to `Message`, to an error's class, or to a parameter ``error`` that is such a class,
also as ``allowed=`` or ``hint=``, and either text of ``a if condition else b``.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any


def extract(file: Any, keywords: Any, tags: Any, options: Any) -> Iterator[tuple[int, None, str, list[str]]]:  # noqa: ARG001 - as Babel calls it
    """Line, no function, template and no comments for each template in a Python file."""
    tree = ast.parse(file.read())
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name.endswith("Error")]
    own = {id(node.func) for each in classes for node in ast.walk(each) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := _name(node.func, id(node.func) in own)):
            named = [each.value for each in node.keywords if each.arg in ("allowed", "hint") and name != "Message"]
            for part in (*node.args[:2], *named):
                for template in _texts(part):
                    yield node.lineno, None, template, []


def _name(called: ast.expr, within: bool) -> str | None:
    """The name of what is called where it takes templates; ``within`` the class of an error also its own ways."""
    name = ast.unparse(called).removesuffix(".from_system")
    is_error = (
        name.endswith(("Error", "Warning"))
        and not name.startswith("Pydantic")
        and name.isidentifier()
        and not hasattr(builtins, name)
    )
    takes = is_error or name in ("Message", "error") or (within and name in ("cls", "super().__init__"))
    return name if takes else None


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.IfExp(body=first, orelse=second):
            yield from (*_texts(first), *_texts(second))
        case ast.BoolOp(values=values):
            for each in values:
                yield from _texts(each)
