"""`RunInfo`: which run made a result."""

from uuid import UUID

from dragoman.errors import MessageError, short
from dragoman.outputs.face import OutputModel

__all__ = ["RunInfo"]


class RunInfo(OutputModel):
    """The id of one run; a str is read as a UUID."""

    run_id: UUID

    def __post_init__(self) -> None:
        if not isinstance(self.run_id, UUID):
            try:
                self.run_id = UUID(self.run_id)
            except (TypeError, ValueError, AttributeError) as error:
                message = f"RunInfo: `run_id` must be a UUID, got {short(self.run_id)}"
                raise MessageError(message) from error
