"""`anonymize`: the contract, and a sentence for every mistake."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare as sd
from sudare.anonymity import Closeness, DistinctDiversity, EntropyDiversity, Hierarchy, anonymize, delta
from sudare.errors import InputError, ParameterError, SudareError
from sudare.noise import Source
from sudare.privacy import Publishable

AGE = Hierarchy.from_widths(0, 100, 1, 10, 50)
TREES = {"age": AGE, "sex": ["f", "m"], "town": {"north": ["A", "B"], "south": ["C", "D", "E"]}}
COLUMNS = ["age", "sex", "town"]
LEVELS = {"age": 1, "sex": 0, "town": 1}


def frame(records: int = 3000, seed: int = 1) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": np.arange(records),
            "age": np.minimum(generator.gamma(4, 10, records), 99).astype(int),
            "sex": generator.choice(["f", "m"], records),
            "town": generator.choice(list("ABCDE"), records, p=[0.5, 0.2, 0.15, 0.1, 0.05]),
            "illness": generator.choice(["cold", "flu", "gout"], records, p=[0.6, 0.3, 0.1]),
        }
    )


PEOPLE = frame()


def class_sizes(records: pa.Table, columns: list[str] = COLUMNS) -> np.ndarray:
    return records.to_pandas().groupby(columns, dropna=False).size().to_numpy()


def test_fixed_levels_are_differentially_private() -> None:
    made = sd.anonymity.anonymize(PEOPLE, TREES, k=10, sample=0.2, levels=LEVELS)
    assert isinstance(made, Publishable)
    assert made.records.column_names == COLUMNS
    assert class_sizes(made.records).min() >= 10
    assert made.guarantee.notion == "(epsilon, delta)-DP"
    assert made.guarantee.delta == Fraction(1, 10**6)
    assert made.guarantee.epsilon == Fraction("1.648658626")
    assert delta(k=10, sample=0.2, epsilon=made.guarantee.epsilon) <= 1e-6
    assert made.levels == LEVELS
    assert set(made.records.column("town").to_pylist()) <= {"north", "south"}
    assert made.method == "fixed levels"


def test_epsilon_or_delta_or_both() -> None:
    options: dict[str, Any] = {"k": 20, "sample": 0.1, "levels": LEVELS}
    by_epsilon = anonymize(PEOPLE, TREES, epsilon=1, **options).guarantee
    assert by_epsilon.epsilon == 1
    assert float(by_epsilon.delta) == pytest.approx(delta(k=20, sample=0.1, epsilon=1), rel=1e-5)
    assert float(by_epsilon.delta) >= delta(k=20, sample=0.1, epsilon=1)
    both = anonymize(PEOPLE, TREES, epsilon=1, delta=1e-9, **options).guarantee
    assert (both.epsilon, both.delta) == (1, Fraction(1, 10**9))
    with pytest.raises(ParameterError) as refused:
        anonymize(PEOPLE, TREES, k=8, sample=0.1, levels=LEVELS, epsilon=1, delta=1e-6)
    assert str(refused.value) == (
        "k is too small for this epsilon and delta at this sampling rate (got 8; allowed: at least 9). "
        "Or sample fewer records: see anonymity.largest_sample."
    )


@pytest.mark.slow
def test_learned_on_public_data() -> None:
    public = frame(20_000, 2)
    made = anonymize(PEOPLE, TREES, k=10, sample=0.2, learn_on=public)
    assert made.guarantee.notion == "(epsilon, delta)-DP"
    assert made.levels is not None
    assert class_sizes(made.records).min() >= 10
    # The same levels whatever the private records are.
    assert anonymize(frame(500, 3), TREES, k=10, sample=0.2, learn_on=public).levels == made.levels
    greedy = anonymize(PEOPLE, TREES, k=10, sample=0.2, learn_on=public, method="greedy")
    assert greedy.levels is None
    assert greedy.guarantee == made.guarantee


def test_a_charged_choice_is_added_up() -> None:
    made = anonymize(PEOPLE, TREES, k=10, sample=0.2, choose_epsilon=0.1)
    fixed = anonymize(PEOPLE, TREES, k=10, sample=0.2, levels=LEVELS)
    assert made.guarantee.epsilon == fixed.guarantee.epsilon + Fraction(1, 10)
    assert made.guarantee.delta == fixed.guarantee.delta
    assert class_sizes(made.records).min() >= 10
    assert made.levels is not None


@pytest.mark.parametrize("method", ["greedy", "optimal", "mondrian", "passes"])
@pytest.mark.parametrize("sample", [None, 0.3])
def test_methods_on_the_records_promise_k_anonymity_alone(method: str, sample: float | None) -> None:
    made = anonymize(PEOPLE, TREES, k=7, sample=sample, method=method)
    assert class_sizes(made.records).min() >= 7
    assert made.records.num_rows == made.sampled
    assert made.guarantee.notion == "k-anonymity"
    assert made.guarantee.epsilon is None
    assert "no differential privacy, since the generalisation was chosen by looking" in str(made.guarantee)
    assert (made.levels is not None) == (method == "optimal")
    if sample is None:
        assert made.sampled == len(PEOPLE)
        assert math.isinf(made.epsilon_evaluated)
    else:
        assert made.epsilon_evaluated > 0
        assert made.epsilon_floor == pytest.approx(-math.log1p(-0.3))
        assert (made.classes.held >= made.classes.taken).all()


def test_held_counts_the_records_behind_a_class() -> None:
    for method in ("optimal", "mondrian"):
        made = anonymize(PEOPLE, TREES, k=7, sample=0.3, method=method)
        shown = made.classes.to_arrow().to_pandas()
        for row in shown.sample(5, random_state=1).itertuples():
            low, high = (int(part) for part in (row.age.split("-") * 2)[:2]) if row.age != "*" else (0, 99)
            towns = {"north": "AB", "south": "CDE", "*": "ABCDE"}.get(row.town, row.town)
            sexes = "fm" if row.sex == "*" else row.sex
            behind = PEOPLE.age.between(low, high) & PEOPLE.town.isin(list(towns)) & PEOPLE.sex.isin(list(sexes))
            assert row.held == behind.sum()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["greedy", "optimal", "mondrian", "passes"])
@pytest.mark.parametrize(
    "requirement", [DistinctDiversity("illness", 3), EntropyDiversity("illness", 2), Closeness("illness", 0.15)]
)
def test_requirements_hold_in_the_published_rows(method: str, requirement: Any) -> None:
    made = anonymize(PEOPLE, TREES, k=5, method=method, require=[requirement], max_suppressed=0.1)
    rows = made.records.to_pandas()
    assert list(rows.columns) == [*COLUMNS, "illness"]
    assert len(rows) >= 0.9 * len(PEOPLE)
    overall = rows.illness.value_counts(normalize=True)
    for _, own in rows.groupby(COLUMNS):
        share = own.illness.value_counts(normalize=True).reindex(overall.index, fill_value=0)
        assert len(own) >= 5
        if isinstance(requirement, DistinctDiversity):
            assert own.illness.nunique() >= 3
        elif isinstance(requirement, EntropyDiversity):
            assert -(share[share > 0] * np.log(share[share > 0])).sum() >= math.log(2) - 1e-9
        else:
            assert (share - overall).abs().sum() / 2 <= 0.15 + 1e-9
    assert str(requirement) in str(made.guarantee)


def test_a_sensitive_column_gives_differential_privacy_up() -> None:
    made = anonymize(PEOPLE, TREES, k=5, sample=0.5, levels=LEVELS, require=[DistinctDiversity("illness", 2)])
    assert made.guarantee.notion == "k-anonymity"
    assert "no differential privacy, since a sensitive column is published" in str(made.guarantee)


def test_k_counts_people_where_there_is_a_unit() -> None:
    """One person with a hundred equal rows is one, and a class of one is not published."""
    generator = np.random.default_rng(5)
    many = pd.DataFrame({"person": np.r_[np.zeros(100, int), np.arange(1, 61)]})
    many["age"] = np.r_[np.full(100, 95), generator.integers(20, 40, 60)]
    trees = {"age": AGE}
    rows = anonymize(many, trees, k=10, method="passes", max_suppressed=0.1).records
    assert "95" in rows.column("age").to_pylist()
    made = anonymize(many, trees, k=10, method="passes", max_suppressed=0.1, unit="person")
    assert "95" not in made.records.column("age").to_pylist()
    assert made.records.num_rows <= 61
    assert str(made.guarantee.unit) == "person with at most 1 row"


@pytest.mark.slow
def test_rows_carry_nothing_of_the_order_of_the_records() -> None:
    shuffled = PEOPLE.sample(frac=1, random_state=3)
    for options in ({"method": "optimal"}, {"method": "mondrian", "relaxed": True}, {"method": "greedy"}):
        one, other = (anonymize(people, TREES, k=8, **options) for people in (PEOPLE, shuffled))
        assert one.records.equals(other.records)


@pytest.mark.slow
def test_a_seed_repeats_and_promises_nothing() -> None:
    one, other = (anonymize(PEOPLE, TREES, k=8, sample=0.2, choose_epsilon=1, seed=4) for _ in range(2))
    assert one.records.equals(other.records)
    assert one.guarantee.notion == "none: seeded"
    third = anonymize(PEOPLE, TREES, k=8, sample=0.2, choose_epsilon=1, source=Source.from_seed(4))
    assert third.records.equals(one.records)
    with pytest.raises(ParameterError, match="give a seed or a source, not both"):
        anonymize(PEOPLE, TREES, k=8, sample=0.2, levels=LEVELS, seed=4, source=Source.system())


def test_the_summary_is_public() -> None:
    """Nothing of the suppressed records or of d_t: the same file has the same summary, whatever is behind it."""
    made = anonymize(PEOPLE, TREES, k=10, sample=0.2, levels=LEVELS, seed=3)
    assert made.summary["records"] == made.records.num_rows
    assert made.summary["smallest_class"] == class_sizes(made.records).min()
    text = json.dumps(made.summary)
    for word in ("suppress", "held", "evaluated", "journalist", "marketer", "before", "discern"):
        assert word not in text
    assert "held" not in vars(made.classes)  # d_t was not even computed
    private = {measure.name for measure in made.assessment.table if not measure.public}
    assert private.isdisjoint(made.summary["measures"])
    assert str(made.sampled) not in repr(made)


@pytest.mark.slow
def test_missing_values_only_when_asked() -> None:
    holes = PEOPLE.assign(town=PEOPLE.town.where(PEOPLE.index % 3 > 0), age=PEOPLE.age.where(PEOPLE.index % 5 > 0))
    with pytest.raises(InputError) as refused:
        anonymize(holes, TREES, k=5, method="optimal")
    assert str(refused.value) == (
        "values of the column 'age' are missing. missing=\"value\" treats a missing value as a value of its own."
    )
    made = anonymize(holes, TREES, k=5, method="passes", missing="value")
    assert made.records.num_rows == len(holes)
    assert made.records.column("town").null_count > 0
    assert class_sizes(made.records).min() >= 5
    with pytest.raises(InputError, match="values of the column 'illness' are missing"):
        anonymize(PEOPLE.assign(illness=None), TREES, k=5, method="optimal", require=[DistinctDiversity("illness", 2)])
    with pytest.raises(ParameterError, match="unknown way to treat missing values"):
        anonymize(PEOPLE, TREES, k=5, method="optimal", missing="drop")


@pytest.mark.parametrize("ages", [[20.0, 21.5, math.nan] * 20, [20.0, 21.0, math.nan] * 20])
def test_nan_in_a_parquet_file_is_a_missing_value(ages: list[float], tmp_path: Path) -> None:
    """The file's statistics say nothing of a NaN: an engine that trusts them would try to write it as a number."""
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": ages}), path)
    with pytest.raises(InputError, match="values of the column 'age' are missing"):
        anonymize(path, {"age": AGE}, k=5, method="optimal")
    made = anonymize(path, {"age": AGE}, k=5, method="optimal", missing="value")
    assert made.records.column("age").null_count == 20


