"""Tools for testing programs that talk to models, without a provider and without a network.

- `ScriptedServer` is a real HTTP server on the loopback that answers with what a test tells it,
  in any provider's wire format, and plays the faults of real connections byte by byte.
- `record` and `replay` keep real exchanges in a file, keys removed, and play them back.
- `CodecSuite`, `ChatModelSuite` and `ThreadStoreSuite` are what a codec, model or store has to do, as
  test classes to subclass.
- `block_network` makes every connection that leaves this machine an error.
- The fake models (`FakeListChatModel` ...) are importable from here too.

Names are imported when first used: asking for one fake loads no server.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.language_models.fake import FakeListLLM, FakeStreamingListLLM
    from dragoman.language_models.fake_chat_models import (
        FakeChatModel,
        FakeListChatModel,
        FakeMessagesListChatModel,
        GenericFakeChatModel,
        ParrotFakeChatModel,
    )
    from dragoman.testing.conformance import ChatModelSuite, CodecSuite, ThreadStoreSuite
    from dragoman.testing.network import NetworkBlockedError, block_network
    from dragoman.testing.recording import record, replay
    from dragoman.testing.replies import Reply
    from dragoman.testing.server import Received, ScriptedServer, refused_url

_HOME = {
    "ChatModelSuite": "dragoman.testing.conformance",
    "CodecSuite": "dragoman.testing.conformance",
    "FakeChatModel": "dragoman.language_models.fake_chat_models",
    "FakeListChatModel": "dragoman.language_models.fake_chat_models",
    "FakeListLLM": "dragoman.language_models.fake",
    "FakeMessagesListChatModel": "dragoman.language_models.fake_chat_models",
    "FakeStreamingListLLM": "dragoman.language_models.fake",
    "GenericFakeChatModel": "dragoman.language_models.fake_chat_models",
    "NetworkBlockedError": "dragoman.testing.network",
    "ParrotFakeChatModel": "dragoman.language_models.fake_chat_models",
    "Received": "dragoman.testing.server",
    "Reply": "dragoman.testing.replies",
    "ScriptedServer": "dragoman.testing.server",
    "ThreadStoreSuite": "dragoman.testing.conformance",
    "block_network": "dragoman.testing.network",
    "record": "dragoman.testing.recording",
    "refused_url": "dragoman.testing.server",
    "replay": "dragoman.testing.recording",
}

__all__ = [
    "ChatModelSuite",
    "CodecSuite",
    "FakeChatModel",
    "FakeListChatModel",
    "FakeListLLM",
    "FakeMessagesListChatModel",
    "FakeStreamingListLLM",
    "GenericFakeChatModel",
    "NetworkBlockedError",
    "ParrotFakeChatModel",
    "Received",
    "Reply",
    "ScriptedServer",
    "ThreadStoreSuite",
    "block_network",
    "record",
    "refused_url",
    "replay",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
