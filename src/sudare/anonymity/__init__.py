"""k-anonymous samples, and what they are worth in epsilon.

`anonymize` draws a sample of records, replaces values by nodes of a `Hierarchy`, and publishes the rows that occur at
least k times. Where the generalisation does not depend on the records (fixed levels, learned on public data, or chosen
by a mechanism that is charged) the sample is (epsilon, delta)-DP; `delta` says how much, `smallest_k`,
`smallest_epsilon` and `largest_sample` ask it the other way round. Where the generalisation is found on the records
themselves, only k-anonymity holds, with l-diversity or t-closeness if asked for, and the evaluated epsilon of Horigome
(2020) is a number for the steward.
"""

from sudare.anonymity.anonymize import SampleParameters, anonymize
from sudare.anonymity.anonymized import (
    Anonymized,
    Assessment,
    Measure,
    class_epsilons,
    epsilon_floor,
    evaluated_epsilon,
)
from sudare.anonymity.delta import delta, largest_sample, smallest_epsilon, smallest_k
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.requirements import Closeness, DistinctDiversity, EntropyDiversity

__all__ = [
    "Anonymized",
    "Assessment",
    "Closeness",
    "DistinctDiversity",
    "EntropyDiversity",
    "Hierarchy",
    "Measure",
    "SampleParameters",
    "anonymize",
    "class_epsilons",
    "delta",
    "epsilon_floor",
    "evaluated_epsilon",
    "largest_sample",
    "smallest_epsilon",
    "smallest_k",
]
