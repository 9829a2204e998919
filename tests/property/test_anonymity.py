"""Laws of recoding, for any table: k holds, nobody is lost, the optimum is one, order does not matter."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recipes import least_loss
from sudare.anonymity import Hierarchy
from sudare.anonymity.lattice import Lattice, Tuples, optimal
from sudare.anonymity.recoders import METHODS, recode


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """A random tree: rows of labels that only merge going up."""
    leaves = draw(st.integers(2, 7))
    rows = [[f"leaf {leaf}"] for leaf in range(leaves)]
    groups = list(range(leaves))
    for level in range(draw(st.integers(0, 2))):
        known = sorted(set(groups))
        merged = {each: draw(st.integers(0, max(1, len(known) - 1))) for each in known}
        groups = [merged[each] for each in groups]
        for row, own in zip(rows, groups, strict=True):
            row.append(f"{level}: {own}")
    return Hierarchy.from_rows([[*row, "*"] for row in rows])


@st.composite
def tables(draw: st.DrawFn) -> Tuples:
    own = tuple(draw(st.lists(trees(), min_size=1, max_size=3)))
    cells = list(product(*(range(len(tree.leaves)) for tree in own)))
    chosen = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=25, unique=True))
    counts = draw(st.lists(st.integers(1, 9), min_size=len(chosen), max_size=len(chosen)))
    names = tuple(f"c{place}" for place in range(len(own)))
    return Tuples(names, own, np.array(chosen, dtype=np.int32), np.array(counts, dtype=np.int64))


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.4, 1.0]))
def test_the_search_finds_what_looking_everywhere_finds(tuples: Tuples, k: int, limit: float) -> None:
    if tuples.total < k:
        return
    lattice = Lattice(tuples, tuples.judge(k))
    assert abs(optimal(lattice, limit).loss - least_loss(lattice, limit)) < 1e-12


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 6), st.sampled_from(METHODS), st.booleans())
def test_every_method_publishes_everybody_in_classes_of_k(tuples: Tuples, k: int, method: str, relaxed: bool) -> None:
    if tuples.total < k:
        return
    made = recode(tuples, tuples.judge(k), method, 0.0, relaxed)
    assert made.suppressed == 0
    assert made.sizes.min() >= k
    per_tuple = np.bincount(made.member, weights=made.count, minlength=len(tuples.counts))
    assert (per_tuple == tuples.counts).all()
    cells = made.cells[made.class_of]
    for place, tree in enumerate(tuples.hierarchies):
        low, high = tree.spans(cells[:, place])
        own = tuples.codes[made.member, place]
        assert ((low <= own) & (own < high)).all()


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(2, 6), st.sampled_from(METHODS), st.randoms())
def test_the_order_of_tuples_does_not_matter(tuples: Tuples, k: int, method: str, random: object) -> None:
    if tuples.total < k:
        return
    order = np.random.default_rng(random.getrandbits(32)).permutation(len(tuples.counts))  # type: ignore[attr-defined]
    losses = [recode(each, each.judge(k), method).loss for each in (tuples, tuples.selected(order))]
    assert abs(losses[0] - losses[1]) < 1e-12


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(2, 6))
def test_more_suppression_never_loses_more(tuples: Tuples, k: int) -> None:
    """Losses are shares, and allowing more suppression never loses more."""
    if tuples.total < k:
        return
    lattice = Lattice(tuples, tuples.judge(k))
    losses = [optimal(lattice, limit).loss for limit in (0.0, 0.1, 0.5, 1.0)]
    assert all(0 <= loss <= 1 for loss in losses)
    assert all(a >= b - 1e-12 for a, b in pairwise(losses))
