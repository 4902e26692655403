from __future__ import annotations

import asyncio
import signal

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.asking.adapter import Question, Questions, Reply, make_requests, request_digest
from pipeline.asking.ledger import open_ledger
from pipeline.asking.runner import (
    plain_job,
    run_jobs,
)
from pipeline.errors import ExecuteError, ProviderError, StoppedError
from pipeline.tables import make_table
from schemas.execution import Response
from tests.execute.small import (
    Answers,
    answer_to,
    make_request,
    make_response,
    provider_down,
    run_requests,
)

ROUTE = "2" * 64


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "route.sqlite") as ledger:
        yield ledger


def requests(count):
    return [make_request(number) for number in range(1, count + 1)]


class Memory:
    """What the runner needs of a ledger, without a disk."""

    def __init__(self):
        self.stored = {}

    def keys(self):
        return set(self.stored)

    def add(self, response):
        assert self.stored.setdefault(response.request_digest, response) == response

    def responses(self):
        return list(self.stored.values())


class TestRequests:
    def test_the_key_is_a_digest_of_task_route_and_repeat(self):
        task, route = "a" * 64, "b" * 64
        text = f'{{"repeat":7,"route_digest":"{route}","task_digest":"{task}"}}'
        hasher = blake3(text.encode(), derive_key_context="flavourbench v1 request")
        assert request_digest(task, route, 7) == hasher.hexdigest()

    def test_every_part_of_the_key_counts(self):
        keys = {
            request_digest(task, route, repeat)
            for task in ("a" * 64, "b" * 64)
            for route in ("a" * 64, "b" * 64)
            for repeat in (0, 1)
        }
        assert len(keys) == 8

    def test_there_is_one_request_a_question_in_order(self):
        asked = tuple(Question(f"t-{n}", c * 64, "?", None, n) for n, c in enumerate("abc"))
        made = make_requests(Questions("1" * 64, asked, {}), ROUTE)
        assert [r.question for r in made] == list(asked)
        assert [r.key for r in made] == [request_digest(q.digest, ROUTE, q.repeat) for q in asked]
        assert {r.route_digest for r in made} == {ROUTE}


class TestAsking:
    @pytest.mark.parametrize("concurrency", [1, 2, 8, 100])
    def test_every_request_is_asked_once_and_stored_under_its_key(self, ledger, concurrency):
        adapter = Answers()
        assert run_requests(requests(9), adapter, ledger, concurrency) == (0, 9)
        assert sorted(adapter.asked) == [f"t-{n:03}" for n in range(1, 10)]
        by_key = {row.request_digest: row for row in ledger.responses()}
        for request in requests(9):
            row = by_key.pop(request.key)
            assert Reply(row.outcome, row.form, row.raw) == answer_to(request)
            assert (row.task_id, row.task_digest) == (request.question.id, request.question.digest)
            assert (row.route_digest, row.repeat) == (request.route_digest, request.question.repeat)
        assert by_key == {}

    @pytest.mark.parametrize("concurrency", [1, 8])
    def test_what_is_stored_is_never_asked_again(self, ledger, concurrency):
        for number in (1, 3):
            ledger.add(make_response(number))
        adapter = Answers()
        assert run_requests(requests(4), adapter, ledger, concurrency) == (2, 2)
        assert sorted(adapter.asked) == ["t-002", "t-004"]
        again = Answers()
        assert run_requests(requests(4), again, ledger, concurrency) == (4, 0)
        assert again.asked == []

    def test_no_requests_at_all_are_no_error(self, ledger):
        assert run_requests([], Answers(), ledger) == (0, 0)

    def test_the_tally_counts_from_what_was_present_up_to_the_total(self, ledger):
        ledger.add(make_response(1))
        seen = []
        job = plain_job(
            "slug", requests(4), Answers(pace=lambda _: seen.append(done()) or 0), ledger
        )

        def done():
            return (job.tally.done, job.tally.total)

        assert run_jobs([job]) == [None]
        assert [*seen, done()] == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert job.tally.failed == 0

    def test_what_stops_one_route_leaves_the_others_at_work(self, ledger, tmp_path):
        with open_ledger(tmp_path / "other.sqlite") as other:
            down = Answers(fail_at=2, error=provider_down())
            broken = plain_job("down", requests(5), down, ledger)
            whole = plain_job("up", requests(5), Answers(pace=lambda _: 3), other, 2)
            problems = run_jobs([broken, whole])
            assert (str(problems[0]), problems[1]) == (str(provider_down()), None)
            assert (len(ledger.responses()), len(other.responses())) == (1, 5)
            assert (broken.tally.state, whole.tally.state) == (str(provider_down()), "done")

    @pytest.mark.parametrize("concurrency", [1, 2, 3, 5])
    def test_no_more_requests_are_under_way_than_concurrency_allows(self, concurrency):
        class Counting(Answers):
            under_way, most = 0, 0

            async def ask(self, request):
                self.under_way += 1
                self.most = max(self.most, self.under_way)
                reply = await super().ask(request)
                self.under_way -= 1
                return reply

        adapter = Counting(pace=lambda _: 3)
        run_requests(requests(12), adapter, Memory(), concurrency)
        assert adapter.most == concurrency


