"""The teacher: a sentence model (all-MiniLM-L6-v2) tuned so that goals are near their skills."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FIRST, LAST = 101, 102


class Teacher:
    """A BERT encoder with mean pooling, read from a folder with its weights and `tokenizer.json`."""

    def __init__(self, folder: Path, device: str) -> None:
        import numpy
        import torch
        from tokenizers import Tokenizer
        from transformers import BertConfig, BertModel

        self.device = device
        self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        if (folder / "model.safetensors").is_file():
            weights = from_safetensors(folder / "model.safetensors")
        else:
            parts = [numpy.load(path).items() for path in sorted(folder.glob("weights*.npz"))]
            weights = unpacked({name: array for part in parts for name, array in part})
        layers = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
        config = BertConfig(
            hidden_size=384, num_hidden_layers=layers, num_attention_heads=12, intermediate_size=1536, vocab_size=30522
        )
        self.model: Any = BertModel(config, add_pooling_layer=False)
        self.model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()}, strict=True)
        self.model.to(device)

    def mix(self, other: dict[str, Any], share: float) -> None:
        """Mix the weights with others, of which one minus `share` is taken: a tuned model forgets less that way."""
        own = self.model.state_dict()
        self.model.load_state_dict({name: share * own[name] + (1 - share) * other[name] for name in own})

    def tokens(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        """The tokens of each text without the first and last marks."""
        found: list[list[int]] = []
        for start in range(0, len(texts), 20_000):
            batch = self.tokenizer.encode_batch(list(texts[start : start + 20_000]), add_special_tokens=False)
            found += [one.ids[:limit] for one in batch]
        return found

    def encode(self, rows: Sequence[Sequence[int]]) -> Any:
        """Unit vectors of token sequences."""
        import numpy
        import torch

        longest = max(map(len, rows)) + 2
        ids = numpy.zeros((len(rows), longest), numpy.int64)
        mask = numpy.zeros((len(rows), longest), numpy.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row) + 2] = [FIRST, *row, LAST]
            mask[at, : len(row) + 2] = 1
        ids_, mask_ = torch.from_numpy(ids).to(self.device), torch.from_numpy(mask).to(self.device)
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.device == "cuda"):
            states = self.model(input_ids=ids_, attention_mask=mask_).last_hidden_state
        pooled = (states.float() * mask_[:, :, None]).sum(1) / mask_.sum(1, keepdim=True)
        return torch.nn.functional.normalize(pooled, dim=1)

    def embed(self, texts: Sequence[str], limit: int = 256, batch: int = 2048) -> Any:
        """Unit vectors of texts, without gradients."""
        return self.embed_tokens(self.tokens(texts, limit), batch)

    def embed_tokens(self, rows: Sequence[Sequence[int]], batch: int = 2048) -> Any:
        """Unit vectors of token sequences, without gradients."""
        import torch

        self.model.eval()
        order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
        found = torch.zeros(len(rows), 384, device=self.device)
        with torch.no_grad():
            for start in range(0, len(order), batch):
                places = order[start : start + batch]
                found[places] = self.encode([rows[at] for at in places])
        return found


def centred(vectors: Any, center: Any) -> Any:
    """Unit vectors without what all texts have in common, which is most of a cosine for some teachers."""
    import torch

    return torch.nn.functional.normalize(vectors - center, dim=1)


def packed(weights: dict[str, Any]) -> dict[str, Any]:
    """Weights with matrices as int8 by row, the rest as half floats."""
    import numpy

    found: dict[str, Any] = {}
    for name, array in weights.items():
        if array.ndim == 2 and array.shape[0] > 2:
            scale = numpy.abs(array).max(1, keepdims=True) / 127 + 1e-12
            found[f"{name}|rows"] = numpy.round(array / scale).astype(numpy.int8)
            found[f"{name}|scales"] = scale[:, 0].astype(numpy.float32)
        else:
            found[name] = array.astype(numpy.float16)
    return found


def unpacked(stored: dict[str, Any]) -> dict[str, Any]:
    """Weights as floats, from what `packed` made of them or from half floats."""
    import numpy

    found = {name: array.astype(numpy.float32) for name, array in stored.items() if "|" not in name}
    for name in stored:
        if name.endswith("|rows"):
            base = name.removesuffix("|rows")
            found[base] = stored[name].astype(numpy.float32) * stored[f"{base}|scales"][:, None]
    return found


def from_safetensors(path: Path) -> dict[str, Any]:
    """The weights of the published model, without those of the pooling layer."""
    import numpy

    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])
    found = {}
    for name, entry in head.items():
        if name == "__metadata__" or name.startswith("pooler") or "position_ids" in name:
            continue
        start, end = entry["data_offsets"]
        array = numpy.frombuffer(data[8 + size + start : 8 + size + end], {"F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        found[name] = array.reshape(entry["shape"]).astype(numpy.float32)
    return found
