"""Words of ours to scan: a text, what it carries, and what only its label tells.

One line a text: `text | flags carried | flags left to the label`. Letters: g gluten, l lactose,
i ibd_trigger, p pork, h honey, n whole_nut.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["WORDS", "Word"]


class Word(NamedTuple):
    """A text with the flags that it carries and those that its label must tell."""

    text: str
    carried: frozenset[str]
    unclear: frozenset[str]


_FLAGS = {
    "g": "gluten",
    "l": "lactose",
    "i": "ibd_trigger",
    "p": "pork",
    "h": "honey",
    "n": "whole_nut",
}

_TEXT = """
olive oil
chicken breast
sea bass fillets
ciabatta|g
two slices of sourdough|g
toasted focaccia|g
fettuccine|g
fresh linguine|g
chickpea fusilli|i
brown rice penne|i
corn spaghetti
zucchini noodles
carrot ribbons
cauliflower rice
polenta
pearl couscous|g
barley soup|gi
pot barley|gi
farro|gi
wholewheat spaghetti|gi
rye crispbread|gi
stout|g
a glass of ale|g
ginger ale
malt whisky
whole-wheat pita|gi
rice crackers
buckwheat pancakes|i|l
white bread|g
breadcrumbs|g
bread crumbs|g
gluten-free breadcrumbs
bread, gluten-free
pasta (gluten free)
gluten\u2011free bread
gluten- and dairy-free bread
gluten and lactose free biscuits||
dairy-free butter
GLUTEN-FREE FLOUR
flour (not gluten-free)|g
gluten-free flour and soy sauce|g
gluten-free bread with butter|l
mozzarella|l
buffalo mozzarella|l
grated Parmesan
Parmesan cheese
pecorino
mature cheddar||l
goat's cheese|l
vegan cheese
lactose-free yoghurt
plant-based cream
cashew butter
oat cream|g
coconut yogurt
almond yoghurt
butternut squash
butter lettuce|i
condensed milk|l
milk chocolate|l
clarified butter
semi-skimmed milk|l
kefir|l
labneh|l
panna cotta|l|p
hollandaise|l
crab sticks|g
red kidney beans|i
cannellini beans|i
green beans
French beans
runner beans
black-eyed peas|i
petits pois|i
sugar snap peas|i
hummus|i
tofu
silken tofu
tempeh|i
soya milk
edamame beans|i
chia seeds|i
flaxseeds|i
sunflower seeds|i
sunflower oil
tahini
romaine lettuce|i
baby spinach
raw spinach|i
raw baby spinach|i
carrots, raw|i
raw chicken
raw honey|h
steamed broccoli
coleslaw|i
potato salad
fruit salad
green salad|i
cucumber slices|i
radishes|i
watercress|i
shallots|i
leeks
chives
scallions|i
onion powder|i
pickled onions|i
without onions
chicken stew without onions or beans
no onion
onion-free gravy||gi
decaf coffee|i
cappuccino|li
jalapeños|i
chipotle paste|i
gochujang|i|g
mild paprika
hot paprika|i
black pepper
prosciutto|p
smoked bacon|p
bacon-wrapped dates|p
turkey bacon rashers
beef sausages||g
chicken sausage||g
pork sausages|p|g
vegan sausages||g
sausage||gp
hot dogs||gpl
Serrano ham|p
ham and cheese|lp
chicken and ham pie|gp
hamburger
hamachi
pulled pork|p
lard|p
pig's trotters|p
fish gelatine
gelatin||p
merguez|i
bresaola
halal sausages||g
manuka honey|h
honey mustard|h
honeydew
honey-free granola|gi
walnut halves|in
chopped pecans|in
ground almonds|i
almonds, ground|i
hazelnuts (finely ground)|i
mixed nuts|in
nut-free
peanut butter
crunchy peanut butter|in
peanut oil
almond milk
chestnuts|in
Brazil nuts|in
pistachio paste|i
nutmeg
coconut flakes
water chestnuts
marzipan|i
makarna|g
tam buğday ekmeği|gi
mısır unu
nohut unu|i
karabuğday ekmeği|i
2 su bardağı un|g
un, su, tuz|g
SÜT|l
sütlü kahve|li
keçi peyniri|l
badem sütü
fındıklı kek|gin|l
soğanlı menemen|i
soğansız köfte
glutensiz ekmek
laktozsuz süt
taze fasulye
kuru fasulye|i
yeşil mercimek çorbası|i
bal|h
ballı süt|lh
balık
domuz|p
dana sosis
hindi jambon
yer fıstığı|in
ceviz içi|in
hindistan cevizi
acı pul biber|i
roka|i
çiğ havuç|i
bezelye|i
farine de blé|g
farine de riz
pâtes fraîches|g
pâté de campagne||p
pain complet|gi
pain sans gluten
galettes de sarrasin|i
beurre doux|l
lait d'amande
lait de chèvre|l
fromage de chèvre|l
crème liquide|l
haricots verts
haricots blancs|i
lentilles corail|i
échalotes|i
carottes crues|i
jambon de dinde
jambon cru|p
lardons|p
miel d'acacia|h
noisettes|in
noix de pécan|in
noix de coco
noix de Saint-Jacques
poudre d'amandes|i
Roggenbrot|g
Vollkornbrot|gi
Kartoffelmehl
Maisnudeln
Buchweizennudeln|i
Weizenbier|g
Hafermilch|g
Mandelmilch
Kokosmilch
Vollmilch|l
Buttermilch|l
Schafskäse|l
laktosefreie Milch
Zwiebelsuppe|i
Kidneybohnen|i
grüne Bohnen
Kichererbsenmehl|i
Erdnussbutter
Walnüsse|in
Putenschinken
Schinken|p
Schweineschnitzel|p
Honigmelone
Waldhonig|h
Feldsalat|i
Kartoffelsalat
rohe Möhren|i
Kaffeepulver|i
pane integrale|gi
farina di ceci|i
farina di mais
latte intero|l
latte di riso
mozzarella di bufala|l
prosciutto cotto|p
prosciutto di tacchino
cipolle rosse|i
fagiolini
fagioli borlotti|i
noci|in
noce moscata
miele|h
pancetta affumicata|p
pan de trigo|g
harina de maíz
leche de almendras
queso fresco|l
cebolla morada|i
garbanzos|i
judías verdes
jamón serrano|p
jamón de pavo
almendras|in
nuez moscada
miel de romero|h
pimentón dulce
"""


def _read(line: str) -> Word:
    text, carried, unclear = (line + "||").split("|")[:3]
    return Word(text, frozenset(_FLAGS[c] for c in carried), frozenset(_FLAGS[c] for c in unclear))


WORDS = tuple(_read(line) for line in _TEXT.strip().splitlines())
