"""The tree: its shape, its shares, what it spends on a path, and that its options do what they say."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.audit.moves import cost_of, loss_of
from sudare.errors import AccountingError, ParameterError
from sudare.language import Words
from sudare.measure import error_by_block
from sudare.noise import Blocks, Source, measure, metered, record
from sudare.privacy import Budget
from sudare.tables.method import Task
from sudare.tables.tree_level import Level
from sudare.tables.tree_passes import LINE_WORTH, worth

RNG = np.random.default_rng(1)


def clustered(side: int = 64) -> np.ndarray:
    counts = np.zeros((side, side), dtype=np.int64)
    for row, column, height in ((10, 12, 3000), (40, 50, 800), (41, 9, 200)):
        r, c = np.mgrid[:side, :side]
        counts += (height * np.exp(-((r - row) ** 2 + (c - column) ** 2) / 8)).astype(np.int64)
    return counts


@pytest.mark.parametrize(
    ("cells", "children", "branching"),
    [
        (1, 16, []),
        (2, 16, [1]),
        (16, 16, [4]),
        (128, 16, [7]),
        (256, 16, [4, 4]),
        (2**15, 16, [7, 4, 4]),
        (2**18, 16, [2, 4, 4, 4, 4]),
        (8, 2, [1] * 3),
    ],
)
def test_the_remainder_is_merged_into_the_top_level(cells, children, branching):
    assert sd.Tree(children=children).branching(sd.Domain(cell=sd.Line(cells))) == branching


@pytest.mark.parametrize("cells", [1, 2, 256, 2**18, 2**37])
def test_the_shares_add_up_to_one(cells):
    shares = sd.Tree().level_shares(sd.Domain(cell=sd.Line(cells)))
    assert sum(shares) == 1
    assert all(share > 0 for share in shares)


PLACES = sd.Grid(512, 512)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(
    "domain",
    [
        *(sd.Domain(cell=sd.Line(1 << bits)) for bits in (8, 12, 15, 16, 17, 18, 19)),
        *(sd.Domain(cell=sd.Grid(1 << bits, 256)) for bits in (1, 4, 8, 9, 10, 11)),
        *(sd.Domain(cell=sd.Grid(1 << bits, 256), sex=sd.Categories(["f", "m"])) for bits in (4, 7, 8, 9, 10)),
    ],
    ids=lambda domain: f"{domain.size} of {len(domain.attributes)}",
)
def test_what_a_level_is_looked_at_with_can_be_refined_to_its_share(domain, gaussian):
    """Whatever the total makes of the shares: of a thin table, a middling one and a thick one."""
    for total in (10, 1000 + domain.size, 100 * domain.size):
        tree, usual = sd.Tree().below_root(domain, total, 1.0, gaussian=gaussian)
        even = tree.even_shares(domain, usual, gaussian=gaussian)
        if tree == sd.Tree():
            assert sum(even) == sum(usual)
            assert all(0 < first < share for first, share in zip(even[:-1], usual[:-1], strict=True))


def test_large_areas_are_measured_well_instead_of_the_root():
    """On maps of more than 2**16 cells, with and without kinds; lines need the root, Gaussian noise gains nothing."""
    for domain in (sd.Domain(cell=PLACES), sd.Domain(cell=PLACES, sex=sd.Categories(["f", "m"]))):
        shares = sd.Tree().level_shares(domain)
        assert [float(share) for share in shares[:2]] == [0.001, 0.089]
        assert sum(shares) == 1
        assert float(sd.Tree().level_shares(domain, gaussian=True)[1]) == 0.053
    assert float(sd.Tree().level_shares(sd.Domain(cell=sd.Line(2**18)))[0]) == 0.03
    assert float(sd.Tree().level_shares(sd.Domain(cell=sd.Grid(256, 256)))[0]) == 0.025


def test_a_total_that_is_hardly_measured_is_the_sum_of_its_areas():
    counts = np.zeros((512, 512), dtype=np.int64)
    counts[::37, ::41] = 5000
    table = sd.CountTable.from_array(counts)
    errors = [sd.release(table, sd.Tree(), epsilon=1, seed=seed).table.total - table.total for seed in range(60)]
    four = 2 * 2**0.5 / 0.089  # standard deviation of the sum of four areas; of the root alone it is 1,414
    assert np.sqrt(np.mean(np.square(errors))) < 1.3 * four


def test_given_shares_are_used_in_proportion():
    table = sd.CountTable.from_array(clustered())
    with record() as tape:
        sd.release(table, sd.Tree(shares=[1, 1, 2, 6]), epsilon=1)
    costs = {m.label: m.budget.epsilon for m in tape.measured}
    assert costs["root"] == costs["level 1"] == Fraction(1, 10)
    assert costs["level 3"] == Fraction(3, 5)
    assert costs["rest of level 1"] == Fraction(4, 5)
    assert costs["rest of level 2"] == Fraction(3, 5)


def test_no_row_is_measured_again_after_its_final_measurement():
    """Every path from the root to a cell costs at most epsilon: checked cell by cell on the tape."""
    counts = clustered()
    table = sd.CountTable.from_array(counts)
    with record() as tape:
        sd.release(table, sd.Tree(), epsilon=Fraction(1, 5))
    for cell in map(tuple, RNG.integers(0, 64, (40, 2))):
        neighbour = counts.copy()
        neighbour[cell] += 1
        with record(replay=tape) as second:
            sd.release(sd.CountTable.from_array(neighbour), sd.Tree(), epsilon=Fraction(1, 5))
        moved = [
            (before.label, before.budget.epsilon, int(np.abs(after.exact - before.exact).sum()))
            for before, after in zip(tape.measured, second.measured, strict=True)
        ]
        assert sum(cost * distance for _, cost, distance in moved) == Fraction(1, 5)
        assert sum(distance for label, _, distance in moved if label.startswith("rest")) <= 1


def test_the_calls_do_not_depend_on_the_table():
    def calls(counts, method):
        with record() as tape:
            sd.release(sd.CountTable.from_array(counts), method, epsilon=0.3)
        return [(m.label, m.budget, m.sensitivity) for m in tape.measured]

    empty, full = np.zeros((64, 64), dtype=np.int64), np.full((64, 64), 10**6)
    areas = sd.Tree(emphasis="areas")
    assert calls(clustered(), areas) == calls(empty, areas) == calls(full, areas)
    assert calls(clustered(), sd.Tree()) == calls(empty, sd.Tree())


EVEN = RNG.poisson(200, (64, 64))


@pytest.mark.parametrize(("emphasis", "most"), [(None, 1.4), ("cells", 1.05)])
@pytest.mark.parametrize("counts", [EVEN, RNG.poisson(100, 256)], ids=["64 x 64", "256"])
def test_an_even_table_spends_its_budget_on_the_cells(emphasis, most, counts):
    """People at 10 scales of the noise and more: errors of cells beside noise per cell, within a few per cent."""
    table = sd.CountTable.from_array(counts)
    errors = {}
    for method in (sd.Tree(emphasis=emphasis), sd.Laplace()):
        runs = [sd.release(table, method, epsilon=0.1, seed=seed).table.to_array() - counts for seed in range(30)]
        errors[method.name] = [
            (np.square(runs).mean()) ** 0.5,
            (np.square(np.reshape(runs, (30, -1, 16)).sum(axis=2)).mean()) ** 0.5 if counts.ndim == 1 else 0,
        ]
    assert errors["tree"][0] < most * errors["laplace"][0] * 1.02
    assert errors["tree"][1] <= 1.1 * errors["laplace"][1] * 1.05


@pytest.mark.parametrize("budget", [{"epsilon": 0.3}, {"rho": 0.02}])
def test_looking_for_an_even_table_costs_an_uneven_one_nothing(budget):
    """Its levels end with the precision of their usual shares, in the same number of measurements of cells."""
    with record() as tape:
        sd.release(sd.CountTable.from_array(clustered()), sd.Tree(), **budget)
    spent = {m.label: m.budget.amount / Fraction(str(next(iter(budget.values())))) for m in tape.measured}
    assert spent["level 1, at first"] + spent["level 1"] == spent["level 2"] == Fraction(575, 2000)
    assert spent["level 3"] == Fraction(40, 100)


@pytest.mark.parametrize("emphasis", [None, "cells", "areas"])
@pytest.mark.parametrize("people", [0.0, 1e12])
def test_what_a_level_gets_at_first_is_less_than_it_usually_has(emphasis, people):
    """So that there is always something to refine it with: the shares of a line follow its total."""
    looked_at = 0
    for bits in range(1, 21):
        domain, method = sd.Domain(cell=sd.Line(1 << bits)), sd.Tree(emphasis=emphasis)
        tree, shares = method.below_root(domain, people, 1.0)
        budgets = Budget(epsilon=Fraction(1)).split(shares)
        task = Task(sd.CountTable(domain, [], []), sum(budgets[1:], budgets[0]), False, Source.from_seed(1))
        plan = tree.plan(task, budgets)
        if plan.even is not None:
            looked_at += 1
            assert sum(own.amount for own in plan.even) == 1
            assert all(own.amount < usual.amount for own, usual in zip(plan.even[:-1], budgets[:-1], strict=True))
    assert looked_at or emphasis == "areas"


@pytest.mark.parametrize("total", ["noisy", "public"])
def test_a_thick_line_may_turn_out_uneven_in_its_smallest_blocks(total):
    """2**16 cells, which alone have four levels and the shares of a thick line: even in all blocks but those of 16."""
    counts = np.random.default_rng(1).geometric(1 / 40, 1 << 16)
    made = sd.release(sd.CountTable.from_array(counts), sd.Tree(), epsilon=1, total=total, seed=3)
    assert abs(int(made.table.total) - counts.sum()) < (1 if total == "public" else 1000)


@pytest.mark.slow
@pytest.mark.parametrize("total", ["noisy", "public"])
@pytest.mark.parametrize("emphasis", [None, "cells", "areas"])
@pytest.mark.parametrize("counts", [clustered(), EVEN], ids=["uneven", "even"])
def test_every_way_through_the_tree_costs_epsilon(counts, emphasis, total):
    """Adding a person, or moving one where the total is public, under replay: the tape adds up to the promise."""
    method = sd.Tree(emphasis=emphasis)
    with record() as tape:
        sd.release(sd.CountTable.from_array(counts), method, epsilon=Fraction(1, 5), total=total)
    for cell in map(tuple, RNG.integers(0, 64, (10, 2))):
        neighbour = counts.copy()
        neighbour[cell] += 1
        if total == "public":
            neighbour[tuple(np.argwhere(counts)[0])] -= 1
        with record(replay=tape) as second:
            sd.release(sd.CountTable.from_array(neighbour), method, epsilon=Fraction(1, 5), total=total)
        cost = sum(cost_of(*pair) for pair in zip(tape.measured, second.measured, strict=True))
        assert cost <= Fraction(1, 5) * (1 if total == "noisy" else 2)
        assert total == "public" or cost == Fraction(1, 5)
        assert abs(loss_of(tape, second)) <= cost + 1e-9


def test_a_smooth_line_is_split_less_and_its_ranges_gain():
    """Prefix sums of a flat line at 2.4 people a cell: against the same tree of 16 children on a grid's rule."""
    counts = RNG.poisson(2.4, 4096)
    errors = {}
    for name, domain in (("line", sd.Domain(cell=sd.Line(4096))), ("other", sd.Domain(cell=sd.Grid(1, 4096)))):
        table = sd.CountTable(domain, np.arange(4096), counts)
        runs = [sd.release(table, sd.Tree(), epsilon=0.1, seed=seed).table for seed in range(25)]
        dense = [np.bincount(made.index, made.count, minlength=4096) - counts for made in runs]
        errors[name] = np.square(np.cumsum(dense, axis=1)).mean() ** 0.5
    assert errors["line"] < 0.95 * errors["other"]


