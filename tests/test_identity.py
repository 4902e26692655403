import json
import random
from enum import IntEnum, StrEnum

import pytest
import rfc8785
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.identity import (
    InclusionProof,
    canonical_bytes,
    check_inclusion,
    digest,
    digest_bytes,
    merkle_proof,
    merkle_tree,
    table_root,
)
from schemas.record import SAFE_INTEGER
from tests.schemas.examples import EXAMPLES

KIND = "score"
LEAVES = [f"{i:064x}" for i in range(60)]

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-SAFE_INTEGER, SAFE_INTEGER)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


class Shouted(str):
    """Text that shows something else than it holds."""

    __slots__ = ()

    def __str__(self):
        return self.upper()


class Blue(StrEnum):
    A = "a"


class Three(IntEnum):
    THREE = 3


# Canonical bytes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b"null"),
        (True, b"true"),
        (-0, b"0"),
        (SAFE_INTEGER, b"9007199254740991"),
        (-SAFE_INTEGER, b"-9007199254740991"),
        ([], b"[]"),
        ({}, b"{}"),
        (("a", ["b"]), b'["a",["b"]]'),
        ({"b": 1, "a": [True, None, "x"]}, b'{"a":[true,null,"x"],"b":1}'),
        # RFC 8785, section 3.2.2: strings
        ('€$\x0f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'.encode()),
        ("\b\t\n\f\r\x00\x1f\x7f", b'"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f"'),
        ("\u2028\u2029", b'"\xe2\x80\xa8\xe2\x80\xa9"'),
        # RFC 8785, section 3.2.3: keys in the order of UTF-16 code units
        (
            {"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "ö": 7},
            '{"\\r":2,"1":4,"\x80":6,"ö":7,"€":1,"\U0001f600":5,"\ufb33":3}'.encode(),
        ),
        ({"10": 1, "9": 2, "a": 3, "A": 4, "": 5}, b'{"":5,"10":1,"9":2,"A":4,"a":3}'),
        # no normalisation: é composed and decomposed stay two texts
        (["\xe9", "e\u0301"], b'["\xc3\xa9","e\xcc\x81"]'),
        ([Shouted("a"), Blue.A], b'["a","a"]'),
        ({Blue.A: 1}, b'{"a":1}'),
    ],
)
def test_canonical_bytes_by_hand(value, expected):
    assert canonical_bytes(value) == expected


@settings(deadline=None, max_examples=200)
@given(VALUES)
def test_canonical_bytes_equal_rfc8785(value):
    assert canonical_bytes(value) == rfc8785.dumps(value)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(KEYS, SCALARS, max_size=8), st.randoms(use_true_random=False))
def test_order_of_keys_does_not_matter_and_reading_gives_the_value_back(value, rnd):
    keys = list(value)
    rnd.shuffle(keys)
    data = canonical_bytes({key: value[key] for key in keys})
    assert data == canonical_bytes(value)
    assert json.loads(data) == value


