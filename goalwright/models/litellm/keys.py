"""The environment variables with providers' keys, so that a missing one is reported without loading litellm.

`tests/goalwright/models/litellm/test_keys.py` compares this list with litellm's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Mapping

# Any one of a provider's variables is enough.
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
# Providers without such a key; any other provider counts as mistyped if its name is close to a listed one.
OTHERS = (
    "azure", "azure_ai", "bedrock", "databricks", "github", "github_copilot", "hosted_vllm", "huggingface",
    "litellm_proxy", "llamafile", "lm_studio", "ollama", "ollama_chat", "perplexity", "sagemaker", "vertex_ai",
    "watsonx",
)  # fmt: skip
_SIMILAR = 0.75


def missing_key(model: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that could hold a model's key; empty if one is set or the provider is not listed."""
    provider, slash, _ = model.partition("/")
    keys = KEYS.get(provider, ()) if slash else ()
    return () if any(env.get(key, "").strip() for key in keys) else keys


def mistyped(model: str) -> str:
    """The listed provider that a model's unlisted one is probably a misspelling of; else empty."""
    provider, slash, _ = model.partition("/")
    providers = (*KEYS, *OTHERS)
    return guess(provider.lower(), providers, cutoff=_SIMILAR) if slash and provider not in providers else ""
