"""RESULTS.md from what the parts kept: nothing is measured here, and no figure is written that was not.

`write_results` reads the JSON of every part, writes the page, and draws its plots.
"""

from __future__ import annotations

import ast
import json
import os
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import plots
from growth import Growth, growths
from parts import PARTS, PEERS, SECTIONS
from row import Row, ratio, read_rows, show

FOLDER = Path(__file__).resolve().parent
Kept = dict[str, dict[str, Any]]
TIMES = ("s", "CPU s", "CPU ms", "CPU us a user", "CPU ns a draw")
LABELS = {
    "OpenDP": "opendp",
    "diffprivlib": "diffprivlib",
    "Tumult": "tumult",
    "PyWavelets": "pywavelets",
    "pure-ldp": "pure-ldp",
    "multi-freq-ldpy": "multi-freq-ldpy",
    "anjana": "anjana",
    "anonypy": "anonypy",
    "densratio": "densratio",
    "scikit-learn": "scikit-learn",
    "NumPy": "numpy",
    "DuckDB": "duckdb",
}
"""How rows call the software they compare with."""

HEAD = """# Scoreboard

Written by `make bench` from what the parts kept in `benchmarks/results`; `python benchmarks/run.py --report` writes it
again without measuring. `make bench PARTS="noise histogram"` runs parts by name. Peers come from PyPI, each in a pinned
environment of its own, and run in the same run as ours. **Ratio** is a row's value over that of the row it names; on a
peer's row it says how many times ours its figure is: above 1, ours is smaller, that is faster or more exact. **CPU**
seconds are processor time of all threads, which other work on the machine hardly changes; others are by the clock.
"""


def read_kept(folder: Path) -> Kept:
    """What every part kept, in the order of parts; parts that never ran are not there."""
    found = {name: folder / f"{name}.json" for name in PARTS}
    return {name: json.loads(path.read_text()) for name, path in found.items() if path.exists()}


def write_results(folder: Path, page: Path, images: Path) -> None:
    """Write ``page`` and draw its plots into ``images``."""
    kept = read_kept(folder)
    rows = {name: read_rows(part["rows"]) for name, part in kept.items()}
    drawn = draw_all(rows, images)
    where = Path(os.path.relpath(images, page.parent))
    texts = [HEAD, circumstances(kept), goals(kept, rows), peer_table(kept, rows, drawn, where)]
    for section in SECTIONS:
        texts.append(f"## {section}\n")
        own = [name for name, part in PARTS.items() if part.section == section]
        texts += [part_text(name, kept[name], rows[name], drawn.get(name), where) for name in own if name in kept]
    page.write_text("\n".join(texts).rstrip() + "\n", encoding="utf-8")


def circumstances(kept: Kept) -> str:
    """When, on what machine, with which versions."""
    machines = {(m["processor"], m["cores"], m["gigabytes"], m["system"]) for m in _each(kept, "machine")}
    loads = [m["load"] for m in _each(kept, "machine")]
    dates = sorted(set(_each(kept, "date")))
    lines = [f"Measured {dates[0]}{' to ' + dates[-1] if len(dates) > 1 else ''}" if dates else "Nothing was measured"]
    lines += [f"{cores} cores ({name}), {memory} GB, {system}" for name, cores, memory, system in sorted(machines)]
    if loads:
        lines.append(f"{min(loads):g} to {max(loads):g} programs were running when a part began")
    if small := [name for name, part in kept.items() if part["quick"]]:
        lines.append(f"**with small sizes (`--quick`)**: {', '.join(small)}")
    text = "; ".join(lines) + ".\n"
    own = {name: version for part in kept.values() for name, version in part["versions"].items()}
    text += "\n" + ", ".join(f"{name} {version}" for name, version in own.items()) + ".\n" if own else ""
    lacking = [name for name in PARTS if name not in kept]
    return text + (f"\nNot run: {', '.join(lacking)}.\n" if lacking else "")


def goals(kept: Kept, rows: dict[str, list[Row]]) -> str:
    """How many goals are met, and which are not; goals are for full sizes. The tables of the parts name them all."""
    judged = [(name, row) for name, own in rows.items() for row in own if row.goal and not kept[name]["quick"]]
    if not judged:
        return ""
    missed = [(name, row) for name, row in judged if not row.met]
    lines = [f"## Goals: {len(judged) - len(missed)} of {len(judged)} met\n"]
    if missed:
        lines += ["| missed in | goal | | measured |", "| --- | --- | --- | --- |"]
    for name, row in missed:
        what = f"{row.case}: {row.name}" if row.case else row.name
        lines.append(f"| {name} | {what} | {row.goal} | {show(row.value)} {row.unit} |")
    return "\n".join(lines) + "\n"


def peer_ratios(rows: dict[str, list[Row]]) -> list[dict[str, Any]]:
    """Every comparison of times: the peer, the part, the case and how many times ours its time is."""
    found = []
    for name, own in rows.items():
        for row in own if PARTS[name].section == PEERS else ():
            times = ratio(row, own)
            if times is None or row.unit not in TIMES:
                continue
            theirs = _label(row.name)
            if theirs is None and (theirs := _label(row.ratio_to or "")):
                times = 1 / times
            if theirs:
                found.append({"peer": theirs, "what": name, "case": row.case, "times": times})
    return found


