"""A route is asked: its ledger is filled from its tables, completed, and sealed into them."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from pipeline.asking.adapter import make_requests, provider_of
from pipeline.asking.ledger import open_ledger
from pipeline.asking.line import Hosts, paid_job
from pipeline.asking.routes import bind_route, find_route
from pipeline.asking.runner import Job, plain_job, run_jobs
from pipeline.asking.sealing import attempts_path, hydrate, seal
from pipeline.asking.tally import Tally, unwatched
from pipeline.dvcfiles import is_locked
from pipeline.errors import ExecuteError, FlavourbenchError, ProviderError
from pipeline.workspace import StageSummary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.asking.adapter import Questions
    from pipeline.asking.ledger import Ledger
    from pipeline.asking.routes import BoundRoute
    from pipeline.asking.tally import Spent, Watch
    from pipeline.asking.track import Track
    from pipeline.workspace import Workspace

__all__ = ["EVERYTHING", "Filled", "Wish", "fill_routes", "run_route"]


class Wish(NamedTuple):
    """What is wanted of a run.

    Attributes
    ----------
    limit
        Ask so many cells of a route at most, and seal nothing.
    give_up
        Store what fails to the end of its attempts as failed, for good.
    anew
        Ask and pay although `dvc.lock` lists a table that is not here.
    """

    limit: int | None = None
    give_up: bool = False
    anew: bool = False


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
    InputError
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
    if slug not in track.routes(workspace.parameters):
        return _keep(track, workspace, slug, questions)
    with ExitStack() as stack:
        opened = _open(_Room(workspace, track, questions, wish, Hosts(), stack), slug)
        tally = opened.job.tally
        with watch([tally]):
            (stopped,) = run_jobs([opened.job])
        problem = stopped or _left_open(tally, tally.total - tally.done)
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
        f"{slug}: {tally.present} of {tally.total} present, "
        f"{tally.asked} asked now{_failures(tally.stored)}, "
        f"{artifacts[0].rows} stored in all{_failures(tally.in_all)}{_extras(tally)}"
    )
    return StageSummary(track.asking.word, headline, artifacts)


def _keep(track: Track, workspace: Workspace, slug: str, questions: Questions) -> StageSummary:
    """Seal what a route that is set aside ever answered, and ask nothing."""
    bound = find_route(track, workspace.parameters, slug, aside=True)
    if not bound.maker.derivable:
        _refuse_lost_table(track, workspace, slug, "no table to keep", "Run `dvc pull` first.")
    with open_ledger(workspace.ledger(slug, track.folder)) as ledger:
        ledger.recover()
        documents = hydrate(track, ledger, workspace, slug)
        artifacts = seal(
            track, workspace, bound, ledger=ledger, documents=documents, source_root=questions.root
        )
    stored = artifacts[0].rows
    headline = f"{slug}: set aside (enabled: false), 0 asked now, {stored} stored in all"
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
    InputError
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
        problem = stopped or (
            _left_open(job.tally, job.tally.total - job.tally.done)
            if wish.limit is None
            else _smoke_problem(job.tally)
        )
        found[job.tally.slug] = Filled(job.tally.slug, job.tally, problem)
    return [found[slug] for slug in dict.fromkeys(slugs)]


def _open(room: _Room, slug: str) -> _Opened:
    """A route ready to be asked: its ledger held and filled from its tables, its secrets read."""
    track, workspace = room.track, room.workspace
    bound = find_route(track, workspace.parameters, slug)
    adapter = bind_route(bound, room.questions, workspace.root)
    ledger = room.stack.enter_context(open_ledger(workspace.ledger(slug, track.folder)))
    ledger.recover()
    documents = hydrate(track, ledger, workspace, slug)
    requests = make_requests(room.questions, bound.digest)
    provider = provider_of(adapter)
    if provider is not None:
        give_up = room.wish.give_up
        job = paid_job(provider, ledger, requests, bound.digest, room.hosts, give_up=give_up)
    else:
        job = plain_job(slug, requests, adapter, ledger)
    ended = ledger.outcomes()
    job.tally.before.update(ended[request.key] for request in requests if request.key in ended)
    if adapter.costs_money and job.missing and not room.wish.anew:
        found = f"no table, and {len(job.missing)} cells that would be paid for again"
        remedy = f"Run `dvc pull` first; or `flavourbench execute {slug} --anew` to pay again."
        _refuse_lost_table(track, workspace, slug, found, remedy)
    if room.wish.limit is not None:
        # by hash, so that a few cells are of all families
        chosen = sorted(job.missing, key=lambda request: request.key)[: room.wish.limit]
        job = job._replace(missing=chosen)
    if job.missing and provider is not None:
        provider.unlock()
    return _Opened(bound, ledger, documents, job)


def _left_open(tally: Tally, left: int) -> ProviderError | None:
    """The error where a run has come to its end and cells are left open."""
    if not left:
        return None
    said = _said(tally.parked)
    return ProviderError(
        "an answer to every question",
        f"{left} cells left open ({said})",
        f"route {tally.slug}",
        "Run the same command to go on, or with --give-up to store them as failed, for good.",
    )


def _smoke_problem(tally: Tally) -> ProviderError | None:
    """The error where a smoke run leaves a cell open, or where none of its cells has an answer."""
    if tally.parked or not tally.asked or tally.stored["ok"]:
        return _left_open(tally, tally.parked.total())
    return ProviderError(
        "an answer to at least one question",
        f"none in {tally.asked} cells ({_said(tally.stored)})",
        f"route {tally.slug}",
        "What is stored stays; see what came back in the attempts before more is asked.",
    )


def _said(counts: Counter[str]) -> str:
    """Outcomes with their counts, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {outcome}" for outcome, count in ordered)


def _failures(counts: Counter[str]) -> str:
    """What a headline adds to a count of cells where some have no answer."""
    failed = Counter({outcome: count for outcome, count in counts.items() if outcome != "ok"})
    return f" ({_said(failed)})" if failed else ""


def _extras(tally: Tally) -> str:
    """What a paid route adds to its headline: this run, and all of them where there were more."""
    if not tally.attempts:
        return ""
    told = "; " + _spent(tally.now)
    return told if tally.now == tally.sums else f"{told}; in all {_spent(tally.sums)}"


def _spent(sums: Spent) -> str:
    unknown = f", {sums.unknown} of unknown cost" if sums.unknown else ""
    return f"{sums.attempts} attempts{unknown}, spent {sums.money}"


def _refuse_lost_table(
    track: Track, workspace: Workspace, slug: str, found: str, remedy: str
) -> None:
    """Stop where `dvc.lock` lists the table of a route that costs money, and it is not here."""
    sealed = workspace.artifact(track.place(track.asking), slug)
    if sealed.exists() or sealed.is_symlink():
        return
    tables = [sealed, attempts_path(track, workspace, slug)]
    outputs = [path.relative_to(workspace.root).as_posix() for path in tables]
    try:
        listed = is_locked(workspace.root, f"{track.asking.word}@{slug}", outputs, ExecuteError)
    except ExecuteError as problem:
        raise ExecuteError(
            f"a dvc.lock that tells whether answers of {slug} exist ({problem.expected})",
            problem.found,
            problem.where,
            f"Restore it from git. {remedy}",
        ) from problem
    if listed:
        raise ExecuteError(
            f"the answers of {slug} that dvc.lock lists",
            found,
            outputs[0],
            remedy,
        )
