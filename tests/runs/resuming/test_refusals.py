"""What cannot be resumed, and why."""

from __future__ import annotations

from bandstand.runs.stored import training_jobs
from bandstand.runs.views import show

from .crashing import DEADLINE_SECONDS, STEPS, assert_each_point_once, begun, until


def test_of_two_that_resume_at_once_one_says_who_does_it_and_leaves(
    record, tuning, launch, crash, mark, tmp_path
):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    plan = tuning(STEPS, jobs=1, max_resource=None, hyperparameters=gate, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: begun(record, 3))
    crash(launcher, "everything")
    both = [launch("tuning"), launch("tuning")]
    until(lambda: any(each.poll() is not None for each in both))
    (second,) = [each for each in both if each.poll() is not None]
    (first,) = [each for each in both if each is not second]
    assert second.returncode == 2
    assert f"process {first.pid} on " in second.stdout.read()
    (tmp_path / "gate").touch()
    assert first.communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    assert training_jobs(record)[0].attempt == 2
    assert_each_point_once(record)


def test_what_cannot_be_resumed_is_told_why(record, tuning, training, launch, crash, mark, tmp_path):
    plan = tuning(STEPS, jobs=1, max_resource=None, hyperparameters={"count": "3"}, environment=dict([mark]))
    assert launch(plan).communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Completed"
    over = launch("tuning")
    assert "tuning is over already: Completed." in over.communicate()[0]
    part = launch(training_jobs(record)[0].name)
    assert "which goes on as a whole: bandstand tune --resume tuning" in part.communicate()[0]
    unknown = launch("tunning")
    assert "Did you mean 'tuning'" in unknown.communicate()[0]
    assert [over.returncode, part.returncode, unknown.returncode] == [2, 2, 2]


def test_a_job_whose_code_is_gone_is_left_as_it_is_and_one_whose_code_has_changed_is_told_of(
    record, training, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    plan = training(STEPS, hyperparameters=gate, environment=dict([mark]))
    launcher = launch(plan)
    until(lambda: begun(record, 3))
    crash(launcher, "everything")
    code = next((tmp_path / "code").iterdir())
    code.rename(tmp_path / "away")
    refused = launch("job")
    assert f"job cannot go on. the code: {code} is gone. Put it back" in refused.communicate()[0]
    assert show(record, "job")["resumable"]
    code.mkdir()
    (tmp_path / "away" / "train.py").rename(tmp_path / "train.py")
    (tmp_path / "away" / "other.py").touch()
    assert f"the code: {code} is empty." in launch("job").communicate()[0]
    code.rmdir()
    (tmp_path / "away").rename(code)
    assert f"the program: {code / 'train.py'} is gone. Put it back" in launch("job").communicate()[0]
    assert show(record, "job")["resumable"]
    (code / "train.py").write_text(STEPS + "\n")
    (tmp_path / "gate").touch()
    said = launch("job").communicate(timeout=DEADLINE_SECONDS)[0]
    assert "the code has changed since the job began" in said
    assert said.splitlines()[-1] == "Completed"


def test_a_restarted_job_whose_program_fails_has_failed_and_is_not_resumable(
    record, training, launch, crash, tmp_path, mark
):
    gate = {"gate": str(tmp_path / "gate"), "until": "3"}
    script = STEPS + "\nraise KeyError('target')\n"
    launcher = launch(training(script, hyperparameters=gate, environment=dict([mark])))
    until(lambda: begun(record, 3))
    crash(launcher, "everything")
    (tmp_path / "gate").touch()
    assert launch("job").communicate(timeout=DEADLINE_SECONDS)[0].splitlines()[-1] == "Failed"
    document = show(record, "job")
    assert "KeyError: 'target'" in document["failure_reason"]
    assert not document["resumable"]
    assert "is over already: Failed" in launch("job").communicate()[0]
