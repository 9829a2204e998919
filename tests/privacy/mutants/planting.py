"""A planted breach as a value, and how it gets into the running package.

A `Mutant` replaces a few words of one function (or one line of a module) by others, as a programmer's mistake would.
The galleries are the TOML files in this folder, one for each room. A planted module is compiled from its changed text
when it is imported, in this process and in those that it starts: `plant/sitecustomize.py` looks at `VARIABLE`. Nothing
of this is in the package, and no file of it is ever written.

Where the text that a mutant replaces is not there any more, or there twice, planting fails: a gallery never tests
nothing without saying so.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from types import CodeType, ModuleType

HERE = Path(__file__).resolve().parent
VARIABLE = "SUDARE_TEST_MUTANT"
"""The name of the mutant to plant."""
MARK = "SUDARE_TEST_MUTANT_MARK"
"""A file that is written when the planted module was imported: who ran without it ran the sound package."""


class GalleryError(Exception):
    """A mutant that cannot be planted, or is not described."""


@dataclass(frozen=True)
class Mutant:
    """One planted breach.

    ``breaks`` says in a sentence what is wrong, ``leaks`` what somebody learns by it. ``module`` and ``function`` (a
    qualified name; empty for the body of the module) say where ``old`` stands, exactly once, and ``new`` is put.
    ``audit`` lists findings that are meant to catch it, by their part and some pieces of their names ("replay: table,
    tree"); ``tests`` are the tests that are.
    """

    name: str
    room: str
    breaks: str
    leaks: str
    module: str
    function: str
    old: str
    new: str
    tests: tuple[str, ...]
    audit: tuple[str, ...] = ()

    @classmethod
    def read(cls, room: str, given: dict[str, object]) -> Mutant:
        """From a table of a TOML file."""
        known = {field.name for field in fields(cls)} - {"room"}
        if unknown := set(given) - known:
            raise GalleryError(f"{room}: {given.get('name')}: unknown {sorted(unknown)}")
        listed = {name: tuple(given.get(name, ())) for name in ("tests", "audit")}
        return cls(room=room, **{**given, **listed})

    @property
    def path(self) -> Path:
        """The file of the module."""
        spec = importlib.machinery.PathFinder.find_spec(self.module, _search(self.module))
        if spec is None or spec.origin is None:
            raise GalleryError(f"{self.name}: there is no module {self.module}")
        return Path(spec.origin)

    def planted(self) -> str:
        """The text of the module with the breach in it."""
        source = self.path.read_text(encoding="utf-8")
        first, last = _lines_of(source, self.function, self.name)
        lines = source.splitlines(keepends=True)
        before, body, after = "".join(lines[:first]), "".join(lines[first:last]), "".join(lines[last:])
        found = body.count(self.old)
        if found != 1 or self.old == self.new:
            where = self.function or "the module"
            raise GalleryError(
                f"{self.name}: the text is gone: {found} times in {where} of {self.module}: {self.old!r}"
            )
        return before + body.replace(self.old, self.new) + after


def gallery() -> dict[str, Mutant]:
    """All mutants by name, room by room."""
    found: dict[str, Mutant] = {}
    for path in sorted(HERE.glob("*.toml")):
        for given in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            made = Mutant.read(path.stem, given)
            if made.name in found:
                raise GalleryError(f"two mutants are called {made.name}")
            found[made.name] = made
    return found


def _search(module: str) -> list[str] | None:
    """Where the module is looked for, without importing what stands above it."""
    where: list[str] | None = None
    for name in [".".join(module.split(".")[: depth + 1]) for depth in range(module.count("."))]:
        spec = importlib.machinery.PathFinder.find_spec(name, where)
        if spec is None or spec.submodule_search_locations is None:
            raise GalleryError(f"there is no package {name}")
        where = list(spec.submodule_search_locations)
    return where


def _lines_of(source: str, qualified: str, name: str) -> tuple[int, int]:
    """The lines of a function, decorators included, as a slice; of the whole text for the empty name."""
    tree: ast.AST = ast.parse(source)
    if not qualified:
        return 0, len(source.splitlines())
    for part in qualified.split("."):
        found = [node for node in _definitions(tree) if node.name == part]
        if not found:
            raise GalleryError(f"{name}: the text is gone: there is no {qualified}")
        tree = found[-1]  # after overloads
    starts = [tree.lineno, *(decorator.lineno for decorator in tree.decorator_list)]
    return min(starts) - 1, tree.end_lineno


def _definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the planted text; bytecode of the sound module is not looked at, and none is written."""

    def __init__(self, mutant: Mutant, path: str) -> None:
        super().__init__(mutant.module, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        if mark := os.environ.get(MARK):
            Path(mark).touch()
        return compile(self._mutant.planted(), self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._mutant.module:
            return None
        file = str(self._mutant.path)
        loader = _Loader(self._mutant, file)
        packages = [str(Path(file).parent)] if Path(file).name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, file, loader=loader, submodule_search_locations=packages
        )


def plant(name: str) -> None:
    """Have the mutant's module compiled from its planted text from now on; it must not be imported yet."""
    mutant = gallery()[name]
    if mutant.module in sys.modules:
        raise GalleryError(f"{name}: {mutant.module} is imported already")
    sys.meta_path.insert(0, _Finder(mutant))
