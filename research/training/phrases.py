"""What of a skill's text reads like a goal: sentences, triggers, quotes, headings and list items."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAD = re.compile(
    r"^(?:(?:please )?(?:use|invoke|activate|apply|trigger|triggers?|run|call)(?: (?:this|it|the))?(?: skill| agent)?"
    r"(?: proactively)?\s*(?:when(?:ever)?|if|for|to|on|with|:|phrases?:?|by)\s*"
    r"|this skill should be used (?:when|for|whenever)\s*|use when\s*|when\s+|also (?:use|triggers?) (?:when|for|on)\s*"
    r"|triggers?\s*(?:on|with|phrases?|include)?\s*:?\s*|keywords?\s*:\s*|helps? (?:you )?(?:to )?"
    r"|(?:当|在)?(?:用户|使用者)?(?:说|提到|提及|要求|请求|询问|需要|想要|想)(?:到|以下)?[:：]?\s*|(?:当|在)(?:用户|使用者)"
    r"|触发(?:词|条件|场景|关键词|方式)?\s*[:：]?\s*|(?:适用|使用)(?:于|场景)\s*[:：]?\s*|用于|关键词\s*[:：]\s*"
    r"|(?:nutze|verwende|benutze|lädt|laden) (?:diesen skill|diese|dies|wenn|bei|für)\s*"
    r"|wenn (?:der nutzer|du|sie)\s+)",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"^(?:(?:the |a )?users?(?:'s)?|you|someone|they|claude|i)\s+(?:explicitly )?"
    r"(?:asks?(?: (?:you|claude|about|for|to|how to))?|wants?(?: to)?|needs?(?: to)?|says?|mentions?|requests?|is|are"
    r"|has|have|types?|provides?|to|may|mentioned|wanting|asking(?: about| for| to)?)?\s*(?:to\s+|for\s+|about\s+)?",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:do not|don't|not for|never use|instead of|see also|not when|skip|nicht für)\b|不(?:要|适用|用于)|勿",
    re.IGNORECASE,
)
_TRIGGER = re.compile(r"trigger|keyword|mention|触发|关键词|提到|auslöser", re.IGNORECASE)
_SENTENCE = re.compile(r'(?<=[.!?;])\s+(?=[A-ZÄÖÜ"“(])|(?<=[。！？；])|\s+[-–—•]\s+|\n+')
_LIST = re.compile(
    r",\s*(?:or |and |oder |und )?|;\s*| / |\s+or\s+|\s+oder\s+|\(\d\)|[、，；]\s*(?:或|和)?|(?<=[一-鿿])或者?"
)
_QUOTE = re.compile(r'["“「『]([^"“”「」『』\n]{4,220})["”」』]')
_WHEN = re.compile(
    r"when (?:to|not)|trigger|example|use case|usage|prompt|scenario|sample|activat|quick start|what (?:this|it)"
    r"|capabilit|feature|common (?:task|request)|you can ask|try|触发|场景|示例|例子|何时|用法|使用|功能"
    r"|wann|beispiel|einsatz",
    re.IGNORECASE,
)
_WHEN_NOT = re.compile(r"\bnot\b|avoid|anti|不", re.IGNORECASE)
_ASKED = re.compile(
    r"^(?:i|i'm|i've|my|we|our|how|what|why|can|could|please|help|is|are|should|which|where|the|a|create|build|make|write"
    r"|add|find|fix|generate|set|show|get|run|check|review|analy[sz]e|convert|deploy|design|implement|explain|debug"
    r"|optimi[sz]e|test|update|plan|search|summari[sz]e|list|schedule|send|extract|compare|draft|audit|monitor|migrate"
    r"|configure|install|turn|give|tell|let's|do|use|look|read|open|download|translate|track|prepare|refactor|improve)\b"
    r"|^[帮请把给我如怎为什分生创写做查]",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"\s*(?:\*\*)?(?:user|prompt|input|request|human|用户|nutzer)(?: (?:says|asks|request))?(?:\*\*)?"
    r"\s*[:：](?:\*\*)?\s*(.{6,400})",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^[\d.]+\s*|^(?:step|phase|example|mode|workflow) ?\d*[:.]?\s*|^[一二三四五六七八九十]+、", re.IGNORECASE
)
_CODE = re.compile(r"```.*?```", re.DOTALL)
_NO_PROSE = ("|", "```", "import", "$", "<", "{")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


def clean(text: str) -> str:
    """A phrase without marks of Markdown, addresses and what surrounds it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.replace("`", ""))
    text = re.sub(r"https?://\S+|[*_#>|]+", " ", text)
    return re.sub(r"\s+", " ", text).strip(" -–—:;,.\"'“”()[]✅❌•→，。；：、「」")


