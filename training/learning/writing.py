"""A language model that answers many prompts at once, on an accelerator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from training import bundle, requests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from training.requests import Prompt

BATCH = 1024
MOST_TOKENS = {"write": 150, "translate": 260}
TEMPERATURE, TOP = 0.8, 50


def write_requests(data: Path, gguf: Path, out: Path) -> int:
    """Write requests for the skills of a bundle, and translations of some, to a file; gives their number."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    tokenizer.padding_side = "left"
    model: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    torch.manual_seed(0)
    prompts = list(requests.to_write(bundle.read(data)["skills"]))
    written = requests.written(_answers(model, tokenizer, prompts, MOST_TOKENS["write"], sampled=True))
    prompts = list(requests.to_translate(written))
    translated = requests.translated(_answers(model, tokenizer, prompts, MOST_TOKENS["translate"], sampled=False))
    found = requests.joined(written, translated)
    out.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    return len(found)


def _answers(
    model: Any, tokenizer: Any, prompts: Sequence[Prompt], most: int, *, sampled: bool
) -> Iterator[tuple[Prompt, str]]:
    import torch

    texts = [tokenizer.apply_chat_template(one.turns, tokenize=False, add_generation_prompt=True) for one in prompts]
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    drawn = {"do_sample": True, "temperature": TEMPERATURE, "top_k": TOP} if sampled else {"do_sample": False}
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        batch = tokenizer([texts[place] for place in places], return_tensors="pt", padding=True).to(model.device)
        with torch.inference_mode():
            made = model.generate(**batch, max_new_tokens=most, **drawn)[:, batch["input_ids"].shape[1] :]
        for place, answer in zip(places, tokenizer.batch_decode(made, skip_special_tokens=True), strict=True):
            yield prompts[place], answer
