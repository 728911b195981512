"""The four clocks of a call."""

from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["Timeouts"]


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds, or None for no limit.

    Attributes:
        connect_s: Until a connection stands.
        read_s: Between two reads of bytes; also until the first byte of a reply.
        idle_s: Between two events of a stream that mean something; keep-alives do not count.
        total_s: For the whole call, its stream included, retries each anew.
    """

    connect_s: float | None = 10.0
    read_s: float | None = 600.0
    idle_s: float | None = 600.0
    total_s: float | None = None

    def changed(self, spec: Any) -> "Timeouts":
        """Return these with what a user's `timeout=` says.

        Args:
            spec: None; seconds (of silence, before the reply or within it); a `(connect, read)` pair;
                a mapping with `connect`, `read`, `idle`, `total`; or an `httpx2.Timeout`.

        Raises:
            ValueError: If it is none of these, or a number is not above zero.
        """
        if spec is None:
            return self
        if isinstance(spec, Timeouts):
            return spec
        if isinstance(spec, (int, float)) and not isinstance(spec, bool):
            low = self.connect_s if self.connect_s is not None else spec
            return self._with(connect=min(low, spec), read=spec, idle=spec)
        if isinstance(spec, Mapping) and spec.keys() <= {"connect", "read", "idle", "total"}:
            return self._with(**spec)
        if isinstance(spec, (tuple, list)) and len(spec) == 2:
            return self._with(connect=spec[0], read=spec[1], idle=spec[1])
        connect: Any = getattr(spec, "connect", spec)
        read: Any = getattr(spec, "read", spec)
        if connect is not spec and read is not spec:
            return self._with(connect=connect, read=read, idle=read)
        message = (
            "`timeout` is a number of seconds, a (connect, read) pair or a mapping with "
            "connect, read, idle, total"
        )
        raise ValueError(message)

    def _with(self, **seconds: float | None) -> "Timeouts":
        for name, value in seconds.items():
            if value is not None and (isinstance(value, bool) or not value > 0):
                message = f"`timeout` {name} must be above zero, got {value!r}"
                raise ValueError(message)
        return msgspec.structs.replace(self, **{f"{k}_s": v for k, v in seconds.items()})
