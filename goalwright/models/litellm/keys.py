"""Which provider needs which key, known without loading litellm: a missing one is told before a run is opened.

`tests/goalwright/models/litellm/test_keys.py` compares this list with litellm's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Mapping

# One of the variables is enough.
KEYS: Mapping[str, tuple[str, ...]] = {
    "ai21": ("AI21_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "codestral": ("CODESTRAL_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "deepinfra": ("DEEPINFRA_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "nebius": ("NEBIUS_API_KEY",),
    "novita": ("NOVITA_API_KEY",),
    "nvidia_nim": ("NVIDIA_NIM_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "replicate": ("REPLICATE_API_KEY", "REPLICATE_API_TOKEN"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
    "voyage": ("VOYAGE_API_KEY",),
    "xai": ("XAI_API_KEY",),
}
# Providers without a key of that kind, so that a mistyped name can be told from a rare one.
OTHERS = (
    "azure", "azure_ai", "bedrock", "databricks", "github", "github_copilot", "hosted_vllm", "huggingface",
    "litellm_proxy", "llamafile", "lm_studio", "ollama", "ollama_chat", "perplexity", "sagemaker", "vertex_ai",
    "watsonx",
)  # fmt: skip
_LIKE = 0.75


def missing_key(model: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The variables of which a model's provider needs one, if none is set; empty if one is, or nothing is known."""
    provider, slash, _ = model.partition("/")
    keys = KEYS.get(provider, ()) if slash else ()
    return () if any(env.get(key, "").strip() for key in keys) else keys


def mistyped(model: str) -> str:
    """The provider that was probably meant where a model's name begins with one that is unknown; else empty."""
    provider, slash, _ = model.partition("/")
    providers = (*KEYS, *OTHERS)
    return guess(provider.lower(), providers, cutoff=_LIKE) if slash and provider not in providers else ""
