"""The browser's client randomises by the same law as the Python client: shared vectors, and the law itself.

``python tests/web/test_javascript.py`` writes vectors.json anew, after a change of the law.
"""

import base64
import io
import json
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from sudare.collector import parse
from sudare.collector.survey import device_law
from sudare.local import decode_report, encode_report, encoding_from_json

FILE = Path(__file__).parent / "vectors.json"
VECTORS = json.loads(FILE.read_text())
FALSE_ALARM = 1e-7
DRAWS = 20_000
CASES = [
    ("symmetric_unary", 4, "1"),
    ("symmetric_unary", 23, "1/2"),
    ("optimised_unary", 10, "3"),
    ("optimised_unary", 64, "64"),
    ("randomised_response", 5, "1/3"),
    ("randomised_response", 300, "4"),
    ("permanent_unary", 10, "2", {"first": "1/2"}),
    ("permanent_unary", 20, "1", {"first": "1", "buckets": 3}),
    ("permanent_unary", 9, "2", {"first": "1", "buckets": 8}),
]
SEVERAL = {
    "encoding": "several",
    "questions": [
        {"name": "lunch", "encoding": "optimised_unary", "size": 10, "epsilon": "1"},
        {"name": "way", "encoding": "randomised_response", "size": 3, "epsilon": "1/2"},
        {"name": "town", "encoding": "symmetric_unary", "size": 4, "epsilon": "1"},
    ],
}


def survey_of(name, size, epsilon):
    return parse(f"""
        name = "law"
        question = "?"
        answers = {{type = "bins", start = 0, stop = {size}, step = 1}}
        privacy = {{encoding = "{name}", epsilon = {epsilon}}}
    """).to_json()


def reference_report(law, encoding, answer, random):
    """What the vectors say, in Python: coins of 16 bytes, highest first, heads below the threshold."""
    return report_from(law, encoding.to_json(), answer, io.BytesIO(bytes.fromhex(random)))