REFUSED = {
    "float": (1.0, "float 1.0"),
    "nan": (float("nan"), "float nan"),
    "infinity": (float("inf"), "float inf"),
    "just too large": (2**53, "9007199254740992"),
    "just too small": (-(2**53), "-9007199254740992"),
    "far too large": (10**30, "1" + "0" * 30),
    "too large to write": (10**5000, "too long to show"),
    "too large to write, in a list": ([10**5000], "too long to show"),
    "too large to write, in a set": ({10**5000}, "too long to show"),
    "lone high surrogate": ("\ud800", "lone surrogates"),
    "lone low surrogate": ("a\udfffb", "lone surrogates"),
    "surrogates reversed": ("\ude00\ud83d", "lone surrogates"),
    "bytes": (b"bytes", "bytes b'bytes'"),
    "set": ({1, 2}, "set"),
    "complex": (1j, "complex"),
    "other integer": (Three.THREE, "Three"),
    "class": (object, "type"),
    "integer key": ({1: "a"}, "string keys, found 1"),
    "null key": ({None: "a"}, "string keys, found None"),
    "mixed keys": ({"a": 1, 2: 1}, "string keys, found 2"),
    "key too large to write": ({10**5000: 1}, "too long to show"),
    "lone surrogate in a key": ({"\ud800": 1}, "lone surrogates"),
    "nesting": (nested(30), "nesting of at most 32"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_an_identity_cannot_hold_is_refused_by_its_field(name):
    bad, expected = REFUSED[name]
    with pytest.raises(InputError) as caught:
        canonical_bytes({"fine": 1, "outer": [0, {"odd": bad}]})
    assert "$.outer[1].odd" in caught.value.where
    assert expected in str(caught.value)
    assert str(caught.value).isprintable()


@settings(deadline=None, max_examples=60)
@given(st.floats() | st.integers(max_value=-(2**53)) | st.integers(min_value=2**53))
def test_no_float_and_no_unsafe_integer_has_a_canonical_form(number):
    with pytest.raises(InputError, match=r"identity field \$\.score"):
        canonical_bytes({"score": number})


@pytest.mark.parametrize("levels", [1, 31, 32])
def test_nesting_up_to_32_is_allowed(levels):
    assert canonical_bytes(nested(levels)) == b"[" * levels + b"]" * levels


@pytest.mark.parametrize("levels", [33, 34, 5000])
def test_nesting_beyond_32_is_refused(levels):
    with pytest.raises(InputError, match="nesting of at most 32, found deeper nesting"):
        canonical_bytes(nested(levels))


def test_a_value_that_holds_itself_is_refused():
    loop = {}
    loop["again"] = loop
    with pytest.raises(InputError, match="nesting"):
        canonical_bytes(loop)


# Digests by kind

GOLDEN_DIGESTS = {
    "task": "8c425764e7e26706200f838b28d37e55113d90710301e8978b8ace5c4f7c3e6b",
    "score": "700d2116f3052f87085adbba40c84b16056f40b89c2ec436064ba619e8b33387",
    "bytes": "8bd9ca99d5f5f116998fba06c7c512a662b47a3a31513b27140a81cb31f91764",
    "route": "a839ee70b37d30331931c05b6624b48b54771d3f4e72049c02d88743efb9522f",
}


@pytest.mark.parametrize("kind", GOLDEN_DIGESTS)
def test_digest_of_a_kind_is_blake3_under_its_context(kind):
    assert digest(kind, {"a": 1}) == GOLDEN_DIGESTS[kind]
    assert digest_bytes(kind, b'{"a":1}') == GOLDEN_DIGESTS[kind]
    context = f"flavourbench v1 {kind}"
    assert blake3(b'{"a":1}', derive_key_context=context).hexdigest() == GOLDEN_DIGESTS[kind]


def test_one_value_has_another_digest_under_every_kind():
    kinds = {model.kind for model in EXAMPLES} | {"table", "table-leaf", "table-node", "bytes"}
    assert len({digest(kind, {"a": 1}) for kind in kinds}) == len(EXAMPLES) + 4


def test_digests_do_not_depend_on_what_was_digested_before():
    first = digest("task", "a")
    digest("task", "b")
    assert digest("task", "a") == first


# Merkle trees


def raw(kind, data):
    return blake3(data, derive_key_context=f"flavourbench v1 {kind}").digest()


def tree_by_definition(leaves):
    """RFC 6962, section 2.1, as it stands there."""
    if not leaves:
        return raw("table-node", b"")
    if len(leaves) == 1:
        return raw("table-leaf", leaves[0])
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    left, right = tree_by_definition(leaves[:split]), tree_by_definition(leaves[split:])
    return raw("table-node", left + right)


def path_by_definition(index, leaves):
    """RFC 6962, section 2.1.1, as it stands there."""
    if len(leaves) == 1:
        return []
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if index < split:
        return [*path_by_definition(index, leaves[:split]), tree_by_definition(leaves[split:])]
    return [
        *path_by_definition(index - split, leaves[split:]),
        tree_by_definition(leaves[:split]),
    ]


GOLDEN_ROOTS = {
    0: (
        "4fcdc09451f0fa5bdb53dc296b925c02cbc3ea9ae5b3e340a50feb69f254b5c7",
        "edec5115784db08dc0aab701576f5b149cd537381da96bff7430dbb65d1c1527",
    ),
    1: (
        "259b801f3e879f1a38b2f379d7c837d17e705ab705dee147feeaa87a74a3139a",
        "77cc7f4b8a52698962c993dbb9d9aca006635f8a1529e27a6746f7ac76612474",
    ),
    2: (
        "f443770ce9f4a7555b12c7ef6f82bddc3fee7dcf0c8b4a1a4f67170cf40fddaf",
        "ac6b4521ae63197635547d1cb0ffb627675a445a94add62ed25ac8a5eb74900f",
    ),
    3: (
        "772ec938093306b2f2364ca7b473ce0810007be3f4a7f8b54fb8c4ea27a087aa",
        "933a8bac19e664013dbbb3ff3945290268d0e763825f07e299cc559be7155ef0",
    ),
    7: (
        "9693bce124b284fab8e813949575402f312a969850f82c8545fda253f8f3480d",
        "72bec0a028fbaaf19cdf050b9b1a55fe5945eeb9ecee60a74019bf35500d9e68",
    ),
}


@pytest.mark.parametrize("rows", GOLDEN_ROOTS)
def test_tree_and_root_are_the_golden_ones(rows):
    assert (merkle_tree(LEAVES[:rows]), table_root(KIND, LEAVES[:rows])) == GOLDEN_ROOTS[rows]


@pytest.mark.parametrize("rows", range(41))
def test_tree_has_the_shape_of_rfc_6962(rows):
    leaves = [bytes.fromhex(leaf) for leaf in LEAVES[:rows]]
    tree = tree_by_definition(leaves).hex()
    assert merkle_tree(LEAVES[:rows]) == tree
    bound = raw("table", rfc8785.dumps({"kind": KIND, "rows": rows, "tree": tree}))
    assert table_root(KIND, LEAVES[:rows]) == bound.hex()


@pytest.mark.parametrize("rows", range(1, 41))
def test_every_row_is_proved_by_the_path_of_rfc_6962(rows):
    root = table_root(KIND, LEAVES[:rows])
    leaves = [bytes.fromhex(leaf) for leaf in LEAVES[:rows]]
    for index in range(rows):
        proof = merkle_proof(KIND, LEAVES[:rows], index)
        path = tuple(node.hex() for node in path_by_definition(index, leaves))
        assert proof == InclusionProof(KIND, rows, index, LEAVES[index], path)
        assert check_inclusion(proof, root) == root


@pytest.mark.parametrize("index", [-1, 3, 10**9])
def test_there_is_no_proof_of_a_row_that_is_not_there(index):
    with pytest.raises(InputError, match="a row index below 3"):
        merkle_proof(KIND, LEAVES[:3], index)


def replaced(items, at, new):
    return (*items[:at], new, *items[at + 1 :])


def forgeries(proof):
    """Proofs one fault away, by the name of the fault."""
    path = proof.siblings
    other = digest("table-node", "another")
    yield "row changed", proof._replace(leaf=other)
    yield "kind changed", proof._replace(row_kind="task")
    for position in {0, proof.position - 1, proof.position + 1, proof.rows - 1}:
        if position != proof.position:
            yield f"position {position}", proof._replace(position=position)
    for rows in range(60):
        if rows != proof.rows:
            yield f"tree size {rows}", proof._replace(rows=rows)
    for at in range(len(path)):
        yield f"sibling {at} changed", proof._replace(siblings=replaced(path, at, other))
        yield f"sibling {at} missing", proof._replace(siblings=path[:at] + path[at + 1 :])
        yield f"sibling {at} twice", proof._replace(siblings=path[:at] + path[at:][:1] + path[at:])
        if at:
            swapped = (*path[: at - 1], path[at], path[at - 1], *path[at + 1 :])
            yield f"siblings {at} swapped", proof._replace(siblings=swapped)
    yield "sibling added", proof._replace(siblings=(*path, other))
    yield "sibling put first", proof._replace(siblings=(other, *path))
    yield "siblings gone", proof._replace(siblings=()) if path else proof._replace(leaf=other)


@pytest.mark.parametrize("rows", range(1, 41))
def test_a_proof_with_any_fault_is_refused(rows):
    root = table_root(KIND, LEAVES[:rows])
    for index in sorted({0, rows // 2, rows - 1}):
        for fault, proof in forgeries(merkle_proof(KIND, LEAVES[:rows], index)):
            try:
                check_inclusion(proof, root)
            except InputError:
                continue
            pytest.fail(f"row {index} of {rows}, {fault}: accepted")


@pytest.mark.parametrize("rows", [2, 3, 8])
def test_rows_in_another_order_have_another_root(rows):
    leaves = LEAVES[:rows]
    shuffled = leaves[::-1]
    assert table_root(KIND, shuffled) != table_root(KIND, leaves)
    with pytest.raises(InputError, match="The row, its place or its table was changed"):
        check_inclusion(merkle_proof(KIND, shuffled, 0), table_root(KIND, leaves))


def test_a_node_is_never_a_leaf():
    """The tree of two nodes is not the tree of their four leaves (second preimages)."""
    nodes = [merkle_tree(LEAVES[:2]), merkle_tree(LEAVES[2:4])]
    assert merkle_tree(nodes) != merkle_tree(LEAVES[:4])


def test_last_row_repeated_gives_another_root():
    assert merkle_tree([*LEAVES[:3], LEAVES[2]]) != merkle_tree(LEAVES[:3])


@pytest.mark.parametrize(
    "text",
    ["", "12", "1" * 63, "1" * 65, "g" * 64, "A" * 64, " " + "1" * 63, "1" * 63 + "\n", "é" * 64],
)
@pytest.mark.parametrize("part", ["leaf", "siblings"])
def test_a_hash_of_another_form_is_refused(part, text):
    proof = merkle_proof(KIND, LEAVES[:2], 0)
    forged = proof._replace(**{part: text if part == "leaf" else (text,)})
    with pytest.raises(InputError, match="64 lower-case hexadecimal characters"):
        check_inclusion(forged, table_root(KIND, LEAVES[:2]))


@pytest.mark.parametrize(
    ("position", "rows"), [(-1, 3), (3, 3), (0, 0), (0, -1), (2**64, 2**65), (0, 10**300)]
)
def test_a_place_that_no_table_has_is_refused(position, rows):
    proof = merkle_proof(KIND, LEAVES[:3], 0)._replace(position=position, rows=rows)
    with pytest.raises(InputError):
        check_inclusion(proof, table_root(KIND, LEAVES[:3]))


@pytest.mark.parametrize("root", ["", "0" * 64, table_root(KIND, LEAVES[:3]).upper()])
def test_a_proof_leads_to_one_root_only(root):
    with pytest.raises(InputError, match="expected table root"):
        check_inclusion(merkle_proof(KIND, LEAVES[:3], 1), root)


def test_a_refused_proof_says_what_cannot_be_right():
    root = table_root(KIND, LEAVES[:5])
    proof = merkle_proof(KIND, LEAVES[:5], 2)
    with pytest.raises(InputError, match=r"proof of row 2 of 5: .*found 1 hashes.*cut short"):
        check_inclusion(proof._replace(siblings=proof.siblings[:1]), root)
    with pytest.raises(InputError, match=r"expected 3 hashes, found 4.*another tree size"):
        check_inclusion(proof._replace(siblings=(*proof.siblings, root)), root)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_a_random_change_of_a_proof_is_refused(rows, seed):
    rnd = random.Random(seed)
    index = rnd.randrange(rows)
    proof = merkle_proof(KIND, LEAVES[:rows], index)
    hashes = [proof.leaf, *proof.siblings]
    at, place = rnd.randrange(len(hashes)), rnd.randrange(64)
    digit = rnd.choice([c for c in "0123456789abcdef" if c != hashes[at][place]])
    hashes[at] = hashes[at][:place] + digit + hashes[at][place + 1 :]
    forged = proof._replace(leaf=hashes[0], siblings=tuple(hashes[1:]))
    with pytest.raises(InputError):
        check_inclusion(forged, table_root(KIND, LEAVES[:rows]))
