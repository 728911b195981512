"""Chat models of every provider."""
