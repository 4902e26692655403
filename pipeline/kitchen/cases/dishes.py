"""Dishes that the family may have had lately: where histories are drawn from."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HISTORY", "POOL", "RUTS", "RutKind"]


class RutKind(NamedTuple):
    """A rut: beginnings of words that belong to it, and dishes that a history of it is full of."""

    words: tuple[str, ...]
    dishes: tuple[str, ...]


def _dishes(text: str) -> tuple[str, ...]:
    return tuple(" ".join(dish.split()) for dish in text.split(";"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


HISTORY = _dishes("""
Red lentil soup with lemon; Baked chicken thighs with oregano potatoes; Spaghetti with tomato
and basil; Kuru fasulye with rice pilaf; Grilled sea bass and rocket salad; Manti with garlic
yogurt; Lamb and aubergine stew; Spinach and feta gözleme; Tavuk sote with peppers; Stuffed
peppers with mince and rice; Menemen with village bread; Salmon with dill and peas; Chickpea and
spinach stew; Köfte with roasted carrots; Penne with courgette and ricotta; Izmir köfte in
tomato sauce; Lemon chicken soup with orzo; Baked cod with fennel; Imam bayildi with yogurt;
Beef and okra stew; Turkey meatballs with mashed potato; Zeytinyağlı green beans; Chicken shish
with bulgur pilaf; Tuna and white bean salad; Leek and potato gratin; Karnıyarık with rice;
Prawn saganaki with bread; Mushroom and barley pilaf
""")
"""Four weeks of dinners: the constant background of the base cases."""

POOL = HISTORY + _dishes("""
Ezogelin soup with toast; Roast chicken with root vegetables; Fusilli with broccoli pesto; Green
lentil and beetroot salad; Pan fried mackerel with onions; Lahmacun with parsley; Veal ragout
with celeriac; Courgette fritters with cacık; Chicken wraps with cabbage slaw; Moussaka;
Shakshuka with feta; Trout with almonds and beans; Nohut yemeği with pilaf; Lamb chops with mint
peas; Macaroni with béchamel; Adana style kebab with grilled tomatoes; Tarhana soup; Hake in
tomato broth; Stuffed vine leaves; Beef stir fry with noodles; Potato omelette with salad;
Artichokes with broad beans; Chicken and rice casserole; Sardines on toast; Cauliflower and
chickpea curry; Sirloin strips with peppers; Pumpkin soup with croutons; Vegetable lasagne; Bean
soup with pasta; Chicken pilav; Linguine with clams; Türlü vegetable stew; Plaice with caper
butter; Hünkar beğendi; Fattoush with halloumi; Duck breast with quince; Sucuk and eggs; Seafood
rice; Red cabbage and apple with sausages of beef; Chicken liver with onions; Mercimek köftesi
with lettuce; Swordfish skewers; Tomato bulgur with yogurt; Rabbit with olives; Celery root with
orange; Cheese börek; Turkey escalope with spinach; Monkfish stew; Black eyed bean salad; Lamb
shank with prunes; Gnocchi with sage; Chicken schnitzel with potato salad; Haddock chowder;
Stuffed courgettes; Beef goulash; Kale and white bean stew; Octopus with potatoes; Tofu and
vegetable skewers; Pide with minced beef; Chicken tagine with apricots; Orzo with prawns; Pea
and mint soup; Meatloaf with carrots; Sea bream in parchment; Aubergine and lentil bake; Steak
with chimichurri; Yayla soup; Quinoa and roast pepper salad; Anchovy pilaf; Chicken cacciatore;
Spring greens with eggs; Lamb burger with tzatziki; Cabbage rolls; Tuna pasta bake; Split pea
stew; Baked turkey thigh with sweet potato; Calamari with lemon; Ratatouille with couscous;
Çılbır; Beef and mushroom stroganoff; Fish cakes with tartare sauce; Herby falafel bowl; Pot
roast with turnips; Broccoli and cheddar soup
""")
"""What the histories of variants are drawn from."""

RUTS = {
    "pasta": RutKind(
        _words("pasta spaghetti penne fusilli macaroni makarna lasagn tagliatelle linguine noodle"),
        _dishes("""
Spaghetti with tomato sauce; Pasta with tuna; Penne arrabbiata mild; Pasta bake with cheese;
Fusilli with peas; Macaroni with yogurt; Pasta with chicken and cream; Spaghetti bolognese;
Lasagne; Pasta with spinach; Tagliatelle with mushrooms; Linguine with lemon
"""),
    ),
    "soup": RutKind(
        _words("soup çorba broth"),
        _dishes("""
Tomato soup; Lentil soup; Chicken noodle soup; Vegetable soup; Yayla çorbası; Pea soup; Onion
soup; Carrot soup; Mushroom soup; Fish soup; Potato and leek soup; Minestrone soup
"""),
    ),
    "wrap": RutKind(
        _words("wrap burrito tortilla taco dürüm"),
        _dishes("""
Chicken wrap; Falafel wrap; Tuna wrap; Beef burrito; Egg tortilla; Fish tacos; Dürüm with lamb;
Halloumi wrap; Bean burrito; Turkey wrap; Cheese tortilla; Vegetable wrap
"""),
    ),
    "pilaf": RutKind(
        _words("pilaf pilav risotto rice pirinç"),
        _dishes("""
Chicken pilaf; Chickpea pilaf; Tomato rice; Mushroom risotto; Lamb pilaf; Rice with peas; Orzo
pilav; Prawn risotto; Rice with lentils; Carrot pilaf; Spinach rice; Pumpkin risotto
"""),
    ),
}
