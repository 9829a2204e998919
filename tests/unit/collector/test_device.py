"""The device's own account: over all surveys, renamed rounds and restarts."""

import datetime
from dataclasses import replace
from fractions import Fraction

import pytest

from sudare.collector import Device, Limits, Outbox, Rounds, parse
from sudare.errors import InputError
from sudare.local import PermanentUnary

SURVEY = """
name = "lunch"
question = "Lunch?"
answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
"""
DAY = datetime.date(2026, 11, 18)


@pytest.fixture
def survey():
    return parse(SURVEY)


def made(survey):
    return Outbox.of(survey.randomize(["rice"]), survey.fingerprint)


def test_renamed_rounds_add_up_over_restarts_until_the_year_is_full(tmp_path, survey):
    path = tmp_path / "device.db"
    for number in range(8):
        renamed = replace(survey, name=f"lunch-{number}")
        Device(path, lambda: DAY).charge(renamed, made(renamed), Limits())  # opened anew each time
    assert Device(path, lambda: DAY).spent == 8
    ninth = replace(survey, name="lunch-9")
    with pytest.raises(InputError, match="would pass its limit for a year"):
        Device(path, lambda: DAY + datetime.timedelta(days=364)).charge(ninth, made(ninth), Limits())
    Device(path, lambda: DAY + datetime.timedelta(days=365)).charge(ninth, made(ninth), Limits())


@pytest.mark.parametrize(("epsilon", "allowed"), [("2", True), ("2.1", False), ("64", False)])
def test_an_epsilon_beyond_the_limit_is_not_taken(tmp_path, epsilon, allowed):
    survey = parse(SURVEY.replace("epsilon = 1", f"epsilon = {epsilon}"))
    device = Device(tmp_path / "device.db")
    if allowed:
        device.charge(survey, made(survey), Limits())
        return
    with pytest.raises(InputError, match=r"the survey protects less than you allow .* at most 2"):
        device.charge(survey, made(survey), Limits())
    assert device.spent == 0
    device.charge(survey, made(survey), Limits.of(64, 64))
    assert device.spent == Fraction(epsilon)


def test_the_same_reports_may_be_sent_again_but_no_others_of_the_same_person(tmp_path, survey):
    device, first = Device(tmp_path / "device.db"), made(survey)
    device.charge(survey, first, Limits(), keep=True)
    assert Device(tmp_path / "device.db").unsent(survey) == first  # after a restart
    device.charge(survey, first, Limits())
    with pytest.raises(InputError, match="this device has answered the survey before"):
        device.charge(survey, made(survey), Limits())
    device.charge(survey, made(survey), Limits(), other_people=True)
    assert device.spent == 1
    device.sent(first)
    assert device.unsent(survey) is None


def test_the_key_of_an_address_is_remembered(tmp_path):
    device = Device(tmp_path / "device.db")
    device.check_key("https://a.example", "aa")
    device.check_key("https://a.example", "aa")
    with pytest.raises(InputError, match="signed with another key than before"):
        device.check_key("https://a.example", "bb")


@pytest.fixture
def daily(survey):
    encoding = PermanentUnary(3, Fraction(1), Fraction(1, 2))
    return replace(survey, encoding=encoding, rounds=Rounds(series="daily", number=1, of=30, changes=1))


def bits_of(device, survey):
    with device._opened() as connection:
        return dict(connection.execute("SELECT value, bits FROM memory WHERE account = ?", [survey.account]))


def test_a_value_that_returns_gets_its_old_permanent_answer(tmp_path, daily):
    device = Device(tmp_path / "device.db")
    assert daily.cost.epsilon == 2  # two values at 1 each, for thirty rounds
    device.permanent(daily, 0)
    home = bits_of(device, daily)[0]
    tomorrow = replace(daily, name="lunch-2", rounds=daily.rounds.model_copy(update={"number": 2}))
    for value in (1, 0, 1, 0):
        Device(tmp_path / "device.db").permanent(tomorrow, value)
    assert bits_of(device, daily).keys() == {0, 1}
    assert bits_of(device, daily)[0] == home
    with pytest.raises(InputError, match="the answer would change more often"):
        device.permanent(tomorrow, 2)


