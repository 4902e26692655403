"""One recipe a method: `python examples/train.py sft|dpo|grpo --data training --out model`.

Needs `pip install -e '.[train]'` and the files of `flavourbench export`. Without `--model` it makes
a tiny model with random weights, so that the recipe can be tried on a CPU in a minute; name a model
to train one.
"""

from __future__ import annotations

import argparse
import copy
from pathlib import Path
from typing import Any

from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM
from transformers.models.byt5 import ByT5Tokenizer
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from pipeline.exchange.reward import selection_reward


def load(options: argparse.Namespace) -> tuple[Any, Any]:
    """Model and tokenizer: the named one, or a tiny one that reads bytes."""
    if options.model:
        tokenizer = AutoTokenizer.from_pretrained(options.model)
        return AutoModelForCausalLM.from_pretrained(options.model), tokenizer
    tokenizer = ByT5Tokenizer()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=2048, pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config), tokenizer


def rows_in(path: Path) -> bool:
    """Whether there is anything in a file."""
    return path.is_file() and path.stat().st_size > 0


def main() -> None:
    """Train, and say the rewards or losses that the trainer logs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=("sft", "dpo", "grpo"))
    parser.add_argument("--data", type=Path, default=Path("training"))
    parser.add_argument("--model")
    parser.add_argument("--out", default="model")
    parser.add_argument("--steps", type=int, default=-1, help="default: one epoch")
    options = parser.parse_args()
    paths = {
        split: options.data / f"{options.method}_{split}.jsonl" for split in ("train", "validation")
    }
    # A file without rows makes no split: `datasets` cannot load one.
    files = {split: str(path) for split, path in paths.items() if rows_in(path)}
    if "train" not in files:
        parser.error(f"no rows in {paths['train']}: run `flavourbench export {options.method}`")
    if "validation" not in files:
        print(f"No rows in {paths['validation']}: nothing is validated.")  # noqa: T201
    model, tokenizer = load(options)
    data = load_dataset("json", data_files=files)
    validation = data.get("validation")
    shared: dict[str, Any] = {
        "output_dir": options.out, "max_steps": options.steps, "num_train_epochs": 1,
        "per_device_train_batch_size": 4, "logging_steps": 1, "report_to": "none", "seed": 1,
        "save_strategy": "no", "use_cpu": options.model is None, "bf16": options.model is not None,
        "eval_strategy": "no" if validation is None else "epoch",
    }  # fmt: skip
    if options.method == "sft":
        trainer = SFTTrainer(
            model, SFTConfig(**shared, completion_only_loss=True), train_dataset=data["train"],
            eval_dataset=validation, processing_class=tokenizer,
        )  # fmt: skip
    elif options.method == "dpo":
        trainer = DPOTrainer(
            model, copy.deepcopy(model), DPOConfig(**shared), train_dataset=data["train"],
            eval_dataset=validation, processing_class=tokenizer,
        )  # fmt: skip
    else:
        # Every column of a row (choices, selection_scores_bps, …) reaches the reward as a list.
        trainer = GRPOTrainer(
            model, selection_reward, train_dataset=data["train"], eval_dataset=validation,
            processing_class=tokenizer,
            args=GRPOConfig(**shared, num_generations=4, max_completion_length=32),
        )  # fmt: skip
    trainer.train()
    trainer.save_model(options.out)


if __name__ == "__main__":
    main()
