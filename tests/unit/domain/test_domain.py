from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from sudare.domain import Axis, Bins, Categories, Domain, Grid, Line, Mesh
from sudare.errors import DomainError
from sudare.language import Words

TOKYO = Domain(
    mesh=Mesh("500m", rows=(8426, 8938), columns=(6044, 6556)),
    sex=Categories(["f", "m"]),
)
MASKED = Domain(cell=Grid(3, 3, mask=np.eye(3, dtype=bool)), age=Bins(edges=[0, 15, 65, None]))


def test_what_a_domain_knows_of_itself():
    assert TOKYO.size == 2**19
    assert TOKYO.shape == (512, 512, 2)
    assert TOKYO.bits == 19
    assert TOKYO.axes == (Axis("mesh", 0), Axis("mesh", 1), Axis("sex", 0))
    assert list(TOKYO.attributes) == ["mesh", "sex"]
    assert MASKED.size == 9
    with pytest.raises(TypeError):
        TOKYO.attributes["age"] = Line(3)


def test_a_size_may_pass_what_memory_holds():
    japan = Domain(
        mesh=Mesh("500m", rows=(6782, 10878), columns=(4541, 8637)),
        sex=Categories(["f", "m"]),
        age=Bins(0, 100, step=5),
        town=Categories(range(1741)),
    )
    assert japan.size == 4096 * 4096 * 2 * 20 * 1741
    assert japan.bits == 24 + 1 + 5 + 11


def test_index_order_puts_rows_before_columns_and_categories_last():
    domain = Domain(sex=Categories(["f", "m"]), cell=Grid(2, 2))
    assert domain.index([0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]).tolist() == [0, 2, 4, 1]


def test_index_keeps_the_shape_and_accepts_a_single_cell():
    domain = Domain(cell=Grid(4, 4))
    assert domain.index(3, 1).shape == ()
    assert domain.index(3, 1) == 11
    assert domain.index([[0, 1]], [[1, 0]]).tolist() == [[1, 2]]
    assert [axis.shape for axis in domain.coordinates(np.zeros((2, 3), dtype=int))] == [(2, 3), (2, 3)]
    assert domain.index([], []).shape == (0,)


def test_a_domain_of_one_cell_has_no_bits():
    one = Domain(cell=Line(1))
    assert (one.bits, one.size) == (0, 1)
    assert one.index([0, 0]).tolist() == [0, 0]
    assert one.contains([0, 1, -1]).tolist() == [True, False, False]
    assert one.block_sizes([0, 1], 5).tolist() == [1, 0]


def test_sixty_two_bits_are_enough_and_the_most():
    wide = Domain(cell=Grid(2**31, 2**31))
    assert wide.index([2**31 - 1], [2**31 - 1]).tolist() == [2**62 - 1]
    assert wide.contains([2**62 - 1, 2**62]).tolist() == [True, False]
    assert wide.block_sizes([0], 62).tolist() == [2**62]
    assert wide.cells([2**62 - 1]).tolist() == [2**62 - 1]


def test_locating_rows_of_a_table():
    index, inside = TOKYO.locate({"sex": ["m", "f", "x", None], "mesh": [533946113, 303650151, 533946113, 533946113]})
    assert inside.tolist() == [True, False, False, False]
    assert index[1:].tolist() == [0, 0, 0]
    labels = TOKYO.labels(index[:1])
    assert {name: values.tolist() for name, values in labels.items()} == {"mesh": [533946113], "sex": ["m"]}


def test_several_columns_of_an_attribute_are_a_tuple():
    by_code, _ = TOKYO.locate({"mesh": ["533946114"], "sex": ["f"]})
    by_place, _ = TOKYO.locate({"mesh": ([35.68125], [139.771875]), "sex": ["f"]})
    assert by_code.tolist() == by_place.tolist()


def test_clamping_moves_places_and_not_categories():
    index, inside = TOKYO.clamp({"mesh": ([99.0, 99.0], [139.7, 139.7]), "sex": ["f", "x"]})
    assert inside.tolist() == [True, False]
    assert TOKYO.coordinates(index)[0].tolist() == [511, 0]


def test_contains_knows_padding_and_masks():
    index = np.arange(-2, 70)
    assert MASKED.contains(index).sum() == 9
    assert MASKED.contains(MASKED.index([0, 0], [0, 1], [2, 2])).tolist() == [True, False]
    assert not MASKED.contains([-1, 64, 2**62, -(2**62)]).any()


def test_single_cells_and_arrays_of_any_layout():
    domain = Domain(mesh=Mesh("1km", codes=["533946", "53395622"]), age=Bins(0, 3, step=1))
    index = domain.cells(0)
    assert (index.shape, domain.contains(index).item()) == ((), True)
    assert domain.block_sizes(index >> 3, 3).item() == domain.block_sizes([index >> 3], 3)[0] > 0
    table = np.asfortranarray(np.arange(12).reshape(3, 4))
    assert np.array_equal(MASKED.contains(table), MASKED.contains(table.reshape(-1)).reshape(3, 4))


def test_contains_works_through_large_arrays_piece_by_piece():
    line = Domain(cell=Line(5))
    index = np.tile(np.arange(8), 2**18)
    assert np.array_equal(line.contains(index), index < 5)


