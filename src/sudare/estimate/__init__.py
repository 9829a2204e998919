"""Mathematics that several topics share, as pure functions: arrays in, arrays out."""

from sudare.estimate.rows import project_rows, round_rows
from sudare.estimate.simplex import round_to_total, simplex_level

__all__ = ["project_rows", "round_rows", "round_to_total", "simplex_level"]
