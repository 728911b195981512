"""Links in the text of a web page, found by pattern: nothing is fetched."""

import re
from collections.abc import Sequence
from urllib.parse import urljoin, urlsplit

__all__ = ["extract_sub_links", "find_all_links"]

_SKIPPED = ("javascript:", "mailto:", "#")
_NO_PAGES = (".css", ".gif", ".ico", ".jpeg", ".jpg", ".js", ".png", ".svg", ".webp")
_LINK = re.compile(r"""href\s*=\s*["']([^"'#]*)""", re.IGNORECASE)


def find_all_links(raw_html: str, *, pattern: str | re.Pattern[str] | None = None) -> list[str]:
    """Return the different links of a page in the order they come; assets are left out.

    Args:
        raw_html: The page.
        pattern: What finds a link, instead of `href=`; its first group is the link.

    >>> find_all_links('<a href="/a">x</a> <a href="mailto:y">y</a> <a href="/a">z</a>')
    ['/a']
    """
    if pattern is not None:
        return list(dict.fromkeys(re.findall(pattern, raw_html)))
    links = (match.group(1).strip() for match in _LINK.finditer(raw_html))
    return list(
        dict.fromkeys(
            link
            for link in links
            if link
            and not link.lower().startswith(_SKIPPED)
            and not urlsplit(link).path.lower().endswith(_NO_PAGES)
        )
    )


def extract_sub_links(
    raw_html: str,
    url: str,
    *,
    base_url: str | None = None,
    pattern: str | re.Pattern[str] | None = None,
    prevent_outside: bool = True,
    exclude_prefixes: Sequence[str] = (),
) -> list[str]:
    """Return the links of the page at `url` as absolute addresses.

    Args:
        raw_html: The page.
        url: Its address.
        base_url: Where a link has to lead with `prevent_outside`; `url` by default.
        pattern: As `find_all_links`.
        prevent_outside: Whether links to other hosts, or above `base_url`, are left out.
        exclude_prefixes: Addresses that start so are left out.

    >>> extract_sub_links('<a href="b">x</a><a href="http://o.x/">', "http://h.x/a/")
    ['http://h.x/a/b']
    """
    base = urlsplit(url if base_url is None else base_url)
    found: dict[str, None] = {}
    for link in find_all_links(raw_html, pattern=pattern):
        address = urljoin(url, link)
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or address.startswith(tuple(exclude_prefixes)):
            continue
        is_inside = parts.netloc == base.netloc and parts.path.startswith(base.path)
        if is_inside or not prevent_outside:
            found[address] = None
    return list(found)
