"""The Hub, played by a server on the loopback: what it may give, and what it may not."""

import http.server
import threading
from typing import NamedTuple

import pytest

from pipeline.errors import FlavourbenchError, InputError, ProviderError
from pipeline.exchange.dataset import MANIFEST
from pipeline.exchange.hub import parse_source
from pipeline.exchange.importing import import_published
from tests.exchange.small import OBSERVATIONS, SmallSet

REVISION = "0123456789abcdef0123456789abcdef01234567"
SOURCE = f"hub:lab/flavours@{REVISION}"
TOKEN = "hf_secret_of_mine"


class Seen(NamedTuple):
    path: str
    range: str | None
    authorization: str | None


class Hub(http.server.ThreadingHTTPServer):
    """Serves a folder as the Hub would; `faults` maps file names to what goes wrong once."""

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.faults = {}
        self.seen = []
        self.redirect = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def names(self):
        return [seen.path.rpartition("/")[2] for seen in self.seen]


class _Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        hub, name = self.server, self.path.rpartition("/")[2]
        hub.seen.append(Seen(self.path, self.headers["Range"], self.headers["Authorization"]))
        if hub.redirect and name not in hub.redirect.served:
            self.answer(302, b"", {"Location": f"{hub.redirect.address}/elsewhere/{name}"})
            return
        fault = hub.faults.pop(name, None)
        prefix = f"/datasets/lab/flavours/resolve/{REVISION}/data-complete-core/"
        if fault is None and self.path not in (prefix + name, f"/elsewhere/{name}"):
            fault = (404, b"", {})
        data = (hub.folder / name).read_bytes()
        if callable(fault):
            fault(self, data)
        elif fault:
            self.answer(*fault)
        elif self.headers["Range"]:
            first = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            place = {"Content-Range": f"bytes {first}-{len(data) - 1}/{len(data)}"}
            self.answer(206, data[first:], place)
        else:
            self.answer(200, data, {"X-Repo-Commit": REVISION})

    def answer(self, status, data, headers, length=None):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def serve():
    running = []

    def start(folder):
        hub = Hub(folder)
        hub.served = set()
        threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.01}).start()
        running.append(hub)
        return hub

    yield start
    for hub in running:
        hub.shutdown()
        hub.server_close()


@pytest.fixture
def hub(tmp_path, serve, monkeypatch):
    started = serve(SmallSet().write(tmp_path / "served"))
    monkeypatch.setenv("HF_ENDPOINT", started.address)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return started


def take(tmp_path):
    return import_published(SOURCE, tmp_path / "imported", tmp_path)


def left(tmp_path):
    return sorted(p.name for p in tmp_path.iterdir() if p.name != "served")


def test_a_data_set_comes_from_the_hub_and_the_download_goes(tmp_path, hub):
    assert take(tmp_path).answers == 24
    assert left(tmp_path) == ["imported"]
    assert hub.names()[0] == MANIFEST
    assert len(hub.names()) == 7


def test_a_file_that_was_cut_goes_on_where_it_ended(tmp_path, hub):
    def cut(handler, data):
        handler.answer(200, data[:1000], {}, length=len(data))
        handler.close_connection = True

    hub.faults[OBSERVATIONS] = cut
    with pytest.raises(ProviderError, match=OBSERVATIONS) as caught:
        take(tmp_path)
    assert caught.value.exit_code == 3
    assert "imported" not in left(tmp_path)
    before = len(hub.seen)
    assert take(tmp_path).answers == 24
    assert [seen.range for seen in hub.seen[before:]] == ["bytes=1000-"]


def test_a_server_that_knows_no_ranges_starts_again(tmp_path, hub):
    def whole(handler, data):
        handler.answer(200, data, {})

    part = tmp_path / f".imported.{REVISION[:12]}.download" / f"{OBSERVATIONS}.part"
    part.parent.mkdir()
    part.write_bytes(b"something else")
    hub.faults[OBSERVATIONS] = whole
    assert take(tmp_path).answers == 24


