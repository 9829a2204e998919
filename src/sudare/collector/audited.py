"""What `sudare audit` tries on the collector: the files, the estimate, the survey and the relay, read as an attacker.

The rules are kept by the very code that serves, on invented reports in a scratch folder: a store on a disk, a relay in
front of it, a device. An order is looked for by rank correlation: that of 150 reports in random order is beyond 0.5
(six standard errors) with a chance below 1e-8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sudare.audit.finding import Finding, Wanted, every
from sudare.audit.statements import Rules, rule_finding
from sudare.collector.collection import Collection, EstimateService
from sudare.collector.device import Device, Limits
from sudare.collector.intake import sealed_rows
from sudare.collector.outbox import Outbox
from sudare.collector.sealing import seal, sealed_body, sealing_key, sealing_text
from sudare.collector.shuffler import Codes, Shuffler, make_codes
from sudare.collector.storage import Row
from sudare.collector.survey import Survey, Translation, device_law
from sudare.collector.survey_file import parse
from sudare.errors import SudareError
from sudare.workflow.reports import is_signed, public_text

_REPORTS = 150
_ORDERED = 0.5
_SURVEY = f"""
name = "audit"
question = "Where?"
answers = {{type = "labels", labels = ["north", "middle", "south"]}}
privacy = {{encoding = "symmetric_unary", epsilon = 1}}
estimate = {{minimum = {_REPORTS}}}
service = {{batch = {_REPORTS}}}
"""
_SEVERAL = """
name = "audit of questions"
question = "Lunch and the way to work"
privacy = {encoding = "symmetric_unary", epsilon = 1}
questions.lunch = {question = "Lunch?", answers = {type = "labels", labels = ["yes", "no"]}}
questions.way = {question = "How?", answers = {type = "labels", labels = ["bus", "train"]}, share = 3}
"""


def collector_findings(folder: Path, wanted: Wanted = every) -> Iterator[Finding]:
    """A finding for what the collector keeps and shows, one for its survey, one for the relay."""
    survey = parse(_SURVEY)
    tried = {"what it keeps": kept_rules, "surveys": survey_rules, "questions": question_rules, "relay": relay_rules}
    for name, rules in tried.items():
        if wanted("behaviour", f"collector, {name}"):
            (place := folder / name).mkdir(parents=True)
            yield rule_finding(f"collector, {name}", rules(replace(survey, storage=str(place / "reports.db")), place))


def kept_rules(survey: Survey, folder: Path) -> Rules:
    """Reports come one by one; then the files are read, and the estimate is asked for before and after each one."""
    rows = _reports(survey, 2 * _REPORTS - 1)
    with closing(Collection(survey)) as collection:
        receipts = [collection.add([row]) for row in rows[:_REPORTS]]
        for receipt in receipts:
            receipt.result(60)
        running = _order_in_files(folder, rows[:_REPORTS])
    with closing(Collection(replace(survey, batch=1))) as collection:
        estimates = EstimateService(collection)
        shown = [estimates.current()]
        for row in rows[_REPORTS:]:
            collection.add([row]).result(60)
            shown.append(estimates.current())
    return {
        "files_show_no_order_of_arrival": max(running, _order_in_files(folder, rows[:_REPORTS])) < _ORDERED,
        "an_estimate_shows_no_single_report": all(each == shown[0] for each in shown),
    }


def survey_rules(survey: Survey, folder: Path) -> Rules:
    """A survey with another text, or other bytes, is noticed; and a device answers it once."""
    japanese = Translation(question="どこにいますか?", labels=("北", "中", "南"))
    asked = replace(survey, translations={"ja": japanese})
    swapped = replace(asked, translations={"ja": japanese.model_copy(update={"labels": ("南", "中", "北")})})
    key = Ed25519PrivateKey.generate()
    body = asked.identity_text.encode()
    signature, public = key.sign(body).hex(), public_text(key)
    device, limits = Device(folder / "device.db"), Limits()
    device.charge(asked, Outbox.of(asked.randomize(["north"]), asked.fingerprint), limits)
    try:
        device.charge(asked, Outbox.of(asked.randomize(["north"]), asked.fingerprint), limits)
        once = False
    except SudareError:
        once = True
    return {
        "an_exchanged_translation_is_another_survey": asked.fingerprint != swapped.fingerprint,
        "a_changed_survey_is_not_signed": is_signed(body, signature, public)
        and not is_signed(swapped.identity_text.encode(), signature, public),
        "a_device_makes_no_second_report": once,
    }


def question_rules(survey: Survey, folder: Path) -> Rules:  # noqa: ARG001 - all rules are asked alike
    """A survey of several questions costs what its file says, is answered by one report, and signs every text."""
    several = parse(_SEVERAL)
    japanese = Translation(questions={"lunch": Translation(labels=("はい", "いいえ"))})
    swapped = Translation(questions={"lunch": Translation(labels=("いいえ", "はい"))})
    asked, other = (replace(several, translations={"ja": each}) for each in (japanese, swapped))
    law = device_law(several.encoding) or {"parts": []}
    chances = [(int(part["own"], 16) / 2**128, int(part["other"], 16) / 2**128) for part in law["parts"]]
    drawn = sum(math.log(own * (1 - other) / (other * (1 - own))) for own, other in chances)
    outbox = Outbox.of(several.randomize({"lunch": ["yes"], "way": ["bus"]}), several.fingerprint)
    device = Device(folder / "device.db")
    device.charge(several, outbox, Limits())
    return {
        "the_questions_share_the_budget": several.cost.epsilon == 1 and 0.99 < drawn < 1 + 1e-9,
        "a_person_sends_one_report": len(outbox.rows) == 1 and device.spent == 1,
        "an_exchanged_translation_of_a_question_is_another_survey": asked.fingerprint != other.fingerprint,
    }


def relay_rules(survey: Survey, folder: Path) -> Rules:
    """All that the collector gets from a relay that asks for codes, beside what the relay got."""
    survey = replace(survey, shuffler="https://relay.example", codes=True)
    key, forwarded = sealing_key(folder / "key.pem"), list[bytes]()
    codes_file = make_codes(_REPORTS, folder / "codes.txt")
    codes = (folder / "codes.txt").read_text(encoding="ascii").split()
    made = Outbox.of(survey.randomize(["north"] * _REPORTS), survey.fingerprint)
    sealed = [seal(row, sealing_text(key), survey.fingerprint) for row in made.rows]
    with closing(Collection(survey)) as collection:

        def forward(body: bytes) -> None:
            forwarded.append(body)
            collection.add(sealed_rows(body, survey, key)).result(60)

        client: Any = SimpleNamespace(survey=survey, forward=forward)
        relay = Shuffler(client, Codes(codes_file))
        receipts, again = [], 0
        for row, code in zip(sealed, codes, strict=True):
            receipts.append(relay.group.add(relay.rows(sealed_body(survey.fingerprint, [row], [code]))[0]))
        for receipt in receipts:
            receipt.result(60)
        for row, code in zip(reversed(sealed), codes, strict=True):
            again += len(relay.rows(sealed_body(survey.fingerprint, [row], [code]))[0])
        relay.group.close()
    view = b"".join([*forwarded, *(path.read_bytes() for path in folder.glob("reports.db*"))])
    tickets = [form for ticket, _ in sealed for form in (ticket, ticket.hex().encode())]
    order = [view.index(sealed_body("", [row]).split(b'"sealed": "')[1][:-4]) for row in sealed]
    return {
        "what_a_relay_forwards_shows_no_order": len(forwarded) == 1 and _order(order) < _ORDERED,
        "no_code_or_ticket_reaches_the_collector": not any(each.encode() in view for each in codes)
        and not any(each in view for each in tickets),
        "a_code_counts_once": again == 0,
    }


def _reports(survey: Survey, number: int) -> list[Row]:
    return list(Outbox.of(survey.randomize(["north"] * number), survey.fingerprint).rows)


def _order_in_files(folder: Path, rows: Sequence[Row]) -> float:
    """How far the places of ids in the database and its log follow the order in which they came."""
    content = b"".join(path.read_bytes() for path in sorted(folder.glob("reports.db*"), reverse=True))
    return _order([content.index(identity) for identity, _ in rows])


def _order(places: Sequence[int]) -> float:
    """The rank correlation of places with 0, 1, 2 and so on, without its sign."""
    ranks = np.argsort(np.argsort(places))
    return abs(float(np.corrcoef(np.arange(len(ranks)), ranks)[0, 1]))
