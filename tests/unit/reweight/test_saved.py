import json

import numpy as np
import pytest

import sudare.reweight as reweight
from sudare.errors import InputError
from sudare.reweight.weighting import from_json, to_json

GENERATOR = np.random.default_rng(13)
PRIVATE, PUBLIC = GENERATOR.normal(2, 0.5, 500), GENERATOR.normal(1, 1, 60)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"basis": "kernel"},
        {"estimator": "ulsif"},
        {"epsilon": 1e-6},
        {"basis": "polynomial", "estimator": "ulsif"},
        {"estimator": "importance"},
    ],
)
def test_json_and_back(options):
    made = reweight.fit(PRIVATE, PUBLIC, **({"epsilon": 1.0, "bounds": [(-4, 6)]} | options))
    again = from_json(json.loads(json.dumps(to_json(made))), PUBLIC)
    assert again.weights == pytest.approx(made.weights)
    assert again.guarantee == made.guarantee
    assert again.mean("x0").low == pytest.approx(made.mean("x0").low)
    assert again.warnings == made.warnings


def test_what_cannot_be_read():
    good = to_json(reweight.fit(PRIVATE, PUBLIC, 1.0, bounds=[(-4, 6)]))
    with pytest.raises(InputError, match="not a saved weighting of this format"):
        from_json({**good, "format": "other"}, PUBLIC)
    for name in ("basis", "coefficients", "guarantee", "measured"):
        with pytest.raises(InputError, match="lacks a part or has a wrong one"):
            from_json({key: value for key, value in good.items() if key != name}, PUBLIC)
