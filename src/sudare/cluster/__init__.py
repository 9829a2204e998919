"""Releases computed inside Spark, for tables whose populated cells do not fit one machine.

`count` bounds and counts records in Spark and leaves the cells there; `release` protects them there and writes the
result as Parquet files, a file a part. The driver has the top of the tree (or the histogram of noisy values), workers
have subtrees (or blocks of cells), each with noise from a key of its own, so that a task that is run again repeats
its noise and the result does not depend on how many workers there are. `perturb` randomises rows there in the same
way, and `tally` adds up the reports of devices. See docs/explanation/cluster.md.
"""

from sudare.cluster.counting import count
from sudare.cluster.cut import Cut
from sudare.cluster.perturbed import ClusterPerturbed, perturb
from sudare.cluster.release import ClusterRelease, ClusterTable, release
from sudare.cluster.reports import tally

__all__ = ["ClusterPerturbed", "ClusterRelease", "ClusterTable", "Cut", "count", "perturb", "release", "tally"]
