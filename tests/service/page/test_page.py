"""The page: what a browser is sent, and what nobody is to see or run there."""

from __future__ import annotations

import html
import re
from urllib.parse import quote

import pytest

from bandstand.service.page.masking import HIDDEN

from ..served import Server, ended, several_request, training_request, tuned
from .asking import EVIL, SECRET, got


def scripts(page: str) -> list[str]:
    """What each script element of a page says of itself."""
    return re.findall(r"<script([^>]*)>", page)


def test_an_empty_home_says_what_to_do_first(tmp_path):
    empty = Server(tmp_path / "home", cwd=tmp_path)
    try:
        page = got(empty, "/").text
        assert "There are no jobs yet" in page
        assert f"AWS_ENDPOINT_URL={empty.url}" in page
        assert f"bandstand tune job.toml --home {tmp_path / 'home'}" in page
    finally:
        empty.end()


def test_the_list_has_every_job_with_its_state_and_needs_no_script(server, jobs):
    page = got(server, "/").text
    rows = [re.sub(r"<[^>]*>", " ", row) for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)[1:]]
    words = [row.split() for row in rows]
    assert {row[0] for row in words} == {"tuned", "failed"}
    tuning = next(row for row in words if row[0] == "tuned")
    assert tuning[1:6] == ["tuning", "Completed", "5", "of", "5"]
    assert "Failed" in next(row for row in words if row[0] == "failed")


def test_the_list_is_narrowed_by_name_and_state(server, jobs):
    assert "/-/jobs/training/failed" not in got(server, "/?words=TUN").text
    assert "/-/jobs/tuning/tuned" not in got(server, "/?status=Failed").text
    assert "No job has such a name or state" in got(server, "/?words=nobody").text


def test_a_tuning_job_shows_its_table_sorted_as_asked(server, jobs):
    def numbers(query: str) -> list[str]:
        table = got(server, f"/-/jobs/tuning/tuned{query}").text.partition('id="table"')[2]
        return re.findall(r'id="row-(\d+)"', table)

    assert numbers("") == ["1", "2", "3", "4", "5"]
    assert numbers("?sort=number&order=desc") == ["5", "4", "3", "2", "1"]
    rate = {job["TunedHyperParameters"]["rate"]: name.split("-")[1] for name, job in jobs.items()}
    by_rate = [str(int(rate[text])) for text in sorted(rate, key=float)]
    assert numbers("?sort==rate") == by_rate
    assert numbers("?sort=nothing&page=99") == numbers("")


def test_a_tuning_job_says_why_each_job_was_stopped(server, jobs, stopped):
    page = html.unescape(got(server, "/-/jobs/tuning/tuned").text)
    assert page.count("</details>") == sum(job["TrainingJobStatus"] == "Stopped" for job in jobs.values())
    shown = got(server, f"/-/jobs/training/{stopped}").text
    why = re.search(r'id="why" data-live><p class="prose">(.*?)</p>', shown)
    assert why is not None
    assert html.unescape(why[1]) in page


def test_curves_are_told_once(server, jobs):
    first = got(server, "/-/curves/tuning/tuned").document
    assert first["rungs"] == [1, 3]
    assert first["max_resource"] == 9
    assert {job["name"] for job in first["jobs"]} == set(jobs)
    for job in first["jobs"]:
        rate = float(jobs[job["name"]]["TunedHyperParameters"]["rate"])
        assert job["curve"] == [[place, pytest.approx(place * rate)] for place, _ in job["curve"]]
    have = ",".join(job["version"] for job in first["jobs"][1:])
    again = got(server, f"/-/curves/tuning/tuned?have={have}").document
    assert ["curve" in job for job in again["jobs"]] == [True, False, False, False, False]


def test_points_of_a_metric_are_told_from_where_the_reader_is(server, jobs):
    first = got(server, "/-/curves/training/failed").document
    assert first["metrics"]["score"]["algo-1"] == [[1, 0.5], [2, 1.0], [3, 1.5]]
    again = got(server, f"/-/curves/training/failed?after={first['last']}").document
    assert again["metrics"] == {}
    assert again["last"] == first["last"]


