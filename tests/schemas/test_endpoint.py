from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from schemas.endpoint import is_loopback
from schemas.routes import OpenAiRoute

PLAIN = {
    "adapter": "openai",
    "base_url": "https://host.example/v1",
    "model": "m-1",
    "label": "M",
    "ranked": True,
}


def route(**fields):
    return OpenAiRoute.model_validate_json(json.dumps(PLAIN | fields))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1", "host/v1", "https://", "https://u:p@host/v1", "https://u@host/v1",
        "https://host/v1?key=1", "https://host/v1#x", "https://host:99999/v1", "https://ho st/v1",
        "https://host/v1\n", "https://[::1/v1", "http://host.example/v1", "http://10.0.0.1/v1",
        "http://127.0.0.1.example/v1", "http://localhost.example/v1",
    ],
)  # fmt: skip
def test_an_address_that_could_leak_or_is_none_is_refused(url):
    with pytest.raises(ValidationError):
        route(base_url=url)


@pytest.mark.parametrize(
    "url",
    ["http://localhost:8000/v1", "http://127.0.0.1/v1", "http://127.8.8.8/v1", "http://[::1]:1"],
)
def test_plain_http_is_free_to_this_machine(url):
    assert route(base_url=url).base_url == url
    assert is_loopback(url)


def test_plain_http_elsewhere_is_said_aloud():
    assert not is_loopback("http://10.0.0.1/v1")
    assert route(base_url="http://10.0.0.1/v1", plain_http=True).plain_http


def test_a_slash_at_the_end_is_the_same_address():
    assert route(base_url="https://h/v1/").base_url == "https://h/v1"


@pytest.mark.parametrize(
    "extra",
    [
        {"model": "x"}, {"messages": []}, {"stream": True}, {"n": 2}, {"temperature": 0},
        {"max_tokens": 5}, {"api_key": "x"}, {"provider": [{"Authorization": "x"}]},
    ],
)  # fmt: skip
def test_an_extra_body_that_replaces_ours_or_holds_a_secret_is_refused(extra):
    with pytest.raises(ValidationError):
        route(extra_body=extra)


def test_an_extra_body_pins_a_provider():
    extra = {"provider": {"order": ["x"], "allow_fallbacks": False}, "min_p": 0.05}
    assert route(extra_body=extra).extra_body == extra


@pytest.mark.parametrize("name", ["sk-live-1", "key", "A B", "1A", "", "A\n"])
def test_a_variables_name_is_no_key(name):
    with pytest.raises(ValidationError):
        route(key_env=name)
    with pytest.raises(ValidationError):
        route(headers_env={"X-Title": name})


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"price": {"prompt_usd_per_mtok": 1, "completion_usd_per_mtok": 1}},
        {"sampling": {"max_tokens": 5}},
    ],
)
def test_a_spend_cap_needs_a_price_and_a_length(fields):
    with pytest.raises(ValidationError, match="price and max_tokens"):
        route(spend_cap_usd=1, **fields)
