"""Checks a proof on its own: `python -I verifier.py PROOF RUN`, with the package blake3 alone.

RUN is the whole hash of the run, 64 characters, from where you trust it: a paper, say. Without it
a proof can only be held against the hash that it names itself, which anyone can make up. The
start of a hash is refused: another run that starts alike is made in minutes.

This file shares no code with the rest of the project on purpose: whoever doubts the project can
read these lines, carry them anywhere, and need nothing else. What it checks:

1. Each row's digest is BLAKE3 (derive-key mode, context `flavourbench v1 <kind>`) of its fields as
   canonical JSON: keys sorted, no blanks, UTF-8, no floats (RFC 8785 for this kind of value).
2. Each row belongs to its table (Merkle tree of RFC 6962's shape; its root is bound to the rows'
   kind and number), and each table to the run, by the same rule.
3. The rows are of one cell: what several of them name (task, route) is the same; the score is the
   look-up of the selection in the task's map, the selection names the response, the response's
   request is that of task and route, and the bytes are its own.

What a proof does not claim is said with the result: rows that are not in it, and what no proof can
hold. It does not read the answer's text, nor compute a map from a release, nor ask a route again:
`flavourbench audit` does.
Exit 0: the proof holds. Exit 1: it does not. Exit 2: this is no proof, or no whole hash.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
import stat
import sys
from pathlib import Path
from typing import Any, NamedTuple

from blake3 import blake3

__all__ = ["NotAHashError", "NotAProofError", "ProofFailedError", "Proved", "check_file", "main"]

_LIMIT, _VALUES, _DEPTH, _SAFE = 64 * 2**20, 250_000, 16, 2**53 - 1
_USAGE = "python -I verifier.py PROOF [RUN]"
_FORMAT = "flavourbench proof"
_HEX = re.compile(r"[0-9a-f]{64}")
_PORTFOLIOS = ["".join(three) for three in itertools.combinations("ABCDEFGH", 3)]
_CELL = {
    "task": "no task: nothing of its ingredients, prompt or map of scores",
    "response": "no response: nothing of what came back",
    "selection": "no selection: nothing of how the answer was read",
    "score": "no score of the cell",
    "core-task": "no task of the common core: the cell may count for nothing in the standing",
    "standing": "no standing: nothing of the route's score or rank",
}
"""The rows of a cell, and what is not claimed without them."""

_ELSEWHERE = {
    "response": "who gave the answer: it is taken as sealed, no route is asked again",
    "selection": "that the answer's text reads so: `flavourbench audit` reads it again",
    "task": "that the map follows from the release: `flavourbench audit` derives it again",
    "standing": "that the standing follows from all cells: `flavourbench verify` derives it",
}
"""What is not claimed with the rows of a cell that are there."""

_SHARED = ("route_digest", "slug", "task_digest", "task_id")
"""Fields that say of which cell a row is."""


class NotAHashError(Exception):
    """What the run is known by is no whole hash."""


class NotAProofError(Exception):
    """The file is no proof at all."""


class ProofFailedError(Exception):
    """The file is a proof, and what it says is not so."""


class _ProvedRow(NamedTuple):
    """A row that belongs to its table."""

    digest: str
    fields: dict[str, Any]


class Proved(NamedTuple):
    """What a proof shows: the run's hash, one line a check, and what it does not claim."""

    run: str
    lines: tuple[str, ...]
    unclaimed: tuple[str, ...]