@pytest.mark.parametrize(("values", "least"), [([100, 100, 100, 100], 6.0), ([400, 0, 0, 0], 1.0)])
def test_siblings_that_are_alike_need_more_people_to_be_split(values, least):
    level = Level.of(sd.Domain(cell=sd.Line(1024)), np.arange(1), 2, 8)
    level.learn(level.logical, np.array(values), 0.0)
    assert worth(level, np.array([400.0])) == pytest.approx(least * LINE_WORTH, rel=0.01)


def test_evenness_is_judged_by_noisy_sums():
    """Under the replay of an even table an uneven one is treated as even too, with the same bytes; and the reverse."""
    for counts, other in ((EVEN, clustered()), (clustered(), EVEN)):
        with record() as tape:
            made = sd.release(sd.CountTable.from_array(counts), sd.Tree(), epsilon=1).table
        with record(replay=tape):
            again = sd.release(sd.CountTable.from_array(other), sd.Tree(), epsilon=1).table
        assert np.array_equal(made.index, again.index)
        assert np.array_equal(made.count, again.count)


def test_an_emphasis_on_cells_of_a_small_table_is_nearly_noise_per_cell():
    """Uneven, 100 scales of the noise a cell: 1.2 times the squares of noise per cell (24 releases; 4 times before)."""
    generator = np.random.default_rng(2)
    table = sd.CountTable.from_array(generator.poisson(1000 * np.exp(generator.normal(0, 1, (16, 16)))))
    squares = {}
    for name, method in (("tree", sd.Tree(emphasis="cells")), ("noise", sd.Laplace())):
        made = [sd.release(table, method, epsilon=0.1, seed=seed).table.to_array() for seed in range(24)]
        squares[name] = np.mean([(one - table.to_array()) ** 2 for one in made])
    assert squares["tree"] < 1.2 * squares["noise"]
    said = str(sd.Tree().explain(table.domain, Budget(epsilon=1)))
    assert 'the noise of a cell is 2.5 times that of noise per cell, with emphasis = "cells" 1.04 times' in said
    assert "times that of noise per cell" not in str(
        sd.Tree().explain(sd.Domain(cell=sd.Grid(32, 32)), Budget(epsilon=1))
    )


