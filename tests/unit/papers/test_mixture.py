import gzip
import json

import numpy as np
import pytest

from papers_in_words import untranslated
from sudare.errors import InputError, ParameterError
from sudare.language.messages import Progress, Stage, lines
from sudare.papers import data as files
from sudare.papers import mixture, mixture_adult, mixture_synthetic


def test_the_synthetic_records_are_the_papers():
    x = mixture_synthetic.records(200_000, 1)
    assert x.mean() == pytest.approx(0.1 * -1 + 0.6 * 3 + 0.2 * 5 + 0.1 * 9, abs=0.03)
    assert np.mean(x < 1) == pytest.approx(0.1, abs=0.005)
    assert np.mean(x > 8) == pytest.approx(0.1, abs=0.005)
    assert (x == mixture_synthetic.records(200_000, 1)).all()


def test_l1_accuracy():
    assert mixture_synthetic.l1_percent(np.array([0.5, 0.5]), np.array([0.5, 0.5])) == 100
    assert mixture_synthetic.l1_percent(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 0


def test_the_stand_in_says_what_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    data, basis = mixture_adult.adult_numbers()
    assert "invented stand-in" in str(basis)
    for name, (low, high) in mixture_adult.BOUNDS.items():
        assert len(data[name]) == files.TRAINING_RECORDS
        assert low <= data[name].min() <= data[name].max() <= high


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(b"39, a, b\n")], ids=["not gzip", "too short"])
def test_a_broken_file_is_one_sentence(monkeypatch, tmp_path, content):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / files.FILES[0]).write_bytes(content)
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="Adult file cannot be read"):
        mixture_adult.adult_numbers()


def test_everything_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    invented = mixture_adult.adult_numbers()[0]
    few = {name: column[:300] for name, column in invented.items()}
    monkeypatch.delitem(mixture_adult.BOUNDS, "capital-gain")
    monkeypatch.setattr(mixture_synthetic, "PRINTED_STEPS", 20)
    monkeypatch.setattr(mixture_synthetic, "LIMIT", 200)
    monkeypatch.setattr(mixture_synthetic, "COMPONENTS", (2, 3))
    said = []
    made = mixture.reproduce(tmp_path / "out", True, said.append, runs={1_000: 1}, data=(few, "an invented stand-in"))
    names = [path.name for path in made.files if ".ja." not in path.name]
    assert names == [
        "synthetic.csv",
        "adult.csv",
        "table1.csv",
        "table1_accuracy.csv",
        "figure2_as_printed.png",
        "figure2_sudare.png",
    ]
    assert all(path.stat().st_size for path in made.files)
    assert Progress(Stage.EXPERIMENT, 1, 4, "1,000 records, draw 1") in said
    found = json.loads(json.dumps(made.to_json()))
    assert found["paper"] == "mixture"
    assert found["runs"] == {"1000": 1}
    assert "invented" in lines(made.facts)["data"]
    assert not untranslated(made)
    rows = (tmp_path / "out" / "adult.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["age", "education-num"]
    shares = np.array(made.cross.true)
    assert shares.sum() == pytest.approx(1)
    assert all(table.sum() == pytest.approx(1) for table in made.cross.found.values())


def test_other_sizes_than_the_papers_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="the paper's sizes"):
        mixture.reproduce(tmp_path, runs={500: 1})
