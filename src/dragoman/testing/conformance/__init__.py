"""What every codec, chat model and thread store has to do, as tests to subclass.

Each suite is a plain class of test methods with one method that the subclass writes: the one that
gives the thing under test. The suites use nothing but `assert`, so any runner of test classes does.

    from dragoman.testing import ChatModelSuite

    class TestMyModel(ChatModelSuite):
        def model(self):
            return MyModel(temperature=0)

What a suite does not ask for is not promised; what the thing does beyond it is its own business.
Dragoman's own codecs, models and stores are tested with these.
"""

from dragoman.testing.conformance.chat_models import ChatModelSuite
from dragoman.testing.conformance.codecs import CodecSuite
from dragoman.testing.conformance.threads import ThreadStoreSuite

__all__ = ["ChatModelSuite", "CodecSuite", "ThreadStoreSuite"]
