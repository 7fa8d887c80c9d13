"""`litsynth train-retriever`."""

from __future__ import annotations

from pathlib import Path

import typer


def _train_retriever(
    dataset: str = typer.Option(..., help="A data set's name (see `litsynth data list`) or a folder with one."),
    output: Path = typer.Option(..., help="The folder to write the trained encoder to; new or empty."),
    base_model: str = typer.Option("BAAI/bge-large-en-v1.5", help="The encoder to start from: minilm (no network), "
                                   "dense_raw, a hub id (owner/model) or a folder."),
    revision: str | None = typer.Option(None, help="The hub revision of the base model."),
    epochs: int = typer.Option(1, help="How often every pair is seen."),
    batch_size: int = typer.Option(64, help="Pairs in a batch at most; no query or document stands in one twice."),
    learning_rate: float = typer.Option(2e-5, help="The highest learning rate, after the warm-up."),
    warmup: float = typer.Option(0.1, help="Share of the steps over which the learning rate rises."),
    scale: float = typer.Option(20.0, help="Factor of the cosine similarities in the loss."),
    seed: int = typer.Option(718, help="Seed of batches and dropout."),
    hard_negatives: int = typer.Option(0, help="Wrong answers for each pair from the top of BM25; no article that any "
                                               "review links to is one."),
    max_steps: int | None = typer.Option(None, help="Stop after this many steps."),
    max_tokens: int | None = typer.Option(None, help="Cut texts at this many tokens while training."),
    mini_batch_size: int | None = typer.Option(None, help="Compute batches in parts of this size, with the same "
                                                          "gradients: for batches that do not fit into memory."),
    checkpoint_every: int = typer.Option(50, help="Steps between two checkpoints."),
    device: str = typer.Option("auto", help="Where to train: auto, cpu, cuda or mps."),
) -> None:
    """Fine-tune a retriever's encoder on the train reviews of a data set.

    Positives are the articles that train reviews link to, without any that a test review links to; what that removed is
    shown. A stopped training resumes with the same command. Use the result as --retriever FOLDER in other commands.

    Example: litsynth train-retriever --dataset sample --base-model minilm --max-steps 4 --output data/raw/trained
    """
    from litsynth import datasets
    from litsynth.experiments.train_retriever.training import base_encoder, train_on
    from litsynth.retrieval.training import TrainingSettings

    settings = TrainingSettings(epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, warmup=warmup,
                                scale=scale, seed=seed, max_steps=max_steps, max_tokens=max_tokens,
                                mini_batch_size=mini_batch_size, checkpoint_every=checkpoint_every)
    trained, guard = train_on(datasets.load(dataset), base_encoder(base_model, revision=revision), output, settings,
                              hard_negatives=hard_negatives, device=device)
    typer.echo(guard.words(), err=True)
    record, steps = trained.record, trained.steps
    typer.echo(f"{record['steps']} steps over {record['pairs_used']} pairs ({record['pairs_alone']} pairs stood alone "
               f"and taught nothing); loss {steps[0]['loss']:.3f} in the first step, {steps[-1]['loss']:.3f} in the "
               f"last; {sum(step['seconds'] for step in steps):.0f} s"
               + (f"; {trained.resumed_at} steps were done before" if trained.resumed_at else ""), err=True)
    typer.echo(str(output))


def register(app: typer.Typer) -> None:
    """Add the command of this room."""
    app.command("train-retriever")(_train_retriever)