@pytest.mark.parametrize(
    "path", ["/", "/-/jobs/tuning/tuned", "/-/curves/tuning/tuned", "/-/static/page.css"]
)
def test_nothing_is_sent_again_that_has_not_changed(server, jobs, path):
    first = got(server, path)
    assert first.status == 200
    again = got(server, path, If_None_Match=first.headers["etag"])
    assert (again.status, again.text) == (304, "")


def test_a_change_of_the_record_makes_a_page_new(server, jobs, sagemaker):
    before = got(server, "/").headers["etag"]
    arn = sagemaker.describe_training_job(TrainingJobName="failed")["TrainingJobArn"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
    assert got(server, "/", If_None_Match=before).status == 200


def test_logs_end_with_the_last_lines_and_go_on_from_there(server, jobs):
    end = got(server, "/-/logs/failed").document
    assert {line["host"] for line in end["lines"]} == {"algo-1", "algo-2"}
    assert [line["time"] for line in end["lines"]] == sorted(line["time"] for line in end["lines"])
    assert end["before"] is None
    assert not end["running"]
    more = got(server, f"/-/logs/failed?after={end['after']}").document
    assert more["lines"] == []
    assert not more["more"]
    start = ",".join(f"{host}:0" for host in ("algo-1", "algo-2"))
    assert got(server, f"/-/logs/failed?after={start}").document["lines"] == end["lines"]


def test_logs_are_searched_and_read_by_host(server, jobs):
    found = got(server, "/-/logs/failed?find=ITERATION%3D2&host=algo-1").document["lines"]
    assert [line["text"] for line in found] == ["iteration=2 score=1.0"]
    assert {line["host"] for line in got(server, "/-/logs/failed?host=algo-2").document["lines"]} == {
        "algo-2"
    }


@pytest.mark.parametrize("words", ["algo-1:x", "algo-9:0", "algo-1:0", "../x:0,algo-1:0", ""])
def test_a_place_in_a_log_that_is_none_is_passed_over(server, jobs, words):
    usual = got(server, "/-/logs/failed").document
    assert got(server, f"/-/logs/failed?after={quote(words)}").document == usual


def test_a_long_log_comes_page_by_page_and_each_line_once(server, sagemaker, place):
    (place / "code" / "print.py").write_text("for number in range(1000): print('line', number)\n")
    settings = {"sagemaker_program": "print.py"}
    sagemaker.create_training_job(**training_request(place, "long", HyperParameters=settings))
    ended(sagemaker, "long")
    page = got(server, "/-/logs/long").document
    pages = [page["lines"]]
    while page["before"]:
        page = got(server, f"/-/logs/long?before={page['before']}").document
        pages.insert(0, page["lines"])
    texts = [line["text"] for lines in pages for line in lines]
    assert [text for text in texts if text.startswith("line ")] == [
        f"line {number}" for number in range(1000)
    ]
    assert len(pages) > 4


def test_what_jobs_say_is_text_and_never_markup(server, jobs, stopped):
    for path in ("/-/jobs/training/failed", "/-/jobs/tuning/tuned", f"/-/jobs/training/{stopped}"):
        page = got(server, path).text
        assert EVIL not in page
        assert all(re.fullmatch(r' type="module" src="/-/static/\w+\.js"', each) for each in scripts(page))
    assert f"{EVIL} & so on" in html.unescape(got(server, "/-/jobs/training/failed").text)


def test_secrets_are_hidden_wherever_they_stand(server, jobs, stopped):
    pages = (f"/-/jobs/training/{stopped}", "/-/jobs/tuning/tuned")
    for path in (*pages, f"/-/logs/{stopped}", f"/-/curves/training/{stopped}"):
        text = got(server, path).text
        assert SECRET not in text
        assert "correct-horse-battery" not in text
    assert f"it uses {HIDDEN} and password={HIDDEN}" in got(server, f"/-/logs/{stopped}").text


@pytest.mark.parametrize(
    "path",
    ["/", "/-/jobs/tuning/tuned", "/-/jobs/tuning/nobody", "/-/static/live.js", "/-/curves/tuning/tuned"],
)
def test_every_answer_keeps_foreign_code_out(server, jobs, path):
    headers = got(server, path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [{"Host": "example.com"}, {"Origin": "http://example.com"}, {"Sec_Fetch_Site": "cross-site"}],
)
@pytest.mark.parametrize("path", ["/", "/-/jobs/tuning/tuned", "/-/logs/failed"])
def test_a_page_of_another_site_sees_nothing(server, jobs, path, headers):
    assert got(server, path, **headers).status == 403


def test_an_object_that_a_browser_opens_cannot_run_as_the_page(server):
    s3 = server.plain("s3")
    s3.create_bucket(Bucket="pages", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    s3.put_object(Bucket="pages", Key="a.html", Body=EVIL.encode(), ContentType="text/html")
    assert got(server, "/pages/a.html").headers["content-security-policy"].startswith("sandbox;")


@pytest.mark.parametrize(
    "path",
    [
        "/-/jobs/tuning/nobody",
        "/-/curves/training/nobody",
        "/-/jobs/training/tuned",
        "/-/jobs/any/tuned",
        "/-/jobs/tuned",
        "/-/logs/tuned",
        "/-/static/nothing.js",
        "/-/static/..%2fpulse.py",
        "/-/x",
    ],
)
def test_what_is_not_there_is_not_found(server, jobs, path):
    answer = got(server, path)
    assert answer.status == 404
    assert "Traceback" not in answer.text


def test_programs_are_answered_as_ever_where_they_ask_for_no_page(server):
    answer = got(server, "/", Accept="*/*")
    assert (answer.status, answer.document["__type"]) == (404, "UnknownOperationException")
    assert got(server, "/", "POST").status == 404
    assert got(server, "/", "HEAD").text == ""


def test_a_tuning_job_of_several_definitions_tells_each_and_whose_a_training_job_is(sagemaker, server, place):
    sagemaker.create_hyper_parameter_tuning_job(**several_request(place, "several", jobs=4))
    tuned(sagemaker, "several")
    page = html.unescape(got(server, "/-/jobs/tuning/several").text)
    assert "<h3>Definitions</h3>" in page
    assert "2 completed; best quality " in page
    assert "objective</a></th>" in page.replace("\n", "")
    assert re.findall(r"<td>(low|high)</td>", page) == ["low", "high"] * 2
    by_definition = got(server, "/-/jobs/tuning/several?sort=definition").text
    assert re.findall(r"<td>(low|high)</td>", by_definition) == ["high", "high", "low", "low"]
    curves = got(server, "/-/curves/tuning/several").document
    assert {(job["definition"], bool(job["curve"])) for job in curves["jobs"]} == {
        ("low", True),
        ("high", True),
    }
    assert "<h3>Definitions</h3>" not in got(server, "/-/jobs/tuning/tuned").text


def test_rungs_and_ends_of_several_definitions_are_told_for_their_curves(sagemaker, server, place):
    request = several_request(place, "banded", jobs=4, Strategy="Hyperband")
    for definition, epochs in zip(request["TrainingJobDefinitions"], ("9", "4"), strict=True):
        definition["StaticHyperParameters"] = {**definition["StaticHyperParameters"], "epochs": epochs}
    high = request["TrainingJobDefinitions"][1]
    high["HyperParameterRanges"] = request["TrainingJobDefinitions"][0]["HyperParameterRanges"]
    high["StaticHyperParameters"].pop("rate")
    sagemaker.create_hyper_parameter_tuning_job(**request)
    tuned(sagemaker, "banded")
    curves = got(server, "/-/curves/tuning/banded").document
    assert (curves["rungs"], curves["max_resource"]) == ([1, 3], 9)
    marks = {(job["definition"], job["ended"]): len(job["curve"]) for job in curves["jobs"]}
    assert marks[("low", "at MaxResource")] == 9
    assert marks[("high", "at MaxResource")] == 4
    assert "Hyperband, resource 1 to 9 or 4" in html.unescape(got(server, "/-/jobs/tuning/banded").text)
