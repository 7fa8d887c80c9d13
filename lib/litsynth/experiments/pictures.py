"""Pictures that pages carry in themselves become files beside them: small pages, and each picture kept once."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

from litsynth import files

_EMBEDDED = re.compile(r'src="data:image/(svg\+xml|png|jpeg|gif);base64,([A-Za-z0-9+/=\s]+)"')
_SUFFIX = {"svg+xml": "svg", "png": "png", "jpeg": "jpg", "gif": "gif"}
SMALLEST = 4_096  # characters; smaller ones cost less in the page than a request of their own


def unpack_pictures(rendered: Path) -> int:
    """Move embedded pictures of all pages to `_images/`, named by their content; returns how many references moved."""
    moved = 0
    for page in sorted(rendered.rglob("*.html")):
        text = page.read_text(encoding="utf-8")

        def stored(match: re.Match[str], folder: Path = page.parent) -> str:
            kind, encoded = match.groups()
            if len(encoded) < SMALLEST:
                return match.group(0)
            content = base64.b64decode(encoded)
            target = rendered / "_images" / f"{hashlib.sha256(content).hexdigest()[:32]}.{_SUFFIX[kind]}"
            if not target.exists():
                with files.atomic_path(target) as temporary:
                    temporary.write_bytes(content)
            return f'src="{Path(os.path.relpath(target, folder)).as_posix()}"'

        changed = _EMBEDDED.sub(stored, text)
        if changed != text:
            moved += text.count("data:image/") - changed.count("data:image/")
            files.write_text(page, changed)
    return moved
