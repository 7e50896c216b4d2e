"""Examples of the tutorials run while the site is built, and what they draw is shown below them.

In the repository a tutorial is plain Markdown, whose examples are doctests. Here each becomes a
``plot`` directive of matplotlib; all examples of a page share their variables.
"""

import re
import textwrap
from itertools import count

PYTHON = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def _as_plot(code, page, number):
    options = {
        "context": "reset" if number == 0 else "close-figs",
        "filename-prefix": f"{page}-{number}",
    }
    lines = [".. plot::", *(f"   :{name}: {value}" for name, value in options.items()), ""]
    lines += [textwrap.indent(code.rstrip(), "   ")]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def draw(app, name, source):
    """Make plots of the examples of a tutorial; leave out the blank lines that end doctests."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")
    if name.startswith("docs/tutorials/"):
        page, numbers = name.rpartition("/")[2], count()
        source[0] = PYTHON.sub(lambda block: _as_plot(block[1], page, next(numbers)), source[0])


def setup(app):
    """Connect to the text of every page."""
    app.connect("source-read", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
