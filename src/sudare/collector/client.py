"""The Python client: answers are randomised here, and only reports are sent.

Answers in a text file, one a line: the true values, which never leave the machine that reads them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np

from sudare.collector.answers import Answers
from sudare.collector.group_commit import Receipt
from sudare.collector.outbox import Outbox
from sudare.collector.survey import Survey
from sudare.domain import Bins, Mesh
from sudare.errors import InputError, MissingFileError
from sudare.local import encoding_from_json
from sudare.privacy import Number, positive


def read_answers(path: Path, answers: Answers) -> tuple[Any, ...]:
    """The columns that `Answers.ranks` takes; a mesh survey's lines are codes, or ``latitude,longitude``.

    Empty lines are skipped. A line that cannot be read is named by its number, never by what it says.
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
        return {
            "stored": self.receipt.stored,
            "known": self.receipt.known,
            "outbox": str(self.outbox),
            "resumed": self.resumed,
            "guarantee": self.guarantee,
        }


class Client:
    """Answers the survey of the collector at ``url``, for one device or for a hub that speaks for many.

    ``most_epsilon`` refuses surveys that protect less. ``tries`` and ``timeout`` (seconds) are for each request;
    ``pause`` waits between tries.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        most_epsilon: Number | None = None,
        timeout: float = 30.0,
        tries: int = 6,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError("a collector's address is not of the web", value=url, allowed="http://... or https://...")
        self.url = url.rstrip("/")
        self._token, self._timeout, self._tries, self._pause = token, timeout, tries, pause
        self._most_epsilon = None if most_epsilon is None else positive(most_epsilon, "most_epsilon")

    @cached_property
    def survey(self) -> Survey:
        """The survey, as the collector asks it; refused where it protects less than allowed."""
        content = self._content
        try:
            survey = Survey(
                name=content["name"],
                question=content["question"],
                answers=Answers.from_json(content["answers"]),
                encoding=encoding_from_json(content["encoding"]),
                title=content["title"],
                minimum=content["minimum"],
            )
            same = survey.fingerprint == content["survey"]
        except (KeyError, TypeError, AttributeError):
            same = False
        if not same:
            raise InputError("what answers there is no collector of this version of Sudare", value=self.url)
        if self._most_epsilon is not None and survey.encoding.epsilon > self._most_epsilon:
            raise InputError(
                "the survey protects less than you allow",
                value=survey.encoding.epsilon,
                allowed="an epsilon of at most {most_epsilon}",
                most_epsilon=self._most_epsilon,
            )
        return survey

    @cached_property
    def _content(self) -> dict[str, Any]:
        return self._request("/survey")

    @property
    def most_reports(self) -> int:
        """How many reports the collector takes in one request."""
        return max(1, int(self._content.get("most_reports", 1)))

    def prepare(self, *columns: Any) -> Outbox:
        """Randomise answers, each once: words, numbers, mesh codes, or latitudes and longitudes."""
        return Outbox.of(self.survey.randomize(*columns), self.survey.fingerprint)

    def post(self, outbox: Outbox) -> Receipt:
        """Send reports; when this returns they are on the collector's disk. May be called again after an error."""
        stored = known = 0
        for rows in outbox.batches(self.most_reports):
            answer = self._request("/reports", outbox.body(rows))
            stored, known = stored + int(answer["stored"]), known + int(answer["known"])
        return Receipt(stored, known)

    def send(self, *columns: Any) -> Receipt:
        """`prepare` and `post` in one step; keep an `Outbox` instead where the program may be interrupted."""
        return self.post(self.prepare(*columns))

    def estimate(self) -> dict[str, Any]:
        """The collector's estimate, as ``GET /estimate`` gives it."""
        return self._request("/estimate")

    def _request(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        headers = {"content-type": "application/json"} if body is not None else {}
        if self._token is not None and path == "/estimate":
            headers["authorization"] = f"Bearer {self._token}"
        request = Request(self.url + path, body, headers)  # noqa: S310 - http and https only: __init__
        wait = 0.5
        for remaining in reversed(range(self._tries)):
            try:
                with urlopen(request, timeout=self._timeout) as response:  # noqa: S310 - as above
                    content = json.loads(response.read())
                if isinstance(content, dict):
                    return content
                raise InputError("what answers there is no collector", value=self.url)
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
        raise InputError("a request needs at least one try", value=self._tries)


def send(
    url: str, answers: str | Path, outbox: str | Path | None = None, *, most_epsilon: Number | None = None
) -> Sent:
    """Randomise the answers in a text file, one a line, and send the reports to the collector at ``url``.

    The reports are written to ``outbox`` first (the answers' path with ``.reports`` if not given). Where that file is
    there already, its reports are sent and none is made: calling again after a fault or by mistake counts nobody twice.
    """
    client = Client(url, most_epsilon=most_epsilon)
    answers = Path(answers)
    kept = answers.with_name(answers.name + ".reports") if outbox is None else Path(outbox)
    resumed = kept.exists()
    if resumed:
        waiting = Outbox.load(kept, client.survey)
    else:
        waiting = client.prepare(*read_answers(answers, client.survey.answers))
        waiting.save(kept)
    return Sent(client.post(waiting), kept, resumed, str(client.survey.encoding.guarantee))


def _sentence(refusal: HTTPError) -> str:
    try:
        return str(json.loads(refusal.read())["error"])
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        return f"status {refusal.code}"