def test_an_emphasis_is_known_and_stands_alone():
    with pytest.raises(ParameterError, match="unknown emphasis"):
        sd.Tree(emphasis="towns")
    with pytest.raises(ParameterError, match="not both"):
        sd.Tree(emphasis="cells", shares=[1, 1])
    assert sd.Tree(emphasis="areas").branching(sd.Domain(cell=sd.Line(2**18))) == [2, 4, 4, 4, 4]
    # In a small table its share would be missing where areas are: in blocks of 16 cells.
    assert sd.Tree(emphasis="areas").branching(sd.Domain(cell=sd.Line(2**9))) == [5, 4]
    assert sd.Tree(emphasis="areas").branching(sd.Domain(cell=sd.Line(2**6))) == [2, 4]
    assert sd.Tree(emphasis="cells").parameters["emphasis"] == "cells"


def test_a_final_measurement_that_costs_too_much_is_stopped():
    source = Source.from_seed(1)
    half = Budget(epsilon=Fraction(1, 2))
    with metered() as meter:
        measure(np.array([1]), 1, half, source, "a")
        rows = [Blocks(np.array([number]), 3) for number in range(2)]
        measure(np.array([1]), 1, Budget(epsilon=Fraction(3, 5)), source, "b", final=True, rows=rows[0])
        measure(np.array([1]), 1, half, source, "c", rows=rows[1])
    with pytest.raises(AccountingError, match="final measurement costs more"):
        meter.check(Budget(epsilon=Fraction(1)))