class TestOrder:
    def test_fb_025_answers_that_finish_in_another_order_are_joined_by_key(self, ledger):
        pace = {"t-001": 9, "t-002": 12, "t-003": 0}
        adapter = Answers(pace=lambda request: pace[request.question.id])
        run_requests(requests(3), adapter, ledger, 8)
        assert adapter.finished == ["t-003", "t-001", "t-002"]
        raw = {row.task_id: row.raw for row in ledger.responses()}
        assert raw == {request.question.id: answer_to(request).raw for request in requests(3)}

    @settings(deadline=None, max_examples=40)
    @given(
        st.lists(st.integers(0, 6), min_size=8, max_size=8),
        st.sampled_from([1, 2, 8]),
        st.permutations(range(8)),
    )
    def test_the_root_is_the_same_for_every_order_pace_and_concurrency(
        self, paces, concurrency, order
    ):
        def root(adapter, asked, workers):
            memory = Memory()
            run_requests(asked, adapter, memory, workers)
            return make_table(Response, memory.responses()).root

        plain = root(Answers(), requests(8), 1)
        pace = {f"t-{n:03}": steps for n, steps in enumerate(paces, start=1)}
        adapter = Answers(pace=lambda request: pace[request.question.id])
        assert root(adapter, [requests(8)[i] for i in order], concurrency) == plain

    def test_fb_023_the_first_stored_answer_wins(self, ledger):
        (request,) = requests(1)
        first = answer_to(request)

        class Late:
            costs_money = False

            async def ask(self, _):
                ledger.add(make_response(1, raw=first.raw))
                return first._replace(raw=b"late")

        with pytest.raises(ExecuteError, match=request.key):
            run_requests([request], Late(), ledger)
        assert [row.raw for row in ledger.responses()] == [first.raw]


