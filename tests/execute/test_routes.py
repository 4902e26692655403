from __future__ import annotations

import hashlib
import json
from types import SimpleNamespace as Named

import pytest

from pipeline.answer import answer_rule_digest
from pipeline.asking import routes
from pipeline.asking.adapter import Question, Questions
from pipeline.asking.replay import ReplayAdapter
from pipeline.asking.routes import bind_route, bound_route, find_route
from pipeline.errors import FlavourbenchError, InputError, ReleaseError
from pipeline.execute import policies
from pipeline.execute.policies import PolicyAdapter
from pipeline.execute.stage import ADAPTERS
from pipeline.identity import digest
from pipeline.portfolio import PORTFOLIO
from pipeline.starter import VERSIONS, Dish, dishes_digest
from schemas.routes import Policy, PolicyRoute, ReplayRoute
from tests.execute.small import make_task

NOISY = PolicyRoute(
    adapter="policy",
    policy=Policy.NOISY,
    seed=3,
    skill_bps=2500,
    slips_bps=100,
    label="N",
    ranked=True,
)
COMMON = PolicyRoute(adapter="policy", policy=Policy.MOST_COMMON, dishes=1, label="C", ranked=True)
REPLAY = ReplayRoute(adapter="replay", answers="a.jsonl", sha256="a" * 64, label="R", ranked=True)


def bound(route, slug="slug"):
    return bound_route(slug, route, ADAPTERS)


def route_digest(route):
    return bound(route).digest


def route_identity(route):
    return json.loads(bound(route).document)


def changed(route, **fields):
    return type(route).model_validate(route.model_dump() | fields, strict=False)


class TestIdentity:
    def test_a_policys_identity_holds_these_fields(self):
        assert route_identity(NOISY) == {
            "adapter": "policy",
            "answer_rule": answer_rule_digest("message"),
            "dishes": None,
            "policy": "noisy",
            "revision": 1,
            "seed": 3,
            "skill_bps": 2500,
            "slips_bps": 100,
        }

    def test_a_replays_identity_holds_these_fields(self):
        assert route_identity(REPLAY) == {
            "adapter": "replay",
            "answer_rule": answer_rule_digest("message"),
            "answers_sha256": "a" * 64,
        }

    def test_the_digest_is_of_the_document(self):
        found = bound(NOISY)
        assert found.digest == digest("route", json.loads(found.document))
        assert (found.slug, found.route) == ("slug", NOISY)

    @pytest.mark.parametrize(
        ("route", "fields"),
        [
            (NOISY, {"seed": 4}),
            (NOISY, {"skill_bps": 2501}),
            (NOISY, {"slips_bps": 101}),
            (NOISY, {"policy": "uniform", "skill_bps": None}),
            (COMMON, {"policy": "cooccurrence"}),
            (COMMON, {"dishes": 2}),
            (COMMON, {"seed": 1}),
            (REPLAY, {"sha256": "b" * 64}),
            (REPLAY, {"answer_rule": "verbatim"}),
        ],
    )
    def test_what_can_change_an_answer_changes_the_digest(self, route, fields):
        assert route_digest(changed(route, **fields)) != route_digest(route)

    @pytest.mark.parametrize(
        ("route", "fields"),
        [
            (NOISY, {"label": "Another"}),
            (NOISY, {"ranked": False}),
            (COMMON, {"label": "Another", "ranked": False}),
            (REPLAY, {"label": "Another"}),
            (REPLAY, {"ranked": False}),
            (REPLAY, {"answers": "elsewhere/b.jsonl"}),
        ],
    )
    def test_what_cannot_change_an_answer_does_not(self, route, fields):
        assert route_digest(changed(route, **fields)) == route_digest(route)

    def test_every_field_of_a_route_is_in_the_identity_or_known_to_be_out(self):
        out = {"label", "ranked", "enabled"}
        assert set(PolicyRoute.model_fields) - out == set(route_identity(NOISY)) - {
            "answer_rule",
            "revision",
        }
        assert set(ReplayRoute.model_fields) - out - {"answers"} == {
            "adapter",
            "sha256",
            "answer_rule",
        }

    def test_the_slug_does_not_count(self):
        assert bound(NOISY, "a").digest == bound(NOISY, "b").digest

    @pytest.mark.parametrize("policy", Policy)
    def test_a_raised_revision_changes_the_digest(self, monkeypatch, policy):
        fields = {"skill_bps": 1 if policy == Policy.NOISY else None, "ranked": False}
        fields["dishes"] = 1 if policy in {Policy.MOST_COMMON, Policy.COOCCURRENCE} else None
        route = changed(NOISY, policy=policy, **fields)
        before = route_digest(route)
        monkeypatch.setitem(policies.REVISIONS, policy, policies.REVISIONS[policy] + 1)
        assert route_digest(route) != before

    def test_other_dishes_change_the_digest_of_routes_that_know_dishes_alone(self, monkeypatch):
        before = [route_digest(route) for route in (COMMON, NOISY)]
        monkeypatch.setattr(policies, "dishes_digest", lambda version: f"{version:064x}")
        after = [route_digest(route) for route in (COMMON, NOISY)]
        assert after[0] != before[0]
        assert after[1] == before[1]
        assert route_identity(COMMON)["dishes"] == f"{1:064x}"

    def test_another_answer_rule_changes_the_digest(self, monkeypatch):
        before = [route_digest(route) for route in (NOISY, REPLAY)]
        monkeypatch.setattr(routes, "answer_rule_digest", lambda _: "0" * 64)
        after = [route_digest(route) for route in (NOISY, REPLAY)]
        assert not set(before) & set(after)


