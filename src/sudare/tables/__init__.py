"""Methods for count tables: how a sparse table of counts is measured with noise and then estimated.

`release` runs a method on a table and returns the protected table with its guarantee. A method is any object
that follows the small Protocol `Method`: it measures through `sudare.noise.measure`, at a cost that must add up
to the budget, and everything after that is post-processing.
"""

from sudare.tables.experiment import experiment
from sudare.tables.laplace import Laplace
from sudare.tables.method import Method, Task
from sudare.tables.release import Release, release
from sudare.tables.simplex import Simplex
from sudare.tables.tree import Tree

__all__ = ["Laplace", "Method", "Release", "Simplex", "Task", "Tree", "experiment", "release"]