@pytest.mark.slow
def test_numbers_are_read_whatever_their_type() -> None:
    trees = {"age": {str(decade): list(range(decade, decade + 10)) for decade in range(0, 100, 10)}}
    expected = anonymize(PEOPLE, trees, k=10, method="optimal").records
    for kind in (float, "int16", str):
        assert anonymize(PEOPLE.astype({"age": kind}), trees, k=10, method="optimal").records.equals(expected)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "anonymize needs exactly one source of the generalisation (got []; allowed: levels= (fixed), learn_on="),
    ({"levels": LEVELS, "method": "greedy"}, "anonymize needs exactly one source of the generalisation"),
    ({"levels": LEVELS, "sample": 0}, "the sampling rate is not between 0 and 1 (got 0; allowed: 0 < sample < 1)"),
    (
        {"levels": LEVELS, "sample": 1},
        "the sampling rate is not between 0 and 1 (got 1; allowed: 0 < sample < 1)",
    ),
    ({"levels": LEVELS}, "sample is missing: without sampling there is no differential privacy"),
    ({"method": "optimal", "k": 3001}, "k is larger than the number of records (got 3001). Ask for a smaller k."),
    ({"method": "optimal", "k": 1}, "k is not a whole number from 2 on (got 1)"),
    ({"method": "optimal", "k": 2.0}, "k is not a whole number from 2 on (got 2.0)"),
    (
        {"method": "optimum"},
        "unknown method of recoding (got 'optimum'; allowed: greedy, optimal, mondrian, pass",
    ),
    (
        {"method": "mondrian", "learn_on": frame(20, 3), "sample": 0.2},
        "unknown method of recoding (got 'mondrian'; allowed: o",
    ),
    ({"method": "greedy", "relaxed": True}, "relaxed works with mondrian only"),
    ({"method": "greedy", "epsilon": 1}, "epsilon belongs to a sample with differential privacy (got 1)"),
    ({"method": "greedy", "delta": 1e-6}, "delta belongs to a sample with differential privacy"),
    ({"levels": {"age": 1}, "sample": 0.2}, "levels lacks a column (got 'sex'; allowed: 0 to 1)"),
    ({"levels": {**LEVELS, "size": 1}, "sample": 0.2}, "levels names a column without a hierarchy (got 'size')"),
    ({"levels": {**LEVELS, "sex": 2}, "sample": 0.2}, "a hierarchy has no such level (got 2; allowed: 0 to 1)"),
    ({"levels": [1, 0, 1], "sample": 0.2}, "levels is not a mapping of columns to levels (got 'list')"),
    ({"levels": LEVELS, "sample": 0.2, "max_suppressed": 0.1}, "max_suppressed belongs to a method"),
    ({"method": "greedy", "max_suppressed": 1.5}, "max_suppressed is not a share (got 1.5; allowed: 0 to 1)"),
    ({"choose_epsilon": 0, "sample": 0.2}, "choose_epsilon is not positive"),
    ({"learn_on": frame(20, 3), "sample": 0.2}, "the public records are too few to learn on (allowed: at least k"),
    ({"method": "optimal", "require": ["illness"]}, "not a requirement (got 'illness'"),
    ({"method": "optimal", "require": [DistinctDiversity("sex", 2)]}, "a sensitive column cannot have a hierarchy too"),
    ({"method": "optimal", "require": [DistinctDiversity("ilness", 2)]}, "there is no such column"),
    (
        {"method": "optimal", "require": [DistinctDiversity("illness", 4)]},
        "no generalisation satisfies the requirements",
    ),
    (
        {"choose_epsilon": 1, "sample": 0.2, "require": [DistinctDiversity("illness", 2)]},
        "choose_epsilon cannot go with requirements on sensitive columns",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_mistakes_in_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SudareError) as refused:
        anonymize(PEOPLE, TREES, **{"k": 5, **options})
    assert str(refused.value).startswith(message)


