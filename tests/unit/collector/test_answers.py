import numpy as np
import pytest

from sudare.collector.answers import Answers
from sudare.domain import Bins, Categories, Mesh
from sudare.errors import DomainError, InputError

WARDS = Categories(["north", "east", "south"])
MESH = Mesh("500m", codes=["533946", "53394700"])


@pytest.mark.parametrize(
    ("answers", "labels"),
    [
        (Answers(WARDS), ["north", "east", "south"]),
        (Answers(WARDS, ((2, 4), (3, 5), (4, 4))), ["north", "east", "south"]),
        (Answers(Bins(0, 30, step=10)), ["0-9", "10-19", "20-29"]),
        (Answers(Mesh("1km", rows=(10, 11), columns=(5, 7))), ["00001005", "00001006"]),
    ],
)
def test_answers_survive_json_and_their_labels_are_in_order(answers, labels):
    again = Answers.from_json(answers.to_json())
    assert again == answers
    assert again.labels == labels
    assert again.ranks(labels if not isinstance(again.attribute, Bins) else [5, 15, 25]).tolist() == list(
        range(len(labels))
    )


def test_every_answer_has_its_own_number():
    for answers, columns in (
        (Answers(WARDS), (["south", "north"],)),
        (Answers(Bins(0, 30, step=10)), ([29.5, 3],)),
        (Answers(MESH), ([53394700_4, 533946_001],)),
    ):
        ranks = answers.ranks(*columns)
        assert ranks.dtype == np.int64
        assert len(set(ranks.tolist())) == 2
    everything = Answers(MESH)
    assert everything.ranks([int(label) for label in everything.labels]).tolist() == list(range(MESH.size))


def test_places_are_counted_from_the_north_west():
    assert Answers(WARDS, ((2, 4), (3, 5), (4, 4))).places == [(0, 0), (1, 1), (2, 0)]
    mesh = Answers(Mesh("1km", rows=(10, 12), columns=(5, 7)))
    assert mesh.places[int(mesh.ranks([int(mesh.labels[0])])[0])] == (1, 0)  # its first cell is the south-west
    assert Answers(WARDS).places is None


def test_degrees_of_a_mesh_are_what_a_browser_needs():
    degrees = Answers(Mesh("500m", rows=(8560, 8570), columns=(6360, 6364))).to_json()["degrees"]
    assert degrees == {"rows": 240.0, "columns": 160, "north": 8569, "west": 6360}


def test_a_value_outside_is_refused_without_being_shown():
    with pytest.raises(InputError, match="a value is not an answer of the survey") as caught:
        Answers(WARDS).ranks(["north", "my secret place"])
    assert "secret" not in str(caught.value)
    assert "north, east, south" in str(caught.value)
    with pytest.raises(InputError, match=r"allowed: 0-9, .*\.\.\. 20 answers"):
        Answers(Bins(0, 200, step=10)).ranks([-4])


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Answers(Categories(["only"])), r"too few or too many answers \(got 1; allowed: 2 to 65,536\)"),
        (lambda: Answers(Bins(0, 70_000, step=1)), "too few or too many answers"),
        (lambda: Answers(WARDS, ((0, 0), (0, 0), (1, 1))), "two answers have the same tile"),
        (lambda: Answers(WARDS, ((0, 0),)), "the tiles do not match the answers"),
        (lambda: Answers(Bins(0, 2, step=1), ((0, 0), (0, 1))), "the tiles do not match the answers"),
    ],
)
def test_answers_that_cannot_be_are_refused(build, sentence):
    with pytest.raises(DomainError, match=sentence):
        build()


@pytest.mark.parametrize("data", [None, {}, {"attribute": {"type": "line", "length": 4}}, {"attribute": 3}])
def test_json_that_describes_no_answers_is_refused(data):
    with pytest.raises((InputError, DomainError)):
        Answers.from_json(data)
