"""The parameters of every experiment, declared once: names, types, defaults, ranges and meaning."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from litsynth.errors import ParameterError, unknown_name
from litsynth.experiments.coercion import Unreadable, coerce, type_name


class Parameters(BaseModel):
    """Base of the parameter classes. A field named `dataset` names a data set or its folder.

    Every field has a default, so that each notebook runs as it is, and a description.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)


def speed_only(default: Any, description: str) -> Any:
    """Declare a field that changes how fast a run is or how it looks, never its numbers: no part of the run id."""
    return Field(default, description=description, json_schema_extra={"decides_result": False})


def deciding_names(parameters: type[Parameters]) -> list[str]:
    """Return the names of the fields that determine the result, in order of declaration."""
    extra = {name: field.json_schema_extra or {} for name, field in parameters.model_fields.items()}
    return [name for name, facts in extra.items() if not isinstance(facts, dict) or facts.get("decides_result", True)]


@dataclass(frozen=True)
class Experiment:
    """One notebook that can be run with other parameters.

    `tables` must exist when it finishes. `module` holds its logic; when it defines
    `identities(parameters, dataset) -> Mapping`, what that returns (encoder revisions, model identities,
    prompt versions) is part of the run id and of the manifest. `book_runs` are further runs of the book besides the one
    with defaults: the name each is promoted as, and its parameters.
    """

    name: str
    description: str
    parameters: type[Parameters]
    tables: tuple[str, ...] = ()
    calls_model: bool = False
    uses_gold: bool = False
    notebook: str = ""
    module: str = ""
    book_runs: Mapping[str, Mapping[str, str]] = dataclass_field(default_factory=dict)

    @property
    def notebook_file(self) -> str:
        """File name of the notebook in `notebooks/`."""
        return self.notebook or f"{self.name}.ipynb"

    @property
    def module_name(self) -> str:
        """Dotted name of the module with the experiment's logic."""
        return self.module or f"litsynth.experiments.{self.name}"

    def parse(self, raw: Mapping[str, Any]) -> Parameters:
        """Return the validated parameters; raises `ParameterError` naming parameter, value and what was expected."""
        fields = self.parameters.model_fields
        values: dict[str, Any] = {}
        for name, value in raw.items():
            if name not in fields:
                raise unknown_name(f"parameter of {self.name}", name, fields)
            try:
                values[name] = coerce(fields[name].annotation, value)
            except Unreadable as error:
                raise self._refusal(name, value, str(error)) from None
        try:
            return self.parameters(**values)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0]) if first["loc"] else "parameters"
            raise self._refusal(name, first["input"], _reason(first)) from None

    def _refusal(self, name: str, value: Any, expected: str) -> ParameterError:
        field = self.parameters.model_fields.get(name)
        example = f"; the default is {field.default!r}" if field else ""
        return ParameterError(f"parameter {name!r} of {self.name} cannot be {value!r}", expected=expected + example,
                              remedy=f"give -p {name}=VALUE of that kind (`litsynth experiments` lists all parameters)")

    def hook(self, name: str) -> Callable[..., Any] | None:
        """Return a function of the experiment's module by name, or None when module or function do not exist."""
        if importlib.util.find_spec(self.module_name) is None:
            return None
        return getattr(importlib.import_module(self.module_name), name, None)

    def rows(self) -> list[dict[str, str]]:
        """Return one row a parameter: name, type, default and meaning, for listings and the book."""
        return [
            {"name": name, "type": type_name(field.annotation), "default": _shown(field.default),
             "meaning": field.description or ""}
            for name, field in self.parameters.model_fields.items()
        ]


def _reason(error: Mapping[str, Any]) -> str:
    place = "".join(f", element {part + 1}" for part in error["loc"][1:] if isinstance(part, int))
    return f"{error['msg'].removeprefix('Value error, ')}{place}"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, (list, tuple)) else str(value)


EXPERIMENTS: dict[str, Experiment] = {}


def register(experiment: Experiment) -> Experiment:
    """Add an experiment to the list; its name must be new, and every parameter needs a default and a description."""
    if experiment.name in EXPERIMENTS:
        raise ParameterError(f"an experiment named {experiment.name!r} exists already", remedy="choose another name")
    for name, field in experiment.parameters.model_fields.items():
        if field.is_required() or not field.description:
            raise ParameterError(f"parameter {name!r} of {experiment.name} lacks a default or a description",
                                 remedy="declare both in its parameter class")
    EXPERIMENTS[experiment.name] = experiment
    return experiment