FRAMES: list[tuple[Callable[[], Any], str]] = [
    (lambda: PEOPLE.head(0), "there are no records in the frame"),
    (lambda: PEOPLE.drop(columns="town"), "there is no such column for the records (got 'town'"),
    (lambda: PEOPLE.assign(town="Z"), "the column 'town' holds values that its hierarchy does not have"),
    (lambda: PEOPLE.assign(age=-4), "the column 'age' holds values that its hierarchy does not have"),
    (lambda: pd.concat([PEOPLE, PEOPLE.town], axis=1), "two columns of the frame have the same name"),
    (
        lambda: pa.Table.from_arrays([pa.array(["f"]), pa.array(["m"])], names=["sex", "sex"]),
        "two columns of the Arrow data have the same name (got 'sex')",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), FRAMES)
@pytest.mark.parametrize("options", [{"method": "optimal"}, {"levels": LEVELS, "sample": 0.5}])
def test_frames_that_will_not_do(wrong: Callable[[], Any], message: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        anonymize(wrong(), TREES, k=5, **options)
    assert str(refused.value).startswith(message)
    assert "'Z'" not in str(refused.value)
    assert "-4" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"method": "optimal"}, {"levels": {"person": 0}, "sample": 0.5}])
def test_a_column_that_identifies(options: dict[str, Any]) -> None:
    trees = {"person": list(range(3000))}
    with pytest.raises(InputError) as refused:
        anonymize(PEOPLE, trees, k=5, **options)
    assert str(refused.value) == (
        "the column 'person' differs in every record, however it is generalised. "
        "It identifies people: leave it out, or name it as unit=."
    )
    # Wholly erased, or grouped, it may stay.
    assert anonymize(PEOPLE, trees, k=5, sample=0.5, levels={"person": 1}).records.num_rows > 1000
    grouped = {"person": Hierarchy.from_widths(0, 3000, 1, 100)}
    assert class_sizes(anonymize(PEOPLE, grouped, k=5, method="optimal").records, ["person"]).min() >= 5


