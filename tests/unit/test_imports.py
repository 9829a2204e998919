"""Modules that import each other in a circle: none when they are loaded, and few that are known when functions run."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import sudare

PACKAGE = Path(sudare.__file__).parent
INSIDE_FUNCTIONS = {
    ("sudare.local.files", "sudare.local.reports"),
    ("sudare.tables.kind", "sudare.tables.rehearsal"),
    ("sudare.tables.kind", "sudare.tables.spark_kind"),
    ("sudare.tables.pages", "sudare.tables.release"),
}
"""Values whose methods call a module that builds on them: such an import stands in the method. Do not add to it."""


def sources(package: Path) -> dict[str, ast.Module]:
    """Every module of a package by its name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(node: ast.AST, *, functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements that run when a module is loaded, or also those inside of its ``functions``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports(child, functions=functions)


def graph(modules: dict[str, ast.Module], *, functions: bool) -> dict[str, set[str]]:
    """Each module to those that it imports."""
    found = defaultdict(set)
    for name, tree in modules.items():
        for statement in imports(tree, functions=functions):
            if isinstance(statement, ast.Import):
                asked = [alias.name for alias in statement.names]
            else:
                below = [f"{statement.module}.{alias.name}" for alias in statement.names]
                asked = [each if each in modules else str(statement.module) for each in below]
            found[name] |= {each for each in asked if each in modules and each != name}
    return found


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, or nothing."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def test_no_module_is_loaded_in_a_circle():
    assert cycle(graph(sources(PACKAGE), functions=False)) == []


def test_imports_inside_of_functions_make_no_other_circle():
    edges = graph(sources(PACKAGE), functions=True)
    for first, second in INSIDE_FUNCTIONS:
        edges[first].discard(second)
        edges[second].discard(first)
    assert cycle(edges) == []


def test_a_circle_is_found(tmp_path):
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.py").write_text("")
    (tmp_path / "house" / "one.py").write_text("from house.two import a\n")
    (tmp_path / "house" / "two.py").write_text("def b():\n    from house import one\n")
    modules = sources(tmp_path / "house")
    assert cycle(graph(modules, functions=False)) == []
    assert set(cycle(graph(modules, functions=True))) == {"house.one", "house.two"}
