from fractions import Fraction

import numpy as np
import pandas
import pytest

import sudare.reweight as reweight
from sudare.errors import AccountingError, InputError, ParameterError, SudareError
from sudare.noise import Meter, Source
from sudare.privacy import Budget, Publishable
from sudare.reweight.fit import _check

GENERATOR = np.random.default_rng(10)
PRIVATE, PUBLIC = GENERATOR.normal(2, 0.5, 800), GENERATOR.normal(1, 1, 50)
BOUNDS = [(-4, 6)]
PEOPLE = {"age": GENERATOR.uniform(20, 60, 300), "sex": np.where(GENERATOR.random(300) < 0.7, "f", "m")}
OTHERS = {"age": GENERATOR.uniform(18, 80, 200), "sex": np.where(GENERATOR.random(200) < 0.4, "f", "m")}
NAMED = {"bounds": {"age": (0, 100)}, "categories": {"sex": ["f", "m"]}}


def fit(private=PRIVATE, public=PUBLIC, epsilon=1.0, **options):
    return reweight.fit(private, public, epsilon=epsilon, **({"bounds": BOUNDS} | options))


def test_the_contract():
    made = fit(centres="public")
    assert isinstance(made, Publishable)
    assert made.weights.shape == (50,)
    assert (made.weights >= 0).all()
    assert made.weights.mean() == pytest.approx(1)
    assert made.weight([0.0, 2.0]).shape == (2,)
    assert made.weight(PUBLIC) == pytest.approx(made.weights)
    assert str(made.guarantee) == (
        "epsilon-DP with epsilon = 1; neighbours: replace one record; unit: row; public: the public data,"
        " the declared bounds and categories, the number of records; in no ledger"
    )
    assert made.summary["kind"] == "weights"
    assert "Weighting(tilt, 50 public rows" in repr(made)


def test_a_seed_repeats_and_promises_nothing():
    one, other = fit(seed=3), fit(seed=3)
    assert (one.weights == other.weights).all()
    assert one.guarantee.notion == "none: seeded"
    assert (fit().weights != fit().weights).any()
    with pytest.raises(ParameterError, match="give a seed or a source, not both"):
        fit(seed=1, source=Source.system())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"basis": "kernel"},
        {"estimator": "ulsif"},
        {"estimator": "ulsif", "regularisation": 0.1, "number": 30},
        {"centres": np.linspace(-2, 4, 9)},
        {"centres": np.linspace(-2, 4, 9), "basis": "kernel"},
        {"centres": "noisy"},
        {"centres": "noisy", "estimator": "ulsif", "split": 0.3},
        {"delta": 1e-6},
        {"adjacency": "add_remove"},
        {"adjacency": "add_remove", "basis": "kernel"},
        {"adjacency": "add_remove", "basis": "kernel", "size": 800},
        {"adjacency": "add_remove", "basis": "kernel", "delta": 1e-6},
        {"basis": "polynomial"},
    ],
    ids=lambda options: "-".join(f"{k}:{v}" for k, v in options.items() if isinstance(v, str | float)) or "default",
)
def test_every_way_is_metered_and_promises_what_was_asked(options):
    made = fit(**options)
    assert made.guarantee.epsilon == 1
    assert made.guarantee.delta == (Fraction(1, 10**6) if "delta" in options else None)
    neighbours = "add or remove one unit" if options.get("adjacency") else "replace one record"
    assert made.guarantee.adjacency == neighbours
    assert np.isfinite(made.weights).all()
    assert (made.weights >= 0).all()
    assert made.effective_sample_size >= 1


def test_raw_centres_only_with_an_opt_in_and_without_a_promise():
    with pytest.raises(ParameterError, match="raw centres publish real records \\(got 'raw'\\)"):
        fit(centres="raw")
    made = fit(centres="raw", accept_raw_records=True, number=20)
    assert made.guarantee.notion == "none"
    assert "real records are published as centres" in str(made.guarantee)
    codes = set(made.model.space.encode({"x0": PRIVATE})[:, 0].tolist())
    assert set(made.model.basis.centres[:, 0].tolist()) <= codes


def test_frames_dictionaries_and_arrays_agree():
    frames = fit(pandas.DataFrame(PEOPLE), pandas.DataFrame(OTHERS), seed=1, **NAMED)
    assert (fit(PEOPLE, OTHERS, seed=1, **NAMED).weights == frames.weights).all()
    columns = fit(PRIVATE[:, None], PUBLIC[:, None], seed=1)
    assert (fit(seed=1).weights == columns.weights).all()


