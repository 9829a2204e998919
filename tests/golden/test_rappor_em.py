"""The numbers of Horigome's appendix A: from the law where that is known, and from the experiment done again."""

import csv
import gzip
import json

import numpy as np
import pytest

from papers_in_words import untranslated
from sudare.errors import InputError, OutputError, ParameterError
from sudare.language.messages import Progress, Stage, lines
from sudare.local import SubsetSelection, SymmetricUnary, estimate
from sudare.papers import rappor_em
from sudare.papers.data import (
    EPSILONS,
    HOURS,
    INVENTED,
    PAPER,
    PRINTED,
    TOTALS,
    WARDS,
    people,
    positions,
    tiles,
)
from sudare.papers.rappor_em import plain_em, reproduce


def test_the_papers_mle_is_the_law():
    """Every ward's unbiased estimate has variance l e^(x/2)/(e^(x/2) - 1)^2, so S is 23 sqrt(2/pi) times its root.

    The paper's 60 sums have a standard deviation of about 15 % each: their mean is within five times 2 %.
    """
    for epsilon, printed in zip(EPSILONS, PAPER["MLE"], strict=True):
        spread = np.sqrt(np.exp(epsilon / 2)) / np.expm1(epsilon / 2)
        law = np.mean([23 * np.sqrt(2 / np.pi * total) * spread for total in TOTALS])
        assert printed == pytest.approx(law, rel=0.1)


@pytest.mark.parametrize("place", range(len(EPSILONS)))
def test_em_is_below_mle_at_every_epsilon_of_the_paper_and_ours_below_its(place):
    errors = {"plain": 0.0, "prior": 0.0, "mle": 0.0}
    for hour in (0, 3):
        true = people(hour)
        for seed in range(3):
            reports = SymmetricUnary(23, EPSILONS[place]).randomize(np.repeat(np.arange(23), true), seed=seed)
            for name, counts in (
                ("plain", plain_em(reports)),
                ("prior", estimate(reports, "em").counts),
                ("mle", estimate(reports, "mle").counts),
            ):
                errors[name] += np.abs(counts - true).sum() / 6
    assert errors["plain"] < errors["mle"]
    assert errors["prior"] < errors["mle"]
    assert errors["prior"] < 1.15 * PAPER["EM"][place]  # a sixth of the paper's hours and runs: rough
    assert errors["plain"] == pytest.approx(PAPER["EM"][place], rel=0.3)


def test_people_are_the_papers_and_the_rest_is_stated():
    for hour, total in enumerate(TOTALS):
        assert people(hour).sum() == total
        assert people(hour)[:10].tolist() == [counts[hour] for counts in PRINTED.values()]
        rest = people(hour)[10:]
        assert (np.diff(rest) <= 0).all()
        assert rest[0] / rest.mean() == pytest.approx(1.4, abs=0.02)
    day = np.mean([people(hour) for hour in range(len(HOURS))], axis=0)
    assert day[10:].max() < day[:10].min()  # the ten printed wards are the ten largest
    assert len(WARDS) == 23
    assert len(INVENTED) == 13
    assert len(set(zip(tiles().rows, tiles().columns, strict=True))) == 23


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A small experiment, on a stand-in for the traces."""
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr(rappor_em, "TRACE_EPSILONS", (3,))
    monkeypatch.setattr(rappor_em, "TRACE_KINDS", (SubsetSelection,))
    values, basis = positions()
    few = {"runs": 2, "epsilons": (0.5, 5.0), "hours": (2,), "data": (values[:3000], basis)}
    return lambda folder, **options: reproduce(folder, **few | options)


def test_the_whole_way(small, tmp_path):
    stages = []
    made = small(tmp_path / "out", progress=stages.append)
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_file()} == {path.name for path in made.files}
    assert {path.name for path in made.files} >= {
        "table_a5.csv",
        "encodings.csv",
        "correlations.csv",
        "people.csv",
        "traces.csv",
        "a1_flip_chance.png",
        "a2_law_of_count.png",
        "a3_by_iteration.png",
        "a6_a7_a12_a14_maps.png",
        "a8_wards.png",
        "a9_scatter.png",
        "a10_a11_error_by_people.png",
        "a15_a20_error_by_epsilon.png",
    }
    assert Progress(Stage.EXPERIMENT, 1, 3, "epsilon 0.5") in stages
    assert "invented" in lines(made.facts)["data"]
    assert "stand-in" in lines(made.facts)["traces"]
    assert not untranslated(made)
    with (tmp_path / "out" / "table_a5.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["EM, paper"]) for row in rows] == [2971.31, 287.42]
    for row in rows:
        assert float(row["EM (prior), here"]) < float(row["MLE, here"])
    sheets = json.loads(json.dumps(made.to_json()))["sheets"]
    assert [sheet["name"] for sheet in sheets] == ["table_a5", "encodings", "correlations", "people", "traces"]
    assert sheets[2]["rows"][1]["correlation, paper"] == 0.87
    # Subset selection is the best encoding at epsilon 5 by far: e^5 is larger than the number of wards.
    last = sheets[1]["rows"][-1]
    assert last["subset_selection"] < 0.7 * last["symmetric_unary"]


def test_mistakes(small, tmp_path):
    with pytest.raises(ParameterError, match="runs is not a whole number from 1 on"):
        small(tmp_path, runs=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="the folder cannot be made"):
        small(tmp_path / "file" / "out", epsilons=(5.0,), hours=(0,), runs=1)


def test_traces_of_the_data_folder(data_folder, monkeypatch):
    monkeypatch.setenv("SUDARE_DATA", str(data_folder))
    values, basis = positions()
    assert len(values) == 70_000
    assert (values.min(), values.max()) == (0, 1023)
    assert "Nightley" in str(basis)


def test_traces_that_cannot_be_read(monkeypatch, tmp_path):
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    (tmp_path / "tokyo").mkdir()
    for name in ("traintraces_TK.csv.gz", "testtraces_TK.csv.gz"):
        (tmp_path / "tokyo" / name).write_bytes(gzip.compress(b"user,region\n1,2\n"))
    with pytest.raises(InputError, match="the traces cannot be read"):
        positions()


def test_table_a4_is_of_the_ten_printed_wards():
    """Mean, largest and smallest, by hour."""
    counts = np.array(list(PRINTED.values()))
    assert counts.mean(axis=0).round(1).tolist() == [192.4, 272.9, 334.2, 337.8, 302.2, 219.4]
    assert counts.max(axis=0).tolist() == [295, 414, 533, 532, 479, 351]
    assert counts.min(axis=0).tolist() == [98, 117, 116, 133, 141, 99]
