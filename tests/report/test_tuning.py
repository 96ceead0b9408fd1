from __future__ import annotations

import json
from typing import Any

import pytest

from bandstand.report import Page, report_document, report_text, tuning_text
from bandstand.report.curves import ranked
from bandstand.report.tuning import jobs_table, summary_text

Job = dict[str, Any]
PLAIN = Page()


@pytest.fixture
def points(tuning: Job) -> dict[str, list[Job]]:
    return {
        row["name"]: [
            {"name": "validation:auc", "iteration": i, "value": i / 30, "host": "algo-1", "time": 0.0}
            for i in range(1, row["iterations"] + 1)
        ]
        for row in tuning["training_jobs"]
    }


def test_show_tells_the_best_job_with_its_settings_and_model(tuning: Job) -> None:
    text = "\n".join(tuning_text(PLAIN, tuning))
    assert "best job  digits-002-0a1b2c3d" in text
    assert "validation:auc  0.95" in text
    assert "max_depth  2" in text
    assert "/out/digits-002-0a1b2c3d/output/model.tar.gz" in text


def test_show_gives_each_job_that_ended_early_its_sentence(tuning: Job) -> None:
    lines = tuning_text(PLAIN, tuning)
    early = lines[lines.index("why jobs ended early") + 1 :]
    assert "place 3 of 3, 0.5 against a cut-off of 0.8" in early[1]
    assert "ValueError: no rows (train.py, line 3)" in early[2]
    assert len(early) == 3


def test_show_counts_jobs_by_state(tuning: Job) -> None:
    assert any(
        "5 of 6 started: 1 completed, 2 stopped, 1 failed, 1 running; 2 in parallel, seed 7" in line
        for line in tuning_text(PLAIN, tuning)
    )


def test_what_max_resource_and_the_rungs_saved_is_kept_apart(tuning: Job) -> None:
    text = "\n".join(summary_text(PLAIN, tuning))
    assert "63 run of 500 asked for (13 %)" in text
    assert "MaxResource saved     70 iterations (14 %)" in text
    assert "stopping early saved  91 iterations (18 %)" in text
    assert "not run yet           276 iterations (55 %)" in text  # the four numbers add up to 500
    assert "stopped early         3 jobs: 2 at rung 9, 1 at rung 27" in text
    assert "at MaxResource        1 job, after 30 iterations" in text
    assert "billable time         2 min 30 s" in text
    assert "instance time         7 min 30 s (3 hosts)" in text


def test_iterations_run_after_the_decision_to_stop_are_told_apart(tuning: Job) -> None:
    tuning["training_jobs"][2]["iterations"] = 13
    assert ", 4 of them while a stop was on its way" in "\n".join(summary_text(PLAIN, tuning))
    tuning["training_jobs"][2]["stop"]["reports"] = 12  # overtaken three reports after the rung
    assert ", 1 of them while a stop was on its way" in "\n".join(summary_text(PLAIN, tuning))


def test_what_the_median_rule_saved_is_told(tuning: Job) -> None:
    tuning.update(strategy="Random", early_stopping="Auto")
    tuning["savings"] |= {"saved_by_max_resource": 0, "saved_by_median": 161, "stopped_by_median": 2}
    text = "\n".join(summary_text(PLAIN, tuning))
    assert "stopped early         2 jobs" in text
    assert "stopping early saved  161 iterations (32 %)" in text
    assert "MaxResource" not in text


def test_nothing_is_said_of_savings_before_the_first_report(tuning: Job) -> None:
    tuning["savings"]["run"] = 0
    assert "early stopping" not in "\n".join(summary_text(PLAIN, tuning))


def test_the_summary_of_a_failed_job_tells_why(tuning: Job) -> None:
    tuning.update(status="Failed", failure_reason="No training job succeeded after 5 attempts.")
    assert "  failed because  No training job succeeded after 5 attempts." in summary_text(PLAIN, tuning)


def test_the_table_tells_of_the_best_job_too_how_it_ended(tuning: Job) -> None:
    tuning["best"] = tuning["training_jobs"][0]
    lines = jobs_table(PLAIN, tuning, tuning["training_jobs"])
    assert lines[1].endswith("at MaxResource, best")


def test_savings_are_told_without_what_is_not_known(tuning: Job) -> None:
    tuning["savings"] = {"asked": None, "run": 63, "saved_by_max_resource": None, "saved_by_rungs": None}
    text = "\n".join(summary_text(PLAIN, tuning))
    assert "63 run" in text
    assert "asked" not in text


def test_a_tuning_job_without_a_best_job_says_so(tuning: Job) -> None:
    tuning["best"] = None
    assert "finite value of the objective yet" in "\n".join(tuning_text(PLAIN, tuning))
    tuning["status"] = "Failed"
    assert "there is no best job" in "\n".join(tuning_text(PLAIN, tuning))


def test_a_tuning_job_that_has_only_begun_is_told(tuning: Job) -> None:
    tuning.update(training_jobs=[], best=None, savings={})
    text = "\n".join(tuning_text(PLAIN, tuning))
    assert "none started of 6" in text
    assert "early stopping" not in text


def test_jobs_are_ranked_by_the_goal_and_jobs_without_a_value_come_last(tuning: Job) -> None:
    assert [row["number"] for row in ranked(tuning)] == [2, 1, 5, 3, 4]
    tuning["objective"]["goal"] = "minimize"
    assert [row["number"] for row in ranked(tuning)] == [3, 5, 1, 2, 4]


