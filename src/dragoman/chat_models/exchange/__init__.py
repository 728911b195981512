"""The one HTTP exchange of all providers.

`Exchange` sends a request and gives back messages: pooled connections, retries, timeouts, streams
closed on every path, faults as typed errors. It knows framings and codecs by their contracts only,
and no provider.
"""

from dragoman.chat_models.exchange.exchange import Exchange
from dragoman.chat_models.exchange.faults import ModelStreamTimeoutError
from dragoman.chat_models.exchange.retry import Retry
from dragoman.chat_models.exchange.sending import HttpCall, Wire
from dragoman.chat_models.exchange.timeouts import Timeouts

__all__ = ["Exchange", "HttpCall", "ModelStreamTimeoutError", "Retry", "Timeouts", "Wire"]
