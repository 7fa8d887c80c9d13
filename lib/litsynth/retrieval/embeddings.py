"""Embeddings on disk: computed once for each text and encoder, in batches that survive a kill at any time."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock

from litsynth.errors import DataError
from litsynth.files import dumps, sha256_of
from litsynth.paths import indexes_dir
from litsynth.progress import progress
from litsynth.retrieval.corpus import DOCUMENT_TEMPLATE
from litsynth.retrieval.encoder import Encoder

QUERY_TEMPLATE = "query/1"
_LOOK_UP = 500  # keys in one SQL statement


@dataclass(frozen=True)
class Embedded:
    """Vectors in the order of their texts, shape (n, d), and each text's tokens before the cut, shape (n,)."""

    vectors: np.ndarray
    tokens: np.ndarray


def text_key(template: str, text: str) -> bytes:
    """Return the key under which the vector of a text (prefix included) is kept."""
    return hashlib.sha256(f"{template}\x00{text}".encode("utf-8", "surrogatepass")).digest()


class EmbeddingStore:
    """One SQLite file for one encoder identity: key -> float32 vector and token count.

    The first vector written for a key stays. Every batch is one transaction, so a killed process loses at most the
    batch it was at, and several processes can read and write at the same time.
    """

    def __init__(self, path: Path, identity: dict[str, object]) -> None:
        self.path = Path(path)
        self._identity = identity

    @classmethod
    def of(cls, encoder: Encoder, folder: Path | None = None) -> EmbeddingStore:
        """Return the store of an encoder under `folder` (default: `data/indexes/embeddings`)."""
        kept = {key: encoder.identity[key] for key in ("files_sha256", "max_tokens", "normalise")}
        slug = re.sub(r"[^\w.-]+", "_", Path(str(encoder.identity["name"])).name) or "encoder"
        base = folder if folder is not None else indexes_dir() / "embeddings"
        return cls(base / slug / f"{sha256_of(kept)[:16]}.sqlite", encoder.identity)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=60)
            try:
                connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, "
                                   "tokens INTEGER NOT NULL, vector BLOB NOT NULL)")
                connection.execute("CREATE TABLE IF NOT EXISTS about (identity TEXT PRIMARY KEY)")
                yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{self.path}: the store of embeddings cannot be used ({error})",
                            expected="a writable SQLite file on a local disk with room left",
                            remedy="free some space or check permissions; a damaged file can be deleted, its vectors "
                                   "will be computed again") from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the right to encode for this store: processes at the same corpus share the work instead of doubling it.

        The lock goes when its holder ends, however it ends.
        """
        lock = FileLock(self.path.with_suffix(".lock"))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except OSError as error:
            raise DataError(f"{self.path.parent}: embeddings cannot be kept here ({error})",
                            expected="a writable folder", remedy="check permissions and free space") from error
        try:
            yield
        finally:
            lock.release()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, tuple[int, bytes]]:
        """Return {key: (tokens, vector bytes)} of the keys that are there."""
        found: dict[bytes, tuple[int, bytes]] = {}
        if not self.path.exists():
            return found
        with self._open() as connection:
            for start in range(0, len(keys), _LOOK_UP):
                part = keys[start:start + _LOOK_UP]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, tokens, vector FROM vectors WHERE key IN ({marks})", part)
                found.update({key: (tokens, vector) for key, tokens, vector in rows})
        return found

    def put(self, keys: Sequence[bytes], tokens: Sequence[int], vectors: np.ndarray) -> None:
        """Add vectors, shape (n, d); a key that another process wrote meanwhile keeps its first vector."""
        rows = [(key, int(count), np.ascontiguousarray(vector, dtype="<f4").tobytes())
                for key, count, vector in zip(keys, tokens, vectors, strict=True)]
        with self._open() as connection, connection:
            connection.execute("INSERT OR IGNORE INTO about VALUES (?)", (dumps(self._identity),))
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)


def _gather(store: EmbeddingStore, keys: Sequence[bytes], rows: dict[bytes, tuple[int, bytes]]) -> Embedded:
    lengths = {len(rows[key][1]) for key in keys}
    if len(lengths) != 1 or next(iter(lengths)) % 4 or not next(iter(lengths)):
        raise DataError(f"{store.path}: its vectors have different sizes ({sorted(lengths)} bytes)",
                        expected="one dimension", remedy="delete the file; its vectors will be computed again")
    vectors = np.frombuffer(b"".join(rows[key][1] for key in keys), dtype="<f4").reshape(len(keys), -1)
    return Embedded(vectors.astype(np.float32, copy=False), np.array([rows[key][0] for key in keys], dtype=np.int64))


def embed(encoder: Encoder, store: EmbeddingStore, texts: Sequence[str], *, template: str, stage: str = "") -> Embedded:
    """Return the vectors of `texts` (prefix included), taking from the store what is there and adding the rest.

    What is missing is encoded in order of length and written after every chunk; an interrupted call continues where it
    stopped. `stage` names the progress bar.
    """
    keys = [text_key(template, text) for text in texts]
    rows = store.get(keys)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
    if missing:
        order = sorted(missing, key=lambda key: (len(missing[key]), key))
        chunks = [order[start:start + encoder.chunk] for start in range(0, len(order), encoder.chunk)]
        for part in progress(chunks, total=len(chunks), stage=stage or f"encode {len(order)} texts"):
            with store.writing():
                there = store.get(part)  # another process may have been here
                part_texts = [missing[key] for key in part if key not in there]
                if part_texts:
                    store.put([key for key in part if key not in there], encoder.count_tokens(part_texts),
                              encoder.encode(part_texts))
        rows.update(store.get(order))
    return _gather(store, keys, rows)


def embed_documents(encoder: Encoder, store: EmbeddingStore, texts: Sequence[str]) -> Embedded:
    """Return the vectors of document texts, with the encoder's document prefix."""
    prefix = encoder.files.settings.document_prefix or ""
    return embed(encoder, store, [prefix + text for text in texts], template=DOCUMENT_TEMPLATE,
                 stage=f"encode with {encoder.files.settings.name}")


def embed_query(encoder: Encoder, store: EmbeddingStore, query: str) -> np.ndarray:
    """Return the vector of one query, shape (d,), with the encoder's query prefix."""
    prefix = encoder.files.settings.query_prefix or ""
    return embed(encoder, store, [prefix + " ".join(query.split())], template=QUERY_TEMPLATE).vectors[0]