def report_from(law, encoding, answer, random):
    if law["kind"] == "several":
        parts = zip(law["parts"], encoding["questions"], answer, strict=True)
        return b"".join(report_from(*part, random) for part in parts)
    size = encoding["size"]

    def coins(own, other, answer):
        bits = [random.read(16) < bytes.fromhex(own if value == answer else other) for value in range(size)]
        return np.packbits(bits, bitorder="little")

    def uniform(bound):
        while (word := int.from_bytes(random.read(4), "big")) >= 2**32 // bound * bound:
            pass
        return word % bound

    if law["kind"] == "unary":
        return coins(law["own"], law["other"], answer).tobytes()
    if law["kind"] == "permanent":
        chosen = set()
        for last in range(size - encoding.get("buckets", 0), size):
            drawn = uniform(last + 1)
            chosen.add(last if drawn in chosen else drawn)
        asked = np.packbits([value in chosen or not chosen for value in range(size)], bitorder="little")
        bits = coins(law["own"], law["other"], answer if answer in chosen or not chosen else None) & asked
        bits ^= coins(law["flip"], law["flip"], None) if "flip" in law else np.uint8(0)
        return (asked.tobytes() if chosen else b"") + (bits & asked).tobytes()
    changed = random.read(16) < bytes.fromhex(law["change"])
    step = 1 + uniform(size - 1)
    number = (answer + step) % size if changed else answer
    return number.to_bytes(-(-(size - 1).bit_length() // 8), "little")


def random_bytes(law, encoding, dice, edge):
    """Coins on a threshold (edge 0), one below it (-1), or every second one anywhere (1)."""
    if law["kind"] == "several":
        parts = zip(law["parts"], encoding["questions"], strict=True)
        return "".join(random_bytes(*part, dice, edge) for part in parts)
    size, thresholds = encoding["size"], [int(text, 16) for key, text in law.items() if key != "kind"]

    def coins(number):
        drawn = [
            dice.getrandbits(128) if edge > 0 and place % 2 else dice.choice(thresholds) + min(edge, 0)
            for place in range(number)
        ]
        return "".join(f"{each:032x}" for each in drawn)

    def word(bound):
        """A word beyond the last multiple of the bound must be drawn again."""
        good = dice.randrange(2**32 // bound * bound)
        return "ffffffff" * (2**32 % bound != 0) + f"{good:08x}"

    if law["kind"] == "unary":
        return coins(size)
    if law["kind"] == "permanent":
        words = "".join(word(last + 1) for last in range(size - encoding.get("buckets", 0), size))
        return words + coins(size) + (coins(size) if "flip" in law else "")
    return coins(1) + "ffffffff" * (2**32 % (size - 1) != 0) + dice.randbytes(4).hex()


def vectors():
    """Random bytes in the order a client draws them, and the report that follows, for every client to reproduce."""
    dice = random.Random(5)  # noqa: S311 - vectors are public
    made = []
    single = [
        {"encoding": name, "size": size, "epsilon": epsilon, **dict(*more)} for name, size, epsilon, *more in CASES
    ]
    for written in [*single, SEVERAL]:
        encoding = encoding_from_json(written)
        law, cases = device_law(encoding), []
        answers = [[4, 1, 3], [9, 2, 0]]
        if written is not SEVERAL:
            answers = sorted({0, encoding.size // 2, encoding.size - 1})
        for answer in answers:
            for edge in (0, -1, 1):
                drawn = random_bytes(law, encoding.to_json(), dice, edge)
                report = reference_report(law, encoding, answer, drawn)
                cases.append({"answer": answer, "random": drawn, "report": encode_report(report)})
        made.append({"encoding": encoding.to_json(), "law": law, "cases": cases})
    return made


def case_name(vector):
    return f"{vector['encoding']['encoding']}-{vector['encoding'].get('size', 'questions')}"


@pytest.mark.parametrize("vector", VECTORS, ids=case_name)
def test_the_vectors_are_pythons_law(vector):
    encoding = encoding_from_json(vector["encoding"])
    assert device_law(encoding) == vector["law"]
    for case in vector["cases"]:
        report = reference_report(vector["law"], encoding, case["answer"], case["random"])
        assert encode_report(report) == case["report"]
        encoding.check(np.frombuffer(report, np.uint8)[None])


@pytest.mark.parametrize("vector", VECTORS, ids=case_name)
def test_the_vectors_are_the_browsers_law(javascript, vector):
    encoding = encoding_from_json(vector["encoding"])
    given = vector | {"report_bytes": encoding.report_bytes, "epsilon": float(encoding.epsilon)}
    reports = javascript(
        """
        return given.cases.map(({ answer, random }) => {
          let place = 0;
          const fill = (bytes) => {
            for (const i of bytes.keys()) bytes[i] = parseInt(random.slice(place + 2 * i, place + 2 * i + 2), 16);
            place += 2 * bytes.length;
            return bytes;
          };
          const report = client.encode(client.randomise(given, answer, fill));
          if (place !== random.length) throw new Error("another number of random bytes");
          return report;
        });
        """,
        given,
    )
    assert reports == [case["report"] for case in vector["cases"]]


def test_the_vectors_hold_both_sides_of_every_threshold():
    """A coin just below its threshold, one on it: with these, the comparison is known for all random bytes."""
    for vector in VECTORS:
        for law in vector["law"].get("parts", [vector["law"]]):
            for threshold in (text for key, text in law.items() if key != "kind"):
                below = f"{int(threshold, 16) - 1:032x}"
                assert any(threshold in case["random"] for case in vector["cases"])
                assert any(below in case["random"] for case in vector["cases"])


@pytest.mark.parametrize("vector", [each for each in VECTORS if each["law"]["kind"] != "several"], ids=case_name)
def test_thresholds_are_rounded_to_the_safe_side(vector):
    """Against decimals of 80 places: within 2**-128 of the exact chance, and never less private."""
    size, law, one = vector["encoding"]["size"], vector["law"], Decimal(1)
    epsilon = Fraction(vector["encoding"]["epsilon"])
    with localcontext() as context:
        context.prec = 80
        first = Fraction(vector["encoding"].get("first", "1"))
        e, seen = ((Decimal(each.numerator) / each.denominator).exp() for each in (epsilon, first))
        symmetric = {"own": e.sqrt() / (1 + e.sqrt()), "other": one / (1 + e.sqrt())}
        flip = (symmetric["own"] - seen.sqrt() / (1 + seen.sqrt())) / (2 * symmetric["own"] - 1)
        exact = {
            "symmetric_unary": symmetric,
            "permanent_unary": symmetric | ({"flip": flip} if "flip" in law else {}),
            "optimised_unary": {"own": one / 2, "other": one / (1 + e)},
            "randomised_response": {"change": (size - 1) / (e + size - 1)},
        }[vector["encoding"]["encoding"]]
        for key, chance in exact.items():
            beyond = int(law[key], 16) - chance * 2**128
            assert (-1 < beyond <= 0) if key == "own" else (0 <= beyond < 1)


def chances(survey, answer, law):
    """P(report) for every report, and the reports as numbers in the same order."""
    size, whole = survey["encoding"]["size"], 2**128
    if law["kind"] == "response":
        change = int(law["change"], 16) / whole
        return np.array([1 - change if value == answer else change / (size - 1) for value in range(size)])
    ones = [int(law["own" if value == answer else "other"], 16) / whole for value in range(size)]
    found = np.empty(2**size)
    for bits in product((0, 1), repeat=size):
        chance = np.prod([p if bit else 1 - p for p, bit in zip(ones, bits, strict=True)])
        found[sum(bit << place for place, bit in enumerate(bits))] = chance
    return found


@pytest.mark.parametrize("name", ["symmetric_unary", "optimised_unary", "randomised_response"])
def test_both_clients_draw_by_the_law_and_another_law_would_be_noticed(javascript, name):
    survey, answer = survey_of(name, 4, 1), 2
    reports = javascript(
        """
        const draw = () => client.encode(client.randomise(given.survey, given.answer));
        return Array.from({ length: given.draws }, draw);
        """,
        {"survey": survey, "answer": answer, "draws": DRAWS},
    )
    encoding = encoding_from_json(survey["encoding"])
    browser = np.array([decode_report(text, encoding)[0] for text in reports])
    python = encoding.randomize(np.full(DRAWS, answer)).packed[:, 0]
    expected = DRAWS * chances(survey, answer, survey["law"])
    weaker = DRAWS * chances(survey, answer, survey_of(name, 4, 1.3)["law"])
    elsewhere = DRAWS * chances(survey, answer + 1, survey["law"])
    for drawn in (browser, python):
        counted = np.bincount(drawn, minlength=len(expected))
        assert chisquare(counted, expected).pvalue > FALSE_ALARM
        assert chisquare(counted, weaker).pvalue < FALSE_ALARM
        assert chisquare(counted, elsewhere).pvalue < FALSE_ALARM


def test_a_survey_that_protects_less_than_it_shows_is_refused(javascript):
    surveys = [survey_of("symmetric_unary", 4, 1), survey_of("randomised_response", 300, 3)]
    honest = [survey["epsilon"] for survey in surveys]
    weaker = [survey | {"epsilon": survey["epsilon"] - 0.001} for survey in surveys]
    broken = [
        surveys[0] | {"law": {"kind": "unary", "own": "f" * 32, "other": "0" * 32}},
        surveys[0] | {"law": {"kind": "unary", "own": "f" * 31, "other": "0" * 32}},
        surveys[0] | {"law": None},
    ]
    measured, refused = javascript(
        """
        const kind = (survey) => { try { client.randomise(survey, 0); return "sent"; } catch (e) { return e.kind; } };
        return [given[0].map(client.epsilonOf), [...given[1], ...given[2]].map(kind)];
        """,
        [surveys, weaker, broken],
    )
    assert np.allclose(measured, honest, rtol=0, atol=1e-12)
    assert refused == ["bad_law", "bad_law", "bad_law", "bad_law", "no_law"]


def test_an_answer_outside_the_survey_is_refused(javascript):
    kinds = javascript(
        """
        return [-1, 4, 1.5, "1", null].map((answer) => {
          try { client.randomise(given, answer); return "sent"; } catch (e) { return e.kind; }
        });
        """,
        survey_of("symmetric_unary", 4, 1),
    )
    assert kinds == ["bad_answer"] * 5


def test_a_place_is_found_on_the_mesh_as_python_finds_it(javascript):
    survey = parse("""
        name = "mesh"
        question = "?"
        answers = {type = "mesh", size = "500m", codes = ["533946", "53394700"]}
        privacy = {epsilon = 1}
    """)
    rng = np.random.default_rng(7)
    latitude, longitude = rng.uniform(35.6, 35.8, 300), rng.uniform(139.7, 139.9, 300)
    coordinates, inside = survey.answers.attribute.locate(latitude, longitude)
    assert 20 < inside.sum() < 280
    places = np.column_stack([latitude, longitude]).tolist()
    found = javascript(
        "return given.places.map(([north, east]) => client.answerAt(given.answers, north, east));",
        {"answers": survey.answers.to_json(), "places": places},
    )
    assert [place is not None for place in found] == inside.tolist()
    ranks = survey.answers.ranks(latitude[inside], longitude[inside]).tolist()
    assert [place for place in found if place is not None] == ranks
    assert survey.answers.labels[ranks[0]] == str(
        survey.answers.attribute.names(*(c[inside][:1] for c in coordinates))[0]
    )


def test_a_report_is_made_once_however_often_it_is_sent(javascript):
    """The first tries fail; what is sent in the end is the first report, and a second answer sends nothing."""
    outcome = javascript(
        """
        const kept = new Map();
        const memory = { get: (key) => kept.get(key) ?? null, set: (key, text) => kept.set(key, text) };
        const bodies = [];
        const offline = () => { throw new TypeError("offline"); };
        const refusal = { ok: false, status: 400, json: async () => ({}) };
        const answers = [offline, () => refusal, () => ({ ok: true, status: 200 })];
        const fetch = async (url, options) => answers[bodies.push(options.body) - 1]();
        const one = new client.Client("http://collector", { memory, fetch });
        const before = one.state(given);
        const first = await one.answer(given, 1).catch((problem) => problem.kind);
        const between = one.state(given);
        await one.answer(given, 2);
        const last = await one.answer(given, 3).catch((problem) => problem.kind);
        return [before, first, between, one.state(given), last, bodies, [...kept.values()]];
        """,
        survey_of("symmetric_unary", 40, 1),
    )
    before, first, between, after, last, bodies, kept = outcome
    assert (before, first, between, after, last) == ("open", "refused", "waiting", "answered", "answered")
    assert len(bodies) == 3
    assert len(set(bodies)) == 1
    assert json.loads(bodies[0]).keys() == {"survey", "id", "report"}
    assert "answered" in kept
    assert json.loads(bodies[0])["report"] not in "".join(kept)  # neither the answer nor the report stays on the device


def test_a_client_may_ask_for_more_protection(javascript):
    kind = javascript(
        """
        const one = new client.Client("http://collector", { mostEpsilon: 0.5, fetch: async () => ({ ok: true }) });
        return one.answer(given, 1).catch((problem) => problem.kind);
        """,
        survey_of("symmetric_unary", 4, 1),
    )
    assert kind == "weak"


CLIENT = """
    const kept = new Map();
    const memory = { get: (key) => kept.get(key) ?? null, set: (key, text) => kept.set(key, text) };
    const bodies = [];
    const fetch = async (url, options) => { bodies.push(options.body); return { ok: true, status: 200 }; };
    const again = (options = {}) => new client.Client("http://collector", { memory, fetch, ...options });
    const tried = (survey, answer, options) =>
      again(options).answer(survey, answer).then(() => "sent", (problem) => problem.kind);
"""


def test_the_devices_account_is_over_all_surveys_and_restarts(javascript):
    surveys = [parse_round(number).to_json() for number in range(9)]
    outcome = javascript(
        CLIENT
        + """
        const sent = [];
        for (const survey of given) sent.push(await tried(survey, 1));
        const later = await tried(given[8], 1, { now: () => Date.now() + 366 * 86400000 });
        return [sent, later, again().spent(), again().terms(given[0])];
        """,
        surveys,
    )
    sent, later, spent, terms = outcome
    assert sent == ["sent"] * 8 + ["year"]
    assert (later, spent) == ("sent", 1)  # a year later the others no longer count
    assert (terms["cost"], terms["most"], terms["year"]) == (1, 2, 8)


def parse_round(number):
    return parse(f"""
        name = "round {number}"
        question = "?"
        answers = {{type = "labels", labels = ["a", "b", "c"]}}
        privacy = {{encoding = "symmetric_unary", epsilon = 1}}
    """)


def test_an_epsilon_of_64_is_not_taken_silently(javascript):
    assert javascript(CLIENT + "return tried(given, 1);", survey_of("optimised_unary", 64, 64)) == "weak"


def test_a_value_that_returns_is_answered_from_the_old_bits(javascript):
    days = []
    for number in range(1, 9):
        days.append(
            parse(f"""
                name = "day {number}"
                question = "?"
                answers = {{type = "bins", start = 0, stop = 64, step = 1}}
                privacy = {{encoding = "permanent_unary", epsilon = 1, first = 0.5}}
                rounds = {{series = "home", number = {number}, of = 30, changes = 1}}
            """).to_json()
        )
    outcome = javascript(
        CLIENT
        + """
        const remembered = [];
        const sent = [];
        for (const [day, survey] of given.entries()) {
          sent.push(await tried(survey, [5, 9, 5, 9, 5, 9, 5, 11][day]));
          remembered.push(kept.get(`sudare:memory:${survey.account}`));
        }
        again().forget(given[7]);
        return [sent, remembered, again().spent(), bodies, await tried(given[0], 5)];
        """,
        days,
    )
    sent, remembered, spent, bodies, after = outcome
    assert sent == ["sent"] * 7 + ["changes"]
    assert json.loads(remembered[0]).keys() == {"5"}
    assert remembered[1] == remembered[6]
    assert json.loads(remembered[6])["5"] == json.loads(remembered[0])["5"]
    assert spent == 2  # two values at 1, for all rounds
    reports = [decode_report(json.loads(body)["report"], encoding_from_json(days[0]["encoding"])) for body in bodies]
    assert len(set(reports)) == 7  # each day's report is a draw of its own
    assert after == "answered"


def test_a_series_is_answered_in_as_many_rounds_as_were_charged(javascript):
    days = [
        parse(f"""
            name = "day {number}"
            question = "{number}?"
            answers = {{type = "labels", labels = ["a", "b"]}}
            privacy = {{encoding = "symmetric_unary", epsilon = 1}}
            rounds = {{series = "daily", number = 1, of = 2}}
        """).to_json()
        for number in range(3)
    ]
    outcome = javascript(
        CLIENT
        + """
        const sent = [];
        for (const survey of given) sent.push(await tried(survey, 1));
        return [sent, again().spent(), bodies.length];
        """,
        days,
    )
    assert outcome == [["sent", "sent", "rounds"], 2, 2]


@pytest.mark.parametrize("change", ["account", "rounds", "nothing"])
def test_a_series_cannot_pass_for_another_that_was_paid_for(javascript, change):
    survey = parse("""
        name = "day 1"
        question = "?"
        answers = {type = "labels", labels = ["a", "b"]}
        privacy = {encoding = "permanent_unary", epsilon = 1, first = 0.5}
        rounds = {series = "毎日\\t\\u007f😀", number = 1, of = 30, changes = 2}
    """).to_json()
    if change == "account":
        survey["account"] = "0" * 32
    elif change == "rounds":
        survey["rounds"]["of"] = 1
    body = """
        if (!crypto.subtle) return null;
        return client.checkIdentity(given).then(() => "same", (problem) => problem.kind);
    """
    assert javascript(body, survey) in (None, "same" if change == "nothing" else "unsigned")


def test_who_forgets_takes_no_further_part_in_any_series(javascript):
    days = [
        parse(f"""
            name = "day {number}"
            question = "?"
            answers = {{type = "labels", labels = ["a", "b"]}}
            privacy = {{encoding = "symmetric_unary", epsilon = 1}}
            rounds = {{series = "daily", number = {number}, of = 2}}
        """).to_json()
        for number in (1, 2)
    ]
    outcome = javascript(
        CLIENT
        + """
        const first = await tried(given[0], 1);
        again().forget(given[0]);
        return [first, await tried(given[1], 1), again().spent(), bodies.length];
        """,
        days,
    )
    assert outcome == ["sent", "left", 2, 1]


def test_a_page_without_encryption_is_told_from_a_wrong_signature(javascript):
    kind = javascript(
        """
        Object.defineProperty(crypto, "subtle", { value: undefined });
        const fetch = async () => ({ ok: true, status: 200, arrayBuffer: async () => new TextEncoder().encode("{}") });
        const one = new client.Client("http://collector", { fetch, key: "00".repeat(32) });
        return one.survey().then(() => "taken", (problem) => problem.kind);
        """,
        None,
    )
    assert kind == "insecure"


def test_a_device_that_answers_for_some_values_remembers_no_more_than_these(javascript):
    """The mirror of `PermanentUnary` with buckets: what is stored, what is charged, what is sent."""
    days = [
        parse(f"""
            name = "day {number}"
            question = "?"
            answers = {{type = "bins", start = 0, stop = 20, step = 1}}
            privacy = {{encoding = "permanent_unary", epsilon = 0.5, first = 0.5, buckets = 2}}
            rounds = {{series = "hours", number = {number}, of = 20, changes = 19}}
        """)
        for number in range(1, 21)
    ]
    assert days[0].cost.epsilon == Fraction(3, 2)  # two answers of its own, and one for all others
    outcome = javascript(
        CLIENT
        + """
        const sent = [];
        for (const [day, survey] of given.entries()) sent.push(await tried(survey, day));
        return [sent, JSON.parse(kept.get(`sudare:memory:${given[0].account}`)), again().spent(), bodies];
        """,
        [day.to_json() for day in days],
    )
    sent, remembered, spent, bodies = outcome
    assert sent == ["sent"] * 20
    assert spent == 1.5
    asked = np.unpackbits(np.frombuffer(decode_report_bytes(remembered["asked"]), np.uint8), bitorder="little")
    values = np.flatnonzero(asked)
    assert len(values) == 2
    assert remembered.keys() == {"asked", "none", *map(str, values.tolist())}
    encoding = days[0].encoding
    packed = np.array([list(decode_report(json.loads(body)["report"], encoding)) for body in bodies], np.uint8)
    encoding.check(packed)
    assert len(np.unique(packed, axis=0)) <= 3


def decode_report_bytes(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


QUESTIONS = """
    name = "commute"
    question = "Lunch and the way to work"
    privacy = {encoding = "symmetric_unary", epsilon = 2}
    [questions.lunch]
    question = "Lunch?"
    answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
    [questions.way]
    question = "How do you get here?"
    answers = {type = "labels", labels = ["bus", "train"]}
    [translations.ja.questions.way]
    question = "通勤手段は?"
    labels = ["バス", "電車"]
"""


def test_several_questions_are_one_report_of_one_cost(javascript):
    survey = parse(QUESTIONS)
    outcome = javascript(
        CLIENT
        + """
        const wrong = [];
        for (const answer of [[0], [0, 2], 1, [0, null]]) wrong.push(await tried({ ...given, survey: "x" }, answer));
        const sent = await tried(given, [2, 1]);
        const report = JSON.parse(bodies[0]).report;
        return [wrong, sent, again().spent(), client.epsilonOf(given), bodies, client.marked(given, report)];
        """,
        survey.to_json(),
    )
    wrong, sent, spent, epsilon, bodies, marked = outcome
    assert wrong == ["bad_answer"] * 4
    assert (sent, spent, len(bodies)) == ("sent", 2, 1)
    assert epsilon == pytest.approx(2, abs=1e-12)
    report = decode_report(json.loads(bodies[0])["report"], survey.encoding)
    assert [[value for value in range(8) if byte >> value & 1] for byte in report] == marked


def test_a_question_of_several_that_protects_less_is_refused(javascript):
    survey = parse(QUESTIONS).to_json()
    survey["law"]["parts"][1] = survey_of("symmetric_unary", 2, 3)["law"]
    assert javascript(CLIENT + "return tried(given, [0, 0]);", survey) == "bad_law"


def test_a_survey_with_a_relay_is_refused_before_anything_is_booked(javascript):
    relayed = parse(QUESTIONS + '[shuffler]\nurl = "https://relay.example"').to_json()
    outcome = javascript(CLIENT + "return [await tried(given, [0, 0]), bodies, again().spent()];", relayed)
    assert outcome == ["relay", [], 0]


@pytest.mark.parametrize("change", ["title", "question", "label", "nothing"])
def test_a_text_that_the_fingerprint_does_not_cover_is_refused(javascript, change):
    survey = parse("""
        name = "lunch"
        question = "Lunch?"
        answers = {type = "labels", labels = ["yes", "no"]}
        privacy = {epsilon = 1}
        [translations.ja]
        question = "昼食を食べましたか?"
        labels = ["はい", "いいえ"]
    """).to_json()
    if change == "label":
        survey["translations"]["ja"]["labels"] = ["いいえ", "はい"]
    elif change == "question":
        survey["translations"]["ja"]["question"] = "遅刻しましたか?"
    elif change == "title":
        survey["title"] = "another"
    body = """
        if (!crypto.subtle) return null;
        return client.checkIdentity(given).then(() => "same", (problem) => problem.kind);
    """
    assert javascript(body, survey) in (None, "same" if change == "nothing" else "unsigned")
    several = parse(QUESTIONS).to_json()
    if change == "label":
        several["translations"]["ja"]["questions"]["way"]["labels"] = ["電車", "バス"]
    elif change == "question":
        several["answers"]["questions"][1]["question"] = "Are you late?"
    elif change == "title":
        several["title"] = "another"
    assert javascript(body, several) in (None, "same" if change == "nothing" else "unsigned")


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1) + "\n")
