"""How far a released table is from the true one.

Every function takes tables over one domain and looks only at what they store, however large the domain is.
What it returns needs the true values: it is for the publisher only (rehearsals, experiments, internal reports), not
part of a release.

- `error_by_block`: how errors grow with the size of an area (the tables of Terada et al. 2015);
- `error_by_value`: whether small counts are biased upwards and large ones downwards (bar charts of Matsumoto et al.);
- `l1_accuracy`: one number for the whole table;
- `density`, `support`: cells that appear or vanish.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.measure.blocks import BlockErrors, error_by_block
    from sudare.measure.comparison import Support, ValueErrors, density, error_by_value, l1_accuracy, support
    from sudare.measure.em import Fitted, Fixed, accelerate, em
    from sudare.measure.simplex import project_rows, round_rows, round_to_total, simplex_level

__all__ = [
    "BlockErrors",
    "Fitted",
    "Fixed",
    "Support",
    "ValueErrors",
    "accelerate",
    "density",
    "em",
    "error_by_block",
    "error_by_value",
    "l1_accuracy",
    "project_rows",
    "round_rows",
    "round_to_total",
    "simplex_level",
    "support",
]

__getattr__ = exports(
    __name__,
    {
        "blocks": ("BlockErrors", "error_by_block"),
        "comparison": ("Support", "ValueErrors", "density", "error_by_value", "l1_accuracy", "support"),
        "em": ("Fitted", "Fixed", "accelerate", "em"),
        "simplex": ("project_rows", "round_rows", "round_to_total", "simplex_level"),
    },
)
