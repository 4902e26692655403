"""Digests and root of 100,000 rows: ours against RFC 8785 row by row.

The plain version is what one writes first: canonical JSON by the `rfc8785` package, one new BLAKE3
hasher a digest, and the recursive definition of RFC 6962's tree. `--scale` goes to 10^6 rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import rfc8785
from blake3 import blake3

from benchmarks.measure import Curve, Race, main
from pipeline.columns import row_digests
from pipeline.identity import table_root
from schemas.results import Score

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 100_000


def _scores(rows: int) -> pa.Table:
    import pyarrow as pa

    filler = [f"{number:064x}" for number in range(rows)]
    return pa.table(
        {
            "slug": [f"route-{number % 27}" for number in range(rows)],
            "task_id": [f"task-{number:06d}" for number in range(rows)],
            "task_digest": filler,
            "selection_digest": filler[::-1],
            "score_bps": [number * 7919 % 10_001 for number in range(rows)],
        },
        schema=Score.arrow_schema().remove(0),
    )


def _ours(prepared: object) -> str:
    return table_root(Score.kind, row_digests(Score, cast("pa.Table", prepared)))


def _plain(prepared: object) -> str:
    rows = cast("pa.Table", prepared).to_pylist()
    leaves = [_hash("table-leaf", _hash("score", rfc8785.dumps(row))) for row in rows]
    tree: Any = {"kind": "score", "rows": len(rows), "tree": _tree(leaves).hex()}
    return _hash("table", rfc8785.dumps(tree)).hex()


def _tree(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return _hash("table-node", _tree(leaves[:split]) + _tree(leaves[split:]))


def _hash(kind: str, data: bytes) -> bytes:
    result: bytes = blake3(data, derive_key_context=f"flavourbench v1 {kind}").digest()
    return result


RACE = Race(
    "benchmarks.hashing",
    f"hashing: {_ROWS:,} rows of the scores table to their root",
    lambda: _scores(_ROWS),
    {"plain": _plain, "ours": _ours},
    repeats=3,
)
CURVE = Curve(
    "hashing: rows of the scores table to their root", "rows", "rows",
    (10**4, 10**5, 10**6), _scores, _ours,
)  # fmt: skip

if __name__ == "__main__":
    main(RACE, CURVE)
