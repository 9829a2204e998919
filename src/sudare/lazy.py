"""Names of a package that load when they are first used, so that a command imports only the modules it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    """A package in which a module does not hide the function that is exported under the same name.

    Python binds a submodule in its package when it is imported: after ``import sudare.workflow.plan``, the name
    ``sudare.workflow.plan`` would be the module, and not the function that the package exports.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__dict__["__all__"]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["__all__"]})


def exports(package: str, home: Mapping[str, Sequence[str]], folders: Sequence[str] = ()) -> Callable[[str], Any]:
    """A ``__getattr__`` for ``package``: ``home`` says which names each of its modules exports.

    ``folders`` are packages inside it that load as well when they are first named.

    >>> import sudare.measure
    >>> sudare.measure.l1_accuracy.__module__
    'sudare.measure.comparison'
    """
    module_of = {name: module for module, names in home.items() for name in names}
    itself = sys.modules[package]
    itself.__class__ = _Package

    def load(name: str) -> Any:
        if name in folders:
            return import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(itself, name, value)
        return value

    return load
