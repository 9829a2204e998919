"""Laws of reports that hold for any survey."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clones import closed_form
from sudare.local import ENCODINGS, Reports, Tally, decode_report, encode_report, encoding_from_json, estimate, repeated
from sudare.local.accounting import smallest_epsilon

epsilons = st.fractions(min_value="1/100", max_value=12, max_denominator=1000)
seeds = st.integers(0, 2**32)  # an example that fails can be looked at again only if its noise is part of it


@st.composite
def surveys(draw):
    """Any encoding, and the values of a few people."""
    name = draw(st.sampled_from(sorted(ENCODINGS)))
    size, epsilon = draw(st.integers(2, 70)), draw(epsilons)
    extra = {"first": epsilon / 3} if name == "permanent_unary" else {}
    extra |= {"low": 0, "high": size} if name == "square_wave" else {}
    encoding = ENCODINGS[name](size=size, epsilon=epsilon, **extra)
    return encoding, draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=40))


@given(surveys(), seeds)
@settings(max_examples=150, deadline=None)
def test_reports_survive_every_journey(survey, seed):
    encoding, values = survey
    reports = encoding.randomize(values, seed=seed)
    assert encoding_from_json(encoding.to_json()) == encoding
    for row in reports.packed:
        assert decode_report(encode_report(row.tobytes()), encoding) == row.tobytes()
    with tempfile.TemporaryDirectory() as folder:
        for path, read in (
            (reports.to_parquet(Path(folder) / "r.parquet"), Reports.from_parquet),
            (reports.to_json_lines(Path(folder) / "r.jsonl"), Reports.from_json_lines),
        ):
            assert (read(path, encoding).packed == reports.packed).all()


@given(surveys(), st.integers(0, 40), seeds)
@settings(max_examples=150, deadline=None)
def test_tallies_add_up_in_any_order(survey, cut, seed):
    encoding, values = survey
    reports = encoding.randomize(values, seed=seed)
    whole = Tally(encoding).add(reports)
    parts = Tally(encoding).add(reports[cut:]) + Tally(encoding).add(reports[:cut])
    assert parts.reports == whole.reports == len(values)
    assert (parts.sums == whole.sums).all()
    assert (Tally.from_json(whole.to_json()).sums == whole.sums).all()


@given(surveys(), st.sampled_from([0.5, 0.9, 0.99]), seeds)
@settings(max_examples=120, deadline=None)
def test_estimates_are_people_and_intervals_hold_them(survey, level, seed):
    encoding, values = survey
    reports = encoding.randomize(values, seed=seed)
    methods = ("em", "ems") if encoding.name == "square_wave" else ("simplex", "em")
    for method in methods:
        made = estimate(reports, method, level, stop="auto" if method != "em" or len(values) > 4 else 5)
        assert np.isclose(made.counts.sum(), len(values))
        assert made.counts.min() >= 0
        assert (made.low >= 0).all()
        assert (made.high <= len(values) + 1e-6).all()
        assert (made.low <= made.counts).all()
        assert (made.counts <= made.high).all()
        assert np.isfinite(made.standard_error).all()


@given(surveys(), st.integers(1, 50), st.integers(1, 50))
def test_more_reports_cost_more(survey, times, more):
    encoding, _ = survey
    assert repeated(encoding, times).epsilon <= repeated(encoding, times + more).epsilon
    assert repeated(encoding, times).epsilon <= times * encoding.epsilon


@given(st.floats(0.01, 4), st.integers(1, 5000), st.sampled_from([1e-3, 1e-6, 1e-9]))
@settings(max_examples=40, deadline=None)
def test_shuffling_never_hurts_and_more_reports_hide_better(local, others, delta):
    found = smallest_epsilon(local, others, delta)
    assert 0 <= found <= closed_form(local, others, delta) <= local
    assert smallest_epsilon(local, 2 * others, delta) <= found * (1 + 1e-3) + 1e-9
