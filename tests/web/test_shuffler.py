"""The relay: what it sees, what the collector sees, and codes that work once."""

import base64
import json
import socket
from contextlib import closing
from dataclasses import replace

import pytest

from sudare.collector import Client, Device, load, send
from sudare.collector.sealing import seal, sealing_key, sealing_text, unseal
from sudare.collector.shuffler import Codes, Shuffler, make_codes
from sudare.collector.storage import RequestError, StorageError
from sudare.errors import InputError, ParameterError, SudareError

SURVEY = """
name = "lunch"
question = "Lunch?"
answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
estimate = {minimum = 5}
service = {rate = 0}
shuffler = {url = "http://127.0.0.1:9", codes = CODES}
"""


@pytest.fixture
def start(launch, tmp_path):
    """The collector in a process of its own, the relay's half here, and what it forwarded."""

    def begin(codes=None):
        path = tmp_path / "survey.toml"
        path.write_text(SURVEY.replace("CODES", "true" if codes else "false"))
        server = launch(path)
        client = Client(server.url, device=Device(tmp_path / "relay.db"), tries=1)
        forwarded = []
        real = client.forward
        client.forward = lambda body: forwarded.append(body) or real(body)
        return server, Shuffler(client, codes), forwarded

    return begin


def device(server, tmp_path, number, **options):
    return Client(server.url, device=Device(tmp_path / f"device{number}.db"), tries=1, **options)


def sealed(client, answer):
    outbox = client.prepare([answer])
    return outbox, seal(outbox.rows[0], client._content["sealing"], outbox.fingerprint)


def stored(tmp_path):
    import sqlite3

    with closing(sqlite3.connect(tmp_path / "reports.db")) as connection:
        return connection.execute("SELECT id, report FROM reports").fetchall()


def test_what_each_party_sees(start, tmp_path):
    server, relay, forwarded = start()
    made = [sealed(device(server, tmp_path, number), "rice") for number in range(5)]
    receipts = [relay.group.add([row]) for _, row in made[:4]]
    assert not forwarded  # four are no batch
    receipts.append(relay.group.add([made[4][1]]))
    assert [receipt.result(60).stored for receipt in receipts] == [1] * 5
    # The relay had tickets and sealed reports: no id and no report is in what it forwarded.
    (body,) = forwarded
    for outbox, (_, content) in made:
        identity, report = outbox.rows[0]
        assert identity.hex().encode() not in body
        assert identity not in content
        assert identity + report not in content
    # The collector got one request of the relay's, in the order of the tickets and not of arrival.
    by_ticket = [base64.urlsafe_b64encode(content).decode() for _, content in sorted(row for _, row in made)]
    assert json.loads(body)["sealed"] == by_ticket
    assert sorted(stored(tmp_path)) == sorted(outbox.rows[0] for outbox, _ in made)
    assert server.request("/reports", {"survey": "", "reports": []})[0] == 403  # and takes none from others
    relay.group.close()


def test_fewer_than_a_batch_go_nowhere(start, tmp_path):
    server, relay, forwarded = start()
    receipt = relay.group.add([sealed(device(server, tmp_path, 0), "rice")[1]])
    relay.group.close()
    with pytest.raises(StorageError, match="stopped before there was a batch"):
        receipt.result(10)
    assert not forwarded


def test_a_code_works_once_and_leaves_no_link(start, tmp_path):
    hashes = make_codes(8, tmp_path / "codes.txt")
    handed_out = (tmp_path / "codes.txt").read_text().split()
    assert len(set(handed_out)) == 8
    assert not set(handed_out) & set(hashes.read_text().split())
    server, relay, _ = start(Codes(hashes))
    made = [sealed(device(server, tmp_path, number), "rice") for number in range(5)]

    def body(row, code):
        from sudare.collector.sealing import sealed_body

        return sealed_body(relay.survey.fingerprint, [row], [code])

    receipts = []
    for (_, row), code in zip(made, handed_out, strict=False):
        rows, known = relay.rows(body(row, code))
        assert (len(rows), known) == (1, 0)
        receipts.append(relay.group.add(rows))
    [receipt.result(60) for receipt in receipts]
    assert relay.rows(body(made[0][1], handed_out[0])) == ([], 1)  # sent again, or somebody tries again
    with pytest.raises(RequestError, match="the code is not one of the organiser's"):
        relay.rows(body(made[0][1], "invented"))
    with pytest.raises(RequestError, match="not a list of sealed reports"):
        relay.rows(json.dumps({"survey": relay.survey.fingerprint, "reports": [{"id": "00", "sealed": "AA"}]}).encode())
    # After a restart used codes are used; the file has them sorted, and neither tickets nor reports.
    used = hashes.with_name("codes.txt.hashes.used").read_text().split()
    assert used == sorted(used)
    assert len(used) == 5
    again = Codes(hashes)
    assert again.hold(handed_out[0], b"other") is False
    assert again.hold(handed_out[6], b"one") is True
    with pytest.raises(RequestError, match="being used for another report"):
        again.hold(handed_out[6], b"two")
    assert not any(ticket.hex() in "".join(used) for _, (ticket, _) in made)
    relay.group.close()


