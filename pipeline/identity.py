"""Identities: canonical bytes, digests by kind, Merkle roots and inclusion proofs.

See docs/identity.md.

* Canonical bytes are the JSON of RFC 8785, restricted to strings, integers within 2^53 - 1,
  booleans, null, lists and string-keyed objects. There are no floats in an identity.
* A digest is BLAKE3 in derive-key mode, 256 bit, with the context ``flavourbench v1 <kind>``, so
  a digest of one kind can never equal a digest of another.
* A Merkle tree has the shape of RFC 6962, section 2.1, over row digests in key order. A table's
  root binds the tree together with the kind of its rows and their count, since the bare shape lets
  one proof hold for several tree sizes.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from blake3 import blake3

from pipeline.errors import InputError
from schemas.record import SAFE_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from schemas.record import IdentityValue, Row

__all__ = [
    "InclusionProof",
    "canonical_bytes",
    "check_inclusion",
    "digest",
    "digest_bytes",
    "merkle_proof",
    "merkle_tree",
    "row_digest",
    "row_identity",
    "streamed_proof",
    "table_root",
]

_CONTEXT = "flavourbench v1 "
_MAX_DEPTH = 32
_DIGEST_BYTES = 32


class InclusionProof(NamedTuple):
    """Proof that a row belongs to a table, by hashes alone.

    Attributes
    ----------
    row_kind
        Kind of the table's rows.
    rows
        Number of rows in the table.
    position
        Zero-based position of the row in key order.
    leaf
        The row's digest (hex).
    siblings
        Digests (hex) from the leaf's sibling up to the child of the tree's root.
    """

    row_kind: str
    rows: int
    position: int
    leaf: str
    siblings: tuple[str, ...]


def canonical_bytes(value: IdentityValue) -> bytes:
    """RFC 8785 JSON of an identity value.

    Raises
    ------
    InputError
        The value holds a float, an integer beyond 2^53 - 1, a lone surrogate, a key that is not a
        string, nesting deeper than 32, or anything else that an identity cannot hold; names the
        field.
    """
    plain = _checked(value, "$", 0)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def digest(kind: str, value: IdentityValue) -> str:
    """Digest (hex) of an identity value under a kind. Raises as `canonical_bytes` does."""
    return digest_bytes(kind, canonical_bytes(value))


def digest_bytes(kind: str, data: bytes) -> str:
    """Digest (hex) of raw bytes under a kind."""
    return _raw(kind, data).hex()


def row_identity(row: Row) -> dict[str, IdentityValue]:
    """The identity fields of a row: all but later fields that are none, bytes as their digest."""
    return _identity_of(type(row), row.model_dump(mode="python"))


def row_digest(row: Row) -> str:
    """Digest (hex) of a row under its own kind. Raises as `canonical_bytes` does."""
    return digest(row.kind, row_identity(row))


def table_root(row_kind: str, digests: Sequence[str]) -> str:
    """Root (hex) of a table: its Merkle tree bound to the kind and the number of its rows.

    Parameters
    ----------
    row_kind
        Kind of the rows.
    digests
        Row digests (hex) in primary-key order.
    """
    return _bind(row_kind, len(digests), merkle_tree(digests))


def merkle_tree(digests: Sequence[str]) -> str:
    """Hash (hex) of RFC 6962's tree over row digests (hex), leaves and nodes under own kinds.

    The empty tree is the node hash of no bytes.
    """
    level = [_raw("table-leaf", bytes.fromhex(d)) for d in digests]
    if not level:
        return _raw("table-node", b"").hex()
    while len(level) > 1:
        level = _parents(level)
    return level[0].hex()


def merkle_proof(row_kind: str, digests: Sequence[str], index: int) -> InclusionProof:
    """Inclusion proof of the row at `index` (RFC 6962, section 2.1.1).

    Raises
    ------
    InputError
        There is no such row.
    """
    if not 0 <= index < len(digests):
        raise InputError(
            f"a row index below {len(digests)}",
            str(index),
            "inclusion proof",
            "Name a row of the table.",
        )
    siblings = _siblings([_raw("table-leaf", bytes.fromhex(d)) for d in digests], index)
    return InclusionProof(row_kind, len(digests), index, digests[index], siblings)


def streamed_proof(row_kind: str, parts: Iterable[Sequence[str]], index: int) -> InclusionProof:
    """As `merkle_proof`, from digests in parts, so that a large table is never held whole.

    Parameters
    ----------
    row_kind
        Kind of the rows.
    parts
        Row digests (hex) in key order: every part but the last of the same power of two, so that
        each is a subtree of RFC 6962's shape.
    index
        Zero-based position of the row.

    Raises
    ------
    InputError
        There is no such row.
    """
    tops: list[bytes] = []
    rows, place = 0, 0
    within: InclusionProof | None = None
    for part in parts:
        if rows <= index < rows + len(part):
            within, place = merkle_proof(row_kind, part, index - rows), len(tops)
        tops.append(bytes.fromhex(merkle_tree(part)))
        rows += len(part)
    if within is None:
        return merkle_proof(row_kind, [], index)  # says that there is no such row
    siblings = (*within.siblings, *_siblings(tops, place))
    return InclusionProof(row_kind, rows, index, within.leaf, siblings)


def check_inclusion(proof: InclusionProof, root: str) -> str:
    """Evidence (the recomputed root, hex) that the proof's row lies in the table of `root`.

    Follows RFC 9162, section 2.1.3.2.

    Raises
    ------
    InputError
        The proof does not lead to the root; says which of its parts cannot be right.
    """
    where = f"proof of row {proof.position} of {proof.rows}"
    if not 0 <= proof.position < proof.rows:
        raise InputError(
            "an index below the row count", str(proof.position), where, "Ask for a new proof."
        )
    node = _raw("table-leaf", _hash_bytes(proof.leaf, where))
    left, last = proof.position, proof.rows - 1
    used = 0
    while last > 0:
        if left % 2 == 1 or left != last:
            if used == len(proof.siblings):
                raise InputError(
                    "a hash for every level of the tree",
                    f"{used} hashes",
                    where,
                    "The proof is cut short.",
                )
            beside = _hash_bytes(proof.siblings[used], where)
            used += 1
            node = _node(beside, node) if left % 2 == 1 else _node(node, beside)
        left, last = left // 2, last // 2
    if used != len(proof.siblings):
        raise InputError(
            f"{used} hashes", f"{len(proof.siblings)}", where, "The proof is for another tree size."
        )
    found = _bind(proof.row_kind, proof.rows, node.hex())
    if found != root:
        raise InputError(
            f"table root {root}", found, where, "The row, its place or its table was changed."
        )
    return found


def _bind(row_kind: str, rows: int, tree: str) -> str:
    return digest("table", {"kind": row_kind, "rows": rows, "tree": tree})


def _parents(level: list[bytes]) -> list[bytes]:
    """One level up; a last node without a sibling rises as it is, which gives RFC 6962's shape."""
    pairs = [_node(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
    return pairs + level[-1:] if len(level) % 2 else pairs


def _siblings(level: list[bytes], place: int) -> tuple[str, ...]:
    """Hashes (hex) beside a node's way up to the root."""
    siblings: list[str] = []
    while len(level) > 1:
        beside = place ^ 1
        if beside < len(level):
            siblings.append(level[beside].hex())
        level = _parents(level)
        place //= 2
    return tuple(siblings)


def _node(left: bytes, right: bytes) -> bytes:
    return _raw("table-node", left + right)


@functools.cache
def _hasher(kind: str) -> Any:
    """A fresh hasher of a kind; it is copied, never fed."""
    return blake3(derive_key_context=_CONTEXT + kind)


def _raw(kind: str, data: bytes) -> bytes:
    result: bytes = _hasher(kind).copy().update(data).digest()
    return result


def _hash_bytes(text: str, where: str) -> bytes:
    try:
        data = bytes.fromhex(text)
    except ValueError:
        data = b""
    if len(data) != _DIGEST_BYTES or data.hex() != text:
        raise InputError(
            "64 lower-case hexadecimal characters", text, where, "Ask for a new proof."
        )
    return data


def _identity_of(model: type[Row], values: Mapping[str, Any]) -> dict[str, IdentityValue]:
    hashed = model.bytes_columns()
    return {
        name: digest_bytes("bytes", values[name]) if name in hashed else values[name]
        for name in model.columns()
        if name not in model.later or values[name] is not None
    }


def _checked(value: Any, path: str, depth: int) -> Any:
    """The value with keys in RFC 8785's order (UTF-16 code units), or an error naming the field."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        if -SAFE_INTEGER <= value <= SAFE_INTEGER:
            return value
        raise _refusal("an integer within 2^53 - 1", _shown(value), path)
    if isinstance(value, str):
        if value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value):
            return str.__str__(value)
        raise _refusal("text without lone surrogates", repr(value), path)
    if depth >= _MAX_DEPTH:
        raise _refusal(f"nesting of at most {_MAX_DEPTH}", "deeper nesting", path)
    if kind is list or kind is tuple:
        return [_checked(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    if kind is dict:
        return _checked_object(value, path, depth)
    raise _refusal(
        "a string, integer, boolean, null, list or object", f"{kind.__name__} {_shown(value)}", path
    )


def _checked_object(value: dict[Any, Any], path: str, depth: int) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise _refusal("string keys", _shown(key), path)
    checked = {key: _checked(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    for key in checked:
        _checked(key, f"{path} (key)", depth + 1)
    if all(map(str.isascii, checked)):
        return dict(sorted(checked.items()))
    return dict(sorted(checked.items(), key=lambda pair: pair[0].encode("utf-16-be")))


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # Python writes no integer of more than 4,300 digits
        return "a value too long to show"


def _refusal(expected: str, found: str, path: str) -> InputError:
    return InputError(
        expected, found, f"identity field {path}", "Identities hold exact values only."
    )
