"""Estimated tokens are rather too many than too few."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright.models.litellm.estimates import completed, most_prompt_tokens, prompt_tokens, text_tokens
from goalwright_planner.model import Message, Request, ToolSpec, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[4]
ROWS = [{"id": n, "name": f"row {n}", "price": n * 1.37, "ok": n % 2 == 0} for n in range(200)]
TEXTS = {
    "English": "The committee deliberates about acquisitions while the quick brown fox jumps over the lazy dog. ",
    "German": "Dokumentiere sämtliche Endpunkte des Dienstes und stelle Parameter sowie Rückgabewerte zusammen. ",
    "French": "Décrivez tous les points d'accès du service, avec leurs paramètres et leurs réponses. ",
    "Spanish": "Documenta todos los puntos de acceso del servicio y reúne los parámetros en una tabla. ",
    "Finnish": "Dokumentoi palvelun kaikki päätepisteet ja kokoa parametrit sekä vastaukset taulukkoon. ",
    "Polish": "Udokumentuj wszystkie punkty końcowe usługi i zestaw parametry oraz odpowiedzi w tabeli. ",
    "Turkish": "Hizmetin tüm uç noktalarını belgeleyin ve parametreleri yanıtlarla birlikte bir tabloda toplayın. ",
    "Vietnamese": "Hãy ghi lại tất cả các điểm cuối của dịch vụ và lập bảng tham số cùng câu trả lời. ",
    "Russian": "Опишите все конечные точки сервиса и составьте таблицу параметров и ответов, включая ошибки. ",
    "Greek": "Τεκμηριώστε όλα τα σημεία της υπηρεσίας και φτιάξτε έναν πίνακα με τις παραμέτρους. ",
    "Arabic": "قم بتوثيق جميع نقاط النهاية للخدمة مع المعلمات والإجابات في جدول واحد. ",
    "Hebrew": "תעד את כל נקודות הקצה של השירות עם הפרמטרים והתשובות בטבלה אחת. ",
    "Hindi": "सेवा के सभी एंडपॉइंट का दस्तावेज़ बनाएँ और मापदंडों तथा उत्तरों की तालिका तैयार करें। ",
    "Thai": "จัดทำเอกสารจุดเชื่อมต่อทั้งหมดของบริการ พร้อมพารามิเตอร์และคำตอบในตารางเดียว ",
    "Chinese": "人工智能正在改变我们的生活方式。请为这个待办事项服务编写一份完整的接口文档，并说明每个参数的含义。",
    "Chinese, traditional": "請將這份報告翻譯成英文，並且列出三個最重要的結論與建議，謝謝您的協助。",
    "Japanese": "このサービスのすべてのエンドポイントを文書化し、パラメータと応答を表にまとめてください。",
    "Korean": "이 서비스의 모든 엔드포인트를 문서화하고 매개변수와 응답을 표로 정리해 주세요. ",
    "emoji": "Done ✅ 🚀 great 👍🏽 family 👨‍👩‍👧‍👦 flags 🇩🇪🇯🇵 ",
    "JSON": json.dumps(ROWS),
    "JSON, indented": json.dumps(ROWS, indent=2),
    "CSV": "\n".join(f"{n},{n * 0.7310585:.6f},{n * 7919 % 100_003}" for n in range(300)),
    "Python": (ROOT / "goalwright" / "batch" / "run_batch.py").read_text(encoding="utf-8"),
    "JavaScript": (ROOT / "goalwright" / "interfaces" / "web" / "static" / "run" / "spans.js").read_text(
        encoding="utf-8"
    ),
    "TOML": (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
    "Markdown": (ROOT / "docs" / "plans.md").read_text(encoding="utf-8"),
    "tables": (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8"),
}


@pytest.fixture(scope="module")
def counters() -> dict[str, Callable[[str], int]]:
    """The tokenizers in litellm's package: two of OpenAI and one of Anthropic."""
    import tiktoken
    from tokenizers import Tokenizer

    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    before, os.environ["TIKTOKEN_CACHE_DIR"] = os.environ.get("TIKTOKEN_CACHE_DIR"), str(folder)
    try:
        cl100k, o200k = map(tiktoken.get_encoding, ("cl100k_base", "o200k_base"))
    finally:
        os.environ.pop("TIKTOKEN_CACHE_DIR") if before is None else os.environ.update(TIKTOKEN_CACHE_DIR=before)
    claude = Tokenizer.from_file(str(folder / "anthropic_tokenizer.json"))
    return {
        "cl100k": lambda text: len(cl100k.encode(text, disallowed_special=())),
        "o200k": lambda text: len(o200k.encode(text, disallowed_special=())),
        "claude": lambda text: len(claude.encode(text).ids),
    }


@pytest.mark.parametrize("name", TEXTS)
def test_estimates_are_not_below_tokenizer_counts(name: str, counters: dict[str, Callable[[str], int]]) -> None:
    text = TEXTS[name] * (20 if len(TEXTS[name]) < 500 else 1)
    counted = {tokenizer: count(text) for tokenizer, count in counters.items()}
    assert max(counted.values()) <= text_tokens(text) <= 4 * max(counted.values())
    assert text_tokens(text) <= len(text.encode())


@pytest.mark.parametrize("name", ["English", "Thai", "Chinese", "JSON, indented", "Python", "tables"])
def test_long_text_is_estimated_from_samples(name: str) -> None:
    text = TEXTS[name]
    times = 2_000_000 // len(text)
    assert text_tokens(text * times) == pytest.approx(times * text_tokens(text), rel=0.05)


def test_empty_text_has_no_tokens_and_surrogates_are_accepted() -> None:
    assert text_tokens("") == 0
    assert text_tokens("a \ud800 b") > 0


def test_prompt_tokens_include_messages_calls_tools_and_schema() -> None:
    bare = Request((Message("user", "Read it."),))
    tool = ToolSpec("ReadFile", "Read a file of the workspace.", {"type": "object", "properties": {"path": {}}})
    assert prompt_tokens(Request(bare.messages, tools=(tool,))) > prompt_tokens(bare) + 20
    assert prompt_tokens(Request(bare.messages, schema={"type": "object"})) > prompt_tokens(bare)
    assert prompt_tokens(bare) <= most_prompt_tokens(bare)


def test_estimated_usage_is_not_estimated_again() -> None:
    request = Request((Message("user", "x " * 100),))
    once = completed(Usage(1), request, "an answer")
    assert once.estimated_calls == 1
    assert completed(once, request, "another answer") == once
    assert completed(Usage(0), request, "made before") == Usage(0)
