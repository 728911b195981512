"""Framing: the bytes of a reply become events, without any I/O.

One machine a framing, all with the same two methods: `feed(bytes)` returns the events these bytes
complete, `close()` returns what was held back at the end. An event is `(name or None, data)` with
`data` as bytes, ready for a codec's stream decoder. The machines work on whole network reads, and
their cost is linear in the bytes, however the stream was cut.
"""

from dragoman.chat_models.framing.aws import AwsEventStream
from dragoman.chat_models.framing.contract import Event, Framing
from dragoman.chat_models.framing.ndjson import Ndjson
from dragoman.chat_models.framing.sse import Sse

__all__ = ["FRAMINGS", "AwsEventStream", "Event", "Framing", "Ndjson", "Sse"]

FRAMINGS: dict[str, type[Framing]] = {"sse": Sse, "ndjson": Ndjson, "aws": AwsEventStream}
"""The framings by the name a provider row uses."""
