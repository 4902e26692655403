"""A data set from the Hugging Face Hub, at a pinned revision, checked before it is used.

See docs/published.md.

The manifest comes first and is checked by its own hash; it says how long every other file is and
which SHA-256 it has. A file that is there already is not fetched again, and one that was cut short
goes on where it ended. `HF_ENDPOINT` names a mirror and `HF_TOKEN` a token; the token goes to that
host alone and stands in no file, log or error.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import InputError, ProviderError
from pipeline.exchange.dataset import FILES, MANIFEST
from pipeline.files import hash_file
from pipeline.release.dataset import read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import httpx

    from pipeline.progress import Progress
    from pipeline.release.dataset import ManifestFile

__all__ = ["HUB_PREFIX", "fetch", "parse_source"]

HUB_PREFIX = "hub:"
_ENDPOINT = "https://huggingface.co"
_FOLDER = "data-complete-core"
_SOURCE = re.compile(r"hub:([\w.-]+/[\w.-]+)@([0-9a-f]{40})", re.ASCII)
_MANIFEST_LIMIT = 64 * 2**20
_FILE_LIMIT = 16 * 2**30
_SECONDS = 60.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OK, _PARTIAL, _RANGE = 200, 206, 416
_AGAIN = "Run the same command again: what is here is kept."


class HubSource(NamedTuple):
    """A repository at a revision, the host that has it, and what to show there."""

    repository: str
    revision: str
    endpoint: str
    token: str | None

    def url(self, name: str) -> str:
        """Address of a file."""
        place = f"datasets/{self.repository}/resolve/{self.revision}/{_FOLDER}"
        return f"{self.endpoint}/{place}/{name}"


def parse_source(text: str, environment: Mapping[str, str] = os.environ) -> HubSource:
    """The source that `hub:OWNER/NAME@REVISION` names.

    Raises
    ------
    InputError
        It is spelt in another way, the revision is not a whole commit hash, or a token would
        travel without encryption.
    """
    import httpx

    match = _SOURCE.fullmatch(text)
    if match is None:
        raise InputError(
            "hub:OWNER/NAME@REVISION with the 40 characters of a commit", text, "source",
            "A branch or a tag can move; the page of its commits shows the hash.",
        )  # fmt: skip
    endpoint = (environment.get("HF_ENDPOINT") or _ENDPOINT).rstrip("/")
    token = environment.get("HF_TOKEN") or None
    try:
        address = httpx.URL(endpoint)
    except httpx.InvalidURL as problem:
        raise InputError("an address", str(problem), "HF_ENDPOINT", "Mend it.") from problem
    if address.scheme not in {"http", "https"} or not address.host:
        raise InputError("an http or https address", endpoint, "HF_ENDPOINT", "Mend it.")
    if address.userinfo:
        raise InputError(
            "an address without a password", "one with", "HF_ENDPOINT", "Use HF_TOKEN."
        )
    if token and address.scheme == "http" and address.host not in _LOOPBACK:
        raise InputError("https, since HF_TOKEN is set", endpoint, "HF_ENDPOINT", "Use https.")
    return HubSource(match[1], match[2], endpoint, token)


def fetch(source: HubSource, folder: Path, progress: Progress) -> None:
    """Bring a data set's files into a folder, each complete and checked, or stop.

    Parameters
    ----------
    source
        Where they are.
    folder
        Where they go; what an earlier call left there is used.
    progress
        Called with bytes done and their number.

    Raises
    ------
    ProviderError
        The host cannot be reached, refuses, asks to wait, or ends too early; going on is possible.
    InputError
        The host has no such file, another revision, or gives something else.
    ReleaseError, InputError
        The manifest is not what it says.
    """
    import httpx

    folder.mkdir(parents=True, exist_ok=True)
    headers = {"Authorization": f"Bearer {source.token}"} if source.token else {}
    transport = httpx.HTTPTransport(retries=2)
    with httpx.Client(
        headers=headers, transport=transport, follow_redirects=True, timeout=_SECONDS
    ) as client:
        path = folder / MANIFEST
        if not path.exists():
            _Download(client, source, MANIFEST, folder).run(None)
        try:
            manifest = read_manifest(path)
        except Exception:
            path.unlink()  # so that the next call asks for it again
            raise
        entries = [manifest.file(name, str(path)) for name in FILES]
        total, done = sum(entry.bytes for entry in entries), 0
        for entry in entries:
            if not _is_whole(folder / entry.name, entry):
                _Download(client, source, entry.name, folder).run(entry)
            done += entry.bytes
            progress(done, total)


def _is_whole(path: Path, entry: ManifestFile) -> bool:
    return path.exists() and tuple(hash_file(path, InputError)) == (entry.bytes, entry.sha256)


class _Download:
    """One file: asked for, written to a part, checked, given its name."""

    def __init__(self, client: httpx.Client, source: HubSource, name: str, folder: Path) -> None:
        self._client = client
        self._source = source
        self._where = source.url(name)
        self._path = folder / name
        self._part = folder / f"{name}.part"

    def run(self, entry: ManifestFile | None) -> None:
        """Fetch it; the manifest has no entry and only a limit."""
        import httpx

        limit = _MANIFEST_LIMIT if entry is None else entry.bytes
        if limit > _FILE_LIMIT:
            raise InputError(f"at most {_FILE_LIMIT:,} bytes", f"{limit:,}", self._where, "")
        have = self._part.stat().st_size if entry is not None and self._part.exists() else 0
        if have > limit:
            have = 0
        ask = {"Range": f"bytes={have}-"} if have else {}
        if entry is None or have < limit or not limit:
            try:
                with self._client.stream("GET", self._where, headers=ask) as response:
                    self._check(response, have)
                    self._write(response, have if response.status_code == _PARTIAL else 0, limit)
            except httpx.HTTPError as problem:
                found = str(problem) or type(problem).__name__
                raise ProviderError("an answer", found, self._where, _AGAIN) from problem
        if entry is not None:
            self._verify(entry)
        self._part.rename(self._path)

    def _check(self, response: httpx.Response, have: int) -> None:
        """Refuse what is not the file at the pinned revision."""
        status = response.status_code
        if status == 429 or status >= 500:  # noqa: PLR2004  # RFC 6585, RFC 9110
            wait = response.headers.get("retry-after")
            remedy = f"Wait {wait} seconds. {_AGAIN}" if wait and wait.isdigit() else _AGAIN
            raise ProviderError("the file", f"HTTP {status}", self._where, remedy)
        if status in (401, 403):
            remedy = "Set HF_TOKEN to a token that may read it."
            raise InputError("the file", f"HTTP {status}", self._where, remedy)
        if status == _RANGE:
            self._part.unlink()
            raise ProviderError("the rest of the file", "none", self._where, _AGAIN)
        if status not in (_OK, _PARTIAL):
            remedy = "Check the repository, the revision and HF_ENDPOINT."
            raise InputError("the file", f"HTTP {status}", self._where, remedy)
        for one in (*response.history, response):
            commit = one.headers.get("x-repo-commit")
            if commit not in (None, self._source.revision):
                expected = f"revision {self._source.revision}"
                raise InputError(expected, commit, self._where, "Pin the revision you mean.")
        if response.headers.get("content-type", "").startswith("text/html"):
            remedy = "A page stands in its place: check HF_ENDPOINT and the network."
            raise InputError("the file", "HTML", self._where, remedy)
        begins = response.headers.get("content-range", "")
        if status == _PARTIAL and not begins.startswith(f"bytes {have}-"):
            raise ProviderError(f"bytes from {have}", begins, self._where, _AGAIN)

    def _write(self, response: httpx.Response, have: int, limit: int) -> None:
        with self._part.open("ab" if have else "wb") as stream:
            for chunk in response.iter_bytes():
                have += len(chunk)
                if have > limit:
                    break
                stream.write(chunk)
        if have > limit:
            self._part.unlink()
            raise InputError(f"{limit:,} bytes", "more", self._where, "Check the revision.")

    def _verify(self, entry: ManifestFile) -> None:
        found = hash_file(self._part, InputError)
        if found.size < entry.bytes:
            self._part.unlink()  # it ended where it said it would, so it is another file
            expected, had = f"{entry.bytes:,} bytes", f"{found.size:,}"
            raise ProviderError(expected, had, self._where, _AGAIN)
        if found.sha256 != entry.sha256:
            self._part.unlink()
            expected = f"sha256 {entry.sha256}, as the manifest says"
            raise InputError(expected, found.sha256, self._where, "Check the revision.")
