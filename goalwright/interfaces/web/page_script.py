"""Bundles the ES modules of the page into one script, for `goalwright serve` and for exported runs.

Each module becomes a function that returns its exports, after its imports. The bundler supports only what our modules
and the vendored ones use: named imports by path, without cycles.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

STATIC = Path(__file__).parent / "static"
_ENTRY = "export/one_file.js"
_STYLES = ("css/base.css", "css/parts.css", "css/run.css")
_IMPORT = re.compile(r"""\bimport\s*(\{[^}]*\}|\w+)\s*from\s*(["'])(\.[^"']+)\2;?""")
_REEXPORT = re.compile(r"""\bexport\s*\{([^}]*)\}\s*from\s*(["'])(\.[^"']+)\2;?""")
_LIST = re.compile(r"""\bexport\s*\{([^}]*)\};?""")
_DEFAULT = re.compile(r"\bexport default ")
# Line comments and type comments, which are a fifth of the size.
_LINES = re.compile(r"^[ \t]*//[^\n]*\n", re.MULTILINE)
_TYPES = re.compile(
    r"^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n|/\*\* @\w+ (?:(?!\*/)[^\n])*\*/[ \t]?", re.MULTILINE | re.DOTALL
)
_NAMED = re.compile(r"\bexport (async function\*?|function\*?|const|let|class) (\w+)")


def script() -> str:
    """Return the script that shows the runs in the element `runs`."""
    text = joined(_ENTRY)
    if "<script" in text.lower() or "</script" in text.lower():
        raise ValueError("a module of the page has a tag that would end its script")
    return text


def joined(entry: str, after: str | None = None) -> str:
    """Bundle a module and its imports; with `after`, without the modules of that bundle.

    A script with `after` is itself a module that is fetched on demand and has the exports of its entry.
    """
    loaded = _modules(after) if after is not None else {}
    done = dict(loaded)
    _add(entry, done, ())
    own = "".join(text for name, text in done.items() if name not in loaded)
    script = '"use strict";\n{\nconst goalwrightModules = (globalThis.goalwrightModules ??= {});\n' + own + "}\n"
    if after is None:
        return script
    public = ", ".join(sorted(_exported(done[entry])))
    return f"{script}export const {{ {public} }} = globalThis.goalwrightModules[{entry!r}];\n"


def _modules(entry: str) -> dict[str, str]:
    done: dict[str, str] = {}
    _add(entry, done, ())
    return done


def _exported(wrapped: str) -> list[str]:
    """Read the exports of a module from the last line of its function."""
    names = wrapped.rpartition("return { ")[2].partition(" }")[0]
    return [pair.partition(":")[0].strip() for pair in names.split(",")]


def styles() -> str:
    """Return the styles of graph, timeline and drawer."""
    return "".join((STATIC / name).read_text(encoding="utf-8") for name in _STYLES)


def _add(name: str, done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise ValueError(f"modules of the page import each other: {' → '.join((*above, name))}")
    text = (STATIC / name).read_text(encoding="utf-8")
    if not name.startswith("vendor/"):
        text = _LINES.sub("", _TYPES.sub("", text))
    for match in (*_IMPORT.finditer(text), *_REEXPORT.finditer(text)):
        _add(_target(name, match[3]), done, (*above, name))
    done[name] = _wrapped(name, text)


def _wrapped(name: str, text: str) -> str:
    exported: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        names = match[1].replace(" as ", ": ") if match[1].startswith("{") else f"{{ default: {match[1]} }}"
        return f"const {names} = goalwrightModules[{_target(name, match[3])!r}];"

    def pass_on(match: re.Match[str]) -> str:
        exported.update(
            (public, f"goalwrightModules[{_target(name, match[3])!r}].{own}") for own, public in _pairs(match[1])
        )
        return ""

    def offer(match: re.Match[str]) -> str:
        exported.update((public, own) for own, public in _pairs(match[1]))
        return ""

    def declare(match: re.Match[str]) -> str:
        exported[match[2]] = match[2]
        return f"{match[1]} {match[2]}"

    text = _REEXPORT.sub(pass_on, _IMPORT.sub(take, text))
    text = _NAMED.sub(declare, _LIST.sub(offer, text))
    if _DEFAULT.search(text):
        text = _DEFAULT.sub("const __default = ", text)
        exported["default"] = "__default"
    offered = ", ".join(f"{public}: {own}" for public, own in exported.items())
    return f"goalwrightModules[{name!r}] = (() => {{\n{text}\nreturn {{ {offered} }};\n}})();\n"


def _pairs(names: str) -> list[tuple[str, str]]:
    """Parse exports as pairs of local and public names."""
    return [(name.split()[0], name.split()[-1]) for name in names.split(",") if name.strip()]


def _target(name: str, path: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(name).parent.parts, *PurePosixPath(path).parts):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
