"""The reports: what the publisher sees inside, and what goes out with a release.

The two never share a template, so that nothing true can slip from the inner one into the outer one.
`comparison_page` and `comparison_picture` are inner: they show true counts beside the released ones.
"""

from sudare.report.comparison import comparison_page, comparison_picture
from sudare.report.marginals import marginal

__all__ = ["comparison_page", "comparison_picture", "marginal"]