def check_file(path: Path, run: str | None = None) -> Proved:
    """Check a proof.

    Parameters
    ----------
    path
        The proof.
    run
        The whole hash that the run is known by; none to be told which run the proof names.

    Raises
    ------
    NotAHashError
        `run` is anything else than 64 hexadecimal characters.
    NotAProofError
        The file is missing, too large, no JSON, or of another shape.
    ProofFailedError
        A digest, a way up a tree, or a link does not hold; says which.
    """
    if run is not None and not _HEX.fullmatch(run.lower()):
        why = "The start of a hash proves nothing: another run that starts alike is soon made."
        raise NotAHashError(f"{why} Name all 64 characters.")
    document = _read(path)
    _shape(document, {"format": str, "run": str, "claims": list, "raw": dict}, "proof")
    if document["format"] != _FORMAT:
        raise NotAProofError(f"format {document['format'][:40]!r} is not {_FORMAT!r}")
    if run is not None and document["run"] != run.lower():
        raise ProofFailedError(f"the proof is of run {document['run'][:64]}, not of {run}")
    rows: dict[str, _ProvedRow] = {}
    lines: list[str] = []
    for number, claim in enumerate(document["claims"], start=1):
        where = f"claim {number}"
        row = _claim(claim, document["run"], where)
        kind, table = claim["kind"], claim["table"]
        if kind in rows:
            raise NotAProofError(f"{where}: a second {kind}")
        rows[kind] = row
        lines.append(
            f"{kind} {row.digest[:16]}… is row {claim['proof']['position']} of {table['rows']} "
            f"of {table['path']} {table['root'][:16]}…, a table of the run"
        )
    if not rows:
        raise NotAProofError("there is no claim")
    lines += [*_links(rows, document["raw"]), *_agreements(rows)]
    return Proved(document["run"], tuple(lines), tuple(_unclaimed(rows, document["raw"], run)))


def _unclaimed(rows: dict[str, _ProvedRow], raw: dict[str, Any], run: str | None) -> list[str]:
    """What a reader could believe to be proved, and is not."""
    found = []
    if run is None:
        found.append("no run was named: hold its hash against one that you trust, all of it")
    found += [said for kind, said in _CELL.items() if kind not in rows]
    if not raw:
        found.append("no bytes: nothing of what the answer says")
    return found + [said for kind, said in _ELSEWHERE.items() if kind in rows]


def _agreements(rows: dict[str, _ProvedRow]) -> list[str]:
    """Rows of one cell name one task and one route, whichever of them are there."""
    lines = []
    for name in _SHARED:
        stated = [(kind, row.fields[name]) for kind, row in rows.items() if name in row.fields]
        for kind, value in stated[1:]:
            if value != stated[0][1]:
                raise ProofFailedError(f"{kind}.{name} is not that of {stated[0][0]}")
        if len(stated) > 1:
            lines.append(f"{name} is one in {', '.join(kind for kind, _ in stated)}")
    return lines


def _claim(claim: Any, run: str, where: str) -> _ProvedRow:
    """A row that belongs to its table, and its table to the run."""
    _shape(claim, {"kind": str, "fields": dict, "proof": dict, "table": dict, "table_proof": dict},
           where)  # fmt: skip
    table = claim["table"]
    shape = {"path": str, "kind": str, "rows": int, "root": str, "inputs": dict}
    _shape(table, shape, f"{where}, table")
    if table["kind"] != claim["kind"]:
        raise ProofFailedError(f"{where}: a {claim['kind']} in a table of {table['kind']}")
    digest = _digest(claim["kind"], claim["fields"])
    leaf = _Leaf(claim["kind"], digest, table["root"])
    if _inclusion(claim["proof"], leaf, where) != table["rows"]:
        raise ProofFailedError(f"{where}: the proof is for another number of rows")
    entry = _digest("run-table", table)
    _inclusion(claim["table_proof"], _Leaf("run-table", entry, run), f"{where}, table")
    return _ProvedRow(digest, claim["fields"])


class _Leaf(NamedTuple):
    """What has to lie under a root: the kind of the rows, the row's digest, the root."""

    kind: str
    digest: str
    root: str


