"""Laws of reweighting: shares add up, bounds hold, weights are weights, and the order of rows is nobody's business."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare.reweight as reweight
from sudare.reweight.basis import GRID
from sudare.reweight.hats import Hats
from sudare.reweight.kernel import Kernel
from sudare.reweight.space import STEPS, Space

QUICK = settings(max_examples=25, deadline=None)
code = st.integers(0, STEPS).map(float)


@QUICK
@given(
    st.lists(st.tuples(code, code), min_size=3, max_size=12), st.lists(st.tuples(code, code), min_size=2, max_size=8)
)
def test_hats_of_two_numbers_add_up_and_stay_within_reach(public, rows):
    space = Space.declare([(0, 1), (0, 1)])
    for pairs in ([], [(0, 1)]):
        hats = Hats.of(space, np.array(public), 6, pairs)
        steps = hats.steps(np.array(rows))
        assert (steps.sum(axis=1) == GRID * len(hats.blocks)).all()
        assert np.abs(steps[:, None] - steps[None, :]).sum(axis=2).max() <= hats.reach("replace", averaged=False).l1
        assert hats.total(np.array(rows)).tolist() == steps.sum(axis=0).astype(int).tolist()


@QUICK
@given(
    st.lists(code, min_size=1, max_size=5),
    st.floats(0.01, 2),
    st.lists(code, min_size=2, max_size=20),
)
def test_no_records_are_further_apart_than_a_kernel_says(centres, width, rows):
    kernel = Kernel(Space.declare([(0, 1)]), np.array(centres)[:, None], width * STEPS)
    steps = kernel.steps(np.array(rows)[:, None])
    apart = np.abs(steps[:, None] - steps[None, :])
    reach = kernel.reach("replace", averaged=False)
    assert apart.sum(axis=2).max() <= reach.l1
    assert (apart**2).sum(axis=2).max() <= reach.l2**2
    assert steps.sum(axis=1).max() <= kernel.reach("add_remove", averaged=False).l1


numbers = st.floats(-10, 10)


@QUICK
@given(
    st.lists(numbers, min_size=2, max_size=30),
    st.lists(numbers, min_size=3, max_size=30, unique=True),
    st.sampled_from([1e-3, 0.1, 1.0, 50.0]),
    st.sampled_from([{}, {"basis": "kernel"}, {"estimator": "ulsif"}, {"adjacency": "add_remove"}, {"delta": 1e-5}]),
    st.randoms(),
)
def test_weights_are_weights_whatever_the_data(private, public, epsilon, options, random):
    if np.ptp(np.clip(public, -8, 8)) < 1e-3:
        return  # on the grid within the bounds such a column is constant, which is refused
    options = {**options, "number": 3 if options.get("basis") or options.get("estimator") else None}
    made = reweight.fit(private, public, epsilon, bounds=[(-8, 8)], seed=1, **options)
    assert np.isfinite(made.weights).all()
    assert (made.weights >= 0).all()
    assert made.weights.sum() > 0
    assert 1 - 1e-9 <= made.effective_sample_size <= len(public) + 1e-6
    shuffled = private[:]
    random.shuffle(shuffled)
    again = reweight.fit(shuffled, public, epsilon, bounds=[(-8, 8)], seed=1, **options)
    assert (again.weights == made.weights).all()
    answer = made.mean("x0")
    assert answer.low[0] <= answer.value[0] <= answer.high[0]
