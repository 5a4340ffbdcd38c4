"""What the wording of a question is after."""

import pytest

from services.query.core.evidence.aim import Aim, aim_of


@pytest.mark.parametrize(
    "query",
    [
        "how do I retry",
        "como instalar o serviço",
        "onde configurar o tempo limite",
        "which keys are needed",
        "can I use my own model",
        "installation",
        "how my settings are found",
    ],
)
def test_what_a_user_asks_is_about_use(query: str) -> None:
    """Said by the question word, by who speaks, or by what documentation is called."""
    assert aim_of(query) is Aim.USE


@pytest.mark.parametrize(
    "query",
    [
        "how does the cache expire",
        "why is the index rebuilt",
        "what happens when the disk is full",
        "o que acontece quando falha",
        "como funciona o cache",
        "quando a sessão expira",
        "como o servidor trata erros",
        "onde os arquivos são gravados",
    ],
)
def test_what_goes_on_inside_is_about_working(query: str) -> None:
    """Documentation and code may both tell it, though some of these begin like questions of users."""
    assert aim_of(query) is Aim.WORKING


@pytest.mark.parametrize(
    "query", ["retry with exponential backoff", "how sessions are set up", "Router", "", "exclusão de arquivos"]
)
def test_a_name_or_a_description_is_about_the_thing(query: str) -> None:
    """What has no question word, or describes what code does."""
    assert aim_of(query) is Aim.THING