def _inclusion(proof: dict[str, Any], leaf: _Leaf, where: str) -> int:
    """Number of rows under the root (RFC 9162, section 2.1.3.2, then the root's binding)."""
    kind, digest, root = leaf
    shape = {"row_kind": str, "rows": int, "position": int, "leaf": str, "siblings": list}
    _shape(proof, shape, f"{where}, proof")
    if proof["row_kind"] != kind:
        raise ProofFailedError(f"{where}: the proof is for rows of kind {proof['row_kind'][:40]}")
    if proof["leaf"] != digest:
        raise ProofFailedError(
            f"{where}: the fields give digest {digest}, not {proof['leaf'][:64]}"
        )
    count, left = proof["rows"], proof["position"]
    if not 0 <= left < count <= _SAFE:
        raise ProofFailedError(f"{where}: row {left} of {count} is not of this table")
    node, last = _hash("table-leaf", bytes.fromhex(digest)), count - 1
    siblings = [_bytes(text, where) for text in proof["siblings"]]
    while last > 0:
        if left % 2 or left != last:
            if not siblings:
                raise ProofFailedError(f"{where}: the proof is cut short")
            beside = siblings.pop(0)
            node = _hash("table-node", beside + node if left % 2 else node + beside)
        left, last = left // 2, last // 2
    if siblings:
        raise ProofFailedError(f"{where}: the proof is for another number of rows")
    found = _digest("table", {"kind": kind, "rows": count, "tree": node.hex()})
    if found != root:
        raise ProofFailedError(f"{where}: the hashes lead to {found}, not to {root[:64]}")
    return int(count)


class _Link(NamedTuple):
    """A field that has to hold a value; `needs` are the kinds of rows that have to be there."""

    needs: str
    kind: str
    field: str
    value: Any
    what: str


def _links(rows: dict[str, _ProvedRow], raw: dict[str, Any]) -> list[str]:
    """How the rows fit together, as far as they are there."""
    lines: list[str] = []
    for link in _known_links(rows):
        if set(link.needs.split()) <= set(rows):
            if rows[link.kind].fields.get(link.field) != link.value:
                raise ProofFailedError(f"{link.kind}.{link.field} is not {link.what}")
            lines.append(f"{link.kind}.{link.field} is {link.what}")
    if {"score", "selection", "task"} <= set(rows):
        if rows["score"].fields.get("score_bps") != _look_up(rows):
            raise ProofFailedError("score.score_bps is not the map's score of the selection")
        lines.append("score.score_bps is the map's score of the selection")
    for name, text in raw.items():
        if "response" not in rows or name != "response" or not isinstance(text, str):
            raise NotAProofError("raw holds something else than the response's bytes")
        try:
            decoded = base64.b64decode(text, validate=True)
        except ValueError as problem:
            raise NotAProofError("raw is no base64") from problem
        if rows["response"].fields.get("raw") != _hash("bytes", decoded).hex():
            raise ProofFailedError("response.raw is not the digest of the bytes")
        lines.append("response.raw is the digest of the bytes")
    return lines


def _known_links(rows: dict[str, _ProvedRow]) -> list[_Link]:
    def digest(kind: str) -> Any:
        return rows[kind].digest if kind in rows else None

    answered = rows["response"].fields if "response" in rows else {}
    read = rows["selection"].fields if "selection" in rows else {}
    key = {name: answered.get(name) for name in ("repeat", "route_digest", "task_digest")}
    to_task = [
        _Link(f"{kind} task", kind, "task_digest", digest("task"), "the task's digest")
        for kind in ("selection", "score", "response", "core-task")
    ]
    return [
        *to_task,
        _Link("score selection", "score", "selection_digest", digest("selection"),
              "the selection's digest"),
        _Link("selection response", "selection", "response_digest", digest("response"),
              "the response's digest"),
        _Link("selection response", "selection", "route_digest", answered.get("route_digest"),
              "the response's route"),
        _Link("standing selection", "standing", "route_digest", read.get("route_digest"),
              "the selection's route"),
        _Link("response", "response", "request_digest", _digest("request", key),
              "the key of task, route and repeat"),
    ]  # fmt: skip


def _look_up(rows: dict[str, _ProvedRow]) -> Any:
    scores = rows["task"].fields.get("scores_bps")
    choice = rows["selection"].fields.get("selection")
    if not isinstance(scores, list) or len(scores) != len(_PORTFOLIOS) or choice not in _PORTFOLIOS:
        raise ProofFailedError("the map is not of 56 scores, or the selection is none of the 56")
    return scores[_PORTFOLIOS.index(choice)]


