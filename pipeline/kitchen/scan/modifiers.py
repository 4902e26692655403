"""Words that change what stands near them: free-from, without, vegan, ground, raw.

A modifier reaches as far as its noun phrase: from one mark or link (and, with, or …) to the next.
One that stands alone between marks belongs to what stands before it. What it does not reach keeps
its verdict, and it clears only the flags and kinds that its row names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.kitchen.scan.lexicon import Verdict, read_lexicon

if TYPE_CHECKING:
    from pipeline.kitchen.scan.finder import Cut, Found, Hit

__all__ = ["Judged", "judge"]


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOPS = _split(
    "and or with in on plus topped served over nor but containing contains ve ile veya et ou avec "
    "mit und oder auf con e y o"
)
_CHAINS = _split("or nor ou oder o veya and und et e y ve")
_FIRM = _split("or nor ou oder o veya")
_DENIALS = frozenset({"not", "non", "isnt", "nicht", "pas", "degil"})
_ALWAYS = "*"
_REACH = 2
_LONGEST = 24
"""Tokens that one `without` reaches at most, so that no text takes long."""


class Judged(NamedTuple):
    """A hit with what its surroundings make of it."""

    hit: Hit
    verdict: Verdict
    rule: str


class _Phrase(NamedTuple):
    start: int
    end: int


def judge(text: Cut, found: Found) -> list[Judged]:
    """Every hit with its verdict and the rule that decided it, in order of the text."""
    judged = [
        Judged(hit, Verdict.CLEAR if hit.row.verdict is Verdict.IF_RAW else hit.row.verdict,
               hit.row.rule)
        for hit in found.hits
    ]  # fmt: skip
    if found.modifiers:
        _Judge(text, found, judged).run()
    return judged


class _Judge:
    """The modifiers of one text, applied in turn."""

    def __init__(self, text: Cut, found: Found, judged: list[Judged]) -> None:
        self._tokens = text.tokens
        self._segments = text.segments
        self._modifiers = found.modifiers
        self._judged = judged
        self._adjectives = read_lexicon().adjectives
        self._phrases = self._cut_phrases()
        self._denials = {m.start for m in found.modifiers if m.row.role in {"before", "no"}}

    def run(self) -> None:
        for modifier in self._modifiers:
            role = modifier.row.role
            if role == "quality":
                self._clear_phrase(modifier, "free from")
            elif role == "after":
                self._free(modifier)
            elif role in {"before", "no"}:
                self._without(modifier, strict=role == "no")
            elif role == "state":
                self._state(modifier, Verdict.CLEAR, "state")
            elif role == "fine":
                self._state(modifier, Verdict.NEEDS_LABEL, "state")
            elif role == "raw":
                self._state(modifier, Verdict.CARRIER, "raw")

    def _cut_phrases(self) -> list[_Phrase]:
        """Noun phrases: runs of tokens between marks and links."""
        phrases = []
        start = 0
        count = len(self._tokens)
        for place in range(count + 1):
            stop = place < count and self._tokens[place] in _STOPS
            if place == count or stop or self._segments[place] != self._segments[start]:
                if place > start:
                    phrases.append(_Phrase(start, place))
                start = place + 1 if stop else place
        return phrases

    # Free from

    def _free(self, modifier: Hit) -> None:
        """`X free`: clears what X names in its phrase, or X alone where it names nothing more."""
        start = modifier.start
        if self._tokens[start + 1 : start + 2] == ["range"]:
            return
        names = [m for m in self._modifiers if m.row.role == "name" and m.end == start]
        begin = min((name.start for name in names), default=start - 1)
        if _DENIALS.intersection(self._tokens[max(0, begin - _REACH) : begin]):
            return
        for name in names:
            self._clear_phrase(name, "free from", until=modifier.end)
            self._clear_coordinated(name, modifier.end)
        self._clear_at(start, "free from")

    def _clear_coordinated(self, name: Hit, until: int) -> None:
        """`gluten and dairy free`: the first name is free, too, where it names no food itself."""
        link = name.start - 1
        if link < 1 or self._tokens[link] not in _CHAINS:
            return
        for other in self._modifiers:
            if other.row.role == "name" and other.end == link and len(other.row.clears) == 1:
                flag, kind = other.row.clears[0]
                if kind == _ALWAYS and self._is_abstract(other):
                    self._clear_at(link, "free from")
                    self._apply(self._phrase_of(until - 1), ((flag, kind),), "free from")

    def _is_abstract(self, name: Hit) -> bool:
        return self._tokens[name.start] in {"gluten", "lactose", "dairy"}

    def _without(self, modifier: Hit, *, strict: bool) -> None:
        """`without X (or Y)`: X is not there; a name clears its phrase as well."""
        place = modifier.end
        segment = self._segments[modifier.start]
        skipped = 0
        end = min(len(self._tokens), place + _LONGEST)
        while place < end and self._segments[place] == segment and place not in self._denials:
            ends = {j.hit.end for j in self._judged if j.hit.start == place}
            names = [m for m in self._modifiers if m.row.role == "name" and m.start == place]
            if ends or names:
                for name in names:
                    self._clear_phrase(name, "without", whole=modifier)
                place = max(ends | {m.end for m in names})
                self._clear_between(modifier.end, place, "without")
                skipped = -1
            elif skipped < 0 and self._tokens[place] in _CHAINS:
                place += 1
                skipped = _REACH if self._tokens[place - 1] not in _FIRM else 0
            elif self._may_skip(place, skipped, strict=strict):
                place += 1
                skipped += 1
            else:
                return

    def _may_skip(self, place: int, skipped: int, *, strict: bool) -> bool:
        word = self._tokens[place]
        if word in {"added", "any", "the", "a", "de"} and 0 <= skipped < _REACH:
            return True
        return not strict and 0 <= skipped < _REACH and word not in _STOPS

    def _clear_between(self, start: int, end: int, rule: str) -> None:
        for number, judged in enumerate(self._judged):
            if start <= judged.hit.start and judged.hit.end <= end:
                self._judged[number] = Judged(judged.hit, Verdict.CLEAR, rule)

    def _clear_at(self, end: int, rule: str) -> None:
        """Clear what ends at a token, the part before `free`."""
        for number, judged in enumerate(self._judged):
            if judged.hit.end == end and self._segments[end - 1] == self._segments[end]:
                self._judged[number] = Judged(judged.hit, Verdict.CLEAR, rule)

    def _clear_phrase(
        self, modifier: Hit, rule: str, until: int = 0, whole: Hit | None = None
    ) -> None:
        """Clear a modifier's kinds in its phrase; alone in it, in the phrase that it is about."""
        clears = modifier.row.clears
        home = self._phrase_of(modifier.start)
        self._apply(home, clears, rule, but=modifier)
        first = whole.start if whole else modifier.start
        last = max(modifier.end, until)
        if self._is_alone(home, first, last):
            other = self._about(home, clears)
            if other:
                self._apply(other, clears, rule)

    def _is_alone(self, phrase: _Phrase, first: int, last: int) -> bool:
        """Whether a phrase holds modifiers and words that say nothing, and no food."""
        own = range(first, last)
        covered = set(own)
        for other in self._modifiers:
            covered.update(range(other.start, other.end))
        foods = (judged.hit for judged in self._judged)
        if any(phrase.start <= f.start < phrase.end and f.start not in own for f in foods):
            return False
        return all(
            place in covered or self._tokens[place] in self._adjectives
            for place in range(phrase.start, phrase.end)
        )

    def _about(self, phrase: _Phrase, clears: tuple[tuple[int, str], ...]) -> _Phrase | None:
        """The phrase that a lone one speaks of: the one before a mark, else the one after."""
        at = self._phrases.index(phrase)
        linked = phrase.end < len(self._tokens) and self._tokens[phrase.end] in _CHAINS
        if at and not linked:
            for before in reversed(self._phrases[:at]):
                if self._holds(before, clears):
                    return before
                if not self._is_alone(before, before.start, before.start):
                    return None
        for after in self._phrases[at + 1 :]:
            if not self._is_alone(after, after.start, after.start) or self._holds(after, clears):
                return after
        return None

    def _holds(self, phrase: _Phrase, clears: tuple[tuple[int, str], ...]) -> bool:
        return any(
            phrase.start <= j.hit.start < phrase.end and _fits(j.hit, clears) for j in self._judged
        )

    def _apply(
        self,
        phrase: _Phrase,
        clears: tuple[tuple[int, str], ...],
        rule: str,
        but: Hit | None = None,
    ) -> None:
        for number, judged in enumerate(self._judged):
            hit = judged.hit
            if not phrase.start <= hit.start < phrase.end or not _fits(hit, clears):
                continue
            if judged.verdict is Verdict.CLEAR:
                continue
            if but and but.start <= hit.start < but.end and but.row.role == "name":
                continue  # the name's own place is for `free` or `without` to clear
            self._judged[number] = Judged(hit, Verdict.CLEAR, rule)

    def _phrase_of(self, place: int) -> _Phrase:
        return next(p for p in self._phrases if p.start <= place < p.end)

    # States

    def _state(self, modifier: Hit, verdict: Verdict, rule: str) -> None:
        """`ground X`, `X, raw`: a state of what stands beside it."""
        clears = modifier.row.clears
        for step, place in ((1, modifier.end), (-1, modifier.start - 1)):
            if self._reach(place, step, modifier, verdict, rule):
                return
        try:
            home = self._phrase_of(modifier.start)
        except StopIteration:
            return
        if not self._is_alone(home, modifier.start, modifier.end):
            return
        for before in reversed(self._phrases[: self._phrases.index(home)]):
            if self._holds(before, clears):
                self._settle(before.start, before.end, clears, verdict, rule)
                return
            if not self._is_alone(before, before.start, before.start):
                return

    def _reach(self, place: int, step: int, modifier: Hit, verdict: Verdict, rule: str) -> bool:
        segment = self._segments[modifier.start]
        while 0 <= place < len(self._tokens) and self._segments[place] == segment:
            beside = [j.hit for j in self._judged if (
                (j.hit.start if step > 0 else j.hit.end - 1) == place
                and _fits(j.hit, modifier.row.clears))]  # fmt: skip
            if beside:
                for hit in beside:
                    self._settle(hit.start, hit.end, modifier.row.clears, verdict, rule)
                return True
            covered = any(m.start <= place < m.end for m in self._modifiers)
            if not covered and self._tokens[place] not in self._adjectives:
                return False
            place += step
        return False

    def _settle(
        self,
        start: int,
        end: int,
        clears: tuple[tuple[int, str], ...],
        verdict: Verdict,
        rule: str,
    ) -> None:
        for number, judged in enumerate(self._judged):
            hit = judged.hit
            if not start <= hit.start < end or not _fits(hit, clears):
                continue
            raw = hit.row.verdict is Verdict.IF_RAW
            if raw if verdict is Verdict.CARRIER else hit.row.verdict > Verdict.IF_RAW:
                self._judged[number] = Judged(hit, verdict, rule)


def _fits(hit: Hit, clears: tuple[tuple[int, str], ...]) -> bool:
    return any(hit.row.flag == flag and kind in (_ALWAYS, hit.row.kind) for flag, kind in clears)
