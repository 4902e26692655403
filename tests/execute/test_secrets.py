"""A key is found in no file, no digest input and no error, also when the server sends it back."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from urllib.parse import quote

import pyarrow.parquet
import pytest

from pipeline.asking.routes import find_route
from pipeline.asking.secrets import read_headers
from pipeline.errors import ExecuteError
from pipeline.execute import stage
from pipeline.portfolio import PORTFOLIO
from pipeline.tables import make_table, write_table
from pipeline.workspace import owner_document
from schemas.execution import Response
from schemas.parameters import OpenAiRoute
from tests.asking.spellings import ALONE, tells
from tests.execute.provider import Act, Provider, answer_to, completion, good, reply
from tests.execute.small import (
    attempts_of,
    make_response,
    make_workspace,
    openai_route,
    run_cli,
    sealed_rows,
)

KEY = "sk-Planted/key+0123456789=ABCdef"
TITLE = "a-second-secret-9876543210"
FORMS = {name: spell(KEY) for name, spell in ALONE.items()} | {
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of user and key": base64.b64encode(f"me:{KEY}".encode()).decode(),
    "base64 of a header": base64.urlsafe_b64encode(f"Bearer {KEY}!".encode()).decode(),
    "bearer": f"Bearer {KEY}",
    "json": json.dumps(f"a\n{KEY}")[1:-1],
    "json in json": json.dumps(json.dumps({"key": ALONE["unicode"](KEY)}))[1:-1],
    "mixed": f"{KEY[:9]}{ALONE['percent'](KEY[9:15])}{ALONE['UNICODE'](KEY[15:])}",
    "other-header": TITLE,
    "other-header, unicode": ALONE["unicode"](TITLE),
}
PRINTABLE = {name: form for name, form in FORMS.items() if form.isprintable()}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("TEST_TITLE", TITLE)


def keyed(provider, **changes):
    return openai_route(
        provider, key_env="TEST_KEY", headers_env={"X-Title": "TEST_TITLE"}, **changes
    )


def contents(path):
    """The bytes of a file; of a table, which is compressed, what it holds and says of itself."""
    data = path.read_bytes()
    if data[:4] == b"PAR1":
        table = pyarrow.parquet.read_table(path)
        data += b"".join(
            value if isinstance(value, bytes) else str(value).encode()
            for row in table.to_pylist()
            for value in row.values()
        )
        data += b"".join((table.schema.metadata or {}).values())
    return data


def traces(folder):
    """Files that hold a secret in any form, whatever is in them."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file()
        for data in [contents(path)]
        if tells(data, KEY, TITLE)
    ]


def test_a_trace_would_be_found(tmp_path):
    workspace = make_workspace(tmp_path, 1)
    rows = [make_response(1, raw=f"said {KEY}".encode())]
    write_table(
        workspace.artifact("execute", "m"),
        make_table(Response, rows, about={"slug": owner_document("m")}),
    )
    assert traces(tmp_path) == [workspace.artifact("execute", "m")]


def test_the_key_is_sent_and_nothing_of_it_is_kept(tmp_path):
    with Provider() as provider:
        workspace = make_workspace(tmp_path, 3, {"m": keyed(provider)})
        summary = stage.run(workspace, "m")
    assert {head["authorization"] for head in provider.heads} == {f"Bearer {KEY}"}
    assert {head["x-title"] for head in provider.heads} == {TITLE}
    assert summary.artifacts[0].rows == 3
    assert traces(tmp_path) == []
    assert KEY not in find_route(PORTFOLIO, workspace.parameters, "m").document


