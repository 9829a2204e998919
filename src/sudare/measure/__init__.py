"""How far a released table is from the true one.

Every function takes tables over one domain and looks only at what they store, however large the domain is.
What it returns needs the true values: it is for the publisher's own eyes (rehearsals, experiments, internal
reports), not part of a release.

- `error_by_block`: how errors grow with the size of an area (the second paper's tables);
- `error_by_value`: whether small counts are drawn up and large ones down (the first paper's bar charts);
- `l1_accuracy`: one number for the whole table;
- `density`, `support`: cells that appear or vanish.
"""

from sudare.measure.accuracy import l1_accuracy
from sudare.measure.blocks import BlockErrors, error_by_block
from sudare.measure.support import Support, density, support
from sudare.measure.values import ValueErrors, error_by_value

__all__ = [
    "BlockErrors",
    "Support",
    "ValueErrors",
    "density",
    "error_by_block",
    "error_by_value",
    "l1_accuracy",
    "support",
]
