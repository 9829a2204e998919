"""Draws docs/images/data-walk.svg, the picture of CONTRIBUTING.md: how data pass through the folders.

``python docs/draw_walk.py`` writes it; a test fails when the file is not what it would write.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

PICTURE = Path(__file__).parent / "images" / "data-walk.svg"
WIDTH, HEIGHT, GAP, TOP, ROW = 172, 58, 46, 64, 150
COLOURS = {"private": ("#fbe3dc", "#b3401f"), "public": ("#e0efe6", "#22693f")}
WALKS: tuple[tuple[str, tuple[tuple[str, str, str, str], ...]], ...] = (
    (
        "A release: sd.publish",
        (
            ("records", "files, frames", "private", "engines: count, bound"),
            ("bounded counts", "at most max_rows of a person", "private", "ledger, noise.measure"),
            ("noisy values", "at a cost that adds up", "public", "tables: estimate"),
            ("release", "table and guarantee", "public", ""),
        ),
    ),
    (
        "What is published, and anybody can check: sd.verify",
        (
            ("release", "table and guarantee", "public", "workflow: write, sign"),
            ("folder", "files and release.json", "public", "pages.py, render"),
            ("report.html", "from the folder alone", "public", ""),
        ),
    ),
    (
        "A local collection: sudare collect",
        (
            ("answer", "on a person's device", "private", "local: randomize"),
            ("report", "epsilon-LDP", "public", "collector"),
            ("tally", "sums over reports", "public", "local: estimate"),
            ("counts", "with intervals", "public", ""),
        ),
    ),
)
"""Title of a row, and its boxes: name, what it is, who may see it, and what makes the next one of it."""


def text(x: float, y: float, said: str, size: int, *, middle: bool = True, more: str = "") -> str:
    """A line of text."""
    anchor = ' text-anchor="middle"' if middle else ""
    return f'<text x="{x}" y="{y}" font-size="{size}"{anchor}{more}>{escape(said)}</text>'


def walk(title: str, boxes: tuple[tuple[str, str, str, str], ...], top: int) -> list[str]:
    """One row: boxes from left to right, with what turns one into the next above the arrow."""
    drawn = [text(20, top - 34, title, 15, middle=False, more=' font-weight="600"')]
    for place, (name, what, seen, step) in enumerate(boxes):
        left = 20 + place * (WIDTH + GAP)
        fill, line = COLOURS[seen]
        drawn.append(
            f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{fill}" stroke="{line}"/>'
        )
        drawn.append(text(left + WIDTH / 2, top + 24, name, 14, more=' font-weight="600"'))
        drawn.append(text(left + WIDTH / 2, top + 43, what, 11))
        if step:
            start, end, middle = left + WIDTH, left + WIDTH + GAP, top + HEIGHT / 2
            drawn.append(f'<path d="M{start + 4} {middle}H{end - 6}" stroke="#333" marker-end="url(#tip)"/>')
            drawn.append(text((start + end) / 2, top - 8, step, 11, more=' font-style="italic"'))
    return drawn


def picture() -> str:
    """The whole drawing."""
    wide = 40 + 4 * WIDTH + 3 * GAP
    high = TOP + len(WALKS) * ROW - 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" fill="#222">',
        "<title>How data pass through the folders of Sudare</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#333"/></marker></defs>',
        f'<rect width="{wide}" height="{high}" fill="#fff"/>',
    ]
    for row, (title, boxes) in enumerate(WALKS):
        parts += walk(title, boxes, TOP + row * ROW)
    low = TOP + (len(WALKS) - 1) * ROW + HEIGHT + 34
    for place, (seen, (fill, line)) in enumerate(COLOURS.items()):
        left = 20 + place * 330
        said = {
            "private": "private: never leaves the publisher or the device",
            "public": "protected: may be given away",
        }
        parts.append(f'<rect x="{left}" y="{low - 12}" width="16" height="16" rx="3" fill="{fill}" stroke="{line}"/>')
        parts.append(text(left + 24, low, said[seen], 12, middle=False))
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8", newline="\n")
