"""The environment of a tool's process: a few standard variables, and the variables that its manifest names.

Secrets are withheld; they are recognised by name and value, because a list could not be complete. A tool gets a secret
of its own if the user names the variable in GOALWRIGHT_TOOL_SECRETS, but never a model provider's key.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
PATH = "/usr/local/bin:/usr/bin:/bin"
GRANTS = "GOALWRIGHT_TOOL_SECRETS"
# Words between underscores: `KEY`, `APIKEY2`, `TOKEN`, but not `PATH`, `KEYBOARD`, `AUTHOR` or `TOKENIZERS`.
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:[A-Z0-9]*KEYS?\d*|PATS?|PASS|[A-Z]*PWD|O?AUTH\d*|BEARER|[A-Z]*JWT|COOKIES?|CREDS?|DSN)(?:_|$)"
    r"|TOKEN(?!I[SZ])|SECRET|PASSW(?:OR)?D|PASSPHRASE|PASSCODE|CREDENTIAL|AUTHORI[SZT]|API_?KEY|ACCESS_?KEY"
    r"|PRIVATE_?KEY",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"\b(?:sk|pk|rk)-[\w\-]{16,}|\b(?:gh[posur]|github_pat|glpat|xox[abeprs]|hf|gsk|npm|pypi)[_\-][\w\-]{16,}"
    r"|\bA[KS]IA[0-9A-Z]{16}\b|\bAIza[\w\-]{30,}|\beyJ[\w\-]{10,}\.[\w\-]{10,}|PRIVATE KEY-----|://[^\s/@]*:[^\s/@]+@"
)
# Prefixes of the variables that litellm reads keys from. Only goalwright may use them; a grant does not change that.
_PROVIDERS = (
    "AI21", "AIML", "ALEPH_ALPHA", "AMAZON_NOVA", "ANTHROPIC", "ANYSCALE", "ARK", "AWS", "AZURE", "BASETEN", "BEDROCK",
    "BYTEZ", "CEREBRAS", "CHATGPT", "CLARIFAI", "CLOUDFLARE", "CO", "CODESTRAL", "COHERE", "COMETAPI", "DASHSCOPE",
    "DATABRICKS", "DATAROBOT", "DEEPINFRA", "DEEPSEEK", "EDENAI", "EMPOWER", "FAL_AI", "FEATHERLESS", "FIREWORKS",
    "FIREWORKSAI", "FRIENDLI", "GALADRIEL", "GEMINI", "GIGACHAT", "GITHUB_COPILOT", "GOOGLE", "GRADIENT_AI", "GROQ",
    "HEROKU", "HF", "HUGGINGFACE", "HUGGING_FACE", "HYPERBOLIC", "INFINITY", "LAMBDA", "LITELLM", "LLAMA", "LM_STUDIO",
    "MARITALK", "META_LLAMA", "MINIMAX", "MISTRAL", "MODELSCOPE", "MOONSHOT", "MORPH", "NEBIUS", "NLP_CLOUD", "NOVITA",
    "NSCALE", "NVIDIA", "OCI", "OLLAMA", "OPENAI", "OPENROUTER", "OR", "OVHCLOUD", "PALM", "PERPLEXITY", "PERPLEXITYAI",
    "PETALS", "PREDIBASE", "QWEN", "QWENCLOUD", "REPLICATE", "SAGEMAKER", "SAMBANOVA", "SNOWFLAKE", "TENCENT",
    "TOGETHER", "TOGETHERAI", "TOGETHER_AI", "V0", "VERCEL_AI_GATEWAY", "VERTEX", "VERTEXAI", "VLLM", "VOLCENGINE",
    "VOYAGE", "WANDB", "WATSONX", "WML", "WX", "XAI", "XINFERENCE", "ZAI", "ZEN",
)  # fmt: skip
_PROVIDER = re.compile(rf"(?:{'|'.join(_PROVIDERS)})_", re.IGNORECASE)


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Return whether a variable's name indicates a secret."""
    return _SECRET_NAME.search(name) is not None


@lru_cache(maxsize=1024)
def is_provider_key(name: str) -> bool:
    """Return whether a variable holds a model provider's key, which only goalwright may use."""
    return _PROVIDER.match(name) is not None and is_secret_name(name)


def environment(environ: Mapping[str, str], names: Iterable[str], scratch: Path) -> dict[str, str]:
    """Return a tool's variables; the scratch folder is its home and its temporary folder."""
    granted = {name.strip() for name in environ.get(GRANTS, "").split(",")}
    secrets = {value for name, value in environ.items() if value and name not in granted and is_secret_name(name)}
    keys = {value for name, value in environ.items() if value and is_provider_key(name)}

    def may_pass(name: str) -> bool:
        value = environ[name]
        if is_provider_key(name) or value in keys:
            return False
        return name in granted or not (is_secret_name(name) or value in secrets or _SECRET_VALUE.search(value))

    selected = (*PASSED, *(name for name in names if name in environ and may_pass(name)))
    passed = {name: environ[name] for name in selected if name in environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "GOALWRIGHT_SCRATCH"), str(scratch))
    return {"PATH": PATH, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"} | passed | own
