"""How a job is over: its last status, and the sentences that go with it."""

from __future__ import annotations

from bandstand.backends.ending import Ending
from bandstand.backends.hosting import AnyHost
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.journal import Journal
from bandstand.backends.reasons import failure_reason
from bandstand.backends.uploading import Upload
from bandstand.sagemaker_files import Folders


def failed_because(ending: Ending | None, failed: AnyHost | None, folder: JobFolder) -> str | None:
    """Say why a job failed, or None if it did not.

    Args:
        ending: The end that its hosts were set, or None if they ended by themselves.
        failed: The host that failed first, or None if it was no host.
        folder: The job's.
    """
    if ending is None or ending.is_wanted:
        return None
    if failed is None:
        return ending.detail
    failure = Folders(folder.host(failed.name) / "ml").failure
    return failure_reason(failed.state, failure, failed.log.tail, failed.hint)


def conclude(
    journal: Journal, ending: Ending | None, upload: Upload, reason: str | None, trouble: str
) -> None:
    """Enter a job's last status.

    Args:
        journal: The job's.
        ending: The end that its hosts were set, or None if they ended by themselves.
        upload: What became of its archives.
        reason: Why it failed, or None if it did not.
        trouble: What could not be cleared up, for people; else empty.
    """
    model, output = upload.model, upload.output
    notes = (*upload.notes, trouble) if trouble else upload.notes
    if upload.error and reason is None:
        reason = f"The archives could not be packed: {upload.error}."
    cause = "failure" if ending is None else ending.cause
    if reason is not None:
        text = " ".join(["Training job failed.", *([trouble] if trouble else [])])
        journal.end("Failed", "Failed", text, cause=cause, reason=reason, output=output)
    elif ending is not None:
        text = " ".join([ending.detail.replace("Stopping", "Stopped", 1), *notes])
        journal.end(ending.status, ending.secondary_status, text, cause=cause, model=model, output=output)
    elif upload.was_killed:
        text = "Killed while its archives were packed."
        journal.end("Stopped", "Stopped", text, cause="stop", output=output)
    else:
        text = " ".join(["Training job completed.", *notes])
        journal.end("Completed", "Completed", text, model=model, output=output)
