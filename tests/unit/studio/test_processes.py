"""Jobs whose process died: the ledger and the folder say what became of them."""

import time
from pathlib import Path

import pytest

from sudare.privacy import Ledger
from sudare.studio.processes import Processes
from sudare.studio.refusals import RequestError
from sudare.studio.tasks import JobStore
from sudare.workflow.job import Job
from sudare.workflow.publication import publish


@pytest.fixture
def processes(workspace):
    return Processes(workspace)


def died(processes, workspace, state, **more):
    """A job of a publication whose process is gone."""
    job = Job.open(workspace.recipe)
    rows = Ledger(workspace.folder / "ledger.db").entries()
    task = {
        "version": 1,
        "text": workspace.recipe.read_text(),
        "dataset": "village",
        "ledger": "ledger.db",
        "ledger_row": rows[-1].id if rows else 0,
        "recipe_sha256": job.recipe_sha256,
        "folder": "release",
        "language": "en",
    }
    made = processes.tasks.add("publish", task | more)
    processes.tasks.move(made.id, ("waiting",), state)
    return made.id


def test_a_job_that_died_before_spending_failed_and_spent_nothing(processes, workspace):
    name = died(processes, workspace, "running")
    found = processes.get(name)
    assert (found.state, found.can_cancel) == ("failed", False)
    assert "Nothing was spent" in found.error["en"]["message"]
    assert processes.get(name) == found


def test_a_job_that_had_leave_and_did_not_pay_spent_nothing(processes, workspace):
    assert "Nothing was spent" in processes.get(died(processes, workspace, "spending")).error["en"]["message"]


def test_a_job_that_paid_and_wrote_nothing_says_so(processes, workspace):
    name = died(processes, workspace, "spending")
    job = Job.open(workspace.recipe)
    job.ledger.spend("village", job.guarantee, "release-1", recipe_hash=job.recipe_sha256, parameters=job.terms)
    found = processes.get(name)
    assert found.state == "failed"
    assert "was paid for and is not out" in found.error["en"]["message"]


def test_a_job_whose_release_is_out_is_done(processes, workspace):
    name = died(processes, workspace, "spending")
    made = publish(workspace.recipe)
    found = processes.get(name)
    assert found.state == "done"
    assert found.result["release_id"] == made.release_id
    assert found.result["said"]["en"]["left"].startswith("ε = 19.5 or ρ = ")
    assert found.result["said"]["en"]["left_out"][0].startswith("the report is left out")


def test_an_older_release_is_not_taken_for_the_jobs_own(processes, workspace):
    publish(workspace.recipe)
    assert "Nothing was spent" in processes.get(died(processes, workspace, "spending")).error["en"]["message"]


def test_a_living_job_is_left_alone(processes, workspace):
    name = died(processes, workspace, "running")
    with JobStore(workspace).held(name):
        assert processes.get(name).state == "running"
        assert processes.tasks.holder(name) is not None
    assert processes.get(name).state == "failed"


def test_one_job_of_a_verb_at_a_time(processes, workspace):
    processes.tasks.add("rehearse", {})
    with pytest.raises(RequestError, match="has not ended yet"):
        processes.tasks.add("rehearse", {})
    processes.tasks.add("publish", {})


def test_a_job_that_has_just_been_asked_for_is_waited_for(processes):
    made = processes.tasks.add("rehearse", {})
    assert processes.get(made.id).state == "waiting"


def test_a_process_that_ended_stays_behind_in_no_table(processes):
    children = Path("/proc/thread-self/children")
    if not children.exists():
        pytest.skip("this system does not list the children of a process")
    before = set(children.read_text().split())
    name = processes.start("rehearse", {}).id
    assert set(children.read_text().split()) - before
    deadline = time.monotonic() + 300
    while set(children.read_text().split()) - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not set(children.read_text().split()) - before  # nor as a zombie, and nobody asked for the job
    assert processes.get(name).state == "failed"  # for want of a recipe