def test_the_tree_beats_noise_per_cell_in_areas_and_is_near_it_in_cells():
    table = sd.CountTable.from_array(clustered())
    squares = {}
    for method in (sd.Tree(), sd.Simplex(), sd.Laplace()):
        runs = [
            error_by_block(table, sd.release(table, method, epsilon=0.2, seed=seed).table, [0, 4, 8])
            for seed in range(30)
        ]
        squares[method.name] = np.mean([run.root_mean_square_error**2 for run in runs], axis=0) ** 0.5
    assert squares["tree"][0] < squares["laplace"][0]
    assert (squares["tree"][1:] < 0.8 * squares["simplex"][1:]).all()
    assert (squares["tree"][1:] < 0.8 * squares["laplace"][1:]).all()


@pytest.mark.slow
def test_dense_counts_are_unbiased():
    counts = RNG.integers(400, 600, 256)
    table = sd.CountTable.from_array(counts)
    mean = np.mean([sd.release(table, sd.Tree(), epsilon=1, seed=i).table.to_array() for i in range(600)], axis=0)
    # Noise of a cell has variance below 2/0.42**2 + 1/4; 256 means beyond 6.5 sigma have chance 2e-8.
    assert np.abs(mean - counts).max() < 6.5 * ((2 / 0.42**2 + 0.25) / 600) ** 0.5