def get_experiment(name: str) -> Experiment:
    """Return the experiment with this name; raises `ParameterError` with the nearest name when there is none."""
    if name not in EXPERIMENTS:
        raise unknown_name("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


DatasetName = Annotated[str, Field(description="Data set: a name of the catalogue, or a folder.", min_length=1)]
Seed = Annotated[int, Field(description="Seed of everything random.", ge=0)]
Depth = Annotated[int, Field(ge=1, le=100_000_000)]  # more than any corpus has, and what a table can hold
Resamples = Annotated[int, Field(description="Bootstrap resamples behind each interval.", ge=100)]


class RetrievalSweepParameters(Parameters):
    """How well retrievers find the included studies of reviews, at every depth."""

    dataset: DatasetName = "sample"
    split: Literal["train", "test", "all"] = Field("test", description="Reviews to use.")
    retrievers: list[str] = Field(["bm25", "minilm", "hybrid"], min_length=1,
                                  description="Retrievers to compare: names, hub ids or encoder folders.")
    depths: list[Depth] = Field([5, 10, 20, 50, 100, 200], min_length=1,
                                      description="Depths at which measures are taken; the largest is retrieved.")
    index: Literal["flat", "hnsw"] = Field("flat", description="Dense index: exact, or the published HNSW setting.")
    seed: Seed = 0
    resamples: Resamples = 5000
    device: str = speed_only("auto", "Where encoders run: auto, cpu, cuda or mps.")


register(Experiment(
    name="retrieval_sweep",
    description="Find the included studies of reviews: recall, precision and rank quality of retrievers at each depth.",
    parameters=RetrievalSweepParameters,
    tables=("measures", "summary", "differences", "standing", "misses", "miss_summary", "hnsw"),
))


LITBENCH_CONDITIONS = ["T1", "T2", "T3", "T4", "T5", "T6", "T6-control", "T7", "T7-control", "T6s", "T6s-control",
                       "T7s", "T7s-control"]


class LitbenchConditionsParameters(Parameters):
    """How well systems find a fact, its paper and its passage among others, and decline where it is absent."""

    dataset: DatasetName = "sample"
    systems: list[str] = Field(["extractive"], min_length=1, description=(
        "Systems to compare: extractive, ircot:PROFILE, tool_agent:PROFILE, or one's own as module:Class@PROFILE; a "
        "profile is one of models.toml, or local."))
    options: dict[str, dict[str, Any]] = Field({}, description=(
        "Options of systems, by the name given in `systems`, such as {extractive: {refusal_threshold: 0.5}}."))
    conditions: list[str] = Field(LITBENCH_CONDITIONS, min_length=1, description=(
        "Conditions to run. T4-live and T5-live search PubMed Central and are asked for by name."))
    n_values: dict[str, list[PositiveInt]] = Field({}, description=(
        "Numbers of candidate papers for some conditions, such as {T2: [10, 100]}; the others take the published grid, "
        "as far as the papers go."))
    max_n: PositiveInt | None = Field(None, description="Leave out numbers of candidate papers above this; null: all.")
    questions: PositiveInt | None = Field(None, description=(
        "Questions of each bank (single, two-paper), drawn in proportion to fact domains; null asks all."))
    judges: list[str] = Field(["lexical"], min_length=1, description=(
        "The panel, an odd number: model profiles, or judges without a model (lexical, lexical:words, "
        "lexical:numbers)."))
    repeats: int = Field(0, ge=0, description=(
        "Cases that every judge decides a second time, to see whether it agrees with itself."))
    live_pool: str = Field("", description="PubMed Central query of the specialty that T4-live and T5-live search.")
    live_address: str = Field("", description="Base URL of the E-utilities for the live pool; empty: NCBI's own.")
    seed: Seed = 0
    resamples: Resamples = 5000
    token_cap: PositiveInt | None = speed_only(None, (
        "Stop when models have used this many tokens; the run is then partial and a higher cap resumes it."))
    keep_failed: bool = speed_only(False, (
        "Finish with the cells that got no answer as they are (failed, outside of all denominators), instead of "
        "asking for them again."))


register(Experiment(
    name="litbench_conditions",
    description="Ask questions over controlled sets of papers: accuracy, refusal, traceability, two-paper synthesis.",
    parameters=LitbenchConditionsParameters,
    tables=("design", "cells", "facts", "verdicts", "composition", "tally", "accuracy", "by_n", "contrasts",
            "domains", "fact_types", "refusal", "traceability", "failures", "decomposition", "pair_graph",
            "without_hubs", "costs"),
    calls_model=True,
    # Few cells and short prompts, whose answers come with the sample. The embedded model is the system, so the judges
    # have to be others: three that compare words.
    book_runs={"litbench_conditions-local-sample": {
        "systems": "extractive,ircot:local", "questions": "4", "conditions": "T1,T3,T5,T6,T6-control",
        "n_values": "{T3: [10], T5: [10], T6: [10], T6-control: [10]}",
        "judges": "lexical,lexical:words,lexical:numbers", "repeats": "6",
        "options": '{"ircot:local": {passages: 3, context_passages: 4, iterations: 1, passage_characters: 400, '
                   "answer_tokens: 220, text_characters: 120}}"}},
))


class JudgeConcordanceParameters(Parameters):
    """How far a panel of judges can be trusted: against a human's blinded ratings, and judge against judge."""

    dataset: str | None = Field("sample", min_length=1, description=(
        "Data set that the verdicts refer to: a name of the catalogue, or a folder; null beside a verdict file."))
    verdicts: str = Field("lexical", min_length=1, description=(
        "Verdict table: a run of litbench_conditions or a promoted result, with votes as recorded; a CSV or Parquet "
        "file; or `lexical`, the answers of the data set's promoted run (else its newest) judged by three judges "
        "without a model."))
    ratings: Path | None = Field(None, json_schema_extra={"decides_result": False}, description=(
        "CSV of a human's ratings by blinded id (its content decides the run); null simulates ratings, labelled so."))
    strata: list[str] = Field(["condition"], description="Strata of the sample: condition, domain, system.")
    sample_size: PositiveInt = Field(154, description="Cells to draw for the human, over all strata.")
    allocation: Literal["proportional", "equal"] = Field("proportional", description=(
        "Cells a stratum: in proportion to its size, or as many from each."))
    simulated_missed: float = Field(0.06, ge=0, le=1, description="Simulated rater: share of due credit not given.")
    simulated_credited: float = Field(0.08, ge=0, le=1, description="Simulated rater: share of credit not due given.")
    simulated_unsure: float = Field(0.03, ge=0, le=1, description="Simulated rater: share of cells it cannot tell.")
    show_texts: bool = speed_only(False, (
        "Show answers and quotes of real data in the notebook; synthetic ones are always shown. A promoted notebook "
        "publishes what it shows."))
    seed: Seed = 0
    resamples: Resamples = 5000


register(Experiment(
    name="judge_concordance",
    description="Compare a panel of judges with a human's blinded ratings and correct accuracy for its errors.",
    parameters=JudgeConcordanceParameters,
    tables=("strata", "sample", "agreement", "judges", "by_group", "direction", "disagreements", "corrected",
            "published_rederived"),
))


class OracleRagParameters(Parameters):
    """What review writers lose by themselves: candidates as retrieved against reference studies first."""

    dataset: DatasetName = "sample"
    split: Literal["train", "test", "all"] = Field("test", description="Reviews to use.")
    retriever: str = Field("bm25", min_length=1, description="Retriever of the candidates.")
    top_k: PositiveInt = Field(200, description="Candidates that a system is given.")
    systems: list[str] = Field(["extractive"], min_length=1, description=(
        "Systems: extractive and screener (no model), one_pass:PROFILE, screening:PROFILE, agent:PROFILE, or one's own "
        "as module:Class@PROFILE."))
    options: dict[str, dict[str, Any]] = Field({}, description=(
        "Options of systems, by the name given in `systems`, such as {agent:local: {max_steps: 6}}."))
    modes: list[Literal["actual", "oracle"]] = Field(["actual", "oracle"], min_length=1, description=(
        "Order of the candidates: actual, or reference studies first (label-informed)."))
    truncation: Literal["none", "abstracts", "candidates"] = Field("none", description=(
        "What is cut when a prompt does not fit the context window; none makes that a failure."))
    abstract_characters: int | None = Field(None, ge=0, description=(
        "Characters after which every abstract is cut for models; null for whole abstracts."))
    answer_tokens: PositiveInt | None = Field(None, description=(
        "Tokens of a model's report; null for 4096, or 512 for weak models."))
    review_limit: PositiveInt | None = Field(None, description="Only the first reviews by ID; null for all.")
    release: Path | None = Field(None, json_schema_extra={"decides_result": False}, description=(
        "Folder of an imported release to show beside (its content decides the run); null for the promoted one, or "
        "else the published means."))
    seed: Seed = 0
    resamples: Resamples = 5000
    token_cap: PositiveInt | None = speed_only(None, (
        "Stop when models have used this many tokens; the run is then partial and a higher cap resumes it."))
    device: str = speed_only("auto", "Where encoders run: auto, cpu, cuda or mps.")


register(Experiment(
    name="oracle_rag",
    description="Follow reference studies from retrieval to the final list, in actual and in label-informed order.",
    parameters=OracleRagParameters,
    tables=("statuses", "metrics", "summary", "differences", "funnel", "places", "abstracts", "criteria", "calibration",
            "released"),
    calls_model=True,
    uses_gold=True,
    # Every kind of system on the same few candidates. The model's answers come with the sample, so that it is not
    # started again for the book.
    book_runs={"oracle_rag-local-sample": {
        "systems": "extractive,screener,one_pass:local,screening:local,agent:local", "top_k": "8",
        "abstract_characters": "160", "review_limit": "3"}},
))


class ScreeningParameters(Parameters):
    """How much reading a screener saves that learned from the decisions of other reviews, and a model beside it."""

    dataset: DatasetName = "sample"
    signals: list[Literal["bm25", "minilm"]] = Field(["bm25", "minilm"], min_length=1, description=(
        "Retrievers whose scores are features; their orders alone are what the screener is compared with."))
    top_k: PositiveInt = Field(200, description=(
        "Candidates of a review from both retrievers fused, where the data set does not say what was screened."))
    workloads: list[float] = Field([0.05, 0.1, 0.2, 0.3, 0.5, 0.7], min_length=1, description=(
        "Shares of the candidates read, at which recall is taken."))
    target_recall: float = Field(0.95, gt=0, lt=1, description=(
        "Recall that the threshold was to keep on train reviews left out."))
    leave_one_out: bool = Field(True, description=(
        "Also screen every review, train and test, by what was learned from all the others."))
    model: str = Field("", description="Profile of a model that screens beside it (slow); empty: none.")
    model_reviews: PositiveInt = Field(2, description="Test reviews that the model screens, in order of ID.")
    model_candidates: PositiveInt = Field(200, description="Candidates of a review that the model screens.")
    model_batch: PositiveInt = Field(25, description="Candidates in one question to the model.")
    seed: Seed = 0
    resamples: Resamples = 5000
    device: str = speed_only("auto", "Where encoders run: auto, cpu, cuda or mps.")
    token_cap: PositiveInt | None = speed_only(None, (
        "Stop when the model has used this many tokens; the run is then partial and a higher cap resumes it."))


register(Experiment(
    name="screening",
    description="Screen candidates: recall against reading, thresholds, calibration, and errors by criterion.",
    parameters=ScreeningParameters,
    tables=("measures", "summary", "differences", "operating", "operating_summary", "reliability", "calibration",
            "criteria", "weights", "model_decisions", "model_counts"),
    calls_model=True,
    module="litsynth.experiments.screening",
))


class TrainRetrieverParameters(Parameters):
    """What training an encoder on the train reviews' links changes on the test reviews.

    The defaults are a short demonstration on the sample; the benchmark's setting is that of `litsynth train-retriever`.
    """

    dataset: DatasetName = "sample"
    base_model: str = Field("minilm", min_length=1, description=(
        "The encoder to train: a retriever's name, a hub id or a folder."))
    hard_negatives: list[Annotated[int, Field(ge=0)]] = Field([0], min_length=1, description=(
        "Wrong answers for each pair from the top of BM25; one training for each number given."))
    epochs: PositiveInt = Field(1, description="How often every pair is seen.")
    batch_size: PositiveInt = Field(64, description="Pairs in a batch at most, without duplicates.")
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="The highest learning rate.")
    warmup: float = Field(0.1, ge=0, lt=1, description="Share of the steps over which the learning rate rises.")
    scale: float = Field(20.0, gt=0, description="Factor of the cosine similarities in the loss.")
    max_steps: PositiveInt | None = Field(4, description="Stop after this many steps; null trains whole epochs.")
    max_tokens: PositiveInt | None = Field(64, description=(
        "Cut texts at this many tokens while training; null: as the encoder does. Searching is not affected."))
    corpus: Literal["all", "screened", "pooled"] = Field("pooled", description=(
        "Articles that are searched before and after: all; those screened for the test reviews; or those that test "
        "reviews link to with BM25's first ones for each."))
    pool_depth: PositiveInt = Field(25, description="How many of BM25's first articles corpus=pooled takes a review.")
    depths: list[Depth] = Field([5, 10, 20, 50, 100, 200], min_length=1, description="Depths of the measures.")
    seed: Annotated[int, Field(description="Seed of batches, dropout and resampling.", ge=0)] = 718
    resamples: Resamples = 5000
    device: str = speed_only("auto", "Where encoders train and run: auto, cpu, cuda or mps.")


register(Experiment(
    name="train_retriever",
    description="Train a retriever's encoder on the train reviews and search for the test reviews before and after.",
    parameters=TrainRetrieverParameters,
    tables=("measures", "summary", "differences", "studies", "changes", "guard", "steps"),
))
