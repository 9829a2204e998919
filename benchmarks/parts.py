"""The parts of the scoreboard, in the order in which they are run and shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A module of this folder: its title, and the section it belongs to."""

    title: str
    section: str


PEERS, ACCURACY, GROWTH = "Beside other software", "How exact", "How cost grows"
SECTIONS = (PEERS, ACCURACY, GROWTH)

PARTS = {
    "noise": Part("Exact noise beside OpenDP, diffprivlib and NumPy", PEERS),
    "histogram": Part("A table of 4,000 cells from a file, beside OpenDP, diffprivlib and Tumult", PEERS),
    "wavelets": Part("Haar transforms and Privelet beside PyWavelets", PEERS),
    "simplex_speed": Part("Simplex methods on Japan beside dense NumPy", PEERS),
    "engine_count": Part("Records to a published table beside bare DuckDB", PEERS),
    "local_speed": Part("Local reports beside pure-ldp and multi-freq-ldpy", PEERS),
    "anonymity_adult": Part("k-anonymity beside anjana and anonypy, confirmed by pycanon", PEERS),
    "anonymity_rows": Part("k-anonymity of ten million records beside a bare group-by", PEERS),
    "reweight_densratio": Part("Density ratios beside densratio", PEERS),
    "reweight_speed": Part("Private weights beside bare kernel products", PEERS),
    "reconstruct_speed": Part("Mixtures behind noise beside scikit-learn", PEERS),
    "collector_load": Part("Reports a second into a collector", PEERS),
    "collection_year": Part("A year of reports: what they give away, and how near their estimates come", ACCURACY),
    "places": Part("Points placed and counted beside libraries that only place them", PEERS),
    "tree_accuracy": Part("Every method for tables on real grids: regret", ACCURACY),
    "rectangles": Part("Rectangles on real grids beside DAWA, AGrid, PrivTree and others", ACCURACY),
    "lines": Part("Lines beside DAWA, HB, PrivTree, AHP and MWEM", ACCURACY),
    "coverage": Part("How often 90 % intervals of tables hold", ACCURACY),
    "forecast": Part("Forecasts beside what releases then were", ACCURACY),
    "bars_cost": Part("What error bars in files cost", ACCURACY),
    "series_change": Part("How often intervals of change between periods hold, and trees over time", ACCURACY),
    "tree_held_out": Part("`Tree` on data that nothing was tuned on", ACCURACY),
    "ends": Part("Small tables, the largest areas, time a cell", ACCURACY),
    "categories": Part("Totals of sexes and ages over a map", ACCURACY),
    "marginal_accuracy": Part("Tables without places beside MST and AIM", ACCURACY),
    "local_accuracy": Part("Estimates from local reports", ACCURACY),
    "reconstruct_accuracy": Part("Distributions behind perturbed records", ACCURACY),
    "reconstruct_limit": Part("What anybody could recover of 1,000 perturbed records", ACCURACY),
    "reweight_coverage": Part("How often 90 % intervals of weighted answers hold", ACCURACY),
    "tree_speed": Part("Populated cells, 1e4 to 1e7", GROWTH),
    "cluster_cells": Part("Populated cells, 1e6 to 1e8, in Spark on one machine", GROWTH),
    "logical_cells": Part("Logical cells, 2**20 to 2**50", GROWTH),
    "local_memory": Part("People who report, 1e4 to 1e7", GROWTH),
    "spark_people": Part("Person rows to a released table in Spark", GROWTH),
}
