"""Plans in notebooks."""

import sudare as sd


def test_a_plan_shows_promise_cost_and_errors(village, monkeypatch):
    monkeypatch.delenv("SUDARE_LANGUAGE", raising=False)
    shown = sd.plan(village.recipe)._repr_html_()
    for text in (
        "Plan: village",
        "Differential privacy with ε = 0.5",
        "ε = 0.5",
        "error with people",
        "synthetic people",
    ):
        assert text in shown
    assert "src=" not in shown
    monkeypatch.setenv("SUDARE_LANGUAGE", "ja")
    assert "差分プライバシー" in sd.plan(village.recipe)._repr_html_()


def test_a_plan_that_is_refused_says_so(village):
    village.change(("cap = { epsilon = 1.0 }", "cap = { epsilon = 0.1 }"))
    shown = sd.plan(village.recipe)._repr_html_()
    assert "refused" in shown
    assert "remark 1" in shown