def _digest(kind: str, value: Any) -> str:
    _exact(value, 0)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return _hash(kind, text.encode("utf-8")).hex()


def _hash(kind: str, data: bytes) -> bytes:
    digest: bytes = blake3(data, derive_key_context=f"flavourbench v1 {kind}").digest()
    return digest


def _exact(value: Any, depth: int) -> None:
    """Strings, safe integers, booleans, null, lists, objects with ASCII keys; nothing else."""
    if depth > _DEPTH:
        raise NotAProofError("nesting is too deep")
    if isinstance(value, dict) and not all(key.isascii() for key in value):
        raise NotAProofError("a name of a field is not ASCII")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _exact(item, depth + 1)
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) > _SAFE):
        raise NotAProofError("a number is no integer within 2^53 - 1")


def _shape(value: Any, shape: dict[str, type], where: str) -> None:
    if not isinstance(value, dict) or set(value) != set(shape):
        raise NotAProofError(f"{where}: fields are not {', '.join(shape)}")
    for name, kind in shape.items():
        if type(value[name]) is not kind:
            raise NotAProofError(f"{where}: {name} is no {kind.__name__}")


def _bytes(text: Any, where: str) -> bytes:
    if not isinstance(text, str) or not _HEX.fullmatch(text):
        raise NotAProofError(f"{where}: a hash is not 64 hexadecimal characters")
    return bytes.fromhex(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotAProofError("a key stands twice")
    return found


def _read(path: Path) -> Any:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise NotAProofError("no regular file")
        with path.open("rb") as stream:
            data = stream.read(_LIMIT + 1)
        if len(data) > _LIMIT:
            raise NotAProofError(f"more than {_LIMIT:,} bytes")
        if sum(map(data.count, (b",", b"[", b"{"))) > _VALUES:  # each becomes an object
            raise NotAProofError(f"more than {_VALUES:,} values")
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
        _exact(value, 0)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except OSError as problem:
        raise NotAProofError(problem.strerror or "cannot be read") from problem
    except (ValueError, RecursionError) as problem:
        raise NotAProofError(f"no JSON in UTF-8: {problem}") from problem
    return value


def main(arguments: list[str]) -> int:
    """Check the proof that the first argument names, against the run that the second names."""
    code, text = _outcome(arguments)
    if code == 0 and not _written("stdout", text):
        code, text = 2, "standard output takes nothing: it is closed or full"
    if code:
        _written("stderr", text)
    return code


def _outcome(arguments: list[str]) -> tuple[int, str]:
    if arguments in (["--help"], ["-h"]):
        return 0, f"usage: {_USAGE}\n\n{__doc__}".rstrip()
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        return 2, f"usage: {_USAGE} (--help says more)"
    try:
        proved = check_file(Path(arguments[0]), *arguments[1:])
    except NotAHashError as problem:
        return 2, f"not a whole hash of a run: {len(arguments[1])} characters. {problem}"
    except NotAProofError as problem:
        return 2, f"not a proof: {_printed(problem)}"
    except ProofFailedError as problem:
        return 1, f"the proof fails: {_printed(problem)}"
    unclaimed = (f"not claimed: {line}" for line in proved.unclaimed)
    end = f"The proof holds. {'Run' if len(arguments) > 1 else 'It names run'} {proved.run}"
    return 0, "\n".join(map(_printed, [*proved.lines, *unclaimed, end]))


def _written(name: str, text: str) -> bool:
    try:
        stream = getattr(sys, name)
        stream.write(f"{text}\n")
        stream.flush()
    except (AttributeError, OSError):  # none where it was closed from the start
        setattr(sys, name, None)  # or else the interpreter tries again as it ends, and fails
        return False
    return True


def _printed(text: object) -> str:
    """One line in which nothing of a proof can steer a terminal."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
