import itertools
import json
import re

import pyarrow as pa
import pytest
import rfc8785
from blake3 import blake3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.columns import row_digests
from pipeline.identity import canonical_bytes, row_digest, row_identity
from pipeline.tables import make_table
from schemas import __main__ as export
from schemas.release import CORE_CATEGORIES, CUISINES
from schemas.results import Score, Selection, Standing
from schemas.taskset import CONTRACTS, LABELS, PORTFOLIOS, Family, Forgiveness, Task
from tests.schemas.examples import EXAMPLES
from tests.schemas.strategies import rows_of

MODELS = export.rows()
OWN_KINDS = {"table", "table-leaf", "table-node", "bytes", "route", "request", "design"}

DIGESTS = {
    "usage": "eb2e282097d6b08cf5738fa2eaeeb2dd5b934ba8e83664d69e829444144956bf",
    "answers": "7ed5461d9670a25f02e44b5ac6f5fd6ec60b2e500c55b2ae2da29758fc8430e0",
    "agreement": "7cae7c7e9a27f6220ef3764b02a2bbc58ab1e2309917457992019b02ebb4db7f",
    "attempts": "b27fd9a57bb0203abcdc7906b7a55080ff0588ec7d602074a3f77a005e050c6d",
    "chance": "0b87b114c8e40193478b85d461d28d38a6723474dbc39a7ebd1571c714785c59",
    "contrasts": "3ab709d7cff87ee1feea39a5740f6f5a340b6c9daae730d278a69bbd625fda88",
    "core": "95c6ee11d1dc8ef45298e53f97e1d360abb6afe65dfd67ea66ace99e69cad1d1",
    "coverage": "ea59f0aeb25a5bf772cd1f857ec8154b4e1e8190b0a84bd2228cab383645ded1",
    "development": "7bcd2a268e4467f22aa024b6381dd0e9207100445d1d2af7cbf3af0b4da4e994",
    "diagnostics": "1a473e919800f40e959eb7fad43fa9eb170ecb1d3240a4316d9b1a7eec3cc579",
    "directions": "ffc795fdd0fd7c1ae5c32748ff1172918626cc4593b5579b1b6bb2e16432e59b",
    "dpo": "1e80f0324c89df0600434c485a09527796b41a774a5a2d716a893ff16c049a3b",
    "grpo": "12e10ba028aceb9f07608d18ccda587449a4a5f8dc24c3c49ae315e23f78c195",
    "inference": "1d89f35bb14394ab4e1552d1c5cbbd7fa0ab406f05b68f3723d27a650f3b72bd",
    "ingredients": "d5e63fea2185eb52a41476b6dc6ed062351dc6b3227b0282475f5d9df9580894",
    "leaderboard": "7e6e13fb1483c4609bd4272d0abc5e529794125981af83190f8f483feca5dc7d",
    "panels": "58c6a7c9616e1d3368725c1373112ae3c2f93a26cc7bef18125f7d15094674cf",
    "plan": "517ddaf5d98a9e8339213b06505ee6117d8f56859380b644bc300784905c56b9",
    "published": "36cf51387cc19b4d6bc18d2b6e0b13a2451dd756b8e93a542eba6d668eb80446",
    "references": "a0e54c535058c40ec19e953b8c14a250537052f01e5f73ef6c5860fd7cb79f1c",
    "release": "53d65d7784bbc9655cd48a0dda2196dc1a9e07875da894bc6796b2232b6c5ce5",
    "responses": "c17701c27264afd07ca3bba91fcb54bc698c6f97222b6db1f6269838bb7e79f3",
    "scores": "3a929f515d764f803f47ae3045a5adabccc5168f704c1016a1c11a4f0c675337",
    "selections": "dac30da878ce807ec0be41041b6f6306a3d0a1ae6855dccf642098f02e0185a1",
    "sft": "48e8fec940ea83e57134be43805ac3eada82c72819143ee3c70f1a98333c3506",
    "tasks": "43d54c690b46cd24021bba0fa3f1a32f77fb8dd6fd2654044ff67d2a3b7f979c",
    "taskset": "7b0efbadf4659d8f6490cd315b6933112331d3c967898d7a43826d3d3a3a4e7f",
}

