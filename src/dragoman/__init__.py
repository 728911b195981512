"""One conversation, valid on every LLM provider."""

__version__ = "0.1.0"