class TestFailing:
    @pytest.mark.parametrize("concurrency", [1, 8])
    @pytest.mark.parametrize("fail_at", [1, 4, 9])
    def test_what_was_stored_before_an_error_stays(self, ledger, fail_at, concurrency):
        adapter = Answers(fail_at=fail_at, error=provider_down(), pace=lambda _: 2)
        with pytest.raises(ProviderError) as caught:
            run_requests(requests(9), adapter, ledger, concurrency)
        assert str(caught.value) == str(provider_down())
        stored = {row.task_id for row in ledger.responses()}
        assert stored == set(adapter.finished)
        assert len(adapter.asked) == len(stored) + 1
        again = Answers()
        assert run_requests(requests(9), again, ledger) == (len(stored), 9 - len(stored))
        assert not stored & set(again.asked)

    def test_replies_under_way_are_stored_when_another_cell_fails(self, ledger):
        adapter = Answers(fail_at=4, error=provider_down(), pace=lambda _: 5)
        with pytest.raises(ProviderError):
            run_requests(requests(20), adapter, ledger, 4)
        assert adapter.asked == ["t-001", "t-002", "t-003", "t-004"]
        assert {row.task_id for row in ledger.responses()} == {"t-001", "t-002", "t-003"}

    @pytest.mark.parametrize("concurrency", [1, 3])
    @pytest.mark.parametrize(
        "error", [RuntimeError("lost\nline"), KeyError("t"), TimeoutError(), OSError(5, "I/O")]
    )
    def test_an_adapters_own_fault_is_one_line_that_names_the_task(
        self, ledger, error, concurrency
    ):
        adapter = Answers(fail_at=2, error=error, pace=lambda _: 1)
        with pytest.raises(ProviderError) as caught:
            run_requests(requests(5), adapter, ledger, concurrency)
        message = str(caught.value)
        assert "\n" not in message
        assert type(error).__name__ in message
        assert "t-002" in message
        assert caught.value.exit_code == 3
        assert "t-001" in {row.task_id for row in ledger.responses()}

    @pytest.mark.parametrize(
        "reply",
        [
            Reply("splendid", "text", b""),
            Reply("ok", "text", b""),
            (1, 2),
            None,
        ],
        ids=["unknown-outcome", "plain-text-outcome", "too-short", "none"],
    )
    def test_a_reply_of_the_wrong_shape_is_one_line(self, ledger, reply):
        class Wrong:
            costs_money = False

            async def ask(self, _):
                return reply

        with pytest.raises(ProviderError) as caught:
            run_requests(requests(2), Wrong(), ledger)
        assert "\n" not in str(caught.value)
        assert ledger.responses() == []

    @pytest.mark.parametrize("concurrency", [1, 4])
    def test_several_failures_at_once_are_one_error(self, ledger, concurrency):
        class Down:
            costs_money = False

            async def ask(self, _):
                await asyncio.sleep(0)
                raise provider_down()

        with pytest.raises(ProviderError) as caught:
            run_requests(requests(9), Down(), ledger, concurrency)
        assert str(caught.value) == str(provider_down())
        assert ledger.responses() == []

    def test_a_ledger_that_cannot_be_written_stops_the_run(self, ledger):
        ledger._connection.execute("PRAGMA query_only = ON")
        adapter = Answers()
        with pytest.raises(ExecuteError, match="can be written"):
            run_requests(requests(5), adapter, ledger)
        assert adapter.asked == ["t-001"]


class TestSignals:
    @pytest.mark.parametrize("concurrency", [1, 3])
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_stops_between_cells_and_loses_nothing(self, ledger, number, concurrency):
        class Signalled(Answers):
            async def ask(self, request):
                if request.question.id == "t-003":
                    signal.raise_signal(number)
                return await super().ask(request)

        before = signal.getsignal(number)
        adapter = Signalled(pace=lambda _: 4)
        with pytest.raises(StoppedError) as caught:
            run_requests(requests(20), adapter, ledger, concurrency)
        stored = {row.task_id for row in ledger.responses()}
        assert stored == set(adapter.asked) == set(adapter.finished)
        assert "t-003" in stored
        assert len(stored) <= 2 + concurrency
        assert caught.value.exit_code == 3
        assert f"stop after {len(stored)}" in str(caught.value)
        assert "same command" in str(caught.value)
        assert signal.getsignal(number) == before

    def test_a_signal_lets_in_where_the_adapter_never_waits(self, ledger):
        class Hasty(Answers):
            async def ask(self, request):
                if request.question.id == "t-002":
                    signal.raise_signal(signal.SIGTERM)
                return answer_to(request)

        with pytest.raises(StoppedError):
            run_requests(requests(50), Hasty(), ledger)
        assert len(ledger.responses()) < 10

    def test_a_signal_at_the_last_cell_is_no_stop(self, ledger):
        class Last(Answers):
            async def ask(self, request):
                if request.question.id == "t-003":
                    signal.raise_signal(signal.SIGTERM)
                return await super().ask(request)

        assert run_requests(requests(3), Last(), ledger) == (0, 3)
