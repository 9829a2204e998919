"""Mathematics that several topics share, as pure functions: arrays in, arrays out."""

from sudare.estimate.simplex import round_to_total, simplex_level

__all__ = ["round_to_total", "simplex_level"]
