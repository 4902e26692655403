"""A local checkpoint as a route, with no server and no key.

`pip install -e '.[train]'`, then in params.yaml::

    my-checkpoint:
      adapter: command
      argv: [.venv/bin/python, examples/checkpoint.py, --model, path/to/checkpoint]
      model: my-checkpoint
      weights_sha256: <the output of sha256sum path/to/checkpoint/model.safetensors>
      settings: {max_tokens: 512}
      label: My checkpoint
      ranked: true

The program reads one JSON line a question and writes one an answer. `settings` come with every
question: `max_tokens`, `temperature` (0 takes the likeliest token) and `seed`. Without `--model` it
makes a tiny model with random weights, to try the way in a minute.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM
from transformers.models.byt5 import ByT5Tokenizer


def load(name: str | None) -> tuple[Any, Any]:
    """Model and tokenizer: the named ones, or tiny ones that read bytes."""
    if name:
        model = AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto")
        return model.eval(), AutoTokenizer.from_pretrained(name)
    torch.manual_seed(0)
    tokenizer = ByT5Tokenizer()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=4096, pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval(), tokenizer


def encode(tokenizer: Any, question: dict[str, Any]) -> Any:
    """The question in the model's own chat format, or as plain text where it has none."""
    messages = [{"role": "user", "content": question["prompt"]}]
    if question["system"]:
        messages.insert(0, {"role": "system", "content": question["system"]})
    if tokenizer.chat_template:
        return tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
    return tokenizer("\n\n".join(message["content"] for message in messages), return_tensors="pt")


@torch.inference_mode()
def answer(model: Any, tokenizer: Any, question: dict[str, Any]) -> dict[str, Any]:
    """One answer: its text, why it ended, and the tokens that it took."""
    settings = {"max_tokens": 512, "temperature": 0, "seed": 0} | question["settings"]
    inputs = encode(tokenizer, question).to(model.device)
    sampling: dict[str, Any] = {"do_sample": False}
    if settings["temperature"]:
        sampling = {"do_sample": True, "temperature": settings["temperature"]}
    torch.manual_seed(settings["seed"] + question["repeat"])
    output = model.generate(**inputs, max_new_tokens=settings["max_tokens"], **sampling)
    asked = inputs["input_ids"].shape[1]
    tokens = output[0, asked:]
    return {
        "id": question["id"],
        "answer": tokenizer.decode(tokens, skip_special_tokens=True),
        "finish_reason": "length" if len(tokens) >= settings["max_tokens"] else "stop",
        "prompt_tokens": asked,
        "completion_tokens": len(tokens),
    }


def main() -> None:
    """Answer until the questions end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a checkpoint's folder")
    options = parser.parse_args()
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    model, tokenizer = load(options.model)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            said = answer(model, tokenizer, question)
        except RuntimeError as problem:  # out of memory, a text too long
            said = {"id": question["id"], "answer": None, "error": str(problem)[:300]}
        lines.write(json.dumps(said) + "\n")
        lines.flush()


if __name__ == "__main__":
    main()
