from html.parser import HTMLParser

from sudare.language.cards import bar, card, facts, picture, table


def tags(text):
    found = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.append((tag, dict(attributes)))

    Tags().feed(text)
    return found


def test_everything_that_is_text_is_escaped():
    nasty = "<script>alert(1)</script>"
    parts = (facts({nasty: nasty}), table([nasty], [[nasty]]), bar(0.5, nasty), picture(b"png", nasty))
    names = {tag for tag, _ in tags(card(nasty, *parts))}
    assert "script" not in names


def test_a_card_loads_nothing():
    addresses = [given["src"] for _, given in tags(card("x", picture(b"png", "map"))) if "src" in given]
    assert addresses == ["data:image/png;base64,cG5n"]


def test_a_bar_stays_within_its_frame():
    assert "width:100%" in bar(1.7, "over the cap")
    assert "width:0%" in bar(-1.0, "nothing")
