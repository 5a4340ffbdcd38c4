"""Foreign text on a terminal (row A9)."""

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kx.terminal import visible


@given(st.text())
def test_nothing_reaches_the_terminal_that_acts_on_it(text):
    """Row A9: no raw control byte but tab and newline, no bidi or invisible character."""
    shown = visible(text)
    assert not [char for char in shown if category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\t\n"]
    assert "\u202e" not in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("text", ["plain", "ação\ttab\nline", "日本", "emoji 🚀", "⚠️ as a picture", "Ωμέγα ¡olé!"])
def test_ordinary_text_is_shown_as_it_is(text):
    """Escaping must not disturb what people write."""
    assert visible(text) == text


@pytest.mark.parametrize(
    "hidden",
    ["\ufe0f", "\ufe00", "\U000e0101", "\U000e0061", "\u3164", "\u115f", "\u034f", "\u180e", "\u00ad"],
    ids=ascii,
)
def test_what_no_font_shows_cannot_carry_words(hidden):
    """Row A9: selectors and fillers spell whole sentences that a person does not see and a model reads."""
    shown = visible(f"a{hidden}{hidden}⚠{hidden}{hidden}")
    assert shown.count(hidden) == (hidden == "\ufe0f")
    assert shown.count("\\") == 4 - (hidden == "\ufe0f")
