"""Experiments in units: an interrupted run goes on where it stopped."""

import pickle

import numpy as np
import pytest

from sudare.language.messages import unheard
from sudare.papers.reproduction import forget_units, run_units


def units(asked, stop=None):
    def make(name):
        def run():
            if name == stop:
                raise KeyboardInterrupt
            asked.append(name)
            return {"value": np.arange(3), "name": name}

        return run

    return {name: make(name) for name in ("first", "second", "third")}


def test_an_interrupted_run_keeps_what_it_has_and_goes_on(tmp_path):
    asked, said = [], []
    with pytest.raises(KeyboardInterrupt):
        run_units(tmp_path, units(asked, stop="third"), {"runs": 2}, said.append)
    made = run_units(tmp_path, units(asked), {"runs": 2}, said.append)
    assert asked == ["first", "second", "third"]
    assert [made[name]["name"] for name in made] == asked
    assert [(each.done, each.total) for each in said] == [(1, 3), (2, 3), (3, 3), (3, 3)]
    forget_units(tmp_path)
    assert not (tmp_path / "parts").exists()


def test_other_settings_are_another_experiment(tmp_path):
    asked = []
    run_units(tmp_path, units(asked), {"runs": 2}, unheard)
    run_units(tmp_path, units(asked), {"runs": 3}, unheard)
    assert len(asked) == 6


class Foreign:
    def __reduce__(self):
        return (print, ("run",))


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps((Foreign(),))], ids=["empty", "broken", "code"])
def test_a_file_that_is_not_ours_is_computed_again(tmp_path, content, capsys):
    asked = []
    run_units(tmp_path, units(asked), {}, unheard)
    for path in (tmp_path / "parts").iterdir():
        path.write_bytes(content)
    run_units(tmp_path, units(asked), {}, unheard)
    assert len(asked) == 6
    assert capsys.readouterr().out == ""
