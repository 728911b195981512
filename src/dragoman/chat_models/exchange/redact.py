"""What of a provider's text may stand in an error: cut at 2,000 characters, secrets masked.

Providers quote back what they were sent: half a key, a URL with a key, a whole image. Errors end up
in logs, so these are masked wherever they appear. Our own side of the request is never quoted.
"""

import re
from collections.abc import Iterable

__all__ = ["LIMIT", "clean", "mask_keys", "page_text", "safe_url"]

LIMIT = 2000

_KEYS = re.compile(
    r"""(?ix)
    \b(?:sk|pk|rk|gsk|xai|nvapi|hf|csk|fw|pplx|ak|r8|tgp|ghp|gho|or)[-_][A-Za-z0-9*_\-]{8,}   # prefixed keys
    | \bAIza[0-9A-Za-z_\-]{20,}                                    # Google
    | \b(?:AKIA|ASIA)[0-9A-Z]{12,}                                 # Amazon
    | \beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}(?:\.[A-Za-z0-9_\-]*)?  # JSON web tokens
    | (?<=bearer\ )[^\s"',]{8,}
    | (?<=key=)[^\s"'&,]{8,}
    | (?<=token=)[^\s"'&,]{8,}
    | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)                              # user:password@ in an address
    """
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]{100,}={0,2}")
_HIDDEN = re.compile(r"(?is)<(script|style|head)\b.*?</\1>|<!--.*?-->")
_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
_TAGS = re.compile(r"(?s)<[^>]*>")


def clean(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` with `secrets`, anything that looks like a key, and base64 masked, then cut.

    >>> clean("Incorrect API key provided: sk-abcdefghijkl.", ())
    'Incorrect API key provided: ***.'
    """
    text = text[: LIMIT * 4]  # a megabyte of page is not searched; the rest would be cut anyway
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "***")
    text = _KEYS.sub("***", text)
    text = _BASE64.sub(lambda m: f"[{len(m[0])} characters of data]", text)
    return text if len(text) <= LIMIT else text[: LIMIT - 3] + "..."


def mask_keys(text: str) -> str:
    """Return `text`, of any length, with what looks like a key masked."""
    return _KEYS.sub("***", text)


def page_text(page: str) -> str:
    """Return what a reader would see of an HTML page; other text comes back as it is.

    >>> page_text("<html><head><title>502 Bad</title></head><body><h1>Oh</h1> no</body></html>")
    '502 Bad: Oh no'
    """
    page = page[: LIMIT * 8]
    if "<" not in page[:200]:
        return page.strip()
    title = _TITLE.search(page)
    body = " ".join(_TAGS.sub(" ", _HIDDEN.sub(" ", page)).split())
    head = " ".join(title[1].split()) if title else ""
    return f"{head}: {body}" if head and body and body != head else head or body


def safe_url(url: str) -> str:
    """Return scheme, host and path of an address, without user, password, query and fragment."""
    address = url.partition("?")[0].partition("#")[0]
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"
