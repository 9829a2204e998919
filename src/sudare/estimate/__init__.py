"""Mathematics that several topics share, as pure functions: arrays in, arrays out."""

from sudare.estimate.acceleration import Fixed, accelerate
from sudare.estimate.em import Fitted, em
from sudare.estimate.rows import project_rows, round_rows
from sudare.estimate.simplex import round_to_total, simplex_level

__all__ = ["Fitted", "Fixed", "accelerate", "em", "project_rows", "round_rows", "round_to_total", "simplex_level"]