@pytest.mark.parametrize(
    "place",
    ["answer", "error", "header", "long", "reason", "cut", "html", "model", "finish", "zip"],
)
def test_a_key_that_the_server_sends_back_is_cut_out(tmp_path, place):
    forms = [*(PRINTABLE if place in {"header", "long", "reason"} else FORMS).values()]

    def behave(call):
        form = forms[int(call.prompt.split()[1].rstrip("?")) - 1]
        sent = form.encode("latin-1")
        raw = json.dumps(completion("ECHO")).encode().replace(b"ECHO", sent)
        said = {"X-Request-Id": form, "Via": f"1.1 {form}", "X-RateLimit-Note": form}
        acts = {
            "answer": reply(body=raw),
            "error": reply(500, b'{"error": {"message": "bad key %s"}}' % sent),
            "header": reply(429, {"error": {}}, headers=said),
            "long": reply(429, {"error": {}}, headers={"Via": "v" * (200 - len(form) // 2) + form}),
            "reason": Act((f"HTTP/1.1 500 {form}\r\nContent-Length: 0\r\n\r\n".encode(),)),
            "cut": reply(body=b"{" + sent[:-2], length=9000),
            "html": reply(200, b"<p>" + sent, kind="text/html"),
            "model": reply(body=raw.replace(b"m-1", sent)),
            "finish": reply(body=raw.replace(b"stop", sent)),
            "zip": reply(body=gzip.compress(raw), headers={"Content-Encoding": "gzip"}),
        }
        return acts[place]

    with Provider(behave) as provider:
        route = keyed(provider, limits={"attempts": 1, "concurrency": 8})
        workspace = make_workspace(tmp_path, len(forms), {"m": route})
        (filled,) = stage.fill(workspace, ["m"], stage.Wish(give_up=True))
        while filled.problem is not None and len(provider.times) < len(forms):
            (filled,) = stage.fill(workspace, ["m"], stage.Wish(give_up=True))
        stage.run(workspace, "m")
    assert traces(tmp_path) == []
    assert not tells(str(filled.problem).encode(), KEY)
    tried, stored = attempts_of(workspace)
    assert len(tried) == len(stored) == len(provider.prompts) == len(forms)
    if place == "long":
        assert all(KEY[:8] not in row.headers for row in tried)


@pytest.mark.parametrize("place", ["error", "model"])
def test_a_key_in_what_stops_a_route_is_not_said(tmp_path, place):
    acts = {
        "error": reply(401, f'{{"error": {{"message": "bad key {KEY}"}}}}'.encode()),
        "model": reply(body=completion("A", model=KEY)),
    }
    with Provider(lambda _: acts[place]) as provider:
        workspace = make_workspace(tmp_path, 9, {"m": keyed(provider)})
        (filled,) = stage.fill(workspace, ["m"])
    assert "[secret]" in str(filled.problem)
    assert KEY not in str(filled.problem)
    assert traces(tmp_path) == []


@pytest.mark.parametrize(
    ("status", "name"), [(200, "plain"), (401, "plain"), (200, "mixed"), (401, "unicode")]
)
def test_no_command_says_it(tmp_path, status, name):
    raw = json.dumps({"error": {"message": "ECHO"}, "data": [{"id": "ECHO"}]}).encode()
    act = reply(status, raw.replace(b"ECHO", FORMS[name].encode()))
    with Provider(lambda _: act) as provider:
        make_workspace(tmp_path, 2, {"m": keyed(provider)})
        for words in (
            ("execute", "m"),
            ("routes", "--json"),
            ("routes", "check"),
            ("execute", "--all"),
        ):
            ended = run_cli(*words, "-w", tmp_path)
            assert not tells((ended.stdout + ended.stderr).encode(), KEY)
            assert "Traceback" not in ended.stderr
    assert traces(tmp_path) == []


@pytest.mark.parametrize("value", ["", "two\nlines", "naïve-key", " padded", "nul\x01"])
def test_a_variable_that_no_header_can_hold_is_refused_unseen(tmp_path, monkeypatch, value):
    monkeypatch.setenv("TEST_KEY", value)
    with Provider() as provider:
        workspace = make_workspace(tmp_path, 2, {"m": keyed(provider)})
        with pytest.raises(ExecuteError, match="TEST_KEY") as caught:
            stage.run(workspace, "m")
    assert provider.paths == []
    assert value == "" or value not in str(caught.value)


def test_a_run_with_nothing_to_ask_needs_no_key(tmp_path, monkeypatch):
    with Provider() as provider:
        workspace = make_workspace(tmp_path, 2, {"m": keyed(provider)})
        stage.run(workspace, "m")
        monkeypatch.delenv("TEST_KEY")
        assert "0 asked now" in stage.run(workspace, "m").headline
    assert len(provider.prompts) == 2


def test_a_key_typed_where_its_variables_name_belongs_is_not_shown(tmp_path):
    workspace = make_workspace(tmp_path, 1)
    text = (tmp_path / "params.yaml").read_text()
    route = openai_route("https://host/v1", key_env="sk-live-0123456789")
    document = json.loads(text) | {"routes": {"m": route}}
    (tmp_path / "params.yaml").write_text(json.dumps(document))
    ended = run_cli("execute", "m", "-w", workspace.root)
    assert ended.returncode == 2
    assert "key_env" in ended.stderr
    assert "0123456789" not in ended.stderr


def test_headers_are_read_by_name():
    route = OpenAiRoute.model_validate_json(json.dumps(keyed("http://localhost/v1")))
    assert read_headers(route, "m") == {"Authorization": f"Bearer {KEY}", "X-Title": TITLE}


def test_a_good_server_hears_nothing_twice(tmp_path):
    with Provider(good) as provider:
        workspace = make_workspace(tmp_path, 5, {"m": keyed(provider)})
        for _ in range(2):
            stage.run(workspace, "m")
    assert sorted(provider.times.values()) == [1] * 5


def test_a_key_in_the_name_of_a_header_is_cut_out(tmp_path):
    headers = {f"X-RateLimit-{TITLE}": "1", f"x-ratelimit-{'y' * 190}{TITLE}": "2"}
    with Provider(lambda _: reply(429, {"error": {}}, headers=headers)) as provider:
        workspace = make_workspace(tmp_path, 1, {"m": keyed(provider, limits={"attempts": 1})})
        stage.fill(workspace, ["m"], stage.Wish(give_up=True))
    tried, _ = attempts_of(workspace)
    kept = json.loads(tried[0].headers)
    assert kept["x-ratelimit-[secret]"] == "1"
    assert TITLE[:8] not in tried[0].headers
    assert traces(tmp_path) == []


@pytest.mark.parametrize("name", sorted(FORMS))
def test_an_answer_that_tells_the_key_is_read_without_it(tmp_path, name):
    def behave(call):
        return reply(body=completion(f"{FORMS[name]}\n{answer_to(call.prompt)}"))

    with Provider(behave) as provider:
        workspace = make_workspace(tmp_path, 1, {"m": keyed(provider)})
        stage.run(workspace, "m")
    (row,) = sealed_rows(workspace, "m")
    text = json.loads(row.raw)["choices"][0]["message"]["content"]
    assert row.outcome == "ok"
    assert "[secret]" in text.replace("\0", "")
    assert text.endswith(f"\n{answer_to('Question 1?')}")


def test_a_password_that_a_proxy_sends_back_is_cut_out(tmp_path, monkeypatch):
    def echo(call):
        said = call.headers["proxy-authorization"]
        plain = base64.b64decode(said.split()[1]).decode()
        return reply(407, {"error": {"message": f"{said} is {plain}"}}, headers={"Via": said})

    with Provider(echo) as proxy, Provider() as provider:
        address = proxy.url.removesuffix("/v1").replace("//", f"//me:{quote(KEY, safe='')}@")
        monkeypatch.setenv("http_proxy", address)
        monkeypatch.setenv("no_proxy", "")
        workspace = make_workspace(tmp_path, 1, {"m": openai_route(provider, env_proxy=True)})
        (filled,) = stage.fill(workspace, ["m"])
    assert len(proxy.prompts) == 1
    assert "[secret]" in str(filled.problem)
    assert not tells(str(filled.problem).encode(), KEY)
    assert traces(tmp_path) == []


def test_a_server_that_ends_in_the_midst_of_the_key(tmp_path):
    act = Act((b"HTTP/1.1 200 OK\r\n\r\n" + KEY[:20].encode(),), close=True)
    with Provider(lambda _: act) as provider:
        workspace = make_workspace(tmp_path, 1, {"m": keyed(provider)})
        stage.fill(workspace, ["m"])
    tried, _ = attempts_of(workspace)
    assert {row.raw for row in tried} == {b"[secret]"}


def test_no_file_of_a_whole_run_through_dvc_holds_it(small_lab):
    """Artifacts, ledgers, logs, cache, plots: with a server that says the key in every answer."""
    forms = itertools.cycle(FORMS.values())

    def behave(call):
        form = next(forms)
        body = json.dumps(completion(f"ECHO {answer_to(call.prompt)}")).encode()
        acts = [
            reply(body=completion(f"{form} {answer_to(call.prompt)}")),
            reply(body=body.replace(b"ECHO", form.encode("latin-1"))),
            reply(503, {"error": {"message": form}}, headers={"Via": ALONE["url"](form)}),
        ]
        return acts[provider.times[call.prompt] % 3]

    with Provider(behave) as provider:
        lab = small_lab("keyed")
        route = json.dumps(keyed(provider))
        lab.edit("params.yaml", "routes:\n", f"routes:\n  m: {route}\n")
        done = lab.run("dvc", "repro", "--no-run-cache")
        assert done.returncode == 0, done.stderr
        assert len(provider.prompts) >= len(FORMS)
    assert not tells((done.stdout + done.stderr).encode(), KEY)
    assert lab.run("dvc", "plots", "show").returncode == 0
    assert len(list((lab.root / ".dvc").rglob("*"))) > 20
    assert traces(lab.root) == []
