"""What of a route to an endpoint is identity: every field, one by one."""

from __future__ import annotations

import json

import pytest

from pipeline.answer import answer_rule_digest
from pipeline.asking import routes
from pipeline.asking.routes import bound_route
from pipeline.execute.stage import ADAPTERS
from pipeline.identity import digest
from schemas.endpoint import Sampling
from schemas.routes import OpenAiRoute

FULL = {
    "adapter": "openai",
    "base_url": "https://host.example/v1",
    "model": "vendor/m-1",
    "accept": ["vendor/m-1", "vendor/m-1-*"],
    "system": "Answer briefly.",
    "sampling": {"temperature": 0.7, "max_tokens": 800, "seed": 7, "stop": ["x"]},
    "extra_body": {"provider": {"order": ["x"]}, "min_p": 0.05},
    "key_env": "KEY",
    "headers_env": {"X-Title": "TITLE"},
    "price": {"prompt_usd_per_mtok": 0.15, "completion_usd_per_mtok": 0.6},
    "spend_cap_usd": 5,
    "limits": {"concurrency": 4},
    "plain_http": False,
    "env_proxy": False,
    "label": "M",
    "ranked": True,
}
INSIDE = {
    "base_url": "https://other.example/v1",
    "model": "vendor/m-2",
    "accept": ["vendor/m-1"],
    "system": None,
    "sampling": FULL["sampling"] | {"temperature": 0.8},
    "extra_body": {"provider": {"order": ["y"]}, "min_p": 0.05},
}
OUTSIDE = {
    "key_env": "OTHER_KEY",
    "headers_env": {},
    "price": {"prompt_usd_per_mtok": 1, "completion_usd_per_mtok": 1},
    "spend_cap_usd": None,
    "limits": {"concurrency": 9, "attempts": 1, "timeout_ms": 1},
    "plain_http": True,
    "env_proxy": True,
    "label": "Another",
    "ranked": False,
    "enabled": False,
}
SAMPLED = {
    "temperature": 1.5,
    "top_p": 0.5,
    "max_tokens": 7,
    "max_completion_tokens": 8,
    "seed": 9,
    "stop": ["y"],
    "frequency_penalty": 0.1,
    "presence_penalty": 0.2,
    "reasoning_effort": "high",
}


def made(**changes):
    return OpenAiRoute.model_validate_json(json.dumps(FULL | changes))


def digest_of(route):
    return bound_route("slug", route, ADAPTERS).digest


def test_the_identity_holds_these_fields():
    assert json.loads(bound_route("slug", made(), ADAPTERS).document) == {
        "accept": ["vendor/m-1", "vendor/m-1-*"],
        "adapter": "openai",
        "answer_rule": answer_rule_digest("message"),
        "base_url": "https://host.example/v1",
        "body": '{"max_tokens": 800, "min_p": 0.05, "provider": {"order": ["x"]}, "seed": 7, '
        '"stop": ["x"], "temperature": 0.7}',
        "model": "vendor/m-1",
        "system": "Answer briefly.",
    }


def test_the_digest_is_of_the_document_and_stays():
    bound = bound_route("slug", made(), ADAPTERS)
    assert bound.digest == digest("route", json.loads(bound.document))
    assert bound.digest == "80256ecb7862a85a7a073e93697285b4286ebda8d8760496f293d7a6fb6fe740"


def test_every_field_is_known_to_be_in_or_out():
    assert set(OpenAiRoute.model_fields) == {"adapter", *INSIDE, *OUTSIDE}
    assert set(Sampling.model_fields) == set(SAMPLED)


@pytest.mark.parametrize("name", INSIDE)
def test_what_can_change_an_answer_changes_the_digest(name):
    assert digest_of(made(**{name: INSIDE[name]})) != digest_of(made())


@pytest.mark.parametrize("name", SAMPLED)
def test_every_sampling_parameter_changes_the_digest(name):
    sampling = {"max_tokens": 800}
    changed = made(sampling=sampling | {name: SAMPLED[name]})
    assert digest_of(changed) != digest_of(made(sampling=sampling))


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_cannot_change_an_answer_does_not(name):
    assert digest_of(made(**{name: OUTSIDE[name]})) == digest_of(made())


def test_another_answer_rule_changes_the_digest(monkeypatch):
    before = digest_of(made())
    monkeypatch.setattr(routes, "answer_rule_digest", lambda _: "0" * 64)
    assert digest_of(made()) != before


@pytest.mark.parametrize(
    "same",
    [
        {"accept": ["vendor/m-1-*", "vendor/m-1", "vendor/m-1"]},
        {"base_url": "https://host.example/v1/"},
        {"extra_body": {"min_p": 0.05, "provider": {"order": ["x"]}}},
    ],
    ids=lambda value: next(iter(value)),
)
def test_what_means_the_same_is_the_same(same):
    assert digest_of(made(**same)) == digest_of(made())


def test_one_and_one_point_nought_are_the_same_number():
    one, other = ({"temperature": t, "max_tokens": 800} for t in (1, 1.0))
    assert digest_of(made(sampling=one)) == digest_of(made(sampling=other))
    assert digest_of(made(extra_body={"a": [2]})) == digest_of(made(extra_body={"a": [2.0]}))
    assert digest_of(made(extra_body={"a": True})) != digest_of(made(extra_body={"a": 1}))


def test_the_model_alone_is_accepted_where_none_is_listed():
    assert digest_of(made(accept=[])) == digest_of(made(accept=["vendor/m-1"]))
