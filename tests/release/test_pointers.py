"""A clone without its large files: every reader of a release or a table names the pointer."""

import pytest

from pipeline.errors import ReleaseError, TableError
from pipeline.files import read_json
from pipeline.release.bundle import read_bundle
from pipeline.tables import read_table
from schemas.taskset import Task
from tests.release.test_bundle import bundle
from tests.test_files import POINTERS

__all__ = ["bundle"]

SAID = "expected the file itself, found a Git LFS pointer to it. Fetch it: `git lfs pull`"


@pytest.mark.parametrize(
    "name", ["ingredient_tags.csv", "embeddings.csv", "supervised_directions.npz"]
)
def test_in_place_of_a_bundles_file(bundle, name):  # the fixture of its own tests
    (bundle / name).write_bytes(POINTERS["lfs"])
    with pytest.raises(ReleaseError, match=f"{name}: {SAID}"):
        read_bundle(bundle)


def test_in_place_of_a_published_document(tmp_path):
    (tmp_path / "release.json").write_bytes(POINTERS["lfs"])
    with pytest.raises(ReleaseError, match=SAID):
        read_json(tmp_path / "release.json", 2**20, ReleaseError)


def test_in_place_of_a_table(tmp_path):
    (tmp_path / "tasks.parquet").write_bytes(POINTERS["lfs"])
    with pytest.raises(TableError, match=SAID):
        read_table(tmp_path / "tasks.parquet", Task)