def test_a_report_has_one_curve_per_job_best_first(tuning: Job, points: dict[str, list[Job]]) -> None:
    lines = report_text(PLAIN, tuning, points)
    start = next(i for i, line in enumerate(lines) if line.startswith("jobs, best first"))
    jobs = lines[start + 2 :]
    assert [line.split()[1] for line in jobs] == ["2", "1", "5", "3", "4"]
    curves = ["".join(character for character in line if character in PLAIN.blocks) for line in jobs]
    assert [len(curve) for curve in curves] == [20, 30, 4, 9, 0]
    assert curves[1].endswith("█")
    assert curves[1].startswith(curves[0])  # one scale for all
    assert jobs[3].endswith("at rung 9")


def test_a_report_counts_how_jobs_ended(tuning: Job, points: dict[str, list[Job]]) -> None:
    document = report_document(tuning, points)
    assert list(document["ends"].items()) == [
        ("completed", 1),
        ("stopped at rung 9", 1),
        ("stopped at MaxResource", 1),
        ("failed", 1),
        ("still running", 1),
    ]
    assert document["jobs"][0]["curve"][0] == [1, 1 / 30]
    twice = {
        name: [{**each, "host": host} for each in rows for host in ("algo-1", "algo-2")]
        for name, rows in points.items()
    }
    assert report_document(tuning, twice) == document
    assert document["jobs"][3]["why"].startswith("Stopped at rung 9")
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_tables_fit_the_page(tuning: Job, points: dict[str, list[Job]], width: int) -> None:
    page = Page(width=width, unicode=False)
    lines = [*jobs_table(page, tuning, tuning["training_jobs"]), *report_text(page, tuning, points)[-6:]]
    assert max(map(len, lines)) <= width
    assert all(line.isascii() for line in lines)


def test_a_narrow_page_has_whole_names_and_whole_curves(tuning: Job, points: dict[str, list[Job]]) -> None:
    page = Page(width=80)
    assert any("digits-001-0a1b2c3d" in line for line in jobs_table(page, tuning, tuning["training_jobs"]))
    assert "…" not in "".join(report_text(page, tuning, points))


def test_a_strategy_that_stops_nothing_has_its_cost_told_alone(tuning: Job) -> None:
    tuning["strategy"] = "Random"
    lines = summary_text(PLAIN, tuning)
    assert lines[lines.index("cost") + 1 :] == [
        "  iterations     63 run of 500 asked for (13 %)",
        "  billable time  2 min 30 s",
        "  instance time  7 min 30 s (3 hosts)",
    ]


def test_the_median_rule_and_the_criteria_are_told_with_what_met_them(tuning: Job) -> None:
    tuning["strategy"], tuning["early_stopping"] = "Random", "Auto"
    tuning["limits"] |= {"target": 0.9, "not_improving": 4, "convergence": True}
    tuning["ended_because"] = "Training job 2 reached the target 0.9 with 0.95. All in all 1 completed."
    best = {"name": "a-003", "value": 0.91}
    tuning["warm_start"] = {"type": "TransferLearning", "parents": ["a", "b"], "used": 9, "best": best}
    text = "\n".join(tuning_text(PLAIN, tuning))
    assert "early stopping by the median rule" in text
    assert "warm start     9 training jobs of a, b (TransferLearning), the best 0.91 of a-003" in text
    assert "the objective reaches 0.9 or 4 jobs gain less than 1 % or the search has converged" in text
    assert "ended because  Training job 2 reached the target 0.9 with 0.95." in text
    assert "ended because" in "\n".join(summary_text(PLAIN, tuning))


def test_a_tuning_job_that_ran_all_its_jobs_needs_no_reason_for_its_end(tuning: Job) -> None:
    tuning["ended_because"] = "All 5 training jobs have ended: 5 completed."
    tuning["limits"]["jobs"] = len(tuning["training_jobs"])
    assert "ended because" not in "\n".join(tuning_text(PLAIN, tuning))
    assert "complete when" not in "\n".join(tuning_text(PLAIN, tuning))


def test_several_definitions_are_told_each_with_its_best_job_and_without_one_number_of_hosts(
    tuning: dict[str, Any],
) -> None:
    assert "(3 hosts)" in "\n".join(tuning_text(PLAIN, tuning))
    tuning["definitions"] = [{"name": name, "objective": name.upper()} for name in ("a", "b", "c")]
    for row in tuning["training_jobs"]:
        row["definition"] = "a" if row["number"] in (1, 2) else "b"
    text = "\n".join(tuning_text(PLAIN, tuning))
    assert "definitions\n  a  1 completed, 1 stopped; best A 0.95, of job 2\n" in text
    assert "  b  1 stopped, 1 failed, 1 running; best B 0.5, of job 3\n  c  none started\n" in text
    assert "hosts)" not in text


def test_maxima_of_several_definitions_are_told_each(tuning: dict[str, Any]) -> None:
    assert "1 job, after 30 iterations" in "\n".join(tuning_text(PLAIN, tuning))
    tuning["definitions"] = [
        {"name": name, "objective": "auc", "max_resource": most} for name, most in (("a", 9), ("b", 30))
    ]
    text = "\n".join(tuning_text(PLAIN, tuning))
    assert "Hyperband, resource 1 to 9 or 30" in text
    assert "1 job, after" not in text
