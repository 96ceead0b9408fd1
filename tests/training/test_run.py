"""The run as a script uses it, in one process."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from bandstand.errors import InputError, JobError
from bandstand.hyperparameters import Hyperparameters
from bandstand.sagemaker_files import Channel, Cluster, Folders
from bandstand.training.checkpoints import Checkpoints
from bandstand.training.lost_ranks import await_reason
from bandstand.training.run import Run
from bandstand.training.surroundings import Surroundings
from bandstand.training.team import Alone


class Maker:
    def __init__(self, base: Path) -> None:
        self.stop = SimpleNamespace(asked=False)
        self.now = 0.0
        self.at = Surroundings(
            inside=True,
            folders=Folders(base),
            cluster=Cluster("algo-1", ("algo-1",)),
            hyperparameters=Hyperparameters({"eta": "0.3", "_tuning_objective_metric": "validation:score_x"}),
            channels={"train": Channel("train", base / "input" / "data" / "train")},
            rank=0,
            local_rank=0,
            local_size=1,
            threads=2,
            job_name="a-job",
            goal=None,
            meet=None,
            key="",
        )

    def __call__(self, resume: int = 0, **changes) -> Run:
        at = replace(self.at, **changes)
        checkpoints = Checkpoints(at.folders.checkpoints / "a-job", "a-job", "algo-1")
        if resume:
            checkpoints.write(resume, lambda path: path.write_text("state"))
        return Run(at, Alone(), self.stop, checkpoints, resume, clock=lambda: self.now)


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    return Maker(tmp_path)


def test_it_prints_itself_in_one_readable_line(make: Maker):
    assert str(make()) == "rank 0 of 1 on algo-1; 2 threads; job a-job; channels train"
    assert str(make(resume=3)).endswith("; goes on after iteration 3")


def test_iterations_are_counted_from_one_and_go_on_after_a_checkpoint(make: Maker):
    assert list(make().iterations(3)) == [1, 2, 3]
    run = make(resume=2)
    assert run.resume_path is not None
    assert run.resume_path.read_text() == "state"
    assert list(run.iterations(4)) == [3, 4]
    assert list(run.iterations(2)) == [1, 2]  # a second loop of the script is another one
    assert list(make(resume=5).iterations(5)) == []


@pytest.mark.parametrize("count", [-1, 2.5, "3", None, True, 10**30])
def test_a_count_that_is_none_is_refused_at_once(make: Maker, count):
    with pytest.raises(JobError, match=r"iterations\(count\) takes a whole number"):
        make().iterations(count)


def test_a_stop_ends_the_loop_and_every_later_one(make: Maker):
    run = make()
    seen = []
    for iteration in run.iterations(100):
        seen.append(iteration)
        if iteration == 3:
            make.stop.asked = True
    assert seen == [1, 2, 3]
    assert run.stopping
    assert list(run.iterations(5)) == []


def test_a_report_is_one_line_and_each_iteration_counts_once(make: Maker, capsys):
    run = make()
    run.report(1, {"validation:auc": 0.5, "loss": 7e-05})
    assert capsys.readouterr().out == "iteration=1 validation:auc=0.5 loss=7e-05\n"
    for repeated in (1, 0):
        with pytest.raises(JobError):
            run.report(repeated, {"loss": 1.0})
    run.report(3, {"loss": 1})
    with pytest.raises(JobError, match="Iteration 2 is reported after iteration 3"):
        run.report(2, {"loss": 1.0})


def test_only_the_leader_prints(make: Maker, capsys):
    make(rank=1).report(1, {"loss": 1.0})
    assert capsys.readouterr().out == ""


def test_a_value_that_is_not_finite_is_the_worst_for_its_goal(make: Maker, capsys):
    make().report(1, {"loss": math.nan, "auc": -math.inf})
    assert capsys.readouterr().out == "iteration=1 loss=3.4028235e+38 auc=-3.4028235e+38 nonfinite=1\n"
    make(goal="maximize").report(1, {"validation:score_x": math.nan})
    assert "validation:score_x=-3.4028235e+38 nonfinite=1" in capsys.readouterr().out
    with pytest.raises(JobError, match="Declare the goal"):
        make().report(1, {"strange": math.nan})


@pytest.mark.parametrize("goals", ["maximize", 3, {"gain": "up"}, {"gain": None}, {"gain": ["maximize"]}])
def test_goals_that_are_none_are_refused_with_words(make: Maker, goals, capsys):
    with pytest.raises(JobError, match=r"report\(goals=\) takes maximize or minimize by metric"):
        make().report(1, {"gain": math.nan}, goals=goals)
    assert capsys.readouterr().out == ""


def test_a_report_without_the_objective_says_so_once(make: Maker, capsys):
    run = make()
    run.report(1, {"validation:score-x": 1.0})
    run.report(2, {"validation:score-x": 1.0})
    notes = capsys.readouterr().err
    assert notes.count("the tuning objective 'validation:score_x' is not among the reported") == 1
    assert "Is 'validation:score-x' a misspelling of it?" in notes


def test_a_channel_that_is_not_there_is_told_with_those_that_are(make: Maker, tmp_path: Path):
    assert make().channel("train") == tmp_path / "input" / "data" / "train"
    with pytest.raises(
        InputError, match=r"no channel 'trian'; its channels are: train. Did you mean 'train'\?"
    ):
        make().channel("trian")


def test_checkpoints_are_due_by_count_by_time_or_always(make: Maker):
    def due(run: Run, **when) -> list[bool]:
        found = []
        for iteration in run.iterations(4):
            make.now += 10
            found.append(run.checkpoint(iteration, lambda path: path.write_text("x"), **when))
        return found

    assert due(make()) == [True] * 4
    assert due(make(), every=2) == [False, True, False, True]
    assert due(make(), every_seconds=25) == [False, False, True, False]
    assert due(make(), every=4, every_seconds=25) == [False, False, True, True]
    with pytest.raises(JobError, match=r"checkpoint\(every=\)"):
        make().checkpoint(1, print, every=0)
    with pytest.raises(JobError, match=r"checkpoint\(keep=\)"):
        make().checkpoint(1, print, keep=0)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"save": None}, r"checkpoint\(save\) takes a function that writes to the path .* found None"),
        ({"save": "state.bin"}, r"checkpoint\(save\) takes a function"),
        ({"iteration": 0}, r"checkpoint\(iteration\) takes a whole number of 1 or more; found 0"),
        ({"iteration": True}, r"checkpoint\(iteration\) takes a whole number of 1 or more; found True"),
        ({"iteration": 10**30}, r"checkpoint\(iteration\) takes a whole number up to .* found 1000000"),
        ({"every_seconds": -1}, r"checkpoint\(every_seconds=\) takes 0 or more seconds; found -1"),
        ({"every_seconds": math.nan}, r"checkpoint\(every_seconds=\) takes 0 or more seconds"),
        ({"every_seconds": "soon"}, r"checkpoint\(every_seconds=\) takes one number; found 'soon'"),
        ({"every_seconds": "5"}, r"checkpoint\(every_seconds=\) takes one number; found '5'"),
        ({"every_seconds": 10**400}, r"checkpoint\(every_seconds=\) takes one number"),
        ({"suffix": "npz"}, r"checkpoint\(suffix=\) takes an ending such as '.npz'; found 'npz'"),
        ({"suffix": ".a/b"}, r"checkpoint\(suffix=\)"),
        ({"suffix": ".complete"}, r"checkpoint\(suffix=\)"),
        ({"suffix": 7}, r"checkpoint\(suffix=\)"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused_with_words(make: Maker, arguments, why: str):
    with pytest.raises(JobError, match=why):
        make().checkpoint(**{"iteration": 1, "save": print, **arguments})
    with pytest.raises(JobError, match=r"save_model\(save\) takes a function"):
        make().save_model("model", None)


def test_a_number_that_python_cannot_write_is_refused_without_it(make: Maker):
    with pytest.raises(JobError, match=r"1 or more; found one of int that is too long to show"):
        make().checkpoint(-(10**5000), print)


def test_the_last_checkpoint_is_written_at_the_end_of_the_loop_though_it_was_not_due(make: Maker, capsys):
    run = make()
    for iteration in run.iterations(7):
        run.checkpoint(iteration, lambda path, i=iteration: path.write_text(str(i)), every=50)
    assert (run.checkpoint_dir / "iteration-00000007.algo-1").read_text() == "7"
    assert list(make(resume=7).iterations(7)) == []
    assert "7 iterations are done, 7 are asked for: nothing is left to train." in capsys.readouterr().err


def test_one_that_an_earlier_iteration_offered_is_not_written_with_a_later_state(make: Maker):
    run = make()
    for iteration in run.iterations(5):
        if iteration < 5:
            run.checkpoint(iteration, lambda path: path.write_text("x"), every=50)
    assert not run.checkpoint_dir.exists()


def test_the_checkpoint_that_was_not_due_is_written_on_the_stop(make: Maker):
    run = make()
    for iteration in run.iterations(100):
        run.checkpoint(iteration, lambda path, i=iteration: path.write_text(str(i)), every=50)
        make.stop.asked = iteration == 7
    assert (run.checkpoint_dir / "iteration-00000007.algo-1").read_text() == "7"


def test_one_that_was_offered_before_the_loop_is_not_written_on_the_stop(make: Maker):
    run = make()
    run.checkpoint(1, lambda path: path.write_text("x"), every=50)
    make.stop.asked = True
    assert list(run.iterations(5)) == []
    assert not run.checkpoint_dir.exists()


def test_the_model_appears_whole_and_replaces_the_one_before(make: Maker, tmp_path: Path):
    run = make()
    for text in ("a", "b"):
        assert (
            run.save_model("sub/m.bin", lambda path, t=text: path.write_text(t))
            == tmp_path / "model/sub/m.bin"
        )
    assert (tmp_path / "model/sub/m.bin").read_text() == "b"

    def half(path: Path) -> None:
        path.write_text("half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run.save_model("sub/m.bin", half)
    assert (tmp_path / "model/sub/m.bin").read_text() == "b"
    assert [path.name for path in (tmp_path / "model/sub").iterdir()] == ["m.bin"]


def test_a_folder_can_be_a_model(make: Maker, tmp_path: Path):
    for _ in range(2):
        make().save_model("m", lambda path: (path.mkdir(), (path / "x").write_text("x")))
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["m"]


def test_only_the_leader_writes_the_model(make: Maker, tmp_path: Path):
    make(rank=1).save_model("m", lambda path: path.write_text("x"))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["", "/m", "../m", "a/../../m", ".", None, 3])
def test_a_models_name_stays_in_the_model_folder(make: Maker, name: str):
    with pytest.raises(JobError, match="below the model folder"):
        make().save_model(name, lambda path: path.write_text("x"))


def test_collectives_of_one_rank_look_like_those_of_many(make: Maker):
    run = make()
    assert run.mean(3, weight=2) == 3.0
    assert run.gather((1, "a")) == [[1, "a"]]
    assert run.broadcast({"a": 1}) == {"a": 1}
    run.barrier()
    with pytest.raises(JobError, match=r"broadcast\(root=1\): the ranks are 0 to 0"):
        run.broadcast(1, root=1)


@pytest.mark.parametrize("value", [{1, 2}, object(), b"x", 1j])
def test_what_json_cannot_carry_is_refused_with_advice(make: Maker, value):
    with pytest.raises(JobError, match=r"gather\(\) takes what JSON can carry"):
        make().gather(value)


def test_a_value_that_is_too_large_is_refused(make: Maker):
    with pytest.raises(JobError, match="at most"):
        make().gather("x" * (5 << 20))


@pytest.mark.parametrize("value", ["x", "1", None, [1, 2], 10**400])
def test_a_mean_of_something_else_than_a_number_is_refused(make: Maker, value):
    with pytest.raises(JobError, match=r"mean\(value\) takes one number"):
        make().mean(value)


def test_rows_are_noted_for_the_failure_reason(make: Maker, capsys):
    make().note_rows(12)
    assert capsys.readouterr().err == "bandstand: rank 0 on algo-1 has 12 rows.\n"


def test_waiting_for_the_reason_of_a_failure_is_no_call_of_an_iteration(make: Maker, monkeypatch):
    calls = []
    monkeypatch.setattr(Alone, "gather", lambda team, *call: calls.append(call))
    run = make()
    assert next(run.iterations(3)) == 1
    await_reason(run, "the connection was lost")
    assert calls == [("reason", "the connection was lost", (1, 1))]
