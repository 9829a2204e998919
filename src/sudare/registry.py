"""What can be named in a recipe or a survey, found through entry points: ours and those of other packages.

A package adds a kind, a method, an attribute, an engine or an encoding by an entry point in its ``pyproject.toml``::

    [project.entry-points."sudare.methods"]
    blocks = "my_package.blocks:Blocks"

Sudare declares its own in the same way. Names are listed without importing anything; an object is imported when it is
first asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sudare.errors import MissingExtraError, SudareError


@dataclass(frozen=True)
class Registry(Mapping[str, Any]):
    """The objects of one group of entry points by name, in the order of their names."""

    group: str

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Any:
        entry = self._entries[name]
        try:
            return entry.load()
        except MissingExtraError:
            raise  # which says what to install
        except (ImportError, AttributeError) as problem:
            raise SudareError(
                "the entry point {name} of {group} cannot be loaded: {reason}",
                value=entry.value,
                hint="Install the package {package} again, or remove it.",
                name=name,
                group=self.group,
                reason=str(problem),
                package=_package(entry),
            ) from None

    @property
    def _entries(self) -> dict[str, EntryPoint]:
        return _found(self.group, tuple(sys.path))


@cache
def _found(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """The entry points of a group; refuses a name that two packages claim, since a recipe must mean one thing."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(_declared(path).select(group=group), key=lambda each: each.name):
        if entry.name in found and entry.value != found[entry.name].value:
            packages = " and ".join(_package(each) for each in (found[entry.name], entry))
            raise SudareError(
                "{packages} both register {name} in {group}",
                hint="Remove one of them.",
                packages=packages,
                name=entry.name,
                group=group,
            )
        found[entry.name] = entry
    if not found:
        raise SudareError(
            "Sudare is not installed: no entry points of {group} are found", hint="Run: pip install sudare", group=group
        )
    return found


@cache
def _declared(_path: tuple[str, ...]) -> Any:
    """The entry points of all installed packages (their type depends on the version of Python), read once."""
    return entry_points()


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "?"


KINDS = Registry("sudare.kinds")
"""Kinds of releases: subclasses of `sudare.recipe.kind.Kind`."""
METHODS = Registry("sudare.methods")
"""Methods for count tables: classes that follow `sudare.tables.Method`; keywords of theirs are keys of a recipe."""
ATTRIBUTES = Registry("sudare.attributes")
"""Attributes of a domain, places among them: subclasses of `sudare.domain.attribute.Attribute`."""
ENGINES = Registry("sudare.engines")
"""Engines: functions of a source, its encoding, its delimiter and a scratch folder that give `Records`."""
ENCODINGS = Registry("sudare.encodings")
"""Encodings of the reports of devices: subclasses of `sudare.local.Encoding`."""
_ALL = (KINDS, METHODS, ATTRIBUTES, ENGINES, ENCODINGS)


def packages() -> dict[str, str]:
    """The packages that register something, each with its version: a release may depend on any of them."""
    return dict(_packages(tuple(sys.path)))


@cache
def _packages(_path: tuple[str, ...]) -> dict[str, str]:
    """See `packages`: the metadata of each entry are parsed anew whenever they are asked for, so once per process."""
    entries = [entry for registry in _ALL for entry in registry._entries.values()]
    return {entry.dist.name: entry.dist.version for entry in entries if entry.dist is not None}
