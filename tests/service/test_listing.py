"""Lists over the API: filters, order and pages, of jobs that lie in the record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from bandstand.request import load
from bandstand.runs.jobs import TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stored import add_training_job, add_tuning_job

from .served import Server, refusal, training_request, tuning_request

STATUSES = ("Completed", "Failed", "Stopped", "Completed", "Completed")
NUMBER = 25
BEGIN = 1_700_000_000.0


@pytest.fixture(scope="module")
def stored(place):
    """A home with 25 training jobs, one a minute, and a tuning job with five, three with objectives."""
    home = place / "stored"
    lone = load(training_request(place, "lone"))
    tuning = load(tuning_request(place, "tuning", jobs=5))
    with Record.open(home) as record, record.transaction() as connection:
        for number in range(NUMBER):
            name = f"{'Even' if number % 2 == 0 else 'odd'}-{number:02d}"
            job = _job(record, replace(lone, name=name), BEGIN + 60 * number, None, 1)
            add_training_job(connection, job)
            _end(connection, job, STATUSES[number % 5], None)
        add_tuning_job(connection, TuningJob("tuning", "x", tuning, 7, 120.0, BEGIN + 9000))
        for number, objective in enumerate((0.5, None, 0.25, float("nan"), 0.75), 1):
            plan = tuning.training(number, {"rate": f"0.{number}"})
            job = _job(record, plan, BEGIN + 9000 + number, "tuning", number)
            add_training_job(connection, job)
            _end(connection, job, "Failed" if objective is None else "Completed", objective)
        connection.execute("UPDATE tuning_jobs SET status = 'Completed', ended = ?", (BEGIN + 9900,))
    return home


def _job(record, plan, created, tuning, number):
    return TrainingJob(
        name=plan.name,
        tuning_job=tuning,
        number=number,
        owner="x",
        backend="processes",
        folder=record.folder(plan.name),
        plan=plan,
        settings={"rate": f"0.{number}"},
        grace=120.0,
        created=created,
    )


def _end(connection, job, status, objective):
    connection.execute(
        "UPDATE training_jobs SET status = ?, secondary_status = ?, ended = ?, objective = ?, reports = 1"
        " WHERE name = ?",
        (status, status, job.created + 30, objective, job.name),
    )
    connection.execute("UPDATE training_jobs SET modified = ? WHERE name = ?", (job.created + 30, job.name))


@pytest.fixture(scope="module")
def client(stored, place):
    server = Server(stored, cwd=place)
    yield server.client()
    server.end()


def names(call, **parameters):
    """All names, page by page."""
    found, lengths = [], []
    while True:
        answer = call(**parameters)
        page = answer.get("TrainingJobSummaries")
        found += [each["TrainingJobName"] for each in page]
        lengths.append(len(page))
        if "NextToken" not in answer:
            return found, lengths
        parameters["NextToken"] = answer["NextToken"]


def lone(call, **parameters):
    return [name for name in names(call, **parameters)[0] if not name.startswith("tuning")]


BY_TIME = [f"{'Even' if number % 2 == 0 else 'odd'}-{number:02d}" for number in range(NUMBER)]


def test_pages_are_of_ten_and_hold_every_job_once_oldest_first(client):
    found, lengths = names(client.list_training_jobs)
    assert lengths == [10, 10, 10]
    assert found[:NUMBER] == BY_TIME
    assert all(name.startswith("tuning-") for name in found[NUMBER:])


@pytest.mark.parametrize("most", [1, 7, 30, 100])
@pytest.mark.parametrize("by", ["Name", "CreationTime", "Status"])
def test_any_page_length_gives_the_same_list_in_either_order(client, most, by):
    up, _ = names(client.list_training_jobs, SortBy=by, MaxResults=most)
    down, lengths = names(client.list_training_jobs, SortBy=by, MaxResults=most, SortOrder="Descending")
    assert up == down[::-1]
    assert len(set(up)) == NUMBER + 5
    assert all(length == most for length in lengths[:-1])


def test_names_are_sorted_whatever_their_case(client):
    assert lone(client.list_training_jobs, SortBy="Name") == sorted(BY_TIME, key=str.lower)


def test_a_part_of_the_name_is_found_whatever_its_case(client):
    assert lone(client.list_training_jobs, NameContains="EVEN-1") == BY_TIME[10:20:2]


def test_times_are_limits_that_do_not_belong_to_what_is_asked_for(client):
    found = lone(
        client.list_training_jobs,
        CreationTimeAfter=BEGIN + 60 * 3,
        CreationTimeBefore=BEGIN + 60 * 7,
    )
    assert found == BY_TIME[4:7]
    found = lone(
        client.list_training_jobs,
        LastModifiedTimeAfter=BEGIN + 60 * 3 + 30,
        LastModifiedTimeBefore=BEGIN + 60 * 7 + 30,
    )
    assert found == BY_TIME[4:7]


def test_a_status_is_a_filter(client):
    assert lone(client.list_training_jobs, StatusEquals="Stopped") == BY_TIME[2::5]
    assert lone(client.list_training_jobs, StatusEquals="InProgress") == []


def test_with_a_page_length_a_status_filters_what_the_page_holds_as_the_api_has_it(client):
    found, lengths = names(client.list_training_jobs, StatusEquals="Stopped", MaxResults=10)
    assert [name for name in found if not name.startswith("tuning")] == BY_TIME[2::5]
    assert lengths == [2, 2, 1]


def test_no_job_keeps_a_warm_pool(client):
    assert lone(client.list_training_jobs, WarmPoolStatusEquals="Available") == []


def test_a_training_plan_is_a_filter(client):
    arn = "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/none"
    assert lone(client.list_training_jobs, TrainingPlanArnEquals=arn) == []


def test_a_token_is_of_one_list_only(client):
    token = client.list_training_jobs()["NextToken"]
    for parameters in (
        {"SortBy": "Name", "NextToken": token},
        {"NextToken": "made-up"},
        {"NextToken": "W10="},
    ):
        code, message = refusal(client.list_training_jobs, **parameters)
        assert code == "ValidationException"
        assert "NextToken" in message


@pytest.mark.parametrize(
    "parameters", [{"SortBy": "Size"}, {"StatusEquals": "Done"}, {"SortOrder": "Up"}, {"NameContains": "a b"}]
)
def test_words_that_the_api_does_not_have_are_refused(client, parameters):
    assert refusal(client.list_training_jobs, **parameters)[0] == "ValidationException"


def test_a_page_has_at_most_a_hundred_entries(client):
    with pytest.raises(ClientError, match="ValidationException"):
        client.list_training_jobs(MaxResults=101)


def test_a_summary_tells_status_and_times(client):
    (job,) = client.list_training_jobs(NameContains="odd-01")["TrainingJobSummaries"]
    assert job["TrainingJobStatus"] == job["SecondaryStatus"] == "Failed"
    assert job["CreationTime"].timestamp() == BEGIN + 60
    assert job["TrainingEndTime"].timestamp() == job["LastModifiedTime"].timestamp() == BEGIN + 90


def test_tuning_jobs_are_listed_with_their_counters(client):
    (job,) = client.list_hyper_parameter_tuning_jobs(StatusEquals="Completed")[
        "HyperParameterTuningJobSummaries"
    ]
    assert job["HyperParameterTuningJobName"] == "tuning"
    assert job["TrainingJobStatusCounters"]["Completed"] == 4
    assert job["TrainingJobStatusCounters"]["NonRetryableError"] == 1
    assert job["ObjectiveStatusCounters"] == {"Succeeded": 3, "Pending": 0, "Failed": 2}
    assert job["Strategy"] == "Random"
    assert job["ResourceLimits"]["MaxNumberOfTrainingJobs"] == 5
    for parameters in (
        {"StatusEquals": "Failed"},
        {"NameContains": "nobody"},
        {"CreationTimeBefore": BEGIN},
        {"LastModifiedTimeBefore": BEGIN},
    ):
        answer = client.list_hyper_parameter_tuning_jobs(**parameters)
        assert answer["HyperParameterTuningJobSummaries"] == []


def of_tuning(client, **parameters):
    call = client.list_training_jobs_for_hyper_parameter_tuning_job
    found, _ = names(call, HyperParameterTuningJobName="tuning", **parameters)
    return [int(name.split("-")[1]) for name in found]


def test_training_jobs_of_a_tuning_job_are_sorted_by_name_where_nothing_is_said(client):
    assert of_tuning(client, MaxResults=2) == [1, 2, 3, 4, 5]


def test_jobs_without_an_objective_are_left_out_where_it_is_sorted_by(client):
    by = {"SortBy": "FinalObjectiveMetricValue", "MaxResults": 2}
    assert of_tuning(client, **by) == [3, 1, 5]
    assert of_tuning(client, **by, SortOrder="Descending") == [5, 1, 3]


def test_training_jobs_of_a_tuning_job_are_filtered_by_status(client):
    assert of_tuning(client, StatusEquals="Failed") == [2]
    assert of_tuning(client, SortBy="Status", MaxResults=2) == [1, 3, 4, 5, 2]
    assert of_tuning(client, SortBy="CreationTime", SortOrder="Descending") == [5, 4, 3, 2, 1]


def test_an_objective_that_is_no_number_is_a_failed_one(client):
    answer = client.list_training_jobs_for_hyper_parameter_tuning_job(HyperParameterTuningJobName="tuning")
    jobs = {int(job["TrainingJobName"].split("-")[1]): job for job in answer["TrainingJobSummaries"]}
    assert jobs[4]["ObjectiveStatus"] == "Failed"
    assert "FinalHyperParameterTuningJobObjectiveMetric" not in jobs[4]
    assert jobs[5]["FinalHyperParameterTuningJobObjectiveMetric"] == {
        "Type": "Maximize",
        "MetricName": "score",
        "Value": 0.75,
    }


@pytest.mark.parametrize("by", ["Name", "CreationTime", "Status"])
def test_the_store_cuts_pages_by_an_index(stored, by):
    from bandstand.service.listing import _KEYS
    from bandstand.service.paging import Query

    query = Query("training_jobs", "name, created, shown", key=_KEYS[by])
    plans = []
    with Record.open(stored) as record:
        read = record.read

        def explained(sql, values):
            plans.extend(row["detail"] for row in read(f"EXPLAIN QUERY PLAN {sql}", values))
            return read(sql, values)

        record.read = explained
        _, more = query.page(record, {"MaxResults": 2})
        query.page(record, {"MaxResults": 2, **more})
    # Each page: names by an index that holds all that is asked for, then the rows of the page, put in order.
    first = ("SCAN training_jobs", "(name>?)") if by == "Name" else ("COVERING INDEX",)
    assert len([plan for plan in plans if any(word in plan for word in first)]) == 2, plans
    assert plans.count("USE TEMP B-TREE FOR ORDER BY") == (0 if by == "Name" else 2), plans


def test_a_job_that_never_ran_has_an_end_and_no_time(client):
    answer = client.describe_training_job(TrainingJobName="Even-00")
    assert "TrainingEndTime" in answer
    assert "TrainingTimeInSeconds" not in answer
    assert "BillableTimeInSeconds" not in answer
