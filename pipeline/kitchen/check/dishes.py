"""Checks of what stands on the table each day: safe components, bans, guests' plates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.kitchen.check.results import FAILED, Evidence, Result, Status, Tally, one
from pipeline.kitchen.check.sheets import scan_item
from pipeline.kitchen.names import SAFE, characters, core, hits, name, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipeline.kitchen.check.sheets import MenuSheet, RecipeSheet
    from schemas.kitchen import Flag
    from schemas.meals import Dinner, WeeklyMenu

__all__ = [
    "carte_blanche_ban",
    "escapes_rut",
    "gluten_scan",
    "has_special_adaptation",
    "ibd_trigger_scan",
    "no_pork_mains",
    "seasonal_contrast",
    "son_safe_every_day",
    "special_adaptation_every_day",
    "special_fault",
]

_SPECIAL_CHARACTERS = 15
_COPIES = 3
_Texts = list[tuple[str, str]]


def _scan_days(
    sheet: MenuSheet, flag: Flag, texts_of: Callable[[str, Dinner], _Texts], nothing: str
) -> Result:
    """One item a dinner: its texts are clear. Without texts it does not count."""
    tally = Tally()
    for _, path, dinner in sheet.dinners:
        texts = texts_of(path, dinner)
        if not texts:
            tally.fails(f"{path}.{nothing}", "absent", "nothing", "what lies on the guest's plate")
            continue
        verdict, place, text = scan_item(texts, (flag,), sheet.scan, path)
        if verdict == "flag":
            tally.fails(place, "flagged", text, f"no {flag}")
        elif verdict == "needs_label":
            tally.leaves(place, "needs_label", text, f"a name that shows whether it has {flag}")
        else:
            tally.counts()
    return tally.result()


def _components(path: str, dinner: Dinner) -> _Texts:
    return [(f"{path}.components.{i}", text) for i, text in enumerate(dinner.components)]


def no_pork_mains(sheet: MenuSheet) -> Result:
    """No dinner has pork."""
    return _scan_days(
        sheet,
        "pork",
        lambda path, dinner: [
            (f"{path}.dish_name", dinner.dish_name),
            (f"{path}.main_protein", dinner.main_protein),
            *_components(path, dinner),
        ],
        "components",
    )


def gluten_scan(sheet: MenuSheet) -> Result:
    """No dish and no component carries gluten."""
    return _scan_days(
        sheet,
        "gluten",
        lambda path, dinner: [
            (f"{path}.dish_name", dinner.dish_name),
            *_components(path, dinner),
        ],
        "components",
    )


def ibd_trigger_scan(sheet: MenuSheet) -> Result:
    """Nothing on the guest's plate is a trigger."""
    return _scan_days(
        sheet,
        "ibd_trigger",
        lambda path, dinner: [
            (f"{path}.special_components.{i}", text)
            for i, text in enumerate(dinner.special_components)
        ],
        "special_components",
    )


def son_safe_every_day(sheet: MenuSheet) -> Result:
    """The picky child has a plain safe component, and it is one of the dinner's own."""
    tally = Tally()
    for _, path, dinner in sheet.dinners:
        safe = core(dinner.son_safe_component)
        where = f"{path}.son_safe_component"
        if not safe or not safe <= SAFE:
            tally.fails(where, "not_safe", dinner.son_safe_component, "a plain safe food")
        elif all(core(component) != safe for component in dinner.components):
            want = "one of " + ", ".join(dinner.components)
            tally.fails(where, "not_served", dinner.son_safe_component, want)
        else:
            tally.counts()
    return tally.result()


def special_fault(text: str | None, path: str, copied_from: frozenset[str]) -> Evidence | None:
    """What is wrong with the words on a guest's own plate; none where nothing is."""
    if text is None:
        return Evidence(path, "absent", "nothing", "how the guest's plate differs")
    if characters(text) < _SPECIAL_CHARACTERS:
        want = f"at least {_SPECIAL_CHARACTERS} characters"
        return Evidence(path, "short", f"{characters(text)} characters", want)
    if name(text) in copied_from:
        return Evidence(path, "copied", text, "words of its own")
    return None


