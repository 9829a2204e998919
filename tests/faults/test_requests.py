"""Malformed requests of all kinds over real sockets: each is answered 4xx, nothing is stored, and life goes on.

500 of them in the quick form, 20,000 in the full one.
"""

import json
import os
import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
from fault_requests import Mischief, answer_to

from sudare.collector import Client, Device, load
from sudare.local import encode_report

QUICK, FULL = 500, 20_000


class BadReports(Mischief):
    """Batches of reports that no collector of the survey may take."""

    def __init__(self, survey, seed):
        super().__init__("POST /reports", {"host": "x"}, lambda: self.batch(3), seed)
        self.survey = survey

    def batch(self, count):
        packed = self.survey.encoding.randomize(np.zeros(count, dtype=np.int64)).packed
        items = [{"id": os.urandom(16).hex(), "report": encode_report(row.tobytes())} for row in packed]
        return {"survey": self.survey.fingerprint, "reports": items}

    def bad_flipped_json(self):
        """One byte of a good request turned into something that JSON or the format cannot have there."""
        content = bytearray(json.dumps(self.batch(2)).encode())
        content[self.dice.randrange(len(content))] = self.dice.choice(b'\x00\x07"\\{}[],:\xff\x80')
        if json_equal(bytes(content), self.survey):
            return self.bad_bytes()
        return self.http(bytes(content))

    def bad_value(self):
        body = self.batch(3)
        self.dice.choice(body["reports"])[self.dice.choice(["id", "report"])] = self.junk()
        return self.http(body)

    def bad_item(self):
        body = self.batch(3)
        body["reports"][self.dice.randrange(3)] = self.junk()
        return self.http(body)

    def bad_list(self):
        return self.http(self.batch(1) | {"reports": self.dice.choice([self.junk(), {"0": 1}, "reports"])})

    def bad_survey(self):
        wrong = self.dice.choice([self.junk(), self.survey.fingerprint.upper(), self.survey.fingerprint[:-1]])
        return self.http(self.batch(2) | {"survey": wrong})

    def bad_keys(self):
        body = self.batch(2)
        change = self.dice.choice(["more", "less", "nested", "one and many"])
        if change == "more":
            body[self.dice.choice(["value", "time", "address", "", "__proto__"])] = "x"
        elif change == "less":
            del body[self.dice.choice(["survey", "reports"])]
        elif change == "nested":
            body["reports"][0]["answer"] = self.junk()
        else:
            body |= body["reports"][0]
        return self.http(body)

    def bad_repeated_key(self):
        text = json.dumps(self.batch(1))
        key = self.dice.choice(["survey", "reports", "id", "report"])
        return self.http(text.replace(f'"{key}":', f'"{key}": "x", "{key}":', 1).encode())

    def bad_top(self):
        return self.http(self.dice.choice([self.junk(), self.batch(2)["reports"], [self.batch(1)]]))

    def bad_length(self):
        body = self.batch(2)
        report = body["reports"][1]["report"]
        body["reports"][1]["report"] = self.dice.choice([report + "A", report[:-1], report + "=", report * 1000])
        return self.http(body)

    def bad_alphabet(self):
        body = self.batch(2)
        part = self.dice.choice(["id", "report"])
        text = body["reports"][0][part]
        place = self.dice.randrange(len(text))
        body["reports"][0][part] = text[:place] + self.dice.choice("+/=. \t\né!") + text[place + 1 :]
        return self.http(body)

    def bad_bits(self):
        """Bits beyond the last answer: the survey has 13 of them in 2 bytes."""
        body = self.batch(2)
        body["reports"][1]["report"] = encode_report(bytes([self.dice.randrange(256), self.dice.randrange(32, 256)]))
        return self.http(body)

    def bad_spare_bits(self):
        body = self.batch(1)
        body["reports"][0]["report"] = body["reports"][0]["report"][:-1] + self.dice.choice("BCDFGHJKLNOPRSTVWXZ")
        return self.http(body)

    def bad_twins(self):
        body = self.batch(4)
        body["reports"][3]["id"] = body["reports"][0]["id"]
        return self.http(body)

    def bad_many(self):
        body = self.batch(1)
        body["reports"] *= 1001
        return self.http(body)

    def bad_size(self):
        return self.http(b" " * self.dice.choice([200_000, 500_000]) + b"x")

    def bad_charset(self):
        text = json.dumps(self.batch(1))
        return self.http(text.encode(self.dice.choice(["utf-16", "utf-32", "utf-8-sig", "utf-16-le"])))

    def bad_numbers(self):
        text = json.dumps(self.batch(1) | {"reports": []})
        return self.http(
            text.replace("[]", self.dice.choice(["NaN", "Infinity", "-0", "1" * 5000, "01", "1e999"])).encode()
        )

    def bad_method(self):
        method = self.dice.choice(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
        return self.http(self.batch(1), method=method)

    def bad_path(self):
        paths = ["/report", "/reports/1", "/REPORTS", "//reports", "/static/../reports", "/static/%2e%2e/service.py"]
        paths += ["/static/", "/estimate/x", "/.git/config", "/" + "a" * 5000, "/%00", "/survey.toml"]
        path = self.dice.choice(paths)
        return self.http(self.batch(1), method=self.dice.choice(["GET", "POST"]), path=path)

    def bad_estimate(self):
        method = self.dice.choice(["POST", "PUT", "GET"])
        token = self.dice.choice(["Bearer x", "Bearer", "Basic eDp5", "\x80\xff", "Bearer " + "x" * 2000])
        return self.http(b"", method=method, path="/estimate", headers={"authorization": token})


def json_equal(content, survey):
    """Whether a changed request is still a good one: a digit of an id that became another, for instance."""
    from sudare.collector.intake import rows_of
    from sudare.errors import SudareError

    try:
        return bool(rows_of(content, survey))
    except SudareError:
        return False


def test_malformed_requests_are_answered_4xx_and_nothing_is_stored(launch, survey_file, full):
    survey_file.write_text(
        survey_file.read_text()
        .replace('labels = ["rice", "noodles", "bread", "nothing"]', f"labels = {[f'answer {i}' for i in range(13)]}")
        .replace("minimum = 10", 'minimum = 10, token = "a-token-of-some-length"')
    )
    survey = load(survey_file)
    server = launch(survey_file)
    mischief = BadReports(survey, seed=None if full else 20)
    answers = Counter()
    for _ in range(FULL if full else QUICK):
        kind, request = mischief.request()
        answers[kind, answer_to(server.port, request)] += 1
    wrong = {pair: count for pair, count in answers.items() if pair[1] is None or not 400 <= pair[1] < 500}
    assert wrong == {}
    assert {kind for kind, _ in answers} == {kind.__name__ for kind in mischief.kinds}
    with closing(sqlite3.connect(survey.storage)) as connection:
        assert connection.execute("SELECT count(*) FROM reports").fetchone() == (0,)
    device = Device(survey_file.with_name("device.db"))
    receipt = Client(server.url, device=device).send(["answer 3"] * 20)
    assert (receipt.stored, receipt.known) == (20, 0)
    assert server.process.poll() is None
    print(f"{sum(answers.values()):,} malformed requests of {len(mischief.kinds)} kinds")
