"""What a browser makes of the page, and what a user does there."""

from __future__ import annotations

import pytest

from ..served import training_request, until
from .asking import EVIL, got, points


def test_a_browser_draws_a_curve_for_each_job_with_rungs_and_the_best_one(server, jobs, browser):
    browser.open(f"{server.url}/-/jobs/tuning/tuned")
    browser.until("document.querySelectorAll('#curves g.curve').length === 5")
    assert browser.tell("document.querySelectorAll('#curves path.rung').length") == 2
    assert browser.tell("document.querySelectorAll('#curves g.best').length") == 1
    titles = browser.tell("[...document.querySelectorAll('#curves title')].map((each) => each.textContent)")
    assert sorted(title[:5] for title in titles) == [f"job {number}" for number in range(1, 6)]


def test_a_curve_says_why_its_job_ended_to_the_pointer_and_to_the_keyboard(server, jobs, browser, stopped):
    number = int(stopped.split("-")[1])
    curves = got(server, "/-/curves/tuning/tuned").document["jobs"]
    why = next(job["why"] for job in curves if job["number"] == number)
    browser.open(f"{server.url}/-/jobs/tuning/tuned")
    browser.until("document.querySelectorAll('#curves g.curve').length === 5")
    browser.tell("document.querySelector('svg.chart').scrollIntoView()")
    mark = "document.querySelector('#curves g.curve .end').getBoundingClientRect()"
    browser.point(browser.tell(f"{mark}.x + {mark}.width / 2"), browser.tell(f"{mark}.y + {mark}.height / 2"))
    assert browser.text("#curves .note").startswith("job ")
    browser.tell("document.querySelector('svg.chart').focus()")
    for _ in range(5):
        browser.press("ArrowDown")
        if browser.text("#curves .note").startswith(f"job {number}"):
            break
    assert why in browser.text("#curves .note")
    browser.press("Enter")
    browser.until(f"location.pathname === '/-/jobs/training/{stopped}'")


def test_a_browser_shows_what_a_job_says_and_runs_none_of_it(server, jobs, browser):
    browser.open(f"{server.url}/-/jobs/training/failed")
    browser.until("document.querySelector('#log-lines time[datetime]')")
    browser.until("document.querySelector('figcaption')")
    assert browser.text("figcaption") == "score: 1.5 at iteration 3"
    assert f"{EVIL} went wrong" in browser.text("#why")
    assert f"{EVIL} & so on" in browser.text("#log-lines")
    assert browser.tell("document.title") == "failed · Bandstand"
    assert browser.tell("document.querySelectorAll('main script').length") == 0


def test_a_log_is_searched_in_the_browser(server, jobs, browser):
    browser.open(f"{server.url}/-/jobs/training/failed")
    browser.until("document.querySelector('#log-lines time[datetime]')")
    browser.tell("document.forms[0].find.value = 'SO ON'; document.forms[0].requestSubmit()")
    browser.until("document.getElementById('log-state').textContent === '2 lines found'")
    assert browser.tell("[...document.querySelectorAll('#log mark')].map((each) => each.textContent)") == [
        "so on",
        "so on",
    ]
    browser.tell("document.forms[0].host.value = 'algo-2'; document.forms[0].requestSubmit()")
    browser.until("document.getElementById('log-state').textContent === '1 line found'")


def test_a_browser_sees_a_job_go_on_without_being_asked_to(server, sagemaker, place, browser):
    hold = place / "hold-page"
    hold.touch()
    request = training_request(place, "held", HyperParameters={"hold": str(hold), "epochs": "3"})
    sagemaker.create_training_job(**request)
    until(lambda: [2, 2.0] in points(server, "held"), "the second report")
    browser.open(f"{server.url}/-/jobs/training/held")
    browser.until("document.querySelector('figcaption')?.textContent === 'score: 2 at iteration 2'")
    assert browser.text("#head .status") == "InProgress"
    browser.tell("window.mark = 'the same page'")
    hold.unlink()
    browser.until("document.querySelector('#head .status').textContent === 'Completed'")
    browser.until("document.querySelector('figcaption').textContent === 'score: 3 at iteration 3'")
    browser.until("document.getElementById('log-lines').textContent.includes('iteration=3 score=3.0')")
    assert browser.tell("window.mark") == "the same page"
    assert browser.text("#log-lines").count("iteration=2 score") == 1


def test_the_focus_stays_where_it_is_when_the_list_changes(server, jobs, sagemaker, place, browser):
    browser.open(server.url)
    browser.tell("document.getElementById('tuning-tuned').focus()")
    settings = {"sagemaker_program": "print.py"}
    (place / "code" / "print.py").write_text("print('something')\n")
    sagemaker.create_training_job(**training_request(place, "another", HyperParameters=settings))
    browser.until("document.getElementById('training-another') !== null")
    assert browser.tell("document.activeElement.id") == "tuning-tuned"


def test_the_list_needs_no_scripts(server, jobs, browser):
    browser("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(f"{server.url}/?words=tuned")
        root = browser("DOM.getDocument")["root"]
        shown = browser("DOM.getOuterHTML", nodeId=root["nodeId"])["outerHTML"]
        assert 'href="/-/jobs/tuning/tuned"' in shown
        assert "5 of 5" in shown
    finally:
        browser("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("path", ["/", "/-/jobs/tuning/tuned", "/-/jobs/training/failed"])
def test_a_page_fits_a_narrow_screen(server, jobs, browser, path):
    browser("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    try:
        browser.open(server.url + path)
        browser.until("!document.querySelector('#curves, #metrics') || document.querySelector('svg.chart')")
        assert browser.tell("document.documentElement.scrollWidth") == 360
    finally:
        browser("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(server, browser, scheme):
    """The contrast is at least that of WCAG 2.2, success criterion 1.4.3."""
    browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.open(server.url)
    value = "getComputedStyle(document.documentElement).getPropertyValue"
    grounds = [browser.tell(f"{value}('--{name}')") for name in ("ground", "raised")]
    assert (luminance(grounds[0]) > 0.5) == (scheme == "light")
    for name in ("text", "quiet", "link", "good", "bad", "stopped", "running"):
        ink = luminance(browser.tell(f"{value}('--{name}')"))
        for ground in map(luminance, grounds):
            assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, name


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, as WCAG defines it."""
    parts = [int(colour.strip()[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
