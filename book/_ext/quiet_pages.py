"""Sphinx extension: leaves out scripts of the theme's bundle that the book never uses and that name another host.

The bundle's live-code extension declares its constants twice, which browsers report as an error on every page.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

_UNUSED = ("THEBE_JS_URL", "sphinx-thebe.js")


def _leave_out(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    def unused(script: Any) -> bool:
        told = f"{getattr(script, 'filename', '') or ''} {getattr(script, 'attributes', {}).get('body', '')}"
        return any(name in told for name in _UNUSED)

    context["script_files"] = [script for script in context.get("script_files", []) if not unused(script)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at each page's scripts after everybody has added theirs."""
    app.connect("html-page-context", _leave_out, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
