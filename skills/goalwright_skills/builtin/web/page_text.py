"""Converts HTML to text: headings, paragraphs, lists, tables and links, without scripts and styles.

It runs as a script in a child process, which is killed if parsing takes too long, and imports nothing of goalwright.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin

_DROPPED = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table",
    "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_LINKED = ("http://", "https://")


class _Reader(HTMLParser):
    """Collects the text of a page."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base, self.title = base, ""
        self.parts: list[str] = []
        self._dropped: list[str] = []
        self._in_title = self._pre = False
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = self._in_title or tag == "title"
        if tag in _DROPPED:
            self._dropped.append(tag)
        if self._dropped:
            return
        attributes = dict(attrs)
        if tag in _HEADINGS:
            self.parts.append(f"\n\n{_HEADINGS[tag]} ")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "br":
            self.parts.append("\n")
        elif tag in _BLOCKS:
            self.parts.append("\n\n" if tag in ("p", "table", "blockquote", "pre") else "\n")
        elif tag == "a":
            self._links.append(urljoin(self.base, attributes.get("href") or "") if attributes.get("href") else "")
        elif tag == "img" and attributes.get("alt"):
            self.parts.append(f"[image: {attributes['alt']}]")
        self._pre = self._pre or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in self._dropped:
            del self._dropped[self._dropped.index(tag) :]
            return
        if self._dropped:
            return
        if tag == "a" and self._links:
            link = self._links.pop()
            if link.startswith(_LINKED) and link.partition("#")[0] != self.base.partition("#")[0]:
                self.parts.append(f" ({link})")
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.parts.append("\n")
        self._pre = self._pre and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._in_title and "title" not in self._dropped:
            self.title += data
        if not self._dropped and not self._in_title:
            self.parts.append(data if self._pre else _SPACE.sub(" ", data))


def page_text(html: str, base: str) -> tuple[str, str]:
    """Return the title and text of a page; links are absolute, in parentheses after their text."""
    reader = _Reader(base)
    reader.feed(html)
    reader.close()
    lines = (line.strip() for line in "".join(reader.parts).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.removeprefix("| ") for line in lines)).strip()
    return _SPACE.sub(" ", reader.title).strip(), text


def main() -> None:
    """Read the URL, the limit on CPU time and the page; write its title and text."""
    base, seconds = json.loads(sys.stdin.buffer.readline())
    resource.setrlimit(resource.RLIMIT_AS, (1024**3, 1024**3))
    signal.setitimer(signal.ITIMER_PROF, seconds)  # then the operating system kills the process
    html = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdout.buffer.write(json.dumps(page_text(html, base)).encode())


if __name__ == "__main__":
    main()
