"""What recipes of every kind share, and what the workflow asks of a kind.

`Recipe` is the value that a TOML file spells out, with its parts; `Kind` is what a kind of release answers: its recipe
model, how records are gathered, protected, written, checked and shown. Kinds are found by name through the entry points
``sudare.kinds`` (`sudare.registry`), so that one may come from another package.
"""

from sudare.recipe.kind import Kind, Needs, Outlook, PublicFile, Rehearsal
from sudare.recipe.model import Recipe

__all__ = ["Kind", "Needs", "Outlook", "PublicFile", "Recipe", "Rehearsal"]