def test_a_device_that_has_forgotten_does_not_draw_again(tmp_path, daily):
    device = Device(tmp_path / "device.db")
    device.permanent(daily, 0)
    device.forget(daily)
    assert not any(bits_of(device, daily).values())
    with pytest.raises(InputError, match="this device has left the series"):
        device.permanent(daily, 0)


def test_who_forgets_sends_nothing_that_waits_and_no_further_round(tmp_path, survey):
    device, rounds = Device(tmp_path / "device.db"), Rounds(series="daily", number=1, of=2)
    first, second = (replace(survey, name=f"day {day}", rounds=rounds) for day in range(2))
    device.charge(first, made(first), Limits(), keep=True)
    assert device.unsent(first) is not None
    device.forget(second)
    assert device.unsent(first) is None
    with pytest.raises(InputError, match="this device has left the series"):
        device.charge(second, made(second), Limits())
    assert device.spent == 2  # what is sent cannot be taken back


def test_rounds_of_one_series_are_charged_once(tmp_path, daily):
    device = Device(tmp_path / "device.db")
    for number in (1, 2, 3):
        today = replace(daily, name=f"day {number}", rounds=daily.rounds.model_copy(update={"number": number}))
        device.charge(today, Outbox.of(device.permanent(today, 0), today.fingerprint), Limits())
    assert device.spent == 2


def test_a_series_is_answered_in_as_many_rounds_as_were_charged(tmp_path, survey):
    """Surveys under other names, or with other questions, that say that they are rounds of a series paid for."""
    device, series = Device(tmp_path / "device.db"), Rounds(series="daily", number=1, of=2)
    first, second, third = (replace(survey, name=f"day {day}", question=f"{day}?", rounds=series) for day in range(3))
    for each in (first, second):
        device.charge(each, made(each), Limits())
    assert device.spent == first.cost.epsilon == 2
    with pytest.raises(InputError, match="has taken part in all rounds of the series"):
        device.charge(third, made(third), Limits())
    device.charge(first, made(first), Limits(), other_people=True)  # it is one of the two


def test_a_file_from_before_rounds_were_counted_is_used(tmp_path, survey):
    device = Device(tmp_path / "device.db")
    device.charge(survey, made(survey), Limits())
    with device._opened() as connection:
        connection.execute("DROP TABLE taken")
    other = replace(survey, name="dinner")
    device.charge(other, made(other), Limits())
    assert device.spent == 2


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "device.db").write_bytes(b"not a database, but long enough to be taken for one" * 20)
    with pytest.raises(InputError, match="the ledger of this device cannot be used"):
        _ = Device(tmp_path / "device.db").spent


def test_without_a_place_nothing_is_sent(monkeypatch):
    monkeypatch.setenv("SUDARE_STATE", "off")
    with pytest.raises(InputError, match="there is no folder in which this device could keep its own ledger"):
        Device()


def test_a_number_that_changes_every_day_is_remembered_by_bucket(tmp_path):
    """Twenty days of twenty numbers: one drawn set of buckets, and an answer for each of them and for all others."""
    text = SURVEY.replace(
        'type = "labels", labels = ["rice", "bread", "nothing"]', 'type = "bins", start = 0, stop = 20, step = 1'
    )
    text = text.replace("symmetric_unary", "permanent_unary").replace(
        "epsilon = 1}", "epsilon = 1, first = 1, buckets = 2}"
    )
    survey = parse(text + 'rounds = {series = "hours", number = 1, of = 20, changes = 19}\n')
    assert survey.cost.epsilon == 3
    assert "flip" not in survey.law  # the remembered answer is what is sent
    sent = {Device(tmp_path / "device.db").permanent(survey, value).packed.tobytes() for value in range(20)}
    assert len({report[:3] for report in sent}) == 1
    assert len(sent) <= 3
    again = {Device(tmp_path / "device.db").permanent(survey, value).packed.tobytes() for value in range(20)}
    assert again == sent