def test_a_wrong_part_is_found_and_thrown_away(tmp_path, hub):
    part = tmp_path / f".imported.{REVISION[:12]}.download" / f"{OBSERVATIONS}.part"
    part.parent.mkdir()
    part.write_bytes(b"something else")
    with pytest.raises(InputError, match="as the manifest says"):
        take(tmp_path)
    assert not part.exists()
    assert take(tmp_path).answers == 24


@pytest.mark.parametrize(
    "case",
    [
        (MANIFEST, (404, b"", {}), InputError, "HTTP 404"),
        (OBSERVATIONS, (404, b"", {}), InputError, "HTTP 404"),
        (MANIFEST, (401, b"", {}), InputError, "HTTP 401. Set HF_TOKEN"),
        (OBSERVATIONS, (429, b"", {"Retry-After": "7"}), ProviderError, "HTTP 429. Wait 7 seconds"),
        (OBSERVATIONS, (503, b"", {}), ProviderError, "HTTP 503"),
        (MANIFEST, (200, b"<html>", {"Content-Type": "text/html; x"}), InputError, "HTML"),
        (MANIFEST, (200, b"<html>", {}), FlavourbenchError, "expected JSON"),
        (OBSERVATIONS, (200, b"{}", {}), ProviderError, "bytes, found 2"),
        (OBSERVATIONS, (200, b" " * 10**6, {}), InputError, "bytes, found more"),
        (MANIFEST, (200, b"{}", {"X-Repo-Commit": "f" * 40}), InputError, f"found {'f' * 40}"),
    ],
)
def test_what_the_hub_must_not_give_is_named_and_the_next_run_goes_on(tmp_path, hub, case):
    name, fault, error, said = case
    hub.faults[name] = fault
    with pytest.raises(error) as caught:
        take(tmp_path)
    assert said in str(caught.value)
    assert "imported" not in left(tmp_path)
    assert take(tmp_path).answers == 24


def test_the_token_goes_to_the_host_and_nowhere_else(tmp_path, hub, serve, monkeypatch, capfd):
    other = serve(hub.folder)
    hub.redirect = other
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert take(tmp_path).answers == 24
    assert {seen.authorization for seen in hub.seen} == {f"Bearer {TOKEN}"}
    assert {seen.authorization for seen in other.seen} == {None}
    assert TOKEN not in "".join(capfd.readouterr())
    for path in (tmp_path / "imported").rglob("*"):
        assert path.is_dir() or TOKEN.encode() not in path.read_bytes()


def test_the_token_stands_in_no_error(tmp_path, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.faults[MANIFEST] = (403, TOKEN.encode(), {})
    with pytest.raises(InputError) as caught:
        take(tmp_path)
    assert TOKEN not in str(caught.value)


def test_nobody_there_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ProviderError, match="expected an answer"):
        take(tmp_path)


@pytest.mark.parametrize(
    ("source", "environment", "said"),
    [
        ("hub:lab/flavours", {}, "hub:OWNER/NAME@REVISION"),
        ("hub:lab/flavours@main", {}, "A branch or a tag can move"),
        ("hub:../../x@" + REVISION, {}, "hub:OWNER/NAME@REVISION"),
        (SOURCE, {"HF_ENDPOINT": "ftp://x"}, "http or https"),
        (SOURCE, {"HF_ENDPOINT": "https://me:pw@x"}, "without a password"),
        (SOURCE, {"HF_ENDPOINT": "http://x.invalid", "HF_TOKEN": TOKEN}, "https, since HF_TOKEN"),
    ],
)
def test_a_source_that_is_not_safe_is_refused(source, environment, said):
    with pytest.raises(InputError) as caught:
        parse_source(source, environment)
    assert said in str(caught.value)
    assert "pw" not in str(caught.value)