class TestDishes:
    def test_versions_have_their_own_digests(self):
        assert len({dishes_digest(version) for version in VERSIONS}) == len(VERSIONS)

    @pytest.mark.parametrize(
        "dish",
        [
            Dish("pesto", "Mediterranean", ("basil", "garlic")),
            Dish("green", "Japanese", ("basil", "garlic")),
            Dish("green", "Mediterranean", ("basil", "garlic", "salt")),
        ],
        ids=["name", "cuisine", "ingredients"],
    )
    def test_every_field_of_a_dish_counts(self, monkeypatch, dish):
        def digest_of(dishes):
            monkeypatch.setattr("pipeline.starter.read_dish_rows", lambda _: dishes)
            return dishes_digest(1)

        plain = Dish("green", "Mediterranean", ("basil", "garlic"))
        assert len({digest_of([]), digest_of([plain]), digest_of([dish])}) == 3

    @pytest.mark.parametrize("version", [3, 99])
    def test_an_unknown_version_is_one_line(self, version):
        with pytest.raises(ReleaseError) as caught:
            bound(changed(COMMON, dishes=version))
        message = str(caught.value)
        assert "\n" not in message
        assert "1 or 2" in message
        assert str(version) in message
        assert caught.value.exit_code == 2


class TestBinding:
    @pytest.mark.parametrize("slug", ["nope", "", "uniform ", "UNIFORM", "../uniform", "a\nb"])
    def test_an_unknown_slug_is_one_line_that_lists_those_there_are(self, slug):
        with pytest.raises(InputError) as caught:
            find_route(PORTFOLIO, Named(routes={"uniform": NOISY, "other": COMMON}), slug)
        message = str(caught.value)
        assert "\n" not in message
        assert "uniform, other" in message
        assert caught.value.exit_code == 2

    def test_each_adapter_answers_for_its_kind_and_costs_nothing(self, tmp_path):
        task = make_task(1)
        asked = Questions("1" * 64, (Question(task.task_id, "0" * 64, "?"),), {"0" * 64: task})
        adapter = bind_route(bound(NOISY), asked, tmp_path)
        assert isinstance(adapter, PolicyAdapter)
        assert not adapter.costs_money
        data = b'{"task_id": "t-001", "answer": null}'
        (tmp_path / "a.jsonl").write_bytes(data)
        route = changed(REPLAY, sha256=hashlib.sha256(data).hexdigest())
        adapter = bind_route(bound(route), asked, tmp_path)
        assert isinstance(adapter, ReplayAdapter)
        assert not adapter.costs_money

    def test_a_missing_replay_file_is_one_line(self, tmp_path):
        with pytest.raises(FlavourbenchError, match=r"a\.jsonl"):
            bind_route(bound(REPLAY), Questions("1" * 64, (), {}), tmp_path)
