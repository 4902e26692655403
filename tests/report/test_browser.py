"""The page in a real browser, from disk and with the network off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schemas.results import Score
from schemas.taskset import Task
from tests.report.browser import console_errors, needs_browser, opened, requested
from tests.report.hostile import ANSWERS, LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.report.conftest import Run

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser(hostile: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opened(hostile.page, tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def driver(hostile: Run, browser: Any) -> Any:
    """The browser with the page as it first shows, whatever another test did to it."""
    browser.get("about:blank")
    browser.get(hostile.page.as_uri())
    return browser


def texts(driver: Any, selector: str) -> list[str]:
    return [
        str(node.get_attribute("textContent"))
        for node in driver.find_elements("css selector", selector)
        if node.is_displayed()
    ]


def type_in(driver: Any, name: str, text: str) -> None:
    field = driver.find_element("id", name)
    field.clear()
    field.send_keys(text or " \b")


def press(driver: Any, node: Any) -> None:
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
    node.click()


def head(driver: Any, text: str) -> Any:
    heads = driver.find_elements("css selector", "#board thead th")
    return next(node for node in heads if node.text.split(" ")[0].strip("↑↓") == text)


def test_it_loads_without_an_error_or_a_request(hostile: Run, driver: Any) -> None:
    assert driver.execute_script("return document.documentElement.dataset.ready") == "true"
    assert console_errors(driver) == []
    assert {url for url in requested(driver) if not url.startswith("data:")} == {
        hostile.page.as_uri()
    }


def test_hostile_text_ran_nowhere(hostile: Run, driver: Any) -> None:
    type_in(driver, "task-search", "")
    for button in driver.find_elements("css selector", "#task-list button")[: len(ANSWERS)]:
        press(driver, button)
        for said in driver.find_elements("css selector", "#task details"):
            driver.execute_script("arguments[0].open = true", said)
    driver.execute_async_script("setTimeout(arguments[0], 0)")
    assert driver.execute_script("return window.hit") is None
    assert not driver.find_elements("css selector", "main img, main script")
    assert LABELS["first"] in texts(driver, "#board tbody th bdi")
    assert console_errors(driver) == []


def test_an_answer_is_shown_as_text_and_a_long_one_is_cut(hostile: Run, driver: Any) -> None:
    tasks = hostile.workspace.read("freeze", Task).rows()
    shown = []
    for task in tasks[: len(ANSWERS)]:
        type_in(driver, "task-search", task.task_id)
        press(driver, driver.find_element("css selector", "#task-list button"))
        lines = driver.find_elements("css selector", "#task tbody tr")
        line = next(x for x in lines if x.text.startswith("<b>answers</b>"))
        said = line.find_element("css selector", "details")
        driver.execute_script("arguments[0].open = true", said)
        driver.execute_async_script("setTimeout(arguments[0], 20)")
        shown.append(str(said.get_attribute("textContent")))
    assert "</script><script>window.hit=1</script><!-- \\u2028\\u2029 &lt;" in shown[0]
    assert "\\u202eevil\\u200b\\u0000\\u001b[31m \\ue000\\ue001\\ue002 🍜" in shown[2]
    assert "999,925 characters" in shown[3]
    assert "[…]" in shown[3]
    assert "Cut to 16,000 characters" in shown[3]
    assert len(shown[3]) < 17_000


def test_a_column_sorts_both_ways_and_says_so(driver: Any) -> None:
    orders = {}
    for _ in range(2):
        press(driver, head(driver, "score").find_element("css selector", "button"))
        cells = driver.find_elements("css selector", "#board tbody td:nth-child(4)")
        values = [int(cell.get_attribute("data-order")) for cell in cells]
        orders[head(driver, "score").get_attribute("aria-sort")] = values
    assert orders["descending"] == sorted(orders["descending"], reverse=True)
    assert orders["ascending"] == sorted(orders["ascending"])
    assert len(driver.find_elements("css selector", "#board [aria-sort]")) == 1


def test_the_leaderboard_is_sorted_by_keyboard(driver: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    button = head(driver, "rank").find_element("css selector", "button")
    driver.execute_script("arguments[0].focus()", button)
    ranks = ["1", "2", "3", "4=", "4="]
    for order, shown in (("descending", ranks[::-1]), ("ascending", ranks)):
        button.send_keys(Keys.ENTER)
        assert head(driver, "rank").get_attribute("aria-sort") == order
        assert texts(driver, "#board tbody td:first-child") == shown


def test_routes_families_and_panels_are_filtered(driver: Any) -> None:
    from selenium.webdriver.support.select import Select

    type_in(driver, "route-filter", "onerror")
    assert texts(driver, "#board tbody th bdi") == [LABELS["first"]]
    assert driver.find_element("id", "board-count").text == "1 of 5 routes"
    type_in(driver, "route-filter", "")
    Select(driver.find_element("id", "family-filter")).select_by_value("pairing")
    assert texts(driver, "#board thead [data-family]") == ["pairing"]
    assert head(driver, "pairing").get_attribute("aria-sort") == "descending"
    Select(driver.find_element("id", "family-filter")).select_by_value("")
    assert len(texts(driver, "#board thead [data-family]")) == 2


def test_a_task_shows_its_scores_and_every_answer(hostile: Run, driver: Any) -> None:
    table = hostile.workspace.read("freeze", Task)
    digest, task = table.digests[7], table.rows()[7]
    scores = {
        row.slug: f"{row.score_bps / 100:.2f}"
        for row in hostile.workspace.read("score", Score).rows()
        if row.task_id == task.task_id
    }
    type_in(driver, "task-search", digest[:10])
    assert driver.find_element("id", "task-count").text == "1 of 32 tasks"
    press(driver, driver.find_element("css selector", "#task-list button"))
    panel = driver.find_element("id", "task")
    assert panel.find_element("css selector", "h3").text == task.task_id
    assert len(panel.find_elements("css selector", ".strip rect")) == 56
    assert len(panel.find_elements("css selector", ".choices li")) == 8
    shown = [text for text in texts(driver, "#task td.score") if text]
    assert sorted(shown) == sorted(scores.values())
    prompt = panel.find_element("css selector", "details pre").get_attribute("textContent")
    assert prompt == task.prompt
    commands = panel.text
    assert f"flavourbench audit {digest}" in commands
    assert f"flavourbench tasks show {digest[:16]}" in commands


def test_tasks_are_found_by_ingredient_and_by_a_response(hostile: Run, driver: Any) -> None:
    tasks = hostile.workspace.read("freeze", Task).rows()
    name = tasks[0].choices[0]
    type_in(driver, "task-search", name.replace("_", " "))
    wanted = [t for t in tasks if any(name in text for text in (t.anchor, *t.choices))]
    assert len(driver.find_elements("css selector", "#task-list li")) >= len(wanted) > 0
    cell = hostile.sources.selections["first"][3]
    assert cell.response_digest is not None
    type_in(driver, "task-search", cell.response_digest[:12])
    assert texts(driver, "#task-list small") == [cell.task_id]


def test_an_address_opens_a_task(hostile: Run, driver: Any) -> None:
    name = hostile.workspace.read("freeze", Task).rows()[-1].task_id
    driver.execute_script(f"location.hash = '#task={name}'")
    driver.execute_async_script("setTimeout(arguments[0], 20)")
    assert driver.find_element("css selector", "#task h3").text == name


def test_the_theme_turns_dark_and_light(driver: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    plane = "return getComputedStyle(document.querySelector('.chart svg rect')).fill"
    button = driver.find_element("id", "theme")
    seen = []
    for _ in range(2):
        press(driver, button)
        seen.append((driver.execute_script(ground), driver.execute_script(plane)))
    assert {first for first, _ in seen} == {"rgb(20, 24, 28)", "rgb(255, 255, 254)"}
    assert all(first == second for first, second in seen)


def test_a_phone_scrolls_tables_not_the_page(driver: Any) -> None:
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    width = driver.execute_script("return document.documentElement.scrollWidth")
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width == 360


def test_paper_is_white_and_wide_enough_for_the_leaderboard(driver: Any) -> None:
    driver.execute_script("document.documentElement.dataset.theme = 'dark'")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    size = {"width": 760, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    edge = driver.execute_script(
        "return document.getElementById('board').getBoundingClientRect().right"
    )
    shown = driver.find_element("id", "evidence").is_displayed()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert ground == "rgb(255, 255, 254)"
    assert edge <= 760
    assert not shown


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_stands_in_the_way_of_anybody(driver: Any, theme: str) -> None:
    from pathlib import Path

    import axe_core_python

    axe = next(Path(axe_core_python.__file__).parent.rglob("axe.min.js")).read_text("utf-8")
    driver.execute_script(f"document.documentElement.dataset.theme = '{theme}'")
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    found = driver.execute_async_script(
        "const done = arguments[0]; axe.run(document).then(r => done(r.violations.map("
        "v => [v.impact, v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))])))"
    )
    assert [entry for entry in found if entry[0] in {"serious", "critical"}] == []