def test_parts_are_read_once_and_give_the_same():
    parts = (PRIVATE[first : first + 100] for first in range(0, 800, 100))
    assert (fit(parts, seed=5).weights == fit(seed=5).weights).all()


def test_the_order_of_private_rows_does_not_matter():
    assert (fit(PRIVATE[::-1], seed=5).weights == fit(seed=5).weights).all()


def test_people_with_several_rows():
    ids = np.arange(800) // 4
    averaged = fit(unit=ids)
    assert averaged.measured.people == 200
    assert str(averaged.guarantee.unit) == "person with at most 1 row"
    assert averaged.measured.sensitivity == pytest.approx(2, rel=1e-4)
    bounded = fit(unit=ids, max_rows=2)
    assert bounded.measured.people == 400
    assert bounded.measured.sensitivity == 4
    assert "swaps between units with equal row counts" in str(bounded.guarantee)
    by_name = fit({**PEOPLE, "id": np.arange(300) // 3}, OTHERS, unit="id", max_rows=1, **NAMED)
    assert by_name.measured.people == 100


@pytest.mark.slow
def test_two_columns_are_taken_together_more_alone_unless_named():
    own, wide = GENERATOR.normal(0, 1, (2, 300, 3))
    space = [(-4, 4)] * 3
    assert len(fit(own[:, :2], wide[:, :2], bounds=space[:2]).model.basis.blocks) == 1
    assert len(fit(own, wide, bounds=space).model.basis.blocks) == 3
    assert len(fit(own, wide, bounds=space, pairs="all").model.basis.blocks) == 3
    named = fit(own, wide, bounds=space, pairs=[("x0", "x2")]).model.basis
    assert [[axis.place for axis in block] for block in named.blocks] == [[1], [0, 2]]
    assert fit(own, wide, bounds=space, centres=wide[:5]).model.basis.size == 5


def test_a_private_record_far_outside_counts_as_at_the_bound():
    assert (fit(np.append(PRIVATE, 1e9), seed=1).weights == fit(np.append(PRIVATE, 6.0), seed=1).weights).all()


def test_no_record_at_all_is_not_refused_where_the_number_is_private():
    made = fit(PRIVATE[:0], adjacency="add_remove", seed=1)
    assert np.isfinite(made.weights).all()
    assert np.isfinite(fit(PRIVATE[:1], adjacency="add_remove", basis="kernel", seed=1).weights).all()


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 100.0, 10**4])
def test_it_never_diverges_however_much_noise(epsilon):
    for options in ({}, {"basis": "kernel"}, {"estimator": "ulsif"}):
        made = fit(epsilon=epsilon, seed=2, **options)
        assert np.isfinite(made.weights).all()
        assert made.weight(np.linspace(-4, 6, 40)).max() <= max(made.weights.max(), 1e6)