def size(text: str) -> int:
    """The number of words, two characters of a script without spaces counted as one."""
    dense = len(_DENSE.findall(text))
    return len(_DENSE.sub(" ", text).split()) + (dense + 1) // 2


def sentences(text: str) -> list[str]:
    """The sentences and clauses of a text."""
    return [one for one in _SENTENCE.split(text) if one]


def asked(text: str) -> str:
    """What is asked for, without who asks and when."""
    return _WHO.sub("", _LEAD.sub("", clean(text)))


def of_description(text: str) -> Iterator[tuple[str, str]]:
    """Phrases of a description, each with its kind."""
    for sentence in sentences(text):
        if _NOT.search(sentence):
            continue
        whole = clean(sentence)
        without = _LEAD.sub("", whole)
        led = without != whole
        short = _WHO.sub("", without)
        for phrase in dict.fromkeys((whole, short)):
            if 3 <= size(phrase) <= 45:
                yield ("trigger" if led else "sentence"), phrase
        if led or _TRIGGER.search(sentence):
            for part in _LIST.split(short):
                if 2 <= size(phrase := clean(_WHO.sub("", part))) <= 14:
                    yield "part", phrase
    yield from (("quote", clean(quote)) for quote in _QUOTE.findall(text) if 2 <= size(quote) <= 30)


def of_triggers(triggers: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Phrases of what the frontmatter says about when a skill is used."""
    for text in triggers:
        for sentence in sentences(text):
            if 2 <= size(phrase := asked(sentence)) <= 40:
                yield "trigger", phrase


def of_body(body: str) -> Iterator[tuple[str, str]]:
    """Phrases of a body: headings, quotes, what it lists as uses, and the first sentence below each heading."""
    heading, fresh = "", False
    for line in _CODE.sub(_without_long_code, body).split("\n"):
        if found := re.match(r"\s*#{1,5}\s+(.*)", line):
            heading, fresh = clean(_NUMBERED.sub("", found[1])), True
            if 3 <= size(heading) <= 14:
                yield "heading", heading
            continue
        if not line.strip() or len(line) > 900:
            continue
        item = re.match(r"\s*(?:[-*+>]|\d+[.)])\s+(.*)", line)
        if _WHEN.search(heading) and not _WHEN_NOT.search(heading):
            yield from _uses(line, item[1] if item else "")
        else:
            yield from (
                ("said", clean(one)) for one in _QUOTE.findall(line) if 4 <= size(one) <= 40 and _ASKED.match(one)
            )
        if fresh and not item and len(line) > 30 and not line.lstrip().startswith(_NO_PROSE):
            fresh = False
            if 5 <= size(phrase := clean(sentences(line.strip())[0])) <= 40:
                yield "opening", phrase


def _uses(line: str, item: str) -> Iterator[tuple[str, str]]:
    yield from (("asked", clean(quote)) for quote in _QUOTE.findall(line) if 3 <= size(quote) <= 50)
    if item and 3 <= size(phrase := asked(item)) <= 40:
        yield "use", phrase
    if found := _SPOKEN.match(line):
        yield "asked", clean(found[1])


def _without_long_code(found: re.Match[str]) -> str:
    code = found[0]
    return "\n" if code.count("\n") > 8 or re.match(r"```\w", code) else code.strip("`")
