"""Spellings in which a server may say a key, and whether bytes tell it in any of them."""

from __future__ import annotations

import base64
import html
import json
import re
from html.entities import html5
from urllib.parse import quote, quote_plus, unquote_to_bytes

NAMES = {value: name for name, value in html5.items() if name.endswith(";") and len(value) == 1}


def by_character(spell):
    return lambda key: "".join(spell(c) for c in key)


CHARACTERS = {
    "plain": str,
    "swapped case": str.swapcase,
    "unicode": lambda c: f"\\u{ord(c):04x}",
    "UNICODE": lambda c: f"\\u{ord(c):04X}",
    "percent": lambda c: f"%{ord(c):02x}",
    "PERCENT": lambda c: f"%{ord(c):02X}",
    "double percent": lambda c: f"%25{ord(c):02x}",
    "decimal": lambda c: f"&#{ord(c)};",
    "padded": lambda c: f"&#000{ord(c)};",
    "hexadecimal": lambda c: f"&#x{ord(c):x};",
    "HEXADECIMAL": lambda c: f"&#X00{ord(c):X};",
    "escaped entity": lambda c: f"&amp;#{ord(c)};",
    "named": lambda c: f"&{NAMES[c]}" if c in NAMES else c,
    "slash": lambda c: "\\/" if c == "/" else c,
}
"""Spellings of one character, which may stand beside any other."""

ALONE = {name: by_character(spell) for name, spell in CHARACTERS.items()} | {
    "open decimal": by_character(lambda c: f"&#{ord(c):07}"),
    "open hexadecimal": by_character(lambda c: f"&#x{ord(c):06x}"),
    "hex escape": by_character(lambda c: f"\\x{ord(c):02x}"),
    "octal": by_character(lambda c: f"\\{ord(c):03o}"),
    "braces": by_character(lambda c: f"\\u{{{ord(c):x}}}"),
    "long": by_character(lambda c: f"\\U{ord(c):08x}"),
    "percent u": by_character(lambda c: f"%u{ord(c):04x}"),
    "shell": by_character(lambda c: c if c.isalnum() else f"\\{c}"),
    "mail": by_character(lambda c: f"={ord(c):02X}"),
    "url": lambda key: quote(key, safe=""),
    "form": quote_plus,
    "upper": str.upper,
    "lower": str.lower,
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "hex dump": lambda key: key.encode().hex(" "),
    "hex colons": lambda key: key.encode().hex(":"),
    "hex numbers": lambda key: ", ".join(f"0x{byte:02x}" for byte in key.encode()),
    "utf-16": lambda key: key.encode("utf-16-be").decode("latin-1"),
    "lines": "\r\n".join,
}
"""Spellings of a whole key."""

LAYERS = {
    "json": lambda text: json.dumps(text)[1:-1],
    "url": lambda text: quote(text, safe=""),
    "html": html.escape,
}

_ESCAPE = re.compile(rb"\\+(?:u\{?([0-9a-fA-F]{2,8})\}?|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))")
_OCTAL = re.compile(rb"\\([0-7]{3})")
_MAIL = re.compile(rb"=([0-9A-F]{2})")


def _unescaped(data):
    """Bytes with every escape read at once, as a reader with tools would."""

    def character(base):
        return lambda found: chr(min(int(next(filter(None, found.groups())), base), 255)).encode()

    data = re.sub(rb"\\+u([0-9a-fA-F]{4})", character(16), data)
    data = _OCTAL.sub(character(8), _ESCAPE.sub(character(16), data))
    data = re.sub(rb"%u([0-9a-fA-F]{4})", character(16), data)
    return html.unescape(unquote_to_bytes(data).decode("latin-1")).encode("utf-8", "replace")


def tells(data, *keys):
    """Whether bytes tell one of some keys: searched for otherwise than by the code that hides."""
    shapes = {
        data,
        re.sub(rb"\\+[rn]", b"", data),
        _MAIL.sub(lambda m: bytes([int(m[1], 16)]), data),
    }
    for _ in range(3):
        data = _unescaped(data)
        shapes.add(data)
    return any(_holds(shape, key) for shape in map(_views, shapes) for key in keys)


def _views(shape):
    """Bytes without blanks: in lower case, without backslashes, as hex digits, as base64."""
    bare = re.sub(rb"[\s\0]", b"", shape)
    digits = bare.lower().replace(b"0x", b"").translate(None, delete=b":,-")
    plain = bare.lower(), bare.lower().replace(b"\\", b"")
    return plain, digits, bare.translate(bytes.maketrans(b"-_", b"+/"))


def _holds(views, key):
    plain, digits, standard = views
    cores = (
        base64.b64encode(b"?" * offset + key.encode())[offset + (offset > 0) : -4]
        for offset in range(3)
    )
    return (
        any(key.lower().encode() in text for text in plain)
        or key.encode().hex().encode() in digits
        or any(core in standard for core in cores)
    )
