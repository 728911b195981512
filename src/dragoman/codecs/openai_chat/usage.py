"""Token counts of Chat Completions and its dialects as `UsageMetadata`.

`prompt_tokens` includes cached tokens and `completion_tokens` includes reasoning, on every recorded
speaker but Google's endpoint, where thoughts show only as the difference to the total.
"""

from typing import Any

from dragoman.codecs.shapes import as_dict, as_int, usage_of

__all__ = ["decode_usage", "encode_usage"]

# Where speakers put the cached part of the prompt, in the order in which they are believed.
_CACHED = ("cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens")


def decode_usage(usage: Any) -> dict[str, Any] | None:
    """Return a wire's `usage` as totals, or None if it counts nothing."""
    if not isinstance(usage, dict) or as_int(usage.get("prompt_tokens")) is None:
        return None
    before, after = (
        as_dict(usage.get(k)) for k in ("prompt_tokens_details", "completion_tokens_details")
    )
    n_in, n_out = as_int(usage["prompt_tokens"]) or 0, as_int(usage.get("completion_tokens")) or 0
    total = as_int(usage.get("total_tokens"))
    thoughts = as_int(after.get("reasoning_tokens"))
    if total is not None and total > n_in + n_out:
        if not thoughts:
            thoughts = total - n_in - n_out
        n_out = total - n_in
    cached = as_int(before.get("cached_tokens")) or next(
        (n for key in _CACHED if (n := as_int(usage.get(key)))), as_int(before.get("cached_tokens"))
    )
    return usage_of(
        n_in,
        n_out,
        total,
        input_details={
            "cache_read": cached,
            "cache_creation": before.get("cache_write_tokens"),
            "audio": before.get("audio_tokens"),
        },
        output_details={"reasoning": thoughts, "audio": after.get("audio_tokens")},
    )


def encode_usage(usage: Any) -> dict[str, Any]:
    """Return `UsageMetadata` in the wire's spelling."""
    given = as_dict(usage)
    n_in, n_out = as_int(given.get("input_tokens")) or 0, as_int(given.get("output_tokens")) or 0
    total = as_int(given.get("total_tokens"))
    out: dict[str, Any] = {
        "prompt_tokens": n_in,
        "completion_tokens": n_out,
        "total_tokens": n_in + n_out if total is None else total,
    }
    before, after = (as_dict(given.get(k)) for k in ("input_token_details", "output_token_details"))
    details = {
        "cached_tokens": before.get("cache_read"),
        "cache_write_tokens": before.get("cache_creation"),
        "audio_tokens": before.get("audio"),
    }
    if kept := {k: v for k, v in details.items() if v is not None}:
        out["prompt_tokens_details"] = kept
    details = {"reasoning_tokens": after.get("reasoning"), "audio_tokens": after.get("audio")}
    if kept := {k: v for k, v in details.items() if v is not None}:
        out["completion_tokens_details"] = kept
    return out
