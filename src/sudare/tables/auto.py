"""The default method, chosen from the declaration before anything is measured.

The choice uses public facts only (the domain, and what the steward says matters), so it costs nothing and the whole
budget is left for the method. Further choices a method makes from its own noisy values: `Tree` the budget of its
leaves, `Marginals` which pairs are worth measuring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.arrays import Cells
from sudare.domain import Domain
from sudare.errors import ParameterError, either
from sudare.tables.marginals import Marginals, fits
from sudare.tables.method import MeasuredSums, Method, Task
from sudare.tables.tree import EMPHASES, Tree

if TYPE_CHECKING:
    from sudare.language.messages import PageMessage


@dataclass(frozen=True)
class Choice:
    """A method, and the rule by which it was chosen."""

    method: Method
    reason: PageMessage


@dataclass(frozen=True)
class Auto(MeasuredSums):
    """`Tree` where the domain has places (meshes, grids, lines), `Marginals` where it has none.

    Sensitivity: that of the chosen method; the choice depends on the declared domain alone. ``emphasis`` ("cells" or
    "areas") is for those who know which sizes matter, ``matters`` names marginals of tables without places.
    """

    recipe_parameters: ClassVar[tuple[str, ...]] = ("emphasis", "matters")
    emphasis: str | None = None
    matters: Sequence[str | Sequence[str]] = ()

    def __post_init__(self) -> None:
        if self.emphasis is not None and self.emphasis not in EMPHASES:
            raise ParameterError("unknown emphasis", value=self.emphasis, allowed=either(EMPHASES))
        object.__setattr__(self, "matters", Marginals(self.matters).matters)

    name = "auto"

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        return {"emphasis": self.emphasis, **Marginals(self.matters).parameters}

    def choose(self, domain: Domain, *, in_cluster: bool = False) -> Choice:
        """The method for a domain; in a cluster it is always a tree."""
        from sudare.language.messages import PageMessage

        tree = Tree(emphasis=self.emphasis)
        if in_cluster:
            return Choice(tree, PageMessage("choice.cluster"))
        if any(attribute.spatial for attribute in domain.attributes.values()) and not self.matters:
            return Choice(tree, PageMessage("choice.places"))
        if not fits(domain):
            return Choice(tree, PageMessage("choice.too_large"))
        if self.matters:
            return Choice(Marginals(self.matters), PageMessage("choice.matters"))
        cells = (tuple(domain.attributes),) if self.emphasis == "cells" else ()
        return Choice(Marginals(cells), PageMessage("choice.no_places"))

    def protect(self, task: Task) -> Cells:
        """As the chosen method does."""
        return self.choose(task.domain).method.protect(task)
