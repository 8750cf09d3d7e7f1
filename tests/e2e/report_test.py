# SPDX-License-Identifier: GPL-2.0-only
"""The report: complete, alone in its file, and usable in a browser, on a phone and by keyboard."""

import json
import shutil

import pytest
from conftest import ROOT, simulate_losses

import gradsync
from gradsync.report.findings import find_warnings
from gradsync.report.page import render, write_report

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PLOTS = ("plot-ict", "plot-ratio", "plot-messages", "plot-bytes")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return simulate_losses(tmp_path_factory.mktemp("report") / "r", "Losses & <tags>", repeats=2)


@pytest.fixture(scope="module")
def report(results):
    return write_report(results.folder)


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this system")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, report):
    """Opens the report; fails on any error on the console and on any request for another file."""
    problems = []

    def opened(width):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.on(
            "console",
            lambda message: problems.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.append(request.url))
        page.goto(report.as_uri())
        page.wait_for_selector("#plot-bytes .main-svg")
        problems.remove(report.as_uri())
        return page

    yield opened
    assert problems == []


def test_report_tells_results_setup_warnings_and_how_to_reproduce(results, report):
    page = report.read_text()
    assert "Losses &amp; &lt;tags&gt;" in page and "<tags>" not in page
    assert "packets were dropped in" in page
    assert "95 %" in page
    assert "./ns3 run" in page and results.manifest["program"]["commit"] in page
    assert write_report(results.folder).read_text() == page


def test_warnings_name_what_a_reader_must_know(results):
    told = find_warnings(results)
    assert len(told) == 1 and "packets were dropped in 8 runs" in told[0]
    manifest = {"runs": [{"run": 3, "status": "unfinished", "problem": "timed out"}]}
    manifest["scenarioFile"] = str(ROOT / "scenarios" / "x.json")
    profiles = [
        "../profiles/h100-sxm-estimate-5us.profile.json",
        {"file": "a", "origin": "measurement"},
    ]
    scenario = {"transport": "fluid", "faults": [{"kind": "link-down"}]}
    scenario["jobs"] = [{"profile": profile} for profile in profiles]
    told = find_warnings(gradsync.Results(results.folder, scenario, [{}], manifest))
    assert told[0] == "Run 3 unfinished: timed out"
    assert (
        "h100-sxm-estimate-5us.profile.json are no measurement (origin: roofline-estimate)"
        in told[1]
    )
    assert "no packets" in told[2] and "Faults" in told[3]


def test_plots_show_the_results_and_react_to_clicks(open_page, results):
    page = open_page(1200)
    for plot in PLOTS:
        assert page.locator(f"#{plot} .main-svg").count() > 0, plot
    traces = page.evaluate(
        "document.getElementById('plot-ict').data.map(t => [t.name, t.y.length])"
    )
    assert traces == [["Parameter server", 2], ["Ring", 2]]
    # A click on the legend hides a line.
    page.locator("#plot-ict .legendtoggle").first.click()
    page.wait_for_function(
        "document.getElementById('plot-ict')._fullData[0].visible === 'legendonly'"
    )
    # The network is that of the chosen run; racks of four have more hosts.
    assert page.locator("#network figure:visible svg circle").count() == 2 * 2 + 2 + 2
    page.select_option("#run-choice", "7")
    assert page.locator("#network figure:visible").count() == 1
    assert page.locator("#network figure:visible svg circle").count() == 2 * 4 + 2 + 2


def test_keyboard_reaches_everything(open_page):
    page = open_page(1200)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#results"
    page.focus("#run-choice")
    page.keyboard.press("ArrowDown")
    assert page.locator("#network figure:visible").get_attribute("data-run") == "1"
    page.focus("#setup summary")
    page.keyboard.press("Enter")
    assert json.loads(page.inner_text("#setup details pre"))["repeat"] == 2
    # What scrolls can be focused, so that arrow keys scroll it.
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every(e => e.tabIndex === 0)")


@pytest.mark.parametrize("width", [375, 1280])
def test_it_is_as_wide_as_the_window(open_page, width):
    page = open_page(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.locator("#run-choice, .main-svg, .xtitle, .ytitle, .gtitle, .legendtext")
    assert inside.count() > 3 * len(PLOTS)
    for box in (element.bounding_box() for element in inside.all()):
        assert box is None or (box["x"] >= 0 and box["x"] + box["width"] <= width)


def test_long_titles_are_wrapped_and_a_long_choice_is_no_wider_than_a_phone(browser, results):
    long = "Number of hosts per leaf of the network that the exchange of gradients runs on"
    scenario = {**results.scenario, "plot": dict(results.hints)}
    scenario["plot"]["labels"] = {"topology.hostsPerLeaf": long, "ict_mean_s": long}
    told = gradsync.Results(results.folder, scenario, results.rows, results.manifest)
    text = render(told).replace("run 1 ", f"run 1 {long} {long} ")
    page = browser.new_page(viewport={"width": 375, "height": 800})
    page.set_content(text)
    page.wait_for_selector("#plot-bytes .main-svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    for element in page.locator("#run-choice, #plot-ict .xtitle, #plot-ict .ytitle, .gtitle").all():
        box = element.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 375
    titles = page.locator("#plot-ict .ytitle, #plot-ict .xtitle, #plot-ict .gtitle")
    assert titles.count() == 3
    page.close()