def test_a_sample_may_be_empty() -> None:
    """With fixed levels that is an output like any other; a method has nothing to work on."""
    few = PEOPLE.head(12)
    made = anonymize(few, TREES, k=10, sample=0.001, levels=LEVELS, seed=1)
    assert made.records.num_rows == 0
    assert made.records.column_names == COLUMNS
    assert made.summary["smallest_class"] is None
    assert made.epsilon_floor == pytest.approx(-math.log1p(-0.001))
    assert {measure.name: measure.value for measure in made.assessment.table}["suppressed share"] == 0
    with pytest.raises(InputError) as refused:
        anonymize(few, TREES, k=10, sample=0.001, method="optimal", seed=1)
    assert str(refused.value) == (
        "fewer records than k were drawn (got 10). Sample more of them, or ask for a smaller k."
    )


def test_a_small_k_states_what_little_holds() -> None:
    """Delta is what it is for a given epsilon, up to 1/1000; above that nothing is promised."""
    made = anonymize(PEOPLE, TREES, k=8, sample=0.2, levels=LEVELS, epsilon=1)
    assert made.guarantee.epsilon == 1
    assert float(made.guarantee.delta) == pytest.approx(delta(k=8, sample=0.2, epsilon=1), rel=1e-5)
    for rate in (0.5, 0.9):
        assert anonymize(PEOPLE, TREES, k=3, sample=rate, levels=LEVELS).guarantee.notion == "none"


def test_hierarchies_that_are_none() -> None:
    for given in ({}, [TREES], None):
        with pytest.raises(ParameterError, match="hierarchies is not a mapping"):
            anonymize(PEOPLE, given, k=5, method="optimal")
    with pytest.raises(ParameterError, match="this is not a hierarchy"):
        anonymize(PEOPLE, {"age": 7}, k=5, method="optimal")


def test_suppression_that_closeness_needs_is_held_against_the_limit() -> None:
    """Where classes fall out after the others did, the limit still counts."""
    with pytest.raises(ParameterError, match=r"more suppression than allowed|no generalisation satisfies"):
        anonymize(
            PEOPLE.head(60),
            {"town": ["A", "B", "C", "D", "E"]},
            k=2,
            method="optimal",
            require=[Closeness("illness", 0.001), EntropyDiversity("illness", 2.9)],
        )
