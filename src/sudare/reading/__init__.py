"""Read what somebody has published: open a release and ask it, with nothing but its public bytes.

`open_release` (``sudare.open``) verifies a folder, a certificate or a zip file and gives back what its publisher had:
of a table the same table, guarantee and error bars. `open_series` opens the releases of several periods together, and
`write_explorer` makes a page of either on which anybody searches and sums it.
"""

from sudare.reading.explorer import serve_explorer, write_explorer
from sudare.reading.opening import open_release
from sudare.reading.questions import Answer, ask
from sudare.reading.series import Change, Series, SeriesTotal, open_series

__all__ = [
    "Answer",
    "Change",
    "Series",
    "SeriesTotal",
    "ask",
    "open_release",
    "open_series",
    "serve_explorer",
    "write_explorer",
]
