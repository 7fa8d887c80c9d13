"""Retrieval: a review's protocol query and the articles that may be ranked go in, a ranking comes out."""

from litsynth.retrieval.corpus import SearchCorpus, document_text
from litsynth.retrieval.opening import RETRIEVERS, build_index, open_retriever, parts_of
from litsynth.retrieval.query import protocol_query

__all__ = ["RETRIEVERS", "SearchCorpus", "build_index", "document_text", "open_retriever", "parts_of", "protocol_query"]
