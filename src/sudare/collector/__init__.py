"""The collector: a web service that devices report to, and that never sees the truth.

A survey file says what is asked and how answers are protected. `serve` runs the service for it; `Client` and `send`
answer from Python, the page ``/device`` in a browser. Both randomise on the device, keep the device's own account of
what all surveys have cost (`Device`), and send the report alone; the collector stores it in batches, and shows what all
reports together amount to. `export` writes the stored reports into a file.
"""

from sudare.collector.answers import Answers
from sudare.collector.client import Client, Sent, send
from sudare.collector.collection import export
from sudare.collector.device import Device, Limits
from sudare.collector.group_commit import Receipt
from sudare.collector.outbox import Outbox
from sudare.collector.serving import serve
from sudare.collector.survey import Rounds, Survey, Translation
from sudare.collector.survey_file import load, parse

__all__ = [
    "Answers",
    "Client",
    "Device",
    "Limits",
    "Outbox",
    "Receipt",
    "Rounds",
    "Sent",
    "Survey",
    "Translation",
    "export",
    "load",
    "parse",
    "send",
    "serve",
]
