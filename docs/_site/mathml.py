"""Formulas as MathML: browsers draw it themselves, without scripts, fonts or a network."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError


def _written(node, as_block):
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except (MathError, SyntaxError) as error:
        raise ExtensionError(
            f"{node.source}:{node.line}: formula {node.astext()!r}: {error}"
        ) from error


def inline(translator, node):
    """Write a formula inside a sentence."""
    translator.body.append(_written(node, as_block=False))
    raise nodes.SkipNode


def block(translator, node):
    """Write a formula on lines of its own."""
    translator.body.append(f'<div class="math">{_written(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
