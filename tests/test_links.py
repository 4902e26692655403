"""DVC's own links are read; every other link is refused."""

import os

import pytest

from pipeline.errors import InputError, TableError
from pipeline.files import hash_file, read_bytes, read_lines, write_bytes
from pipeline.links import is_foreign_link
from pipeline.tables import make_table, read_header, read_table, write_table
from schemas.results import Score
from tests.schemas.examples import EXAMPLES

NAME = "files/md5/ab/" + "0" * 30


def cached(cache, name=NAME, data=b"held\n"):
    """An object of a cache, read-only as DVC leaves it."""
    path = cache / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o444)
    return path


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """A repository of DVC's, with no settings of the person's or the machine's."""
    for level in ("GLOBAL", "SYSTEM"):
        monkeypatch.setenv(f"DVC_{level}_CONFIG_DIR", str(tmp_path / level))
    root = tmp_path / "repo"
    (root / ".dvc").mkdir(parents=True)
    (root / "artifacts").mkdir()
    return root


def configured(repo, folder, file="config"):
    (repo / ".dvc" / file).write_text(f"[cache]\n    dir = {folder}\n", encoding="utf-8")


def default(repo):
    return cached(repo / ".dvc" / "cache")


def without_a_folder_for_md5(repo):
    return cached(repo / ".dvc" / "cache", "ab/" + "0" * 30)


def elsewhere_by_a_path(repo):
    configured(repo, repo.parent / "cache")
    return cached(repo.parent / "cache")


def elsewhere_beside_the_settings(repo):
    configured(repo, "../../cache")
    return cached(repo.parent / "cache")


def elsewhere_for_this_clone(repo):
    configured(repo, "nowhere")
    configured(repo, repo.parent / "cache", "config.local")
    return cached(repo.parent / "cache")


def elsewhere_for_this_person(repo):
    (repo.parent / "GLOBAL").mkdir()
    configured(repo, "../../cache", "../../GLOBAL/config")
    return cached(repo.parent.parent / "cache")


def a_cache_that_is_reached_by_a_link(repo):
    held = cached(repo.parent / "disk")
    (repo / ".dvc" / "cache").symlink_to(repo.parent / "disk")
    return repo / ".dvc" / "cache" / held.relative_to(repo.parent / "disk")


OWN = [
    default, without_a_folder_for_md5, elsewhere_by_a_path, elsewhere_beside_the_settings,
    elsewhere_for_this_clone, elsewhere_for_this_person, a_cache_that_is_reached_by_a_link,
]  # fmt: skip


@pytest.mark.parametrize("make", OWN, ids=lambda make: make.__name__)
def test_a_link_into_the_cache_is_read_by_every_reader(repo, make):
    link = repo / "artifacts" / "x"
    link.symlink_to(make(repo))
    assert read_bytes(link, 99, TableError) == b"held\n"
    assert list(read_lines(link, 99, TableError)) == [b"held"]
    assert hash_file(link, TableError).size == 5
    assert not is_foreign_link(link)


def another_file(repo):
    return cached(repo)


def a_path_with_a_step_up(repo):
    cached(repo / ".dvc" / "cache")
    return f"{repo}/.dvc/cache/files/../{NAME}"


def a_way_out_of_the_cache(repo):
    cached(repo, "files/md5/ab/" + "1" * 30)
    return f"{repo}/.dvc/cache/../../files/md5/ab/" + "1" * 30


def a_relative_path(repo):
    cached(repo / ".dvc" / "cache")
    return f"../.dvc/cache/{NAME}"


def a_chain_of_links(repo):
    link = repo / ".dvc" / "cache" / NAME
    link.parent.mkdir(parents=True)
    link.symlink_to(cached(repo))
    return link


def a_chain_outside_the_cache(repo):
    middle = repo / "middle"
    middle.symlink_to(default(repo))
    return middle


def a_folder_of_the_cache_that_is_a_link(repo):
    cached(repo.parent / "foreign", "ab/" + "0" * 30)
    (repo / ".dvc" / "cache" / "files").mkdir(parents=True)
    (repo / ".dvc" / "cache" / "files" / "md5").symlink_to(repo.parent / "foreign")
    return repo / ".dvc" / "cache" / NAME


def no_object_of_the_cache(repo):
    return cached(repo / ".dvc" / "cache", "files/md5/ab/x")


def a_folder_in_place_of_an_object(repo):
    (repo / ".dvc" / "cache" / NAME).mkdir(parents=True)
    return repo / ".dvc" / "cache" / NAME


def a_pipe_in_place_of_an_object(repo):
    (repo / ".dvc" / "cache" / NAME).parent.mkdir(parents=True)
    os.mkfifo(repo / ".dvc" / "cache" / NAME)
    return repo / ".dvc" / "cache" / NAME


def nothing(repo):
    return repo / ".dvc" / "cache" / NAME


def the_default_cache_where_another_is_set(repo):
    configured(repo, "../../cache")
    return default(repo)


def settings_that_are_none(repo):
    (repo / ".dvc" / "config").write_text("[cache\n", encoding="utf-8")
    return default(repo)


def settings_without_end(repo):
    (repo / ".dvc" / "config").symlink_to("/dev/zero")
    return default(repo)


def a_device(repo):
    return "/dev/zero"


FOREIGN = [
    another_file, a_path_with_a_step_up, a_way_out_of_the_cache, a_relative_path, a_chain_of_links,
    a_chain_outside_the_cache, a_folder_of_the_cache_that_is_a_link, no_object_of_the_cache,
    a_folder_in_place_of_an_object, a_pipe_in_place_of_an_object, nothing,
    the_default_cache_where_another_is_set, settings_that_are_none, settings_without_end, a_device,
]  # fmt: skip


@pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
def test_every_other_link_is_refused_by_every_reader(repo, make):
    link = repo / "artifacts" / "x.parquet"
    link.symlink_to(make(repo))
    for read in (
        lambda: read_bytes(link, 99, InputError),
        lambda: list(read_lines(link, 99, InputError)),
        lambda: hash_file(link, InputError),
    ):
        with pytest.raises(InputError, match=r"found (a symbolic link|a folder|something|No such)"):
            read()
    with pytest.raises(TableError, match=r"found (a symbolic link|a folder|something|No such)"):
        read_header(link)


def test_a_link_outside_of_every_repository_is_refused(tmp_path):
    (tmp_path / "x").symlink_to(cached(tmp_path / ".dvc" / "cache"))
    (tmp_path / ".dvc").rename(tmp_path / "dvc")
    with pytest.raises(TableError, match="a symbolic link"):
        read_bytes(tmp_path / "x", 99, TableError)


@pytest.mark.parametrize("kind", ["symlink", "hardlink"])
def test_a_writer_puts_a_file_of_its_own_in_a_links_place(repo, kind):
    table = make_table(Score, [EXAMPLES[Score]])
    write_table(repo / "first.parquet", table)
    held = cached(repo / ".dvc" / "cache", data=(repo / "first.parquet").read_bytes())
    before = held.read_bytes()
    path = repo / "artifacts" / "scores.parquet"
    path.symlink_to(held) if kind == "symlink" else path.hardlink_to(held)
    assert read_table(path, Score).root == table.root
    write_table(path, make_table(Score, []))
    assert not path.is_symlink()
    assert read_table(path, Score).header.rows == 0
    write_bytes(path, b"other")
    assert held.read_bytes() == before
    assert path.stat().st_mode & 0o200
