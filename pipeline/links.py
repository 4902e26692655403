"""DVC's own links: under `cache.type symlink` an output is a link to a file of DVC's cache.

Such a link is read; every other one leads who knows where, and is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

__all__ = ["cached_file", "is_foreign_link"]

_SETTINGS_LIMIT = 2**20
_OBJECT = re.compile(r"(?:files/md5/)?([0-9a-f]{2})/([0-9a-f]{30})")
"""Where DVC keeps a file by its MD5, in version 3 and, without a folder for it, before."""


def cached_file(link: Path) -> Path | None:
    """The file of DVC's cache that a symbolic link of DVC's names; none for any other link.

    The link has to name an object of the cache by its own path: no step up, and no other link on
    the way from the cache's folder to the object. What lies there may still be anything: open it
    without following links.
    """
    try:
        target = link.readlink()
        cache = _cache_folder(link.absolute().parent)
        if cache is None or not target.is_absolute() or ".." in target.parts:
            return None
        home = cache.resolve()
        found = target.parent.resolve() / target.name
        place = found.relative_to(home).as_posix()
        base = str(target).removesuffix(f"/{place}")
        direct = base != str(target) and Path(base).resolve() == home
    except (OSError, RuntimeError, ValueError):  # `resolve` says `RuntimeError` of a loop
        return None
    return found if direct and _OBJECT.fullmatch(place) else None


def is_foreign_link(path: Path) -> bool:
    """Whether a path is a symbolic link that is not DVC's own."""
    return path.is_symlink() and cached_file(path) is None


def _cache_folder(folder: Path) -> Path | None:
    """The cache of the DVC repository that a folder lies in, as DVC's settings say."""
    home = next((f / ".dvc" for f in (folder, *folder.parents) if (f / ".dvc").is_dir()), None)
    stamp = None if home is None else _stamp(home)
    return None if home is None or stamp is None else _configured(home, stamp)


def _stamp(home: Path) -> tuple[int, ...] | None:
    """Changes when the settings beside a repository do; none where they are no settings."""
    found = []
    for file in (home / "config", home / "config.local"):
        if file.exists():
            if not file.is_file() or file.stat().st_size > _SETTINGS_LIMIT:
                return None
            found.append(file.stat().st_mtime_ns)
    return tuple(found)


@lru_cache(maxsize=8)
def _configured(home: Path, _: tuple[int, ...]) -> Path | None:
    """DVC reads its own settings: of the system, the person, the project and this clone."""
    from dvc.config import Config, ConfigError

    try:
        configured = Config(str(home))["cache"].get("dir")
    except (ConfigError, OSError, UnicodeDecodeError):
        return None
    return Path(configured) if configured else home / "cache"
