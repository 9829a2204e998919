"""Types of NumPy arrays, by what is in them; shapes are said where they matter."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Booleans: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[Any]
"""Integers, or floats where a method gives out floats."""
Cells: TypeAlias = tuple[Integers, Numbers]
"""Indices of cells, ascending, and what is in each."""
