"""Digital object identifiers in one spelling."""

from __future__ import annotations

import re
from urllib.parse import unquote


def normalise_doi(value: str | None) -> str | None:
    """Return a DOI in lower case without prefix, resolver and trailing punctuation, or None when it is none.

    DOIs do not tell cases apart (ISO 26324), so two spellings of one are the same article.
    """
    import idutils

    text = re.sub(r"\s*\[doi\]\s*$", "", (value or "").strip(), flags=re.IGNORECASE)
    text = unquote(text) if re.search(r"%2f", text, re.IGNORECASE) else text
    text = re.sub(r"^(?:doi|digital object identifier)\s*:?\s*(?=10\.)", "", text, flags=re.IGNORECASE).rstrip(" .,;")
    if not text or not idutils.is_doi(text):
        return None
    return str(idutils.normalize_doi(text)).lower().rstrip(" .,;")
