"""YAML from elsewhere is data: plain values, bounded while it is read, aliases counted in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pipeline.errors import FlavourbenchError

__all__ = ["YamlBounds", "parse_yaml"]

_PLAIN = "Use text, integers, booleans and lists."


class YamlBounds(NamedTuple):
    """What a document may hold with every alias written out.

    Attributes
    ----------
    values
        Keys, values, lists and mappings together.
    depth
        Lists and mappings within each other.
    characters
        Length of all its scalars together.
    """

    values: int
    depth: int
    characters: int


class _Weight(NamedTuple):
    """What a node holds, itself included, and how deep it goes."""

    values: int
    depth: int
    characters: int

    def plus(self, inner: _Weight, below: int) -> _Weight:
        return _Weight(
            self.values + inner.values,
            max(self.depth, inner.depth + below),
            self.characters + inner.characters,
        )


class _Scale:
    """Weighs a document event by event, so that it is refused before it is put together."""

    def __init__(self, bounds: YamlBounds, where: str, error: type[FlavourbenchError]) -> None:
        self._bounds, self._where, self._error = bounds, where, error
        self._anchors: dict[str, _Weight] = {}
        self._open: list[tuple[str | None, _Weight]] = [(None, _Weight(0, 0, 0))]

    def take(self, event: Any) -> None:
        """Add an event of ruamel's parser."""
        kind = type(event).__name__
        if kind in ("SequenceStartEvent", "MappingStartEvent"):
            self._anchors.pop(event.anchor, None)  # a name may be given again
            self._open.append((event.anchor, _Weight(1, 1, 0)))
            self._check(len(self._open) - 1, event)
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            anchor, weight = self._open.pop()
            self._add(anchor, weight, event)
        elif kind == "ScalarEvent":
            self._add(event.anchor, _Weight(1, 0, len(event.value)), event)
        elif kind == "AliasEvent":
            if any(event.anchor == anchor for anchor, _ in self._open):
                raise self._refuse("lists and keys that do not hold themselves", "one", event)
            self._add(None, self._anchors.get(event.anchor, _Weight(1, 0, 0)), event)

    def _add(self, anchor: str | None, weight: _Weight, event: Any) -> None:
        if anchor is not None:
            self._anchors[anchor] = weight
        name, around = self._open[-1]
        self._open[-1] = (name, around.plus(weight, below=1 if len(self._open) > 1 else 0))
        self._check(len(self._open) - 1 + weight.depth, event)

    def _check(self, depth: int, event: Any) -> None:
        bounds = self._bounds
        values = sum(weight.values for _, weight in self._open)
        characters = sum(weight.characters for _, weight in self._open)
        if values > bounds.values or depth > bounds.depth:
            expected = f"at most {bounds.values:,} values, {bounds.depth} levels deep"
            raise self._refuse(expected, "more", event)
        if characters > bounds.characters:
            raise self._refuse(f"at most {bounds.characters:,} characters", "more", event)

    def _refuse(self, expected: str, found: str, event: Any) -> FlavourbenchError:
        where = f"{self._where}, line {event.start_mark.line + 1}"
        return self._error(expected, found, where, "Write a smaller file.")


def parse_yaml(data: bytes, where: str, error: type[FlavourbenchError], bounds: YamlBounds) -> Any:
    """The value of a YAML 1.2 document, keys once, no tags of programs.

    Raises
    ------
    FlavourbenchError
        As `error`, with the line: it is no UTF-8, no YAML, or holds more than `bounds`.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.parser import Parser

    scale = _Scale(bounds, where, error)

    class Weighed(Parser):  # type: ignore[misc,unused-ignore]  # ruamel's own types are partial
        """Shows every event to the scale before anything is made of it."""

        def get_event(self) -> Any:
            event = super().get_event()
            scale.take(event)
            return event

    reader = YAML(typ="safe", pure=True)
    reader.Parser = Weighed
    try:
        return reader.load(data.decode("utf-8"))
    except UnicodeDecodeError as problem:
        raise error("UTF-8", problem.reason, where, "Save it as UTF-8.") from problem
    except YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        said = str(getattr(problem, "problem", None) or problem)
        found = said.removeprefix("but ").removeprefix("found ")
        raise error("YAML", found, f"{where}{line}", "Mend that line.") from problem
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as problem:
        # A tag on a value that it does not fit, an integer of thousands of digits.
        raise error("plain keys and values", str(problem), where, _PLAIN) from problem
