"""What somebody learns who has the collector's files, or asks for its estimate all the time."""

import os
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from sudare.collector import parse
from sudare.collector.collection import Collection, EstimateService, open_store
from sudare.collector.storage import RequestError

SURVEY = """
name = "lunch"
question = "Lunch?"
answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
estimate = {minimum = 150}
"""


def made(survey, count):
    packed = survey.encoding.randomize(np.zeros(count, dtype=np.int64)).packed
    return [(os.urandom(16), row.tobytes()) for row in packed]


def order_in_files(folder, rows):
    """The places at which ids first appear in the database and its log, as an attacker would read them."""
    content = b"".join(path.read_bytes() for path in sorted(folder.glob("reports.db*"), reverse=True))
    return [content.index(identity) for identity, _ in rows]


def order_in_postgres(url, rows):
    import psycopg

    with psycopg.connect(url) as connection:
        asked = "SELECT id FROM sudare_reports ORDER BY xmin::text::bigint, ctid"  # as texts, 1000 is before 999
        ranks = {bytes(identity): rank for rank, (identity,) in enumerate(connection.execute(asked).fetchall())}
    return [ranks[identity] for identity, _ in rows]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return str(tmp_path / "reports.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


def seen(url, tmp_path, rows):
    places = order_in_postgres(url, rows) if "://" in url else order_in_files(tmp_path, rows)
    return abs(spearmanr(range(len(rows)), places).statistic)


def test_the_files_do_not_show_in_which_order_reports_came(url, tmp_path):
    """150 reports that come one by one: ranks of time and place are unrelated (|rho| < 0.5: six standard errors)."""
    survey = replace(parse(SURVEY), storage=url)
    collection = Collection(survey)
    rows = made(survey, 150)
    receipts = [collection.add([row]) for row in rows]
    assert [receipt.result(60).stored for receipt in receipts] == [1] * 150
    assert seen(url, tmp_path, rows) < 0.5
    collection.close()
    assert seen(url, tmp_path, rows) < 0.5


def test_the_twin_that_stores_each_report_as_it_comes_shows_all_of_it(url, tmp_path):
    survey = replace(parse(SURVEY), storage=url)
    rows = made(survey, 150)
    with closing(open_store(url, survey.identity)) as store:
        for row in rows:
            store.add([row])
        assert seen(url, tmp_path, rows) > 0.9


def test_who_asks_before_and_after_a_report_sees_no_difference(tmp_path):
    survey = replace(parse(SURVEY.replace("150", "20")), storage=str(tmp_path / "reports.db"), batch=1)
    collection = Collection(survey)
    estimates = EstimateService(collection)
    collection.add(made(survey, 20)).result(60)
    first = estimates.current()
    for _ in range(19):
        collection.add(made(survey, 1)).result(60)
        assert estimates.current() == first
    collection.close()
    collection = Collection(survey)  # a restart shows what was shown before
    assert EstimateService(collection).current() == first
    assert collection.reports == 39
    collection.add(made(survey, 1)).result(60)
    assert EstimateService(collection).current()["reports"] == 40
    collection.close()


def test_too_few_stay_too_few_over_restarts(tmp_path):
    survey = replace(parse(SURVEY), storage=str(tmp_path / "reports.db"), batch=1)
    for _ in range(2):
        collection = Collection(survey)
        collection.add(made(survey, 70)).result(60)
        with pytest.raises(RequestError, match="there are too few reports"):
            EstimateService(collection).current()
        collection.close()
