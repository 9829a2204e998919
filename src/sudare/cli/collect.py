"""``sudare collect``: serve a survey, send answers to one, take its reports out, relay reports, make codes."""

from __future__ import annotations

from pathlib import Path

import click

from sudare.cli.console import (
    LocalPath,
    for_people,
    language_option,
    output_options,
    page_language_option,
    print_facts,
    print_note,
    quiet_option,
)
from sudare.language.catalogue import current_language


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def collect() -> None:
    """Collect randomised answers from devices: serve a survey, or send answers to one.

    Example: sudare collect serve survey.toml
    """


@collect.command()
@click.argument("survey", type=LocalPath())
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--address", metavar="URL", help="Where people reach it, for the link to hand out: https://...")
@click.option("--qr", type=LocalPath(path_type=Path), help="Draw the link as a QR code into this SVG file.")
@language_option
@quiet_option
def serve(survey: str, host: str, port: int, address: str | None, qr: Path | None, quiet: bool) -> None:
    """Serve the survey in the file SURVEY until stopped.

    It prints the link to hand out, which carries the key of this collector; --qr draws it for a poster or a letter.

    Example: sudare collect serve survey.toml --port 8000 --qr link.svg
    """
    from sudare.collector import Survey
    from sudare.collector import serve as run
    from sudare.collector.serving import draw_link, link_of

    def ready(served: Survey, listening: str) -> None:
        link = link_of(served, address or listening)
        if qr is not None:
            draw_link(link, qr)
        if quiet:
            return
        words = current_language()
        click.echo(words("command.collecting", name=served.name, address=listening))
        click.echo(words("command.answer_here", link=link))
        if served.shuffler:
            print_note(words("command.no_page_relay"))
        elif served.law is None:
            print_note(words("command.no_page", encoding=served.encoding.name))

    run(survey, host, port, ready)


@collect.command()
@click.argument("url")
@click.argument("answers", type=LocalPath(path_type=Path))
@click.option("--outbox", type=LocalPath(path_type=Path), help="The file of reports; ANSWERS.reports if not given.")
@click.option("--most-epsilon", metavar="NUMBER", help="Refuse a survey that costs more than this (2).")
@click.option("--most-a-year", metavar="NUMBER", help="Refuse where a year's surveys would cost more than this (8).")
@click.option("--other-people", is_flag=True, help="These answers are of other people than those sent before.")
@click.option("--codes", type=LocalPath(path_type=Path), help="A file of the organiser's codes, one a line.")
@click.option("--yes", is_flag=True, help="Agree beforehand to what is sent.")
@output_options
def send(
    url: str,
    answers: Path,
    outbox: Path | None,
    most_epsilon: str | None,
    most_a_year: str | None,
    other_people: bool,
    codes: Path | None,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Randomise the answers in the text file ANSWERS, one a line, and send the reports to the collector at URL.

    The reports are kept beside the answers and made once: the same command sends the same reports again. What is sent
    and what it can reveal is said first, and has to be agreed to.

    Example: sudare collect send http://127.0.0.1:8000 answers.txt
    """
    from sudare.collector import Client
    from sudare.collector import send as run

    def confirm(client: Client) -> bool:
        click.echo(client.terms(current_language()), err=True)
        return click.confirm(current_language()("command.agree"), err=True)

    sent = run(
        url,
        answers,
        outbox,
        most_epsilon=most_epsilon,
        most_a_year=most_a_year,
        other_people=other_people,
        codes=codes.read_text(encoding="utf-8").split() if codes else (),
        confirm=None if yes else confirm,
    )
    if for_people(sent, as_json, quiet):
        words, kept = current_language(), str(sent.outbox)
        print_facts(
            {
                words("command.stored"): words("command.reports_text", number=sent.receipt.stored),
                words("command.known_before"): words("command.reports_text", number=sent.receipt.known),
                words("command.reports"): words("command.sent_again", outbox=kept) if sent.resumed else kept,
                words("command.guarantee"): sent.guarantee,
            }
        )
        if sent.receipt.waiting:
            print_note(words("command.waits", number=sent.receipt.waiting))


@collect.command()
@click.argument("survey", type=LocalPath())
@click.argument("reports", type=LocalPath(path_type=Path))
@click.option("--report", type=LocalPath(path_type=Path), help="Write the public page of the collection here as well.")
@page_language_option("Of the page.", default="en")
@quiet_option
def export(survey: str, reports: Path, report: Path | None, language: str, quiet: bool) -> None:
    """Write the stored reports of the file SURVEY into the Parquet file REPORTS, once its collector is stopped.

    Example: sudare collect export survey.toml reports.parquet --report report.html
    """
    from sudare.collector import export as run
    from sudare.collector import load

    number = run(load(survey), reports, report=report, language=language)
    if not quiet:
        words = current_language()
        if report:
            click.echo(words("command.exported_page", number=number, file=str(reports), page=str(report)))
        else:
            click.echo(words("command.exported", number=number, file=str(reports)))


@collect.command()
@click.argument("collector")
@click.option("--batch", type=click.IntRange(1), help="Never forward fewer reports; the survey says how many at least.")
@click.option("--codes", type=LocalPath(path_type=Path), help="The file of hashes that `sudare collect codes` wrote.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8001, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@language_option
@quiet_option
def shuffle(collector: str, batch: int | None, codes: Path | None, host: str, port: int, quiet: bool) -> None:
    """Relay sealed reports to the collector at COLLECTOR in shuffled batches, as another party than the collector.

    Example: sudare collect shuffle https://collector.example.jp
    """
    from sudare.collector.shuffler import shuffle as run

    def ready(address: str, least: int) -> None:
        if not quiet:
            click.echo(current_language()("command.relaying", batch=least, address=address))

    run(collector, batch=batch, codes=codes, host=host, port=port, ready=ready)


@collect.command()
@click.argument("number", type=click.IntRange(1, 10_000_000))
@click.argument("file", type=LocalPath(path_type=Path))
@language_option
@quiet_option
def codes(number: int, file: Path, quiet: bool) -> None:
    """Write NUMBER single-use codes to FILE, one for each invited person, and their hashes to FILE.hashes.

    Hand out the codes, and give the hashes to whoever runs the relay.

    Example: sudare collect codes 500 codes.txt
    """
    from sudare.collector.shuffler import make_codes

    hashes = make_codes(number, file)
    if not quiet:
        click.echo(current_language()("command.codes_written", number=number, file=str(file), hashes=str(hashes)))
