"""A fitted weighting as plain JSON, so that whoever has the public file can weigh other rows and ask with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.errors import InputError, Message, ParameterError, SudareError
from sudare.privacy import Guarantee
from sudare.reweight.basis import Basis
from sudare.reweight.gaussian_process import GaussianProcess
from sudare.reweight.hats import Hats
from sudare.reweight.kernel import Kernel
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.rows import PublicFeatures, columns_of
from sudare.reweight.space import Space
from sudare.reweight.weighting import Model, Weighting

FORMAT = "sudare-weighting/1"
_ARRAYS = ("coefficients", "directions", "shift", "error")


def to_json(made: Weighting) -> dict[str, Any]:
    """All that a reader needs: nothing but released things."""
    model, measured = made.model, made.measured
    if not isinstance(model.basis, Hats | Kernel | GaussianProcess):
        raise ParameterError(
            "only hats and kernels can be saved", value=made.summary["basis"], hint="Save the weights instead."
        )
    return {
        "format": FORMAT,
        "estimator": made.estimator,
        "parameters": made.parameters,
        "guarantee": made.guarantee.to_json(),
        "columns": model.space.to_json(),
        "basis": model.basis.to_json(),
        "link": model.link,
        "offset": model.offset,
        "cap": model.cap if np.isfinite(model.cap) else None,
        **{name: getattr(model, name).tolist() for name in _ARRAYS},
        "measured": {
            "value": measured.value.tolist(),
            "variance": measured.variance,
            "people": measured.people,
            "sensitivity": measured.sensitivity,
            "people_variance": measured.people_variance,
        },
    }


def from_json(data: dict[str, Any], public: Any) -> Weighting:
    """The weighting for the rows of ``public``, which has the declared columns."""
    try:
        if data["format"] != FORMAT:
            raise InputError("not a saved weighting of this format", value=data["format"], allowed=[FORMAT])
        space = Space.declare(
            {column["name"]: tuple(column["bounds"]) for column in data["columns"] if "bounds" in column},
            {column["name"]: column["categories"] for column in data["columns"] if "categories" in column},
        )
        basis = _basis(space, data["basis"])
        arrays = {name: np.array(data[name], dtype=np.float64) for name in _ARRAYS}
        kept = len(arrays["shift"])  # none at all, where the noise left no direction
        arrays["directions"] = arrays["directions"].reshape(basis.size, kept)
        arrays["error"] = arrays["error"].reshape(kept, kept)
        cap = np.inf if data["cap"] is None else float(data["cap"])
        model = Model(space, basis, **arrays, link=data["link"], offset=float(data["offset"]), cap=cap)
        facts = data["measured"]
        measured = NoisyMean(np.array(facts["value"]), *(facts[name] for name in _NUMBERS))
        guarantee = Guarantee.from_json(data["guarantee"])
        estimator, parameters = str(data["estimator"]), dict(data["parameters"])
    except SudareError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError("the saved weighting lacks a part or has a wrong one") from None
    columns = columns_of(public, space, Message("public"))
    codes = space.encode(columns)
    return Weighting(
        model, model.ratio(codes), guarantee, estimator, parameters, measured, columns, PublicFeatures(basis, codes)
    )


_NUMBERS = ("variance", "people", "sensitivity", "people_variance")


def _basis(space: Space, data: dict[str, Any]) -> Basis:
    if data["basis"] == "hats":
        return Hats.from_json(data)
    kernel = Kernel.from_json(space, data)
    return GaussianProcess(kernel) if data["basis"] == "gaussian process" else kernel
