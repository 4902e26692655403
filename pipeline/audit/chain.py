"""Headers against each other: what every table has to name, and whether it names the truth.

A file's rows are bound by its root; what its header says beside them is bound by nothing, so it is
held here against the one thing that it can be: the roots of the tables below, the route of
params.yaml, and the documents of earlier routes under their own digests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.audit.differences import Difference
from pipeline.audit.layout import input_names, places
from pipeline.errors import TableError
from pipeline.files import parse_json
from pipeline.identity import digest
from pipeline.portfolio import PORTFOLIO
from pipeline.workspace import owner_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipeline.audit.layout import Place
    from pipeline.tables import TableHeader
    from schemas.parameters import Parameters

__all__ = ["about_differences", "input_differences"]

_EARLIER = "route/"


def input_differences(
    parameters: Parameters, headers: Mapping[Place, TableHeader], place: Place
) -> Iterator[Difference]:
    """Where a table's inputs are not those tables, all of them and no other, with their roots.

    Parameters
    ----------
    parameters
        They say which tables a run has, and which of them each is made from.
    headers
        Of the tables that are here; the root of another cannot be compared.
    place
        The table.
    """
    roots = {source.input_name: header.root for source, header in headers.items()}
    known = {source.input_name for source in places(parameters)}
    expected, stated = input_names(parameters, place), headers[place].inputs
    for name in sorted(expected | stated.keys()):
        where = f"{place.file()}, header, inputs {name}"
        if name not in expected:
            said = "no such input" if name in known else "a table of this run"
            yield Difference(where, said, stated[name] if name in known else name)
        elif name not in stated:
            yield Difference(where, roots.get(name, "the root of that table"), "no such input")
        elif stated[name] != roots.get(name, stated[name]):
            yield Difference(where, roots[name], stated[name])


def about_differences(
    parameters: Parameters, place: Place, header: TableHeader
) -> Iterator[Difference]:
    """Where documents beside the rows are not those of the route; other tables have none."""
    from pipeline.asking.routes import find_route

    where = f"{place.file()}, header, about"
    stated = dict(header.about)
    if place.answers:
        bound = find_route(PORTFOLIO, parameters, place.name)
        route = stated.pop("route", "")
        if route != bound.document:
            found = (
                f"another document, {digest('route-document', route)[:16]}…" if route else "none"
            )
            yield Difference(f"{where} route", f"route {bound.digest[:16]}…", found)
        owner = stated.pop("slug", "none")
        if owner != owner_document(place.name):
            yield Difference(f"{where} slug", owner_document(place.name), owner)
        stated = {name: text for name, text in stated.items() if not _is_earlier(name, text)}
    for name in sorted(stated):
        yield Difference(f"{where} {name}", "no such document", "a document")


def _is_earlier(name: str, text: str) -> bool:
    """Whether a document is that of an earlier route, under its own digest."""
    if not name.startswith(_EARLIER):
        return False
    try:
        document = parse_json(text.encode("utf-8"), name, TableError)
    except TableError:
        return False
    return name == f"{_EARLIER}{digest('route', document)}"
