"""The Python client: answers are randomised here, and only reports are sent.

The device's own ledger (`Device`) is charged before reports are made, and refuses surveys that cost too much. A survey
must be signed; the key is part of the link (``https://collector.example#key=...``), or is remembered at first sight.
"""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import Message
from fractions import Fraction
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
from pydantic import ValidationError

from sudare.collector.answers import Answers, Questions, answers_from_json
from sudare.collector.device import Device, Limits, refuse_costly
from sudare.collector.group_commit import Receipt
from sudare.collector.outbox import Outbox
from sudare.collector.pages import few_digits
from sudare.collector.sealing import seal, sealed_body
from sudare.collector.survey import Rounds, Survey, Translation
from sudare.domain import Bins, Mesh
from sudare.errors import InputError, MissingFileError
from sudare.language.catalogue import ENGLISH, Words
from sudare.local import PermanentUnary, encoding_from_json
from sudare.privacy import Number, readable
from sudare.workflow.reports import is_signed


def read_answers(path: Path, answers: Answers | Questions) -> tuple[Any, ...]:
    """The columns that `Answers.ranks` takes; a mesh survey's lines are codes, or ``latitude,longitude``.

    For several questions the file is CSV, and its first line has their names. Empty lines are skipped. A line that
    cannot be read is named by its number, never by what it says.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise MissingFileError("there is no such file of answers", value=path) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError("the answers cannot be read: {type}", value=path, type=type(problem).__name__) from None
    numbered = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise InputError("there are no answers in the file", value=path)
    if isinstance(answers, Questions):
        header, *rows = [(number, next(csv.reader([line]))) for number, line in numbered]
        names = [each.name for each in answers.asked]
        if sorted(header[1]) != sorted(names) or not rows:
            raise InputError(
                "the first line of the answers is not the names of the questions", value=path, allowed=names
            )
        for number, row in rows:
            if len(row) != len(names):
                raise InputError("line {line} of the answers has not an answer to each question", line=number)
        columns = {}
        for each in answers.asked:
            own = [(number, row[header[1].index(each.name)].strip()) for number, row in rows]
            columns[each.name] = _column(own, each.answers)
        return (columns,)
    return _column(numbered, answers)


def _column(numbered: list[tuple[int, str]], answers: Answers) -> tuple[Any, ...]:
    if isinstance(answers.attribute, Bins):
        return (np.array([_number(line, number) for number, line in numbered]),)
    if isinstance(answers.attribute, Mesh) and "," in numbered[0][1]:
        places = np.array([_pair(line, number) for number, line in numbered])
        return places[:, 0], places[:, 1]
    return ([line for _, line in numbered],)


def _number(text: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("line {line} of the answers is not a number", line=line) from None


def _pair(text: str, line: int) -> tuple[float, float]:
    latitude, _, longitude = text.partition(",")
    return _number(latitude, line), _number(longitude, line)


_PASSING = {408, 429, 502, 503, 504}
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True)
class Sent:
    """What `send` did: the receipt of the collector, the file with the reports, and whether it was there before."""

    receipt: Receipt
    outbox: Path
    resumed: bool
    guarantee: str

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        more = {"outbox": str(self.outbox), "resumed": self.resumed, "guarantee": self.guarantee}
        return vars(self.receipt) | more


class Client:
    """Answers the survey of the collector at ``url``, for one device or for a hub that speaks for many.

    ``most_epsilon`` (2) refuses a survey that costs more, ``most_a_year`` (8) one with which all surveys of a year
    would, by the ledger of this ``device``. ``url`` may carry the collector's key, as ``#key=...``. ``tries`` and
    ``timeout`` (seconds) are for each request; ``pause`` waits between tries.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        most_epsilon: Number | None = None,
        most_a_year: Number | None = None,
        device: Device | None = None,
        timeout: float = 30.0,
        tries: int = 6,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError(
                "a collector's address is not a web address", value=url, allowed="http://... or https://..."
            )
        address, _, fragment = url.partition("#")
        self.url = address.rstrip("/").removesuffix("/device")
        self._key = fragment.removeprefix("key=") if fragment.startswith("key=") else None
        self._token, self._timeout, self._tries, self._pause = token, timeout, tries, pause
        self.limits = Limits.of(most_epsilon, most_a_year)
        self.device = Device() if device is None else device

    @cached_property
    def survey(self) -> Survey:
        """The survey, as the collector asks it; refused where it is not signed, or costs more than allowed."""
        content = self._content
        try:
            survey = Survey(
                name=content["name"],
                question=content["question"],
                answers=answers_from_json(content["answers"]),
                encoding=encoding_from_json(content["encoding"]),
                title=content["title"],
                minimum=content["minimum"],
                rounds=Rounds(**content["rounds"]) if "rounds" in content else None,
                batch=content.get("batch"),
                shuffler=content.get("shuffler"),
                codes=content.get("codes", False),
                translations={language: Translation(**each) for language, each in content["translations"].items()},
            )
            same = survey.fingerprint == content["survey"]
        except (KeyError, TypeError, AttributeError, ValidationError):
            same = False
        if not same:
            raise InputError("the server at this address is not a collector of this version of Sudare", value=self.url)
        if survey.shuffler is not None and not survey.shuffler.startswith(("http://", "https://")):
            raise InputError("a relay's address is not a web address", value=survey.shuffler)
        refuse_costly(survey.cost.epsilon or Fraction(0), Fraction(0), self.limits)
        return survey

    def terms(self, words: Words = ENGLISH) -> str:
        """What a person should read before the first report: what is sent, and what it can reveal."""
        cost = self.survey.cost.epsilon or Fraction(0)
        return words(
            "collect.terms_again" if self.device.has_charged(self.survey) else "collect.terms",
            question=self.survey.texts(words.language).question,
            epsilon=readable(cost),
            times=few_digits(math.exp(cost)),
            most=readable(self.limits.survey),
            spent=readable(self.device.spent),
            year=readable(self.limits.year),
        )

    @cached_property
    def _content(self) -> dict[str, Any]:
        body, headers = self._answer("/survey")
        key = headers.get("sudare-key", "")
        if self._key is not None and key != self._key:
            raise InputError("the survey is not signed with the key of the link", value=self.url)
        if not is_signed(body, headers.get("sudare-signature", ""), key):
            raise InputError("the survey is not signed by its collector", value=self.url)
        self.device.check_key(self.url, key)
        return self._object(body)

    @property
    def most_reports(self) -> int:
        """How many reports the collector takes in one request."""
        return max(1, int(self._content.get("most_reports", 1)))

    def prepare(self, *columns: Any, other_people: bool = False, keep: bool = False) -> Outbox:
        """Randomise answers, each once: words, numbers, mesh codes, or latitudes and longitudes.

        For several questions these by name, ``{"lunch": ["rice"], "way": ["bus"]}``. The device's ledger is charged; a
        second time for the same survey only for ``other_people``. ``keep`` the reports in it until they are
        acknowledged.
        """
        survey = self.survey
        if survey.rounds is not None and isinstance(survey.encoding, PermanentUnary):
            ranks = survey.answers.ranks(*columns)
            if len(ranks) != 1:
                raise InputError("a survey with permanent answers takes one answer from each device", value=len(ranks))
            reports = self.device.permanent(survey, int(ranks[0]))
        else:
            reports = survey.randomize(*columns)
        outbox = Outbox.of(reports, survey.fingerprint)
        self.device.charge(survey, outbox, self.limits, other_people=other_people, keep=keep)
        return outbox

    def charge(self, outbox: Outbox, *, other_people: bool = False) -> None:
        """Book reports that were made in the ledger of this device, unless they are booked."""
        self.device.charge(self.survey, outbox, self.limits, other_people=other_people)

    def post(self, outbox: Outbox, codes: Sequence[str] = ()) -> Receipt:
        """Send reports; what is stored is on the collector's disk when this returns, what waits is to be sent again.

        May be called again after an error. Where the survey has a relay they are sealed and go there, each with one of
        the organiser's ``codes`` if it asks for them.
        """
        self.check_codes(codes, len(outbox.rows))
        totals, done = Receipt(0, 0), 0
        for rows in outbox.batches(self.most_reports):
            if self.survey.shuffler is None:
                answer = self._request("/reports", outbox.body(rows))
            else:
                sealed = [seal(row, self._content["sealing"], outbox.fingerprint) for row in rows]
                body = sealed_body(outbox.fingerprint, sealed, codes[done : done + len(rows)])
                answer = self._object(self._answer(self.survey.shuffler + "/reports", body)[0])
            done += len(rows)
            totals = Receipt(*(had + int(answer.get(name, 0)) for name, had in vars(totals).items()))
        return totals

    def check_codes(self, codes: Sequence[str], reports: int) -> None:
        """`InputError` where the survey asks for codes and there are not as many as reports."""
        if self.survey.codes and len(codes) != reports:
            raise InputError("each report needs a code from the organiser", value=len(codes))

    def forward(self, body: bytes) -> None:
        """Hand a relay's batch of sealed reports to the collector; it is on its disk when this returns."""
        self._request("/sealed", body)

    def send(self, *columns: Any, other_people: bool = False, codes: Sequence[str] = ()) -> Receipt:
        """`prepare` and `post` in one step; reports that wait from before are sent instead, and no other is made."""
        self.check_codes(codes, max(1, len(codes)))  # before anything is made and booked
        outbox = self.device.unsent(self.survey) or self.prepare(*columns, other_people=other_people, keep=True)
        receipt = self.post(outbox, codes)
        if not receipt.waiting:
            self.device.sent(outbox)
        return receipt

    def estimate(self) -> dict[str, Any]:
        """The collector's estimate, as ``GET /estimate`` gives it."""
        return self._request("/estimate")

    def _request(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        return self._object(self._answer(path, body)[0])

    def _object(self, body: bytes) -> dict[str, Any]:
        content = json.loads(body)
        if not isinstance(content, dict):
            raise InputError("the server at this address is not a collector", value=self.url)
        return content

    def _answer(self, path: str, body: bytes | None = None) -> tuple[bytes, Message]:
        headers = {"content-type": "application/json"} if body is not None else {}
        if self._token is not None and path == "/estimate":
            headers["authorization"] = f"Bearer {self._token}"
        # http and https only: __init__, and a relay's address is checked where the survey is read
        request = Request(path if "://" in path else self.url + path, body, headers)  # noqa: S310
        wait = 0.5
        for remaining in reversed(range(self._tries)):
            try:
                with urlopen(request, timeout=self._timeout) as response:  # noqa: S310 - as above
                    content, headers, status = response.read(), response.headers, response.status
                    json.loads(content)
                if status != 202 or not remaining:
                    return content, headers
                asked = headers.get("retry-after", "")
                wait = max(wait, float(asked) if asked.isdigit() else 0.0)
            except HTTPError as refusal:
                with refusal:
                    sentence = _sentence(refusal)
                    asked = refusal.headers.get("retry-after", "")
                if refusal.code not in _PASSING or not remaining:
                    raise InputError("the collector refused: {sentence}", sentence=sentence) from None
                wait = max(wait, float(asked) if asked.isdigit() else 0.0)
            except (URLError, HTTPException, OSError, ValueError, RecursionError):
                if not remaining:
                    raise InputError(
                        "the collector cannot be reached", value=self.url, hint="The same reports may be sent again."
                    ) from None
            self._pause(min(wait, _LONGEST_PAUSE))
            wait *= 2
        raise InputError("tries is not a number of attempts", value=self._tries, allowed="at least one")


def send(
    url: str,
    answers: str | Path,
    outbox: str | Path | None = None,
    *,
    most_epsilon: Number | None = None,
    most_a_year: Number | None = None,
    other_people: bool = False,
    codes: Sequence[str] = (),
    device: Device | None = None,
    confirm: Callable[[Client], bool] | None = None,
) -> Sent:
    """Randomise the answers in a text file, one a line, and send the reports to the collector at ``url``.

    The reports are written to ``outbox`` first (the answers' path with ``.reports`` if not given). Where that file is
    there already, its reports are sent and none is made: calling again after a fault or by mistake counts nobody twice.
    ``confirm`` is asked before reports are made for the first time.
    """
    client = Client(url, most_epsilon=most_epsilon, most_a_year=most_a_year, device=device)
    answers = Path(answers)
    kept = answers.with_name(answers.name + ".reports") if outbox is None else Path(outbox)
    resumed = kept.exists()
    if resumed:
        waiting = Outbox.load(kept, client.survey)
        client.charge(waiting, other_people=other_people)
    else:
        columns = read_answers(answers, client.survey.answers)
        client.check_codes(codes, len(client.survey.answers.ranks(*columns)))
        client.device.refuse_beyond(client.survey, client.limits)  # before anybody agrees to it
        if confirm is not None and not confirm(client):
            raise InputError("nothing was sent")
        waiting = client.prepare(*columns, other_people=other_people)
        waiting.save(kept)
    return Sent(client.post(waiting, codes), kept, resumed, str(client.survey.guarantee))


def _sentence(refusal: HTTPError) -> str:
    try:
        return str(json.loads(refusal.read())["error"])
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        return f"status {refusal.code}"
