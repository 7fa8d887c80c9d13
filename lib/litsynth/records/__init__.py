"""Frozen records: the only language between the rooms of this package."""

from litsynth.records.articles import Article, Paper, Passage, Section
from litsynth.records.models import Completion, LanguageModel, Message, ModelRequest, ToolCall, Usage
from litsynth.records.results import CandidateSet, Estimate, Ranking, ScoreRow
from litsynth.records.systems import Candidate, Quotation, Report, Response, Retriever, Searcher, Trace
from litsynth.records.tasks import Dataset, Fact, Gold, Question, QuestionTask, Review

__all__ = [
    "Article", "Candidate", "CandidateSet", "Completion", "Dataset", "Estimate", "Fact", "Gold", "LanguageModel",
    "Message", "ModelRequest", "Paper", "Passage", "Question", "QuestionTask", "Quotation", "Ranking", "Report",
    "Response", "Retriever", "Review", "ScoreRow", "Searcher", "Section", "ToolCall", "Trace", "Usage",
]
