"""What the audit tries on the collector, and twins of it that are broken on purpose."""

from dataclasses import replace

import pytest

from sudare.audit.promises import bound_of, quick_pairs
from sudare.collector.audited import (
    _SURVEY,
    collector_findings,
    kept_rules,
    question_rules,
    relay_rules,
    survey_rules,
)
from sudare.collector.device import Device
from sudare.collector.shuffler import Codes, Shuffler
from sudare.collector.survey import Survey, Translation
from sudare.collector.survey_file import parse
from sudare.local import PermanentUnary, Several, SymmetricUnary


@pytest.fixture
def survey(tmp_path):
    return replace(parse(_SURVEY), storage=str(tmp_path / "reports.db"))


def broken(rules):
    return [rule for rule, kept in rules.items() if not kept]


def test_the_collector_keeps_its_rules(tmp_path):
    found = list(collector_findings(tmp_path / "more"))
    names = ["what it keeps", "surveys", "questions", "relay"]
    assert [one.name for one in found] == [f"collector, {name}" for name in names]
    assert all(one.passed for one in found)
    assert sum(one.times for one in found) == 11


def test_files_that_keep_the_order_are_found(survey, tmp_path, monkeypatch):
    monkeypatch.setattr("sudare.collector.group_commit.sorted", lambda places, key: list(places), raising=False)
    assert broken(kept_rules(survey, tmp_path)) == ["files_show_no_order_of_arrival"]


def test_an_estimate_after_each_report_is_found(survey, tmp_path):
    assert broken(kept_rules(replace(survey, every=1), tmp_path)) == ["an_estimate_shows_no_single_report"]


def test_a_swapped_translation_is_found(survey, tmp_path, monkeypatch):
    monkeypatch.setattr(Survey, "identity", property(lambda self: self._question))
    found = broken(survey_rules(survey, tmp_path))
    assert found == ["an_exchanged_translation_is_another_survey", "a_changed_survey_is_not_signed"]


def test_a_device_without_a_ledger_is_found(survey, tmp_path, monkeypatch):
    monkeypatch.setattr(Device, "charge", lambda self, survey, outbox, limits: None)
    assert broken(survey_rules(survey, tmp_path)) == ["a_device_makes_no_second_report"]


def undivided(cls, sizes, epsilon, *_):
    return cls({name: SymmetricUnary(size, epsilon) for name, size in sizes.items()})


def test_questions_that_do_not_share_their_budget_are_found(survey, tmp_path, monkeypatch):
    (pair,) = [each for each in quick_pairs() if each.name == "reports, several questions"]
    assert bound_of(pair, 20_000).epsilon <= pair.epsilon
    monkeypatch.setattr(Several, "divided", classmethod(undivided))
    (twin,) = [each for each in quick_pairs() if each.name == "reports, several questions"]
    assert bound_of(replace(twin, epsilon=pair.epsilon), 20_000).epsilon > pair.epsilon
    found = broken(question_rules(survey, tmp_path))
    assert found == ["the_questions_share_the_budget", "a_person_sends_one_report"]


def test_a_report_for_each_question_is_found(survey, tmp_path, monkeypatch):
    real = Survey.randomize
    monkeypatch.setattr(Survey, "randomize", lambda self, *given: real(self, *given) + real(self, *given))
    assert broken(question_rules(survey, tmp_path)) == ["a_person_sends_one_report"]


def test_a_swapped_translation_of_a_question_is_found(survey, tmp_path, monkeypatch):
    monkeypatch.setattr(Translation, "to_json", lambda self: {"question": self.question})
    found = broken(question_rules(survey, tmp_path))
    assert found == ["an_exchanged_translation_of_a_question_is_another_survey"]


def test_a_relay_that_forwards_in_order_is_found(survey, tmp_path, monkeypatch):
    monkeypatch.setattr("sudare.collector.group_commit.sorted", lambda places, key: list(places), raising=False)
    assert broken(relay_rules(survey, tmp_path)) == ["what_a_relay_forwards_shows_no_order"]


def test_tickets_that_link_a_code_to_a_report_are_found(survey, tmp_path, monkeypatch):
    monkeypatch.setattr("sudare.collector.sealing.ticket", lambda identity: identity)
    assert broken(relay_rules(survey, tmp_path)) == ["no_code_or_ticket_reaches_the_collector"]


def test_codes_that_are_forwarded_are_found(survey, tmp_path, monkeypatch):
    real = Shuffler._forward

    def forward(self, rows):
        passed, kept = self.client.forward, list(self.codes._held)
        self.client.forward = lambda body: passed(body[:-1] + ', "codes": "{}"}}'.format(" ".join(kept)).encode())
        return real(self, rows)

    monkeypatch.setattr(Shuffler, "_forward", forward)
    monkeypatch.setattr("sudare.collector.shuffler._hash", lambda code: code)
    assert broken(relay_rules(survey, tmp_path)) == ["no_code_or_ticket_reaches_the_collector"]


def test_codes_that_work_twice_are_found(survey, tmp_path, monkeypatch):
    monkeypatch.setattr(Codes, "hold", lambda self, code, ticket: True)
    assert broken(relay_rules(survey, tmp_path)) == ["a_code_counts_once"]


@pytest.mark.parametrize("name", ["permanent_unary", "permanent_unary of some values"])
def test_a_memory_that_is_drawn_anew_is_found(name, monkeypatch):
    (pair,) = [each for each in quick_pairs() if each.name == f"reports, {name}, over time"]
    assert bound_of(pair, 20_000).epsilon <= pair.epsilon
    real = PermanentUnary.remember

    def anew(self, values, known=None):
        memory = real(self, values)
        return (
            memory
            if known is None
            else replace(memory, asked=known.asked, packed=self._kept(memory.packed, known.asked))
        )

    monkeypatch.setattr(PermanentUnary, "remember", anew)
    assert bound_of(pair, 20_000).epsilon > pair.epsilon
