import numpy as np

import sudare.reweight as reweight

GENERATOR = np.random.default_rng(12)
PUBLIC = GENERATOR.normal(1, 1, 200)


def warnings(private, **options):
    return reweight.fit(private, PUBLIC, epsilon=1.0, bounds=[(-4, 16)], seed=1, **options).warnings


def test_nothing_is_said_where_the_public_data_reach():
    assert warnings(GENERATOR.normal(1.5, 0.7, 3000)) == ()


def test_private_records_beyond_the_public_rows_are_announced():
    far = np.concatenate([GENERATOR.normal(1.5, 0.7, 2000), np.full(1500, 13.0)])
    assert any(fact.code == "uncovered" for fact in warnings(far))


def test_weights_that_rest_on_few_rows_are_announced():
    public = np.concatenate([GENERATOR.normal(0, 1, 1000), [9.0, 9.1, 9.2]])
    made = reweight.fit(GENERATOR.normal(9.1, 0.1, 5000), public, epsilon=5.0, bounds=[(-4, 16)], seed=1)
    assert any(fact.code == "few_public_rows" for fact in made.warnings)
    assert made.summary["warnings"] == [str(fact) for fact in made.warnings]


def test_means_that_cannot_be_reached_are_announced():
    made = reweight.fit(
        np.full(5000, 9.0),
        PUBLIC,
        epsilon=5.0,
        bounds=[(-4, 16)],
        seed=1,
        basis="kernel",
        centres=[0.0, 9.0],
        width=0.2,
    )
    assert any(fact.code == "missed" for fact in made.warnings)
