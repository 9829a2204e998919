"""Writes docs/reference/cli.md and recipe.md from the commands and the recipe themselves, and the tables of papers.

``make docs`` runs it; a test fails when the pages are not what it would write.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from sudare.cli import main as cli
from sudare.language.catalogue import Words
from sudare.papers.catalogue import placed
from sudare.workflow.job import json_schema

FOLDER = Path(__file__).parent / "reference"
ROOT = Path(__file__).parents[1]
PAPERS_ON = {"README.md": "en", "README.ja.md": "ja", "docs/index.md": "en", "docs/ja/index.md": "ja"}
"""Pages with the table of papers."""


def commands(context: click.Context) -> Iterator[click.Context]:
    """Every command below a group, depth first, as the context it would run in."""
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            raise LookupError(f"the command {name} is listed but not there")
        own = click.Context(command, info_name=name, parent=context, max_content_width=100, terminal_width=100)
        yield own
        yield from commands(own)


def root() -> click.Context:
    """The context of the whole command line."""
    return click.Context(cli, info_name="sudare", **cli.context_settings)


def cli_page() -> str:
    """The help of every command."""
    parts = ["# Commands", "", "Each command is one library call; `--json` prints the same result for machines.", ""]
    for context in commands(root()):
        parts += [f"## {context.command_path}", "", "```text", context.get_help(), "```", ""]
    return "\n".join(parts)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f'"{schema["const"]}"'
    if "enum" in schema:
        return " or ".join(f'"{value}"' for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(option) for option in schema[key] if option.get("type") != "null"))
    if schema.get("type") == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})]
        inside = " and ".join(dict.fromkeys(_type(item) for item in items))
        return f"list of ({inside})" if " or " in inside else f"list of {inside}"
    if "additionalProperties" in schema and isinstance(schema["additionalProperties"], dict):
        return "tables of " + _type(schema["additionalProperties"])
    return str(schema.get("type", "any"))


def _places(schema: dict[str, Any], kinds: dict[str, str]) -> dict[str, dict[str, list[str]]]:
    """Name of a part to where it stands in a recipe, and in which kinds of recipes."""
    places: dict[str, dict[str, list[str]]] = {}

    def walk(value: object, path: str, kind: str) -> None:
        if isinstance(value, list):
            for one in value:
                walk(one, path, kind)
        elif isinstance(value, dict):
            if "$ref" in value:
                name = value["$ref"].rsplit("/", 1)[-1]
                found = places.setdefault(name, {}).setdefault(path, [])
                found += [kind] if kind not in found else []
                visit(name, path, kind)
            walk([value.get(key, []) for key in ("anyOf", "oneOf", "items", "prefixItems")], path, kind)
            if isinstance(value.get("additionalProperties"), dict):
                walk(value["additionalProperties"], f"{path}.NAME", kind)

    def visit(name: str, path: str, kind: str) -> None:
        for key, value in schema["$defs"][name]["properties"].items():
            walk(value, f"{path}.{key}" if path else key, kind)

    for name, kind in kinds.items():
        visit(name, "", kind)
    return places


def recipe_page() -> str:
    """Every key of a recipe."""
    schema = json_schema()
    parts = [
        "# The recipe",
        "",
        "A TOML file. Unknown keys are errors. Paths are relative to the recipe's folder. `sudare schema` prints the",
        "same for editors that complete and check TOML. Whole recipes are in the [tutorials](../tutorials/index.md).",
        "",
        "Numbers of a budget (epsilon, delta, rho, caps, shares, strength, rates) are read exactly as they are",
        'written; a fraction is written as text: `epsilon = "1/3"`.',
        "",
        "How text, ids and files are read is said in [From rows to people](../explanation/rows-and-people.md).",
        "",
    ]
    names = [option["$ref"].rsplit("/", 1)[-1] for option in schema["oneOf"]]
    kinds = {name: schema["$defs"][name]["properties"]["kind"]["const"] for name in names}
    places = _places(schema, kinds)
    order = [*kinds, *(name for name in schema["$defs"] if name not in kinds)]
    for name, part in ((name, schema["$defs"][name]) for name in order):
        parts += [f"## {name}", "", part.get("description", ""), ""]
        for path, found in places.get(name, {}).items():
            parts += [
                f"`[{path}]` in recipes of {'any kind' if len(found) == len(kinds) else 'kind ' + ', '.join(found)}.",
                "",
            ]
        parts += ["| key | type | default | |", "| --- | --- | --- | --- |"]
        for key, value in part["properties"].items():
            default = "required" if key in part.get("required", []) else value.get("default", "")
            shown = "" if default is None or isinstance(default, dict) else default
            parts.append(f"| `{key}` | {_type(value)} | {shown} | {value.get('description', '')} |")
        parts.append("")
    return "\n".join(parts)


def pages() -> dict[Path, str]:
    """Path to text of every generated page."""
    made = {FOLDER / "cli.md": cli_page(), FOLDER / "recipe.md": recipe_page()}
    for name, language in PAPERS_ON.items():
        page = (ROOT / name).read_text(encoding="utf-8")
        made[ROOT / name] = placed(page, Words(language))
    return made


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
