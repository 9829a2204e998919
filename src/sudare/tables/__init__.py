"""Methods for count tables: how a sparse table of counts is measured with noise and then estimated.

`release` runs a method on a table and returns the protected table with its guarantee. A method is any object
that follows the small Protocol `Method`: it measures through `sudare.noise.measure`, at a cost that must add up
to the budget, and everything after that is post-processing.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.tables.agreement import KnownTotals
    from sudare.tables.experiment import experiment
    from sudare.tables.laplace import Laplace
    from sudare.tables.marginals import Marginals
    from sudare.tables.method import Method, Task
    from sudare.tables.negative_l2 import NegativeL2
    from sudare.tables.nonnegative_lasso import NonnegativeLasso
    from sudare.tables.privelet import Privelet
    from sudare.tables.release import Release, release
    from sudare.tables.simplex import Simplex
    from sudare.tables.strength import from_reference, target_sparsity
    from sudare.tables.top_down import TopDown
    from sudare.tables.tree import Tree

__all__ = [
    "KnownTotals",
    "Laplace",
    "Marginals",
    "Method",
    "NegativeL2",
    "NonnegativeLasso",
    "Privelet",
    "Release",
    "Simplex",
    "Task",
    "TopDown",
    "Tree",
    "experiment",
    "from_reference",
    "release",
    "target_sparsity",
]

__getattr__ = exports(
    __name__,
    {
        "agreement": ("KnownTotals",),
        "experiment": ("experiment",),
        "laplace": ("Laplace",),
        "marginals": ("Marginals",),
        "method": ("Method", "Task"),
        "negative_l2": ("NegativeL2",),
        "nonnegative_lasso": ("NonnegativeLasso",),
        "privelet": ("Privelet",),
        "release": ("Release", "release"),
        "simplex": ("Simplex",),
        "strength": ("from_reference", "target_sparsity"),
        "top_down": ("TopDown",),
        "tree": ("Tree",),
    },
)