def peer_table(kept: Kept, rows: dict[str, list[Row]], drawn: dict[str, str], where: Path) -> str:
    """Each peer with its versions, its time over ours, and its memory beside ours."""
    ratios = peer_ratios(rows)
    if not ratios:
        return ""
    lines = ["## Peers\n"]
    if "peers" in drawn:
        lines.append(f"![Time of peers over ours, by comparison]({where / drawn['peers']})\n")
    lines += ["| peer | versions | its time over ours | parts | its peak memory |", "| --- | --- | --- | --- | --- |"]
    for label, environment in LABELS.items():
        own = [each for each in ratios if each["peer"] == label]
        if not own:
            continue
        called = [part["peers"][key] for part in kept.values() for key in part["peers"] if key.startswith(environment)]
        versions = {name: version for each in called for name, version in each["versions"].items()}
        times = sorted(each["times"] for each in own)
        span = f"{show(times[0])} to {show(times[-1])}, median {show(statistics.median(times))}"
        memory = f"{max(each['megabytes'] for each in called):,.0f} MB" if called else "runs in our process"
        shown = ", ".join(f"{name} {version}" for name, version in versions.items()) or "as above"
        lines.append(f"| {label} | {shown} | {span} | {', '.join(dict.fromkeys(e['what'] for e in own))} | {memory} |")
    judges = {name: called for part in kept.values() for name, called in part["peers"].items()}
    for name, called in judges.items():
        if not any(name.startswith(environment) for environment in LABELS.values()):
            shown = ", ".join(f"{each} {version}" for each, version in called["versions"].items())
            lines.append(f"| {name} | {shown} | judges what came out | | {called['megabytes']:,.0f} MB |")
    silent = [(name, row) for name, own in rows.items() for row in own if row.value is None]
    lines += ["", *(f"- {name}: {row.name} has no figure: {row.note}" for name, row in silent)]
    return "\n".join(lines).rstrip() + "\n"


def part_text(name: str, kept: dict[str, Any], rows: Sequence[Row], image: str | None, where: Path) -> str:
    """A part: what it does, what it measured, how it grows."""
    memory = f", peak memory of our process {kept['megabytes']:,.0f} MB" if kept["megabytes"] else ""
    lines = [f"### {PARTS[name].title}\n", _about(name), ""]
    small = " with small sizes (`--quick`)" if kept["quick"] else ""
    lines += [f"`{name}`{small}: {kept['seconds']:.0f} s{memory}, load {kept['machine']['load']:g} when it began.\n"]
    if kept["failure"]:
        before = "What it measured before:" if rows else "It had measured nothing."
        lines.append(f"**It broke down**: {_plain(kept['failure'])}. {before}\n")
    if image:
        lines.append(f"![{PARTS[name].title}]({where / image})\n")
    if powers := [curve for curve in growths(rows) if curve.exponent is not None and name != "tree_accuracy"]:
        fitted = ", ".join(f"{curve.name} {curve.exponent:.2f}" for curve in powers)
        lines.append(f"Grows with the power: {fitted}.\n")
    lines += ["| case | what | value | unit | ratio | note |", "| --- | --- | ---: | --- | --- | --- |"]
    if not rows:
        lines = lines[:-2]
    for case in dict.fromkeys(row.case for row in rows):
        for place, row in enumerate(row for row in rows if row.case == case):
            times = ratio(row, rows)
            against = f"{show(times)} x {row.ratio_to}" if times is not None else ""
            judged = "" if not row.goal else f"goal: {row.goal}" + ("" if row.met or kept["quick"] else ", **missed**")
            note = "; ".join(text for text in (judged, row.note) if text)
            first = case if place == 0 else ""
            lines.append(f"| {first} | {row.name} | {show(row.value)} | {row.unit} | {against} | {_plain(note)} |")
    return "\n".join(lines) + "\n"


def draw_all(rows: dict[str, list[Row]], images: Path) -> dict[str, str]:
    """Draw what there are rows for; the file names by part."""
    specs = {}
    if ratios := peer_ratios(rows):
        specs["peers"] = ("scale-peers.png", plots.peers(ratios))
    if any(row.series for row in rows.get("tree_accuracy", [])):
        specs["tree_accuracy"] = ("scale-regret.png", plots.regret(rows["tree_accuracy"]))
    for name, file, title, x_title, binary in (
        ("tree_speed", "scale-populated.png", "A release, 2^37 logical cells", "populated cells", False),
        (
            "logical_cells",
            "scale-logical.png",
            "A release, 1e5 populated cells",
            "log2 of logical cells",
            True,
        ),
        ("local_memory", "scale-users.png", "Reports of 1,024 values, made and estimated", "people who report", False),
    ):
        found = growths(rows.get(name, []))
        extra = growths(rows.get("cluster_cells", [])) if name == "tree_speed" else []
        if seconds := [curve for curve in [*found, *extra] if curve.unit in TIMES]:
            chart = plots.grown(seconds, title=title, x_title=x_title, y_title="processor seconds", binary=binary)
            specs[name] = (file, _with_memory(chart, [*found, *extra], x_title))
    for file, spec in specs.values():
        plots.draw(spec, images / file)
    return {name: file for name, (file, _) in specs.items()}


def _with_memory(chart: plots.Spec, found: Sequence[Growth], x_title: str) -> plots.Spec:
    memory = [curve for curve in found if curve.unit == "MB"]
    if not memory:
        return chart
    other = plots.grown(memory, title="Peak memory", x_title=x_title, y_title="MB")
    return plots.beside([chart, other], 1)


def _about(name: str) -> str:
    """The paragraphs that open a module: what it measures and what its goals are. It is read, not run."""
    text = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith((" ", "\t")))


def _each(kept: Kept, key: str) -> list[Any]:
    return [part[key] for part in kept.values()]


def _label(name: str) -> str | None:
    return next((label for label in LABELS if re.search(rf"\b{re.escape(label)}\b", name)), None)


def _plain(text: str) -> str:
    """One line that a table can hold, without paths of the machine."""
    return re.sub(r"(?:/[\w.+-]+){2,}", "...", " ".join(text.split())).replace("|", "\\|")
