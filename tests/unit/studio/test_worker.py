"""Jobs of all four kinds: rehearsed and published as the verbs do it, with leave to spend or not at all."""

import json

import pytest

from map_reading import values_of
from sudare.errors import InputError
from sudare.language.catalogue import Words
from sudare.language.messages import Progress, Stage
from sudare.privacy import Ledger
from sudare.studio import rehearsals, worker
from sudare.studio.refusals import RequestError
from sudare.studio.tasks import JobStore
from sudare.studio.worker import RowProgress, run
from sudare.workflow.rehearsal import rehearse


@pytest.fixture
def tasks(workspace):
    return JobStore(workspace)


def do(workspace, tasks, verb, text, **more):
    task = tasks.add(verb, {"version": 1, "text": text, **more})
    run(workspace, task.id)
    return tasks.get(task.id)


@pytest.mark.parametrize("kind", ["table", "sample", "perturbation", "weights"])
def test_every_kind_is_planned_rehearsed_and_published(workspace, service, tasks, kinds, kind):
    text = kinds[kind]
    found = service.forecasts.at(text, kind)
    while found.plan is None:
        found = service.forecasts.at(text, kind)
    assert found.slider is not None
    assert found.plan.errors
    rehearsed = do(workspace, tasks, "rehearse", text)
    assert rehearsed.state == "done", rehearsed.error
    (name,) = rehearsed.result["rehearsals"]
    assert rehearsals.get(workspace, name)["kind"] == kind
    assert rehearsals.get(workspace, name)["errors"]
    published = do(workspace, tasks, "publish", text)
    assert published.state == "done", published.error
    assert published.result["folder"] == "release"
    assert (workspace.folder / "release" / "release.json").is_file()
    assert len(Ledger(workspace.folder / "ledger.db").entries()) == 2  # the cap and the release


def test_a_rehearsal_is_kept_with_a_map_of_both_tables(workspace, tasks, kinds):
    done = do(workspace, tasks, "rehearse", kinds["table"])
    (name,) = done.result["rehearsals"]
    found = rehearsals.get(workspace, name)
    made = rehearse(workspace.recipe)
    assert found["errors"] == made.errors
    content = json.loads(rehearsals.map_text(workspace, name))
    assert (content["frame"]["rows"], content["frame"]["columns"]) == (12, 20)
    for panel, table in enumerate((made.truth, made.release.table)):
        sums = table.to_array().sum(axis=2).reshape(-1)
        assert values_of(content, panel) == {place: value for place, value in enumerate(sums.tolist()) if value}
    assert found["support"]["kept"] + found["support"]["vanish"] == len(made.truth)
    for strange in ("../x", "x", f"{name}/..", ""):
        with pytest.raises(RequestError, match="no such rehearsal"):
            rehearsals.get(workspace, strange)


def test_two_versions_are_rehearsed_to_be_compared(workspace, tasks, kinds):
    other = {"version": 7, "text": kinds["table"].replace("epsilon = 0.5", "epsilon = 5")}
    done = do(workspace, tasks, "rehearse", kinds["table"], other=other)
    first, second = (rehearsals.get(workspace, name) for name in done.result["rehearsals"])
    assert (first["version"], second["version"]) == (1, 7)
    assert second["errors"][0]["root_mean_square_error"] < first["errors"][0]["root_mean_square_error"]


def test_old_rehearsals_are_forgotten(workspace, tasks, kinds, monkeypatch):
    monkeypatch.setattr(rehearsals, "KEPT", 2)
    names = [do(workspace, tasks, "rehearse", kinds["perturbation"]).result["rehearsals"][0] for _ in range(3)]
    assert [one.id for one in rehearsals.listed(workspace)] == names[:0:-1]


def test_a_publication_cancelled_before_it_may_spend_has_spent_nothing(workspace, tasks, kinds, monkeypatch):
    """The cancel comes at the last moment: after reading, just before leave to spend is asked."""
    asked = RowProgress.__call__

    def cancel_first(self, progress):
        if progress.stage is Stage.SPENDING:
            tasks.cancel(self._job)
        asked(self, progress)

    monkeypatch.setattr(worker.RowProgress, "__call__", cancel_first)
    monkeypatch.setattr(JobStore, "holder", lambda *_: None)  # the process to be stopped would be this one
    done = do(workspace, tasks, "publish", kinds["table"])
    assert done.state == "cancelled"
    assert not (workspace.folder / "ledger.db").exists()
    assert not list(workspace.folder.glob("*release*"))
    assert not list(workspace.folder.glob(".release*"))


def test_a_publication_that_may_spend_can_no_longer_be_cancelled(workspace, tasks, kinds, monkeypatch):
    asked = RowProgress.__call__

    def cancel_after(self, progress):
        asked(self, progress)
        if progress.stage is Stage.SPENDING:
            with pytest.raises(RequestError, match="no longer be cancelled"):
                tasks.cancel(self._job)

    monkeypatch.setattr(worker.RowProgress, "__call__", cancel_after)
    assert do(workspace, tasks, "publish", kinds["table"]).state == "done"


def test_a_mistake_of_the_recipe_ends_the_job_with_its_sentence(workspace, tasks, kinds):
    (workspace.folder / "people.parquet").unlink()
    done = do(workspace, tasks, "publish", kinds["table"])
    assert done.state == "failed"
    assert "there is no such file" in done.error["en"]["message"]
    assert not (workspace.folder / "ledger.db").exists()


@pytest.mark.parametrize(
    ("problem", "said"), [(InputError("bad", hint="Do."), "bad"), (ValueError("SECRET 42"), "ValueError")]
)
def test_a_defect_tells_its_type_and_no_value(workspace, tasks, kinds, monkeypatch, problem, said):
    def fail(*_, **__):
        raise problem

    monkeypatch.setattr(worker, "publish", fail)
    done = do(workspace, tasks, "publish", kinds["table"])
    assert said in done.error["en"]["message"]
    assert "SECRET" not in str(done.error)


def test_a_cancelled_job_does_not_begin(workspace, tasks, kinds):
    task = tasks.add("rehearse", {"version": 1, "text": kinds["table"]})
    tasks.cancel(task.id)
    run(workspace, task.id)
    assert tasks.get(task.id).state == "cancelled"
    with pytest.raises(RequestError, match="no longer"):
        tasks.cancel(task.id)


def test_progress_is_said_in_shares(workspace, tasks):
    task = tasks.add("rehearse", {})
    tasks.move(task.id, ("waiting",), "running")
    seen = []
    for progress in (Progress(Stage.INVENTING), Progress(Stage.TRIAL, 2, 4), Progress(Stage.TRIAL, 4, 4)):
        RowProgress(tasks, task.id, 0.5, 0.5)(progress)
        seen.append(tasks.get(task.id).fraction)
    assert seen == [0.51, 0.625, 0.875]
    shown = [tasks.get(task.id).status(Words(language)).stage for language in ("en", "ja")]
    assert shown == ["Trial: 4 of 4", "試行：4 / 4"]
