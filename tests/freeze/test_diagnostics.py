from pipeline.freeze import diagnostics
from schemas.taskset import PORTFOLIOS, Family, Task


def task(number, scores, margin, *, panel="one", family=Family.PAIRING, category="Fruit"):
    filled = tuple(scores) + (0,) * (56 - len(scores))
    return Task(
        task_id=f"t-{number}",
        panel=panel,
        family=family,
        variant=None,
        anchor=f"a{number}",
        category=category,
        region=None,
        stratum=1,
        choices=tuple("abcdefgh"),
        scores_bps=filled,
        optimum=PORTFOLIOS[filled.index(10_000)],
        chance_bps=0,
        margin_bps=margin,
        prompt="",
    )


def test_one_group_by_hand():
    tasks = [
        task(1, (10_000, 500, 500), 9_500),
        task(2, (10_000, 9_899), 101, category="Herb"),
    ]
    (found,) = diagnostics(tasks)
    assert (found.tasks, found.categories) == (2, 2)
    assert found.mean_chance_millibps == 275_884  # 30,899 / 112 = 275.88393
    assert found.median_margin_millibps == 4_800_500
    assert found.mean_distinct_milli == 3_000  # {0, 500, 10000} and {0, 9899, 10000}
    assert found.feasible_ppm == 62_500  # (4 + 3) / 112


def test_means_round_half_to_even():
    # one map of sum 10,007: 178.69642857...; distinct 2 + 3 over 2 = 2.5 exactly
    tasks = [task(1, (10_000,), 10_000), task(2, (10_000, 7), 9_993)]
    (found,) = diagnostics(tasks)
    assert found.mean_distinct_milli == 2_500
    assert found.mean_chance_millibps == 178_634  # 20,007 / 112 = 178.63393


def test_groups_keep_the_order_in_which_they_appear():
    tasks = [
        task(1, (10_000,), 1, panel="z"),
        task(2, (10_000,), 1, family=Family.SUBSTITUTION),
        task(3, (10_000,), 1, panel="z"),
    ]
    assert [(d.panel, d.family, d.tasks) for d in diagnostics(tasks)] == [
        ("z", Family.PAIRING, 2),
        ("one", Family.SUBSTITUTION, 1),
    ]
    assert diagnostics([]) == ()
