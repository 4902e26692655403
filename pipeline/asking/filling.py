"""A route is asked: its ledger is filled from its tables, completed, and sealed into them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from pipeline.asking.adapter import make_requests, provider_of
from pipeline.asking.ledger import open_ledger
from pipeline.asking.line import Hosts, paid_job
from pipeline.asking.routes import bind_route, find_route
from pipeline.asking.runner import Job, plain_job, run_jobs
from pipeline.asking.sealing import hydrate, seal
from pipeline.asking.tally import Tally, unwatched
from pipeline.errors import ExecuteError, FlavourbenchError, ProviderError
from pipeline.files import read_bytes
from pipeline.workspace import StageSummary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.asking.adapter import Questions
    from pipeline.asking.ledger import Ledger
    from pipeline.asking.routes import BoundRoute
    from pipeline.asking.tally import Watch
    from pipeline.asking.track import Track
    from pipeline.workspace import Workspace

__all__ = ["EVERYTHING", "Filled", "Wish", "fill_routes", "run_route"]

_LOCK_LIMIT = 2**28


class Wish(NamedTuple):
    """What is wanted of a run.

    Attributes
    ----------
    limit
        Ask so many cells of a route at most, and seal nothing.
    give_up
        Store what fails to the end of its attempts as failed, for good.
    """

    limit: int | None = None
    give_up: bool = False


EVERYTHING = Wish()
"""Every missing cell; what fails is left open."""


class Filled(NamedTuple):
    """What a run did to one route's ledger, and what stopped it, if anything did."""

    slug: str
    tally: Tally | None
    problem: FlavourbenchError | None


class _Opened(NamedTuple):
    """A route with its ledger, held by this process, and the documents of its older routes."""

    bound: BoundRoute
    ledger: Ledger
    documents: Mapping[str, str]
    job: Job


class _Room(NamedTuple):
    """What the routes of one run share; the stack lets their ledgers go."""

    workspace: Workspace
    track: Track
    questions: Questions
    wish: Wish
    hosts: Hosts
    stack: ExitStack


def run_route(
    track: Track,
    workspace: Workspace,
    slug: str,
    wish: Wish = EVERYTHING,
    watch: Watch = unwatched,
) -> StageSummary:
    """Ask one route every question that it has not answered, and seal what it ever answered.

    Raises
    ------
    UsageError
        There is no such route.
    ExecuteError
        The ledger or a replay file is unusable, another process holds the route, a secret is not
        set, or answers that cost money are on record but not at hand.
    ProviderError
        A provider or a budget stopped the run, or cells are left open; nothing stored is lost.
    StoppedError
        A signal came between cells; nothing stored is lost.
    """
    questions = track.questions(workspace)
    with ExitStack() as stack:
        opened = _open(_Room(workspace, track, questions, wish, Hosts(), stack), slug)
        tally = opened.job.tally
        with watch([tally]):
            (stopped,) = run_jobs([opened.job])
        problem = stopped or _left_open(tally)
        if problem is not None:
            raise problem
        artifacts = seal(
            track,
            workspace,
            opened.bound,
            ledger=opened.ledger,
            documents=opened.documents,
            source_root=questions.root,
        )
    headline = (
        f"{slug}: {tally.present} of {tally.total} present, {tally.asked} asked now, "
        f"{artifacts[0].rows} stored in all{_extras(tally)}"
    )
    return StageSummary(track.asking.word, headline, artifacts)


def fill_routes(
    track: Track,
    workspace: Workspace,
    slugs: Sequence[str],
    wish: Wish = EVERYTHING,
    watch: Watch = unwatched,
) -> list[Filled]:
    """Fill the ledgers of many routes at once, and seal none: `dvc repro` does that afterwards.

    What stops one route leaves the others at work.

    Raises
    ------
    UsageError
        There is no such route.
    TableError
        The questions are not made yet.
    """
    questions = track.questions(workspace)
    for slug in slugs:
        find_route(track, workspace.parameters, slug)
    found: dict[str, Filled] = {}
    jobs: list[Job] = []
    with ExitStack() as stack:
        room = _Room(workspace, track, questions, wish, Hosts(), stack)
        for slug in dict.fromkeys(slugs):
            try:
                jobs.append(_open(room, slug).job)
            except FlavourbenchError as refused:
                found[slug] = Filled(slug, None, refused)
        with watch([job.tally for job in jobs]):
            problems = run_jobs(jobs)
    for job, stopped in zip(jobs, problems, strict=True):
        problem = stopped or (_left_open(job.tally) if wish.limit is None else None)
        found[job.tally.slug] = Filled(job.tally.slug, job.tally, problem)
    return [found[slug] for slug in dict.fromkeys(slugs)]


def _open(room: _Room, slug: str) -> _Opened:
    """A route ready to be asked: its ledger held and filled from its tables, its secrets read."""
    track, workspace = room.track, room.workspace
    bound = find_route(track, workspace.parameters, slug)
    adapter = bind_route(bound, room.questions, workspace.root)
    ledger = room.stack.enter_context(open_ledger(workspace.ledger(slug, track.folder)))
    if adapter.costs_money and not ledger.keys():
        _refuse_to_pay_twice(track, workspace, slug)
    ledger.recover()
    documents = hydrate(track, ledger, workspace, slug)
    requests = make_requests(room.questions, bound.digest)
    provider = provider_of(adapter)
    if provider is not None:
        give_up = room.wish.give_up
        job = paid_job(provider, ledger, requests, bound.digest, room.hosts, give_up=give_up)
    else:
        job = plain_job(slug, requests, adapter, ledger)
    if room.wish.limit is not None:
        # by hash, so that a few cells are of all families
        chosen = sorted(job.missing, key=lambda request: request.key)[: room.wish.limit]
        job = job._replace(missing=chosen)
    if job.missing and provider is not None:
        provider.unlock()
    return _Opened(bound, ledger, documents, job)


def _left_open(tally: Tally) -> ProviderError | None:
    """The error where a run has come to its end and cells are left open."""
    left = tally.total - tally.done
    if not left:
        return None
    said = ", ".join(f"{count} {outcome}" for outcome, count in tally.parked.most_common())
    return ProviderError(
        "an answer to every question",
        f"{left} cells left open ({said})",
        f"route {tally.slug}",
        "Run the same command to go on, or with --give-up to store them as failed, for good.",
    )


def _extras(tally: Tally) -> str:
    """What a paid route adds to its headline."""
    if not tally.attempts:
        return ""
    unknown = f", {tally.unknown} of unknown cost" if tally.unknown else ""
    failed = ", ".join(f"{n} {name}" for name, n in sorted(tally.stored.items()) if name != "ok")
    return (
        f"{f' ({failed})' if failed else ''}; {tally.attempts} attempts{unknown}, "
        f"spent {tally.spent}"
    )


def _refuse_to_pay_twice(track: Track, workspace: Workspace, slug: str) -> None:
    """Stop where `dvc.lock` says that paid answers exist, the ledger is empty and no table here."""
    lock = workspace.root / "dvc.lock"
    sealed = workspace.artifact(track.place(track.asking), slug)
    if sealed.exists() or not lock.exists():
        return
    if f"{track.asking.word}@{slug}:".encode() in read_bytes(lock, _LOCK_LIMIT, ExecuteError):
        raise ExecuteError(
            f"the answers of {slug} that dvc.lock lists",
            "neither table nor filled ledger",
            sealed.relative_to(workspace.root).as_posix(),
            "Run `dvc pull` first, so that nothing is paid for twice.",
        )
