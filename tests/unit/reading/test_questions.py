import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.reading import ask

DOMAIN = sd.Domain(
    mesh=sd.Mesh("1km", rows=(4240, 4248), columns=(3150, 3158)),
    sex=sd.Categories(["f", "m"]),
    age=sd.Bins(0, 100, step=5),
)


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(2)
    cells = DOMAIN.cells(np.arange(0, DOMAIN.size, 2))
    return sd.release(sd.CountTable(DOMAIN, cells, rng.poisson(20, len(cells))), epsilon=1, seed=1)


def frame(release):
    return release.table.to_pandas()


def test_conditions_are_sums_of_the_released_cells(release):
    rows = frame(release)
    old = rows["age"].cat.codes >= 13
    for where, chosen in [
        ({}, rows["count"] >= 0),
        ({"sex": "m"}, rows["sex"] == "m"),
        ({"age": "65+"}, old),
        ({"age": ["65-69", "70-74"]}, rows["age"].isin(["65-69", "70-74"])),
        ({"age": "65-74", "sex": ["f", "m"]}, rows["age"].isin(["65-69", "70-74"])),
        ({"age": "under 10"}, rows["age"].cat.codes < 2),
        ({"age": 67, "sex": "f"}, (rows["age"] == "65-69") & (rows["sex"] == "f")),
        ({"mesh": int(rows["mesh"][0])}, rows["mesh"] == rows["mesh"][0]),
        (
            {"mesh": str(rows["mesh"][0])[:6], "age": "65+"},
            old & rows["mesh"].astype(str).str.startswith(str(rows["mesh"][0])[:6]),
        ),
    ]:
        answer = ask(release, where)
        assert answer.value == rows["count"][chosen].sum(), where
        assert answer.low <= answer.value <= answer.high


def test_an_answer_has_the_bars_of_the_release(release):
    answer, bars = ask(release, sex="f", level=0.5), release.aggregate({"sex": {"f": "x"}}, 0.5)
    assert (answer.low, answer.high) == (bars.low[0], bars.high[0])
    assert answer.to_json()["where"] == {"sex": ["f"]}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"town": "x"}, "there is no such attribute .*mesh, sex, age"),
        ({"sex": "x"}, "not in the domain of sex .*allowed: f, m"),
        ({"age": "63+"}, "age has no bins that make up this range"),
        ({"age": "old"}, "age has no bins that make up this range"),
        ({"mesh": "9"}, "this is not a code of 1km mesh"),
    ],
)
def test_what_is_not_there_is_refused(release, where, said):
    with pytest.raises(ParameterError, match=said):
        ask(release, where)


def test_other_kinds_say_what_they_have(release):
    with pytest.raises(ParameterError, match="only tables can be asked"):
        ask(object(), {})
