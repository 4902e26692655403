"""Writes a portable proof: rows, their ways up to the run's hash, and the answer's bytes."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from pipeline.audit.lookup import run_proof
from pipeline.errors import InputError
from pipeline.files import write_bytes
from pipeline.identity import row_identity

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.audit.evidence import Audit
    from pipeline.audit.lookup import Claim

__all__ = ["proof_document", "write_proof"]


def proof_document(audit: Audit) -> dict[str, Any]:
    """The proof of an audit's rows, as `verifier` reads it.

    Raises
    ------
    InputError
        The audit is of no row.
    """
    if not audit.claims:
        raise InputError(
            "a hash of a row, or a cell", audit.subject, "--proof",
            "Roots and routes are proved by the rows below them.",
        )  # fmt: skip
    raw = audit.raw
    return {
        "format": "flavourbench proof",
        "run": audit.run,
        "claims": [_claim(audit, found) for found in audit.claims],
        "raw": {} if raw is None else {"response": base64.b64encode(raw).decode("ascii")},
    }


def write_proof(audit: Audit, path: Path) -> None:
    """Write a proof. Raises as `proof_document` does, or `TableError` where the disk refuses."""
    document = proof_document(audit)
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    write_bytes(path, text.encode("utf-8"))


def _claim(audit: Audit, found: Claim) -> dict[str, Any]:
    table = run_proof(audit.entries, found.place)
    return {
        "kind": found.place.model.kind,
        "fields": row_identity(found.row),
        "proof": found.proof._asdict(),
        "table": table.entry.model_dump(mode="json"),
        "table_proof": table.proof._asdict(),
    }