def test_a_survey_with_codes_needs_one_for_each_report(start, tmp_path):
    hashes = make_codes(2, tmp_path / "codes.txt")
    server, relay, _ = start(Codes(hashes))
    client = device(server, tmp_path, 0)
    with pytest.raises(InputError, match="each report needs a code"):
        client.send(["rice"])
    answers = tmp_path / "answers.txt"
    answers.write_text("rice\nbread\n")
    with pytest.raises(InputError, match="each report needs a code"):
        send(server.url, answers, codes=["only-one"], device=client.device, other_people=True)
    assert client.device.spent == 0  # nothing was made or booked
    assert not answers.with_name("answers.txt.reports").exists()
    assert "nobody sends more reports" not in str(client.survey.cost)
    relay.group.close()


def test_the_relay_as_it_is_served(launch, tmp_path):
    """Both services in processes of their own, and devices that only know the link."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    hashes = make_codes(7, tmp_path / "codes.txt")
    path = tmp_path / "survey.toml"
    dear = SURVEY.replace("epsilon = 1", "epsilon = 3")  # more than a person allows unasked: no matter of the relay's
    path.write_text(dear.replace("CODES", "true").replace(":9", f":{port}"))
    collector = launch(path)
    relay = launch([collector.url, "--codes", str(hashes)], command="shuffle", port=port)
    made, codes = [], (tmp_path / "codes.txt").read_text().split()
    for number in range(5):
        client = device(collector, tmp_path, number, most_epsilon=3)
        made.append((client, client.prepare(["rice"])))
    waits = [client.post(outbox, [code]) for (client, outbox), code in zip(made[:4], codes, strict=False)]
    assert [receipt.waiting for receipt in waits] == [1] * 4  # asked to come back: there is no batch yet
    assert collector.request("/estimate")[0] == 403
    assert made[4][0].post(made[4][1], [codes[4]]).stored == 1
    assert collector.request("/estimate")[1]["reports"] == 5
    again = made[0][0].post(made[0][1], [codes[0]])
    assert (again.stored, again.known) == (0, 1)
    with pytest.raises(InputError, match="the code is not one of the organiser's"):
        device(collector, tmp_path, 9, most_epsilon=3).send(["rice"], codes=["invented"])
    assert relay.request("/reports", {"survey": "?"})[0] == 400
    assert relay.request("/estimate")[0] == 404


def test_a_sealed_report_opens_with_its_key_and_for_its_survey_only(tmp_path):
    key, other = sealing_key(tmp_path / "a.pem"), sealing_key(tmp_path / "b.pem")
    row = (bytes(16), b"report")
    ticket, content = seal(row, sealing_text(key), "lunch")
    assert unseal(content, sealing_key(tmp_path / "a.pem"), "lunch") == row
    assert seal(row, sealing_text(key), "lunch")[0] == ticket
    assert seal(row, sealing_text(key), "lunch")[1] != content
    for wrong in (
        (content, other, "lunch"),
        (content, key, "dinner"),
        (content[:-1], key, "lunch"),
        (b"", key, "lunch"),
    ):
        with pytest.raises(RequestError, match="a sealed report cannot be opened"):
            unseal(*wrong)


def test_shuffling_is_claimed_only_with_a_relay(start, tmp_path):
    _, relay, _ = start()
    path = tmp_path / "survey.toml"
    survey = replace(load(path), batch=1000)
    assert survey.shuffled.epsilon < survey.encoding.epsilon
    assert "reports arrive shuffled" in str(survey.shuffled)
    assert replace(survey, shuffler=None).shuffled is None
    assert survey.cost.epsilon == survey.encoding.epsilon  # the device relies on nobody
    relay.group.close()


def test_a_batch_is_never_smaller_than_the_survey_promises(start, tmp_path):
    server, relay, _ = start()
    assert relay.batch == 5
    assert Shuffler(relay.client, batch=7).batch == 7
    with pytest.raises(ParameterError, match="the batch is smaller than the survey promises"):
        Shuffler(relay.client, batch=4)
    row = sealed(device(server, tmp_path, 1), "rice")[1]
    body = {"survey": relay.survey.fingerprint, "sealed": [base64.urlsafe_b64encode(row[1]).decode()]}
    with pytest.raises(SudareError, match="the batch is smaller than the survey promises"):
        relay.client.forward(json.dumps(body).encode())
    relay.group.close()