@pytest.mark.parametrize(
    ("private", "public", "options", "sentence"),
    [
        (np.ones((9, 2)), PUBLIC, {}, "the private array has another number of columns than are declared"),
        (PRIVATE, np.ones((9, 2)), {}, "the public array has another number of columns than are declared"),
        ({"age": [1.0, 2.0]}, OTHERS, NAMED, "the private data have no such column \\(got 'sex'\\)"),
        (PEOPLE, {"age": [1.0, 2.0], "sox": ["f", "m"]}, NAMED, "the public data have no such column \\(got 'sex'\\)"),
        ({**PEOPLE, "sex": ["secret"] * 300}, OTHERS, NAMED, "outside its declared categories \\(got 'sex'\\)"),
        (PEOPLE, {**OTHERS, "sex": ["f"] * 200}, NAMED, "a column of the public data is constant \\(got 'sex'\\)"),
        (PRIVATE, np.ones(20), {}, "a column of the public data is constant \\(got 'x0'\\)"),
        (PRIVATE, PUBLIC, {"number": 51}, "there are more centres than public rows \\(got 51; allowed: at most 50\\)"),
        (PRIVATE, PUBLIC, {"number": 51, "basis": "kernel"}, "there are more centres than public rows"),
        (PRIVATE[:9], PUBLIC, {"number": 10, "centres": "noisy"}, "there are more centres than private rows"),
        (PRIVATE[:1], PUBLIC, {}, "there are too few private records \\(got 1; allowed: at least 2\\)"),
        (PRIVATE[:1], PUBLIC, {"centres": "noisy"}, "there are too few private records"),
        (PRIVATE, PUBLIC[:1], {}, "the public data have too few rows \\(got 1; allowed: at least 2\\)"),
        (np.append(PRIVATE, np.nan), PUBLIC, {}, "a column holds missing values \\(got 'x0'; allowed: numbers\\)"),
        (PRIVATE, np.append(PUBLIC, np.nan), {}, "a column holds missing values \\(got 'x0'; allowed: numbers\\)"),
    ],
)
def test_bad_input_is_one_clear_sentence(private, public, options, sentence):
    with pytest.raises(SudareError, match=sentence) as caught:
        fit(private, public, **options)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"epsilon": 0}, "epsilon is not positive \\(got 0; allowed: a finite number > 0\\)"),
        ({"epsilon": -1}, "epsilon is not positive"),
        ({"epsilon": float("nan")}, "epsilon is not a finite number"),
        ({"epsilon": None}, "epsilon is missing"),
        ({"delta": 0}, "delta is not positive"),
        ({"delta": 1}, "delta is too large to protect anybody"),
        ({"bounds": None}, "no column is declared"),
        ({"centres": "privat"}, "unknown kind of centres \\(got 'privat'; allowed: public, noisy, raw\\)"),
        ({"basis": "spline"}, "unknown basis \\(got 'spline'; allowed: hats, kernel, polynomial, fourier\\)"),
        ({"estimator": "kliep"}, "unknown estimator \\(got 'kliep'; allowed: tilt, ulsif, importance\\)"),
        ({"adjacency": "swap"}, "unknown adjacency \\(got 'swap'; allowed: add_remove, replace\\)"),
        ({"number": 0}, "number is not a whole number from 1 on"),
        ({"number": 2}, "too few knots for hats"),
        ({"width": -1, "basis": "kernel"}, "the width of the kernel is not positive"),
        ({"regularisation": -1, "estimator": "ulsif"}, "regularisation is not positive"),
        ({"split": 1}, "split leaves nothing for the means"),
        ({"size": 800}, "a declared size belongs to the add_remove adjacency"),
        ({"max_rows": 2}, "max_rows needs a unit"),
        ({"max_rows": 0, "unit": np.arange(800)}, "max_rows is not a whole number from 1 on"),
        ({"pairs": "some"}, "unknown choice of pairs"),
        ({"pairs": [("x0", "x9")]}, "a pair names an unknown column \\(got 'x9'\\)"),
        ({"pairs": [("x0", "x0")]}, "a pair is two columns"),
        ({"centres": "noisy", "basis": "hats"}, "centres from private records belong to kernels"),
        ({"centres": "noisy", "delta": 1e-6}, "noisy centres take epsilon alone"),
        ({"centres": "noisy", "adjacency": "add_remove"}, "need the replace adjacency"),
        ({"centres": "noisy", "unit": np.arange(800)}, "need one row per person"),
        ({"centres": [[1.0, 2.0]]}, "the centres have another number of columns"),
    ],
)
def test_parameters_that_cannot_be(options, sentence):
    with pytest.raises(SudareError, match=sentence):
        fit(**options)


def test_parts_take_no_people_and_no_private_centres():
    for options in ({"unit": "id"}, {"centres": "noisy"}):
        with pytest.raises(ParameterError, match="private data in parts must have one row"):
            fit(iter([PRIVATE]), **options)


def test_declared_knots_of_two_columns_are_refused():
    own, wide = GENERATOR.normal(0, 1, (2, 30, 2))
    with pytest.raises(ParameterError, match="declared centres are knots of hats, and need a single column of numbers"):
        fit(own, wide, bounds=[(-4, 4)] * 2, centres=wide[:5], basis="hats")


def test_the_accounts_of_noisy_centres_must_add_up():
    budget, half = Budget(epsilon=Fraction(1)), Fraction(1, 2)
    rest = ("means", Budget(epsilon=half), False)
    from sudare.reweight.choice import affordable

    spent = affordable(half, 10, 1000)
    _check(Meter([("centres", Budget(epsilon=spent), False), rest]), budget, (spent, half), 1000, 10)
    with pytest.raises(AccountingError, match="the centres cost more than their share"):
        _check(Meter([("centres", Budget(epsilon=2 * spent), False), rest]), budget, (2 * spent, half), 1000, 10)
    with pytest.raises(AccountingError, match="something else than was planned"):
        _check(Meter([("centres", Budget(epsilon=2 * spent), False), rest]), budget, (spent, half), 1000, 10)
    with pytest.raises(AccountingError, match="do not add up"):
        _check(Meter([("centres", Budget(epsilon=spent), False)]), budget, (spent, half), 1000, 10)


def test_columns_of_other_names_in_arrays():
    with pytest.raises(InputError, match="the private data have no such column \\(got 'x0'\\)"):
        fit({"y": PRIVATE})