@pytest.mark.slow
def test_thin_areas_are_spread_evenly():
    counts = np.zeros(4096, dtype=np.int64)
    counts[:256] = 1
    table = sd.CountTable.from_array(counts)
    mean = np.mean([sd.release(table, sd.Tree(), epsilon=0.5, seed=i).table.to_array() for i in range(300)], axis=0)
    halves = mean[:128].sum(), mean[128:256].sum()
    assert halves[0] == pytest.approx(halves[1], rel=0.1)


@pytest.mark.parametrize("order", [None, ["sex", "place"]])
def test_padding_and_masks_stay_empty(order):
    mask = RNG.random((37, 21)) < 0.4
    domain = sd.Domain(place=sd.Grid(37, 21, mask=mask), sex=sd.Categories(["a", "b", "c"]), order=order)
    index = np.sort(domain.cells(RNG.choice(domain.size, 60, replace=False)))
    table = sd.CountTable(domain, index, RNG.integers(1, 300, 60))
    for seed in range(40):
        made = sd.release(table, sd.Tree(), epsilon=0.05, total="public", seed=seed).table
        assert domain.contains(made.index).all()
        assert made.total == table.total


def test_spread_reaches_every_logical_cell_and_no_other():
    from sudare.tables.spread import spread

    mask = RNG.random(300) < 0.3
    domain = sd.Domain(cell=sd.Line(300, mask=mask))
    reached = np.zeros(512, dtype=np.int64)
    for seed in range(60):
        index, count = spread(domain, np.array([0]), 9, np.array([40]), np.random.default_rng(seed))
        assert count.sum() == 40
        np.add.at(reached, index, count)
    assert set(np.flatnonzero(reached)) == set(np.flatnonzero(mask))
    index, count = spread(sd.Domain(cell=sd.Line(8)), np.array([0]), 3, np.array([21]), np.random.default_rng(1))
    assert index.tolist() == list(range(8))
    assert count.sum() == 21
    assert count.min() == 2


def test_many_blocks_with_padding_are_spread_piece_by_piece(monkeypatch):
    from sudare.tables import spread as module

    mask = RNG.random(2**12) < 0.5
    domain = sd.Domain(cell=sd.Line(2**12, mask=mask))
    people = RNG.integers(1, 20, 256)
    monkeypatch.setattr(module, "_GROUPS_AT_ONCE", 50)
    index, count = module.spread(domain, np.arange(256), 4, people, np.random.default_rng(1))
    assert np.array_equal(np.bincount(index >> 4, count, minlength=256), people)
    assert domain.contains(index).all()
    assert (np.diff(index) > 0).all()


