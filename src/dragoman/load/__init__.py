"""Storing messages, prompts, parsers and chains as LangChain's JSON, and loading them safely."""

from dragoman.load.dump import dumpd, dumps
from dragoman.load.load import InitValidator, load, loads
from dragoman.load.serializable import Serializable

__all__ = ["InitValidator", "Serializable", "dumpd", "dumps", "load", "loads"]
