"""How Sphinx builds these pages: Markdown by MyST, the reference from docstrings, nothing from a network."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

import sudare

project = "Sudare"
author = "The Sudare developers"
project_copyright = "The Sudare developers, Apache-2.0"
release = version = sudare.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc"]  # Markdown, and notebooks, which are run anew by every build
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
exclude_patterns = ["make_reference.py"]
myst_enable_extensions = ["deflist", "fieldlist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "Sudare"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["_static"]
html_css_files = ["sudare.css"]

# A name in single backticks links to its page of the reference where there is one, and is plain code elsewhere.
default_role = "py:obj"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
add_module_names = False

_ARRAY = re.compile(r"~?[\w.]*ndarray\[~?tuple\[~?[\w.]*Any, \.\.\.\], ~?[\w.]*dtype\[([~\w.]+)\]\]")


def setup(app: Sphinx) -> None:
    """Mend what autodoc hands on before it is drawn."""
    app.connect("autodoc-process-docstring", _keep_bars)
    app.connect("autodoc-process-signature", _short_arrays)


def _keep_bars(*event: Any) -> None:
    """Docstrings write |x| for an absolute value, which reStructuredText takes for a substitution."""
    lines: list[str] = event[-1]
    example = False
    for place, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example and not line.startswith("    "):
            parts = line.split("``")  # every second part is code
            lines[place] = "``".join(part if i % 2 else part.replace("|", r"\|") for i, part in enumerate(parts))


def _short_arrays(*event: Any) -> tuple[str | None, str | None]:
    """NDArray[int64] as it was written, not as NumPy spells it out."""
    signature, returned = event[-2:]
    return tuple(text and _ARRAY.sub(r"~numpy.typing.NDArray[\1]", text) for text in (signature, returned))
