"""Reading selections out of 100,000 answers, ours against a plain first version.

Answers take the shapes that models give: bare labels, emphasis, names, prose before and after, a
marker named twice, and one in ten that cannot be read. The plain version is one regex and `split`
for contract selection-set-v3 alone; ours serves every contract. Both must give the same reading,
reasons included. `--scale` goes to 10^6 answers (``python -m benchmarks.parse``).
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple, cast

from benchmarks.measure import Curve, Race, main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_ANSWERS, _TASKS, _SEED = 100_000, 534, 7
_LABELS = "ABCDEFGH"
_CONTRACT = "selection-set-v3"
_PROSE = "Fat wants acid, and acid wants salt, so these three balance the anchor.\n\n"
_LIST = "Weighing aroma, role and region:\n- **A** carries the base\n- C adds depth\n\n"
_SHAPES: tuple[Callable[[Sequence[str], Sequence[str]], str], ...] = (
    lambda labels, _: f"FINAL_SELECTION: {', '.join(labels)}",
    lambda labels, _: f"{_PROSE}FINAL_SELECTION: {', '.join(labels)}",
    lambda labels, _: f"{_LIST}FINAL_SELECTION: {', '.join(labels)}\n\nThey share one region.",
    lambda labels, _: f"{_PROSE}**FINAL_SELECTION: {','.join(labels)}**",
    lambda labels, _: f"{_LIST}Final_Selection : {', '.join(labels).lower()}",
    lambda labels, _: f"{_PROSE}FINAL_SELECTION: {', '.join(labels)}<|close|>response",
    lambda _, names: f"{_LIST}FINAL_SELECTION: {', '.join(names)}",
    lambda _, names: f"FINAL_SELECTION: `{', '.join(names).replace('_', ' ').title()}`",
    lambda labels, _: "First FINAL_SELECTION: {0}, then\nFINAL_SELECTION: {0}\n".format(
        ", ".join(labels)
    ),
)
_UNREADABLE: tuple[Callable[[Sequence[str], Sequence[str]], str], ...] = (
    lambda labels, _: f"{_PROSE}I choose {', '.join(labels)}.",
    lambda labels, _: f"FINAL_SELECTION: {labels[0]}, {labels[1]}",
    lambda labels, _: f"FINAL_SELECTION: {labels[0]}, {labels[1]}, {labels[0]}",
    lambda _, names: f"{_PROSE}FINAL_SELECTION: {names[0]}, {names[1]}, saffron",
    lambda labels, _: f"FINAL_SELECTION: ${', '.join(labels)}$",
    lambda *_: f"{_LIST}FINAL_SELECTION:",
    lambda labels, _: f"FINAL_SELECTION: {', '.join(labels)}\nFINAL_SELECTION: I, J, K",
    lambda labels, _: f"FINAL_SELECTION: A, B, C\nFINAL_SELECTION: {labels[0]}, G, H",
)


class _Asked(NamedTuple):
    """An answer and the candidates of its task."""

    text: str
    choices: tuple[str, ...]


def _answers(count: int) -> list[_Asked]:
    import numpy as np

    rng = np.random.default_rng(_SEED)
    tasks = [tuple(f"name_{n}_{label.lower()}" for label in _LABELS) for n in range(_TASKS)]
    picks = np.argsort(rng.random((count, len(_LABELS))), axis=1)[:, :3].tolist()
    asked = []
    for number, pick in enumerate(picks):
        choices = tasks[number % _TASKS]
        shapes, turn = (_UNREADABLE, number // 10) if number % 10 == 9 else (_SHAPES, number)
        shape = shapes[turn % len(shapes)]
        text = shape([_LABELS[i] for i in pick], [choices[i] for i in pick])
        asked.append(_Asked(text, choices))
    return asked


def _ours(prepared: object) -> list[str]:
    from pipeline.parse.reader import read_selection
    from schemas.taskset import CONTRACTS

    contract = CONTRACTS[_CONTRACT]
    found = []
    for asked in cast("list[_Asked]", prepared):
        reading = read_selection(asked.text, asked.choices, contract)
        found.append(reading.selection or str(reading.reason))
    return found


_SEGMENT = re.compile(r"(?i)FINAL_SELECTION[ \t]*:((?:(?!FINAL_SELECTION[ \t]*:).)*)")


def _plain(prepared: object) -> list[str]:
    return [_read_plainly(*asked) for asked in cast("list[_Asked]", prepared)]


def _read_plainly(text: str, choices: Sequence[str]) -> str:
    """The selection, or the reason."""
    names = {_fold(name): label for name, label in zip(choices, _LABELS, strict=True)}
    read = [_read_line(line, names) for line in _SEGMENT.findall(text)]
    selections = {found for found in read if len(found) == 3}
    if len(selections) == 1:
        return selections.pop()
    if selections:
        return "conflict"
    return read[-1] if read else "no_marker"


def _read_line(line: str, names: dict[str, str]) -> str:
    line = line.strip().removesuffix("<|close|>response").rstrip()
    inner = line.strip("`*_ \t")
    if not inner:
        return "empty_marker"
    as_labels = _labels(line.rstrip("`*_ \t"))
    as_names = [names.get(_fold(item)) for item in inner.split(",")]
    for found in (as_labels, as_names):
        if _is_selection(found):
            return "".join(sorted(filter(None, found)))
    if inner[0] == inner[-1] == "$" and _is_selection(_labels(inner[1:-1])):
        return "wrapper"
    as_labels = _labels(inner)
    if len(as_labels) != 3:
        return "wrong_count"
    return "duplicate_item" if all(as_labels) or all(as_names) else "unknown_item"


def _labels(text: str) -> list[str | None]:
    items = [item.strip().upper() for item in text.split(",")]
    return [item if len(item) == 1 and item in _LABELS else None for item in items]


def _is_selection(found: Sequence[str | None]) -> bool:
    return len(found) == 3 and len(set(found) - {None}) == 3


def _fold(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def _evidence(readings: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(readings).encode()).hexdigest()


RACE = Race(
    "benchmarks.parse",
    f"parse: {_ANSWERS:,} answers to {_TASKS} tasks under {_CONTRACT}",
    lambda: _answers(_ANSWERS),
    {
        "plain": lambda asked: _evidence(_plain(asked)),
        "ours": lambda asked: _evidence(_ours(asked)),
    },
    repeats=3,
)
CURVE = Curve(
    f"parse: answers to {_TASKS} tasks under {_CONTRACT}", "answers", "answers",
    (10**4, 10**5, 10**6), _answers, _ours,
)  # fmt: skip

if __name__ == "__main__":
    main(RACE, CURVE)
