"""LangChain's place for the core of the algebra; each class stands in a file of its own."""

from dragoman.runnables.binding import RunnableBinding, RunnableBindingBase
from dragoman.runnables.coerce import chain, coerce_to_runnable
from dragoman.runnables.each import RunnableEach, RunnableEachBase
from dragoman.runnables.generator import RunnableGenerator
from dragoman.runnables.lambdas import RunnableLambda
from dragoman.runnables.parallel import RunnableMap, RunnableParallel
from dragoman.runnables.runnable import Runnable, RunnableLike
from dragoman.runnables.sequence import RunnableSequence
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Input, Output

__all__ = [
    "Input",
    "Output",
    "Runnable",
    "RunnableBinding",
    "RunnableBindingBase",
    "RunnableEach",
    "RunnableEachBase",
    "RunnableGenerator",
    "RunnableLambda",
    "RunnableLike",
    "RunnableMap",
    "RunnableParallel",
    "RunnableSequence",
    "RunnableSerializable",
    "chain",
    "coerce_to_runnable",
]
