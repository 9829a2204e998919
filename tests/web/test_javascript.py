"""The browser's client randomises by the same law as the Python client: shared vectors, and the law itself.

``python tests/web/test_javascript.py`` writes vectors.json anew, after a change of the law.
"""

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
]


def survey_of(name, size, epsilon):
    return parse(f"""
        name = "law"
        question = "?"
        answers = {{type = "bins", start = 0, stop = {size}, step = 1}}
        privacy = {{encoding = "{name}", epsilon = {epsilon}}}
    """).to_json()


def reference_report(law, size, answer, random):
    """What the vectors say, in Python: coins of 16 bytes, highest first, heads below the threshold."""
    random = bytes.fromhex(random)

    def coin(number, threshold):
        return random[16 * number : 16 * number + 16] < bytes.fromhex(threshold)

    if law["kind"] == "unary":
        bits = [coin(value, law["own"] if value == answer else law["other"]) for value in range(size)]
        return np.packbits(bits, bitorder="little").tobytes()
    words = [int.from_bytes(random[start : start + 4], "big") for start in range(16, len(random), 4)]
    limit = 2**32 // (size - 1) * (size - 1)
    step = 1 + next(word for word in words if word < limit) % (size - 1)
    number = (answer + step) % size if coin(0, law["change"]) else answer
    return number.to_bytes(-(-(size - 1).bit_length() // 8), "little")


def random_bytes(law, size, dice, edge):
    """Coins on a threshold (edge 0), one below it (-1), or every second one anywhere (1)."""
    thresholds = [int(text, 16) for key, text in law.items() if key != "kind"]
    coins = size if law["kind"] == "unary" else 1
    numbers = [
        dice.getrandbits(128) if edge > 0 and number % 2 else dice.choice(thresholds) + min(edge, 0)
        for number in range(coins)
    ]
    text = "".join(f"{number:032x}" for number in numbers)
    if law["kind"] == "response":
        # A word beyond the last multiple of size - 1 must be drawn again.
        text += "ffffffff" * (2**32 % (size - 1) != 0) + dice.randbytes(4).hex()
    return text


def vectors():
    """Random bytes in the order a client draws them, and the report that follows, for every client to reproduce."""
    dice = random.Random(5)  # noqa: S311 - vectors are public
    made = []
    for name, size, epsilon in CASES:
        encoding = encoding_from_json({"encoding": name, "size": size, "epsilon": epsilon})
        law = device_law(encoding)
        cases = []
        for answer in sorted({0, size // 2, size - 1}):
            for edge in (0, -1, 1):
                drawn = random_bytes(law, size, dice, edge)
                report = reference_report(law, size, answer, drawn)
                cases.append({"answer": answer, "random": drawn, "report": encode_report(report)})
        made.append({"encoding": encoding.to_json(), "law": law, "cases": cases})
    return made


def case_name(vector):
    return f"{vector['encoding']['encoding']}-{vector['encoding']['size']}"


@pytest.mark.parametrize("vector", VECTORS, ids=case_name)
def test_the_vectors_are_pythons_law(vector):
    encoding = encoding_from_json(vector["encoding"])
    assert device_law(encoding) == vector["law"]
    for case in vector["cases"]:
        report = reference_report(vector["law"], encoding.size, case["answer"], case["random"])
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
          return client.encode(client.randomise(given, answer, fill));
        });
        """,
        given,
    )
    assert reports == [case["report"] for case in vector["cases"]]


def test_the_vectors_hold_both_sides_of_every_threshold():
    """A coin just below its threshold, one on it: with these, the comparison is known for all random bytes."""
    for vector in VECTORS:
        for threshold in (text for key, text in vector["law"].items() if key != "kind"):
            below = f"{int(threshold, 16) - 1:032x}"
            drawn = {case["random"][i : i + 32] for case in vector["cases"] for i in range(0, len(case["random"]), 32)}
            assert {threshold, below} <= drawn


@pytest.mark.parametrize("vector", VECTORS, ids=case_name)
def test_thresholds_are_rounded_to_the_safe_side(vector):
    """Against decimals of 80 places: within 2**-128 of the exact chance, and never less private."""
    size, law, one = vector["encoding"]["size"], vector["law"], Decimal(1)
    epsilon = Fraction(vector["encoding"]["epsilon"])
    with localcontext() as context:
        context.prec = 80
        e = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        exact = {
            "symmetric_unary": {"own": e.sqrt() / (1 + e.sqrt()), "other": one / (1 + e.sqrt())},
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
        "return given.places.map(([north, east]) => client.answerAt(given.survey, north, east));",
        {"survey": survey.to_json(), "places": places},
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


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1) + "\n")