each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.table)
few = settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def arrow(model, rows):
    schema = model.arrow_schema().remove(0)
    return pa.Table.from_pylist([row.model_dump() for row in rows], schema=schema)


# Golden digests


def test_every_table_has_an_example_and_a_golden_digest():
    assert set(EXAMPLES) == set(MODELS)
    assert set(DIGESTS) == {model.table for model in MODELS}


@each_model
def test_example_row_has_its_golden_digest(model):
    row = EXAMPLES[model]
    assert row_digest(row) == DIGESTS[model.table]
    assert row_digests(model, arrow(model, [row])) == [DIGESTS[model.table]]
    assert make_table(model, [row]).digests == [DIGESTS[model.table]]


def test_a_score_is_identified_by_these_bytes():
    one, two = "1" * 64, "2" * 64
    data = (
        f'{{"score_bps":10000,"selection_digest":"{two}","slug":"uniform",'
        f'"task_digest":"{one}","task_id":"fb-example-001"}}'
    ).encode()
    assert canonical_bytes(row_identity(EXAMPLES[Score])) == data
    digest = blake3(data, derive_key_context="flavourbench v1 score").hexdigest()
    assert row_digest(EXAMPLES[Score]) == digest


@each_model
def test_every_field_of_a_row_is_part_of_its_identity_and_nothing_else_is(model):
    row = EXAMPLES[model]
    assert all(getattr(row, name) is not None for name in model.later)
    assert tuple(row_identity(row)) == model.columns()
    assert json.loads(canonical_bytes(row_identity(row))) == plain(row)


def plain(row):
    """A row's identity by another road: plain values, and bytes as the digest of their kind."""

    def value_of(value):
        if isinstance(value, bytes):
            return blake3(value, derive_key_context="flavourbench v1 bytes").hexdigest()
        if isinstance(value, tuple | list):
            return [value_of(item) for item in value]
        if isinstance(value, dict):
            return {key: value_of(item) for key, item in value.items()}
        return str(value) if isinstance(value, str) else value

    fields = {name: value_of(value) for name, value in row.model_dump().items()}
    return {
        name: value
        for name, value in fields.items()
        if name not in type(row).later or value is not None
    }


# Digests over columns equal digests row by row


@each_model
def test_digests_over_columns_equal_digests_row_by_row(model):
    @few
    @given(st.lists(rows_of(model), max_size=3))
    def holds(rows):
        expected = [row_digest(row) for row in rows]
        assert row_digests(model, arrow(model, rows)) == expected
        again = [
            blake3(
                rfc8785.dumps(plain(row)), derive_key_context=f"flavourbench v1 {model.kind}"
            ).hexdigest()
            for row in rows
        ]
        assert again == expected

    holds()


@each_model
def test_rows_come_back_from_their_table_as_they_went_in(model):
    @few
    @given(st.lists(rows_of(model), max_size=3, unique_by=model.key_of))
    def holds(rows):
        assert make_table(model, rows).rows() == sorted(rows, key=model.key_of)

    holds()


# Names


def test_tables_and_kinds_are_named_once():
    assert len({model.table for model in MODELS}) == len(MODELS)
    kinds = {model.kind for model in MODELS}
    assert len(kinds) == len(MODELS)
    assert not kinds & OWN_KINDS


@each_model
def test_a_name_carries_no_version(model):
    for name in (model.table, model.kind, model.__name__, *model.columns()):
        assert not re.search(r"(^|[_-])v\d|\d", name.replace("sha256", "")), name
    assert isinstance(model.contract, int)


@each_model
def test_a_key_is_made_of_fields_that_are_never_null(model):
    schema = model.arrow_schema()
    assert model.key
    assert len(set(model.key)) == len(model.key)
    for name in model.key:
        field = schema.field(name)
        assert not field.nullable, name
        assert field.type in (pa.string(), pa.int64()), name


