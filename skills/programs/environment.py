"""The environment of a tool's process: what every program needs, and the variables its manifest names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
PATH = "/usr/local/bin:/usr/bin:/bin"
_PROVIDERS = (
    "AI21", "ALEPH_ALPHA", "ANTHROPIC", "ANYSCALE", "AZURE", "AZURE_AI", "AZURE_OPENAI", "BASETEN", "CEREBRAS",
    "CO", "COHERE", "DASHSCOPE", "DATABRICKS", "DEEPINFRA", "DEEPSEEK", "FIREWORKS", "FIREWORKS_AI", "GEMINI", "GOOGLE",
    "GROQ", "HF", "HUGGINGFACE", "LITELLM", "MISTRAL", "MOONSHOT", "NOVITA", "NVIDIA_NIM", "OLLAMA", "OPENAI",
    "OPENROUTER", "PERPLEXITY", "PERPLEXITYAI", "REPLICATE", "SAMBANOVA", "TOGETHER", "TOGETHERAI", "TOGETHER_AI",
    "VERTEX", "VOLCENGINE", "VOYAGE", "WATSONX", "XAI", "ZAI",
)  # fmt: skip
_PROVIDER_KEY = re.compile(rf"(?:{'|'.join(_PROVIDERS)})_(?:API_)?(?:KEY|TOKEN)", re.IGNORECASE)


def is_provider_key(name: str) -> bool:
    """Whether a variable holds a model provider's key, which only weft may use."""
    return _PROVIDER_KEY.fullmatch(name) is not None


def environment(environ: Mapping[str, str], names: Iterable[str], scratch: Path) -> dict[str, str]:
    """The variables that a tool sees; the scratch folder is its home and its temporary folder."""
    wanted = (*PASSED, *(name for name in names if not is_provider_key(name)))
    passed = {name: environ[name] for name in wanted if name in environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "WEFT_SCRATCH"), str(scratch))
    return {"PATH": PATH, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"} | passed | own