def test_block_sizes_of_a_padded_and_masked_domain():
    assert MASKED.bits == 6
    assert MASKED.block_sizes([0, 1, 2, 3, 4], 4).tolist() == [6, 0, 0, 3, 0]
    assert MASKED.block_sizes([0, 1, -1], 99).tolist() == [9, 0, 0]


def test_domains_are_equal_by_value_and_order_of_declaration():
    line, sex = Line(4), Categories(["f", "m"])
    assert Domain(a=line, b=sex) == Domain(a=Line(4), b=Categories(["f", "m"]))
    assert hash(Domain(a=line, b=sex)) == hash(Domain(a=Line(4), b=Categories(["f", "m"])))
    assert Domain(a=line, b=Line(4)) != Domain(b=Line(4), a=line)
    assert Domain(a=line) != Domain(b=line)
    assert Domain(a=line) != line


@pytest.mark.parametrize(
    "domain", [TOKYO, MASKED, Domain(order=["b", "a"], a=Line(3), b=Line(9)), Domain(a=Line(2), b=Line(3))]
)
def test_json_pickle_and_copies_give_an_equal_domain(domain):
    assert Domain.from_json(json.loads(json.dumps(domain.to_json(), sort_keys=True))) == domain
    assert pickle.loads(pickle.dumps(domain)) == domain  # noqa: S301 - our own bytes
    assert copy.deepcopy(domain) == domain


def test_a_domain_prints_as_it_is_declared():
    assert repr(Domain(a=Line(4), sex=Categories(["f"]))) == ("Domain(a=Line(length=4), sex=Categories(values=('f',)))")
    assert repr(Domain(order=["b", ("a", "c")], a=Line(4), b=Line(2), c=Line(2))) == (
        "Domain(a=Line(length=4), b=Line(length=2), c=Line(length=2), order=['b', ('a', 'c')])"
    )
    assert str(TOKYO.describe()) == "mesh: 500m mesh of 512 x 512; sex: 2 categories (524,288 cells, 19 bits)"
    assert str(Domain(a=Line(1)).describe()) == "a: line of 1 (1 cell, 0 bits)"
    japanese = TOKYO.describe().text(Words("ja"))
    assert japanese == "mesh：500m メッシュ（512 x 512）、sex：2カテゴリ（524,288セル、19ビット）"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Domain(), "a domain has no attributes. Write Domain(cell=Line(4096))."),
        (
            lambda: Domain(sex=["f", "m"]),
            "sex is not an attribute (got 'list'; allowed: Line, Grid, Categories, Bins or Mesh)",
        ),
        (
            lambda: Domain(a=Line(2**40), b=Line(2**23)),
            "the domain is too large (got '63 bits'; allowed: at most 62 bits). "
            "Every axis is padded to a power of two; use coarser cells or fewer attributes.",
        ),
        (lambda: TOKYO.index([0], [0]), "coordinates do not match the axes (got 2; allowed: 3 arrays)"),
        (lambda: TOKYO.index([0], [0], [0, 1]), "coordinates have different lengths"),
        (lambda: TOKYO.index([0], [0], [2]), "a coordinate of sex is outside the domain (allowed: 0 to 1)"),
        (lambda: TOKYO.index([-1], [0], [0]), "a coordinate of mesh is outside the domain (allowed: 0 to 511)"),
        (
            lambda: TOKYO.coordinates([2**19]),
            "an index is outside the padded domain (allowed: 0 to 2**19 - 1)",
        ),
        (lambda: TOKYO.coordinates([-1]), "an index is outside the padded domain (allowed: 0 to 2**19 - 1)"),
        (
            lambda: TOKYO.coordinates([0.5]),
            "an index is not a whole number somewhere (allowed: whole numbers)",
        ),
        (lambda: TOKYO.cells([2**19]), "a rank is outside the domain (allowed: 0 to 524287)"),
        (
            lambda: TOKYO.block_sizes([0], -1),
            "the level of a block is not a whole number (got -1; allowed: a whole number from 0 on)",
        ),
        (lambda: MASKED.labels([63]), "a coordinate is outside the grid (allowed: 0 to 2)"),
        (
            lambda: TOKYO.locate({"mesh": [533946113], "sexx": ["f"]}),
            "there is no such attribute (got 'sexx'; allowed: mesh, sex). Did you mean 'sex'?",
        ),
        (lambda: TOKYO.locate({"mesh": [533946113]}), "an attribute has no column (got 'sex')"),
        (
            lambda: TOKYO.locate({"mesh": [533946113], "sex": ["f", "m"]}),
            "the columns of a domain have different lengths",
        ),
        (lambda: Domain.from_json([]), "a domain is not a JSON object with a list of attributes"),
        (lambda: Domain.from_json({"attributes": [3]}), "an attribute of a domain has no name"),
        (
            lambda: Domain.from_json({"attributes": [{"name": "a", "type": "line", "length": 2}] * 2}),
            "an attribute is declared twice (got 'a')",
        ),
        (
            lambda: Domain.from_json({"attributes": [{"name": "order", "type": "line", "length": 2}]}),
            "an attribute cannot have this name (got 'order')",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(call, sentence):
    with pytest.raises(DomainError) as caught:
        call()
    assert str(caught.value) == sentence