def test_people_stand_in_groups_where_cells_are_too_many_to_list():
    from sudare.tables.spread import spread

    mask = np.ones(2**12, dtype=bool)
    mask[7] = False
    for domain in (sd.Domain(cell=sd.Line(2**12)), sd.Domain(cell=sd.Line(2**12, mask=mask))):
        index, count = spread(domain, np.array([0]), 12, np.array([1003]), np.random.default_rng(1), group=10)
        assert 90 <= len(index) <= 101
        assert count.sum() == 1003
        assert count.min() >= 9
        assert (np.diff(index) > 0).all()


def test_spread_people_fall_on_all_categories_alike():
    """The 16 people of 256 cells have stretches of 16: not all of them on the same cell of their stretch."""
    from sudare.tables.spread import spread

    domain = sd.Domain(cell=sd.Line(256))
    index, _ = spread(domain, np.array([0]), 8, np.array([16]), np.random.default_rng(1))
    assert (index // 16).tolist() == list(range(16))
    assert len(set(index % 16)) > 5


def test_gaussian_noise_under_rho_and_under_epsilon_and_delta():
    table = sd.CountTable.from_array(clustered())
    made = sd.release(table, sd.Tree(), rho=0.02)
    assert made.guarantee.notion == "rho-zCDP"
    assert made.guarantee.rho == Fraction(1, 50)
    made = sd.release(table, epsilon=1, delta=1e-6)
    assert made.guarantee.notion == "(epsilon, delta)-DP"
    assert made.guarantee.epsilon <= 1
    assert made.guarantee.delta == Fraction(1, 10**6)
    assert sd.release(table, rho=0.02, total="public").guarantee.rho == Fraction(2, 50)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rho": 1, "epsilon": 1}, "not both"),
        ({"epsilon": 1, "delta": 0.01}, "delta is too large"),
        ({"epsilon": 1, "delta": 2}, "delta"),
        ({"rho": -1}, "rho is not positive"),
        ({}, "epsilon is missing"),
    ],
)
def test_wrong_budgets_are_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        sd.release(sd.CountTable.from_array([1, 2]), **options)


@pytest.mark.parametrize("children", [0, 1, 3, 12, -16, 8192, 16.0, True])
def test_children_are_a_power_of_two(children):
    with pytest.raises(ParameterError, match="children is not a power of two"):
        sd.Tree(children=children)


@pytest.mark.parametrize(
    ("shares", "sentence"), [("even", "unknown shares"), ([1, 0], "share is not positive"), ([1, 2, 3], "do not fit")]
)
def test_wrong_shares_are_refused(shares, sentence):
    with pytest.raises(ParameterError, match=sentence):
        sd.release(sd.CountTable.from_array(np.arange(16)), sd.Tree(shares=shares), epsilon=1)


@pytest.mark.parametrize("strength", [-0.1, 1, 2, float("nan"), "much"])
def test_a_wrong_strength_is_refused(strength):
    with pytest.raises(ParameterError, match="strength is"):
        sd.Tree(strength=strength)


def test_strength_leaves_fewer_cells_and_the_same_total():
    table = sd.CountTable.from_array(clustered())
    sizes = [
        np.mean(
            [len(sd.release(table, sd.Tree(strength=s), epsilon=0.3, total="public", seed=i).table) for i in range(10)]
        )
        for s in (0, 0.3)
    ]
    assert sizes[1] < sizes[0]
    assert sd.release(table, sd.Tree(strength=0.3), epsilon=0.3, total="public", seed=1).table.total == table.total


def test_the_explanation_names_every_level():
    made = sd.Tree().explain(sd.Domain(cell=sd.Grid(16, 16)), Budget(epsilon=Fraction(1)))
    english, japanese = str(made), made.text(Words("ja"))
    assert english.startswith(
        "epsilon: 0.025 on blocks of 256 cells, 0.575 on blocks of 16 cells and 0.4 on blocks of 1 cell;"
    )
    assert japanese.startswith(
        "epsilonの配分：256セルのブロックに0.025、16セルのブロックに0.575、1セルのブロックに0.4。"
    )
