import math
from fractions import Fraction

import pytest

from sudare.reweight.choice import affordable, costs_at_most


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2), Fraction(5)])
@pytest.mark.parametrize(("sample", "people"), [(1, 2), (50, 2000), (2000, 2000), (7, 10**9)])
def test_what_is_affordable_costs_epsilon_and_no_less(epsilon, sample, people):
    spent = affordable(epsilon, sample, people)
    assert costs_at_most(spent, sample, people, epsilon)
    assert not costs_at_most(spent + Fraction(1, 10**9), sample, people, epsilon)
    cost = math.log1p(math.expm1(float(spent)) * sample / people)
    assert cost == pytest.approx(float(epsilon), rel=1e-9)


def test_all_records_amplify_nothing():
    assert affordable(Fraction(1), 10, 10) <= 1


def test_the_order_of_the_sample_must_be_hidden():
    """Two of five records, measured with randomised response at epsilon 1, all data sets and outputs gone through.

    Shuffled, the loss is what the formula says; in record order it is more.
    """
    from itertools import combinations, permutations

    flip = 1 / (1 + math.e)
    keep = 1 - flip

    def law(records, ordered):
        outputs: dict[tuple[int, ...], float] = {}
        draws = list(combinations(range(5), 2)) if ordered else list(permutations(range(5), 2))
        for draw in draws:
            for output in ((0, 0), (0, 1), (1, 0), (1, 1)):
                chance = math.prod(
                    keep if bit == records[place] else flip for bit, place in zip(output, draw, strict=True)
                )
                outputs[output] = outputs.get(output, 0) + chance / len(draws)
        return outputs

    def loss(ordered):
        largest = 0.0
        for number in range(16):
            others = [number >> place & 1 for place in range(4)]
            for place in range(5):
                one, other = [*others[:place], 0, *others[place:]], [*others[:place], 1, *others[place:]]
                first, second = law(one, ordered), law(other, ordered)
                largest = max(largest, *(abs(math.log(first[out] / second[out])) for out in first))
        return largest

    promised = math.log1p(math.expm1(1) * 2 / 5)
    assert loss(ordered=False) <= promised + 1e-12
    assert loss(ordered=True) > loss(ordered=False)