def special_adaptation_every_day(sheet: MenuSheet) -> Result:
    """Every dinner says in words of its own how the guest's plate differs."""
    tally = Tally()
    texts = [dinner.special_adaptation for dinner in sheet.menu.dinners]
    said = [name(text) for text in texts if text is not None]
    often = {text for text in said if said.count(text) >= _COPIES}
    for _, path, dinner in sheet.dinners:
        copies = frozenset(often | {name(dinner.dish_name)})
        fault = special_fault(dinner.special_adaptation, f"{path}.special_adaptation", copies)
        if fault:
            tally.fails(*fault)
        else:
            tally.counts()
    return tally.result()


def has_special_adaptation(sheet: RecipeSheet) -> Result:
    """The recipe says in words of its own how the guest's plate differs."""
    recipe = sheet.recipe
    copies = frozenset({name(recipe.title)})
    return one(special_fault(recipe.special_adaptation, "special_adaptation", copies))


def _beside_the_childs(dinner: Dinner) -> list[tuple[int, str]]:
    """Components but the child's safe one, with their places."""
    safe = core(dinner.son_safe_component)
    return [(i, text) for i, text in enumerate(dinner.components) if core(text) != safe]


def _plate_hit(path: str, dinner: Dinner, beginnings: tuple[str, ...]) -> tuple[str, str] | None:
    """The first name on the plate with a word that begins so, and its path."""
    plate = [
        (f"{path}.dish_name", dinner.dish_name),
        (f"{path}.main_protein", dinner.main_protein),
        *((f"{path}.components.{i}", text) for i, text in _beside_the_childs(dinner)),
    ]
    return next(((place, text) for place, text in plate if hits(text, beginnings)), None)


def carte_blanche_ban(sheet: MenuSheet) -> Result:
    """No plate has what is banned this week."""
    tally = Tally()
    want = "nothing of " + ", ".join(sheet.asked.banned)
    for _, path, dinner in sheet.dinners:
        hit = _plate_hit(path, dinner, sheet.asked.banned)
        if hit:
            tally.fails(hit[0], "banned", hit[1], want)
        else:
            tally.counts()
    return tally.result()


def escapes_rut(sheet: MenuSheet) -> Result:
    """Hardly a plate has what the family is tired of."""
    rut = sheet.asked.rut
    if rut is None:
        return Result(0, 0, Status.ABSTAIN, "no_item", ())
    found = [_plate_hit(path, dinner, rut.words) for _, path, dinner in sheet.dinners]
    stuck = [hit for hit in found if hit]
    if len(stuck) <= rut.max:
        return one()
    path, text = stuck[rut.max]
    want = f"at most {rut.max} with {', '.join(rut.words)}"
    return one(Evidence(path, "rut", f"{text}, and {len(stuck)} dinners in all", want))


def seasonal_contrast(
    summer: WeeklyMenu | None, winter: WeeklyMenu | None, *, failed: bool = False
) -> Result:
    """The two seasons' weeks of one contestant share few words of their components.

    Parameters
    ----------
    summer, winter
        The menus; none where the answer failed or was not run.
    failed
        Whether either answer failed.
    """
    if failed:
        return FAILED
    if summer is None or winter is None:
        return Result(0, 0, Status.ABSTAIN, "pair_missing", ())
    hot, cold = _component_words(summer), _component_words(winter)
    common, either = len(hot & cold), len(hot | cold)
    if either and 10 * common <= 3 * either:
        return one()
    got = f"{common} of {either} words in common: {', '.join(sorted(hot & cold))}"
    return one(Evidence("dinners", "season", got, "at most three tenths"))


def _component_words(menu: WeeklyMenu) -> frozenset[str]:
    return frozenset(
        word
        for dinner in menu.dinners
        for _, component in _beside_the_childs(dinner)
        for word in words(component)
    )
