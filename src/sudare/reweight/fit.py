"""`fit`: a public data set weighted so that it answers for a private one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sudare.noise import Source
from sudare.parameters import keywords_of
from sudare.privacy import Number
from sudare.privacy.guarantee import warn_of
from sudare.reweight.checks import checked_source, guarded
from sudare.reweight.request import FitParameters, FitRequest
from sudare.reweight.weighting import Weighting


@keywords_of(FitParameters)
def fit(
    private: Any,
    public: Any,
    epsilon: Number | None = None,
    *,
    parameters: FitParameters,
    confirm_overlap: bool = False,
    seed: int | None = None,
    source: Source | None = None,
) -> Weighting:
    """Weights for the rows of ``public`` so that weighted averages answer for ``private``, at a cost of ``epsilon``.

    Data are arrays (rows,) or (rows, columns) with ``bounds`` a list of pairs; or columns by name (a dictionary, a
    frame, a file, `sudare.read` records) with ``bounds`` and ``categories`` by name. Numbers outside their bounds count
    as at the bound. ``private`` may also be an iterator of such parts, read once.

    What is measured is the mean of a ``basis`` over the private records: "hats" (default; shares of records near
    ``number`` knots of each column, jointly for two columns or for named ``pairs``), "kernel" (Gaussian kernels at
    ``number`` centres, ``width`` in declared ranges), or any `Basis`. ``centres`` are "public" (quantiles or rows of
    the public data: method B of the paper), declared points, "noisy" (records with noise, method A, which ``split``
    of epsilon goes to), or "raw" (records as they are, method C, only with ``accept_raw_records=True``).

    ``estimator``: "tilt" or "ulsif" (whose ``regularisation`` is chosen from public things where not given).
    ``delta``: Gaussian noise; for kernels in their own shape, whatever their number. ``adjacency``: "replace" (the
    number of records is public) or "add_remove" (it is measured, or declared as ``size``). ``unit``: the column, or
    the ids, of people with several rows: each counts once with the mean of their rows, or, with ``max_rows``, with so
    many rows at most; rows without an id are refused, or left out with ``missing_unit="drop"``. ``seed`` is for
    experiments: such a result promises nothing.

    ``public`` is not ``private``: the same object, file or rows are refused, and where rows are shared that nothing but
    copying explains, ``confirm_overlap=True`` says that these are public.

    >>> import numpy as np
    >>> sample = np.random.default_rng(1)
    >>> private, public = sample.normal(2, 0.5, 2000), sample.normal(1, 1, 50)
    >>> made = fit(private, public, epsilon=1.0, bounds=[(-4, 6)], centres="public")
    >>> made.weights.shape, str(made.guarantee).split(";")[0]
    ((50,), 'epsilon-DP with epsilon = 1')
    """
    request = FitRequest.of(parameters.space, epsilon, parameters)
    noise = checked_source(seed, source)
    private = guarded(private, public, request.space, parameters.unit, noise.seeded, confirm_overlap)
    made = request.meet(request.read(private, noise), public, noise)
    warn_of(made.guarantee)
    return replace(made, guarantee=made.guarantee.unbooked())
