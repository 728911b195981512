"""Storing objects as LangChain's JSON, and safe loading."""

from dragoman.load.serializable import Serializable

__all__ = ["Serializable"]
