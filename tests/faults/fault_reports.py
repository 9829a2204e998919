"""Surveys, and reports of devices as requests and as files."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from fault_changes import CANARY, changed_bytes, changed_cells, changed_tree, to_toml
from hypothesis import strategies as st

from sudare.collector import load
from sudare.collector.client import read_answers
from sudare.collector.intake import rows_of
from sudare.collector.outbox import Outbox
from sudare.collector.pages import page
from sudare.collector.survey_file import parse
from sudare.local import Tally, estimate
from sudare.local.files import open_reports

SMALL = 2**14
SURVEY = """
name = "lunch"
question = "What did you have for lunch?"
answers = {type = "labels", labels = ["rice", "noodles", "bread", "nothing", "soup"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
estimate = {minimum = 10, method = "auto", token = "a-token-of-some-length"}
service = {storage = "reports.db", rate = 10, batch = 1, origins = ["https://example.jp"], behind_proxy = true}
ledger = {path = "ledger.db", dataset = "lunch", cap = {epsilon = 3, delta = 1e-6}}
translations.ja = {title = "昼食", question = "昼食は何でしたか", labels = ["米", "麺", "パン", "なし", "汁"]}
"""
_LABELS = 'type = "labels", labels = ["rice", "noodles", "bread", "nothing", "soup"]'
_TILES = 'type = "tiles", tiles = {a = [0, 0], b = [0, 1], c = [1, 1], d = [2, 0], e = [3, 3]}'
_BINS = 'type = "bins", start = 0, stop = 50, step = 10'
_MESH = 'type = "mesh", size = "1km", rows = [4200, 4201], columns = [3100, 3105]'
SURVEYS = (
    SURVEY,
    SURVEY.replace(_LABELS, _TILES),
    SURVEY.replace(_LABELS, _BINS).replace("symmetric_unary", "square_wave"),
    SURVEY.replace(_LABELS, _MESH).replace("symmetric_unary", "local_hashing"),
)


@cache
def report_seeds() -> dict[str, Any]:
    """Four reports in every form they take: trees, lines of trees, or bytes."""
    survey = parse(SURVEY)
    reports = survey.encoding.randomize(np.array([0, 1, 2, 4]))
    outbox = Outbox.of(reports, survey.fingerprint)
    with TemporaryDirectory() as name:
        files = {each: Path(name) / each for each in ("outbox", "reports.jsonl", "reports.parquet")}
        outbox.save(files["outbox"])
        reports.to_json_lines(files["reports.jsonl"])
        reports.to_parquet(files["reports.parquet"])
        return {
            "request": json.loads(outbox.body(outbox.rows)),
            "outbox": [json.loads(line) for line in files["outbox"].read_text().splitlines()],
            "lines": [json.loads(line) for line in files["reports.jsonl"].read_text().splitlines()],
            "tally": Tally(survey.encoding).add(reports).to_json(),
            "parquet": files["reports.parquet"].read_bytes(),
        }


@st.composite
def report_inputs(draw: st.DrawFn) -> tuple[str, bytes]:
    """Where the bytes go, and the bytes."""
    where = draw(st.sampled_from(["request", "request", "outbox", "lines", "tally", "parquet", "answers"]))
    if where == "parquet":
        return where, draw(changed_bytes(report_seeds()[where]))
    if where == "answers":
        rows = draw(changed_cells([["rice"], ["soup"], [CANARY], ["bread"]]))
        return where, draw(changed_bytes("\n".join(map(",".join, rows)).encode("utf-8", "replace")))
    tree = draw(changed_tree(report_seeds()[where]))
    text = "\n".join(map(json.dumps, tree)) if where in ("outbox", "lines") else json.dumps(tree)
    return where, draw(changed_bytes(text.encode())) if draw(st.integers(0, 2)) == 0 else text.encode()


def report_name(where: str) -> str:
    """What a file of this form is called."""
    names = {"outbox": "outbox", "request": "request", "answers": "answers.txt", "tally": "t.json", "lines": "r.jsonl"}
    return names.get(where, "r.parquet")


def use_reports(drawn: tuple[str, bytes], folder: Path) -> None:
    where, content = drawn
    survey = parse(SURVEY)
    if where == "request":
        rows_of(content, survey)
        return
    path = folder / report_name(where)
    path.write_bytes(content)
    if where == "outbox":
        Outbox.load(path, survey)
    elif where == "answers":
        survey.randomize(*read_answers(path, survey.answers))
    else:
        estimate(open_reports([path])).to_json()


@st.composite
def surveys(draw: st.DrawFn) -> bytes:
    text = draw(st.sampled_from(SURVEYS))
    if draw(st.integers(0, 4)) == 0:
        return draw(changed_bytes(text.encode()))
    return to_toml(draw(changed_tree(tomllib.loads(text, parse_float=Decimal)))).encode("utf-8", "replace")


def use_survey(content: bytes, folder: Path) -> None:
    (folder / "survey.toml").write_bytes(content)
    survey = load(folder / "survey.toml")
    json.dumps(survey.to_json())
    if survey.encoding.report_bytes <= SMALL:
        survey.encoding.randomize(np.zeros(2, dtype=np.int64))
    for language in ("en", "ja"):
        page("device" if survey.law else "no_device", survey, language)
        page("estimate", survey, language)
