"""A scanner of few words: enough for golden answers, whose scanned words are clear-cut."""

from __future__ import annotations

import re
from enum import StrEnum

from schemas.folding import fold

__all__ = ["PlainVerdict", "plain_scan"]


class PlainVerdict(StrEnum):
    FLAG = "flag"
    CLEAR = "clear"
    NEEDS_LABEL = "needs_label"


CLEARED = {
    "gluten": r"glutensiz \w+|rice noodles?|rice flour|corn flour|gluten[- ]free \w+",
    "lactose": r"lactose[- ]free \w+|coconut (milk|cream)|lait de coco|butter beans?",
    "ibd_trigger": r"green beans?",
    "pork": r"\bturkey bacon",
    "honey": r"honeydew",
    "whole_nut": r"nutmeg|coconut\w*|peanut butter",
}
FLAGGED = {
    "gluten": r"flour|couscous|bulgur|chapelure|bread\w*|pasta|penne|barley|orzo|wheat|ekmek",
    "lactose": r"milk|cream|butter|yogurt|cheese|ricotta|feta",
    "ibd_trigger": r"onions?|sogan|kuru fasulye|brown rice|chickpeas?|lentils?|walnuts?|bulgur",
    "pork": r"pork|pancetta|domuz|bacon|ham",
    "honey": r"honey",
    "whole_nut": r"walnuts?|almonds?|hazelnuts?",
}
UNCLEAR = {
    "gluten": r"stock cubes?|bouillon powder",
    "pork": r"sausages?|gelatine",
    "lactose": r"margarine",
}


def plain_scan(text, flag, /):
    left = re.sub(CLEARED[flag], " ", fold(text))
    if re.search(rf"\b(?:{FLAGGED[flag]})\b", left):
        return PlainVerdict.FLAG
    if flag in UNCLEAR and re.search(rf"\b(?:{UNCLEAR[flag]})\b", left):
        return PlainVerdict.NEEDS_LABEL
    return PlainVerdict.CLEAR