@each_model
def test_no_column_holds_a_floating_number(model):
    waiting = [field.type for field in model.arrow_schema()]
    while waiting:
        kind = waiting.pop()
        assert not pa.types.is_floating(kind)
        waiting += [kind.field(i).type for i in range(kind.num_fields)]


# JSON Schemas


def test_exported_schemas_are_current():
    found = {path.name: path.read_text("utf-8") for path in export.FOLDER.iterdir()}
    wanted = export.documents()
    assert sorted(found) == sorted(wanted), "run `python -m schemas`"
    stale = [name for name, text in wanted.items() if found[name] != text]
    assert stale == [], "run `python -m schemas`"


@each_model
def test_exported_schema_lists_exactly_the_columns(model):
    schema = json.loads(export.documents()[f"{model.table}.json"])
    assert sorted(schema["properties"]) == sorted(model.columns())
    assert schema["additionalProperties"] is False


def test_exported_schemas_hold_every_row_and_the_parameters():
    assert set(export.documents()) == {f"{m.table}.json" for m in MODELS} | {"params.json"}


# Constants that identities rest on


def test_portfolios_are_the_56_choices_of_three_in_order():
    assert PORTFOLIOS[:7] == ("ABC", "ABD", "ABE", "ABF", "ABG", "ABH", "ACD")
    assert PORTFOLIOS[-2:] == ("EGH", "FGH")
    assert list(PORTFOLIOS) == sorted({"".join(sorted(p)) for p in _triples()})
    assert len(PORTFOLIOS) == 56


def _triples():
    return (t for t in itertools.product(LABELS, repeat=3) if len(set(t)) == 3)


def test_families_stand_in_the_order_in_which_panels_are_compiled():
    assert [family.value for family in Family] == [
        "substitution",
        "pairing",
        "constraint",
        "cultural_composition",
    ]


def test_cuisines_and_categories_are_the_published_ones():
    assert CUISINES == (
        "Japanese",
        "East_Asian",
        "Southeast_Asian",
        "South_Asian",
        "Latin_American",
        "Mediterranean",
        "Eastern_European",
        "Western_Atlantic",
    )
    assert len(CORE_CATEGORIES) == 14
    assert sorted(CORE_CATEGORIES) == list(CORE_CATEGORIES)


def test_the_newer_contract_forgives_all_that_the_older_does():
    older, newer = CONTRACTS["selection-set-v3"], CONTRACTS["selection-set-v4"]
    assert set(older.forgives) < set(newer.forgives) == set(Forgiveness)
    assert {name: contract.name for name, contract in CONTRACTS.items()} == {
        name: name for name in CONTRACTS
    }


# What rows refuse


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (Score, "score_bps", 10_001),
        (Score, "score_bps", -1),
        (Score, "score_bps", 99.5),
        (Score, "task_digest", "1" * 63),
        (Score, "slug", ""),
        (Score, "slug", "x" * 201),
        (Task, "stratum", 0),
        (Task, "stratum", 5),
        (Task, "choices", EXAMPLES[Task].choices[:7]),
        (Task, "choices", (*EXAMPLES[Task].choices, "ninth")),
        (Task, "scores_bps", EXAMPLES[Task].scores_bps[:55]),
        (Task, "scores_bps", (*EXAMPLES[Task].scores_bps[:55], 10_001)),
        (Task, "optimum", "ACI"),
        (Task, "optimum", "AC"),
        (Task, "optimum", "ACF\n"),
        (Task, "family", "substitutes"),
        (Task, "choices", list(EXAMPLES[Task].choices)),
        (Selection, "reason", "unlucky"),
        (Selection, "status", "parsd"),
        (Standing, "band_low_microbps", -(2**53)),
        (Standing, "families", ({"family": "pairing"},)),
    ],
)
def test_a_value_out_of_range_is_refused_by_its_field(model, field, value):
    with pytest.raises(ValidationError) as caught:
        model(**(dict(EXAMPLES[model]) | {field: value}))
    assert {fault["loc"][0] for fault in caught.value.errors()} == {field}
