"""What recipes of every kind share, and what the workflow asks of a kind.

`Recipe` is the value that a TOML file spells out, with its parts; `Kind` is what a kind of release answers: its recipe
model, how records are gathered, protected, written, checked and shown. Kinds are found by name through the entry points
``sudare.kinds`` (`sudare.registry`), so that one may come from another package.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.recipe.kind import Kind, Needs, Outlook, PublicFile, Rehearsal, ReleasedColumn
    from sudare.recipe.model import Recipe
    from sudare.recipe.parts import Amount, Part

__all__ = ["Amount", "Kind", "Needs", "Outlook", "Part", "PublicFile", "Recipe", "Rehearsal", "ReleasedColumn"]

__getattr__ = exports(
    __name__,
    {
        "kind": ("Kind", "Needs", "Outlook", "PublicFile", "ReleasedColumn", "Rehearsal"),
        "model": ("Recipe",),
        "parts": ("Amount", "Part"),
    },
)
