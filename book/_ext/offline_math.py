"""Sphinx extension: formulas as MathML, which browsers draw themselves, so that the book loads no script for them."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import latex2mathml, pick_math_environment
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

_LOG = logging.getLogger(__name__)


def _mathml(node: nodes.Element, *, block: bool) -> str:
    text = node.astext()
    wrapped = text
    if block and r"\\" in text and r"\begin" not in text:
        environment = pick_math_environment(text)
        wrapped = f"\\begin{{{environment}}}{text}\\end{{{environment}}}"
    try:
        return latex2mathml.tex2mathml(wrapped, as_block=block)
    except Exception as error:  # noqa: BLE001 - whatever the converter meets, the build must name the formula and fail
        _LOG.warning("formula cannot be shown: %s (%s)", text, error, location=node)
        return ""


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    shown = _mathml(node, block=False)
    # A long formula scrolls by itself on a narrow screen instead of widening the page.
    self.body.append(f'<span class="long-formula">{shown}</span>' if len(node.astext()) > 30 else shown)
    raise nodes.SkipNode


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    number = get_node_equation_number(self, node) if node.get("number") else ""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if number:
        self.body.append(f'<span class="eqno">({number})</span>')
    self.body.append(_mathml(node, block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
