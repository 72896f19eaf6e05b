"""Single-use links: random tokens of which the store keeps hashes, and slips of them to print and cut."""

from __future__ import annotations

from collections.abc import Sequence

from bruit import _checks
from bruit.collection import rotation
from bruit.collector.open_survey import OpenSurvey, epoch_hash, link_hash, round_hash
from bruit.collector.store import Store
from bruit.collector.wording import TEXTS
from bruit.entropy import Entropy
from bruit.errors import ParameterError
from bruit.pages import fill, qr_svg
from bruit.survey import Survey
from bruit.survey.personal_link import PersonalLink

__all__ = ["issue", "qr_terminal", "slips", "token"]

#: 32 letters and digits that are not mistaken for each other: five bits each.
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
#: 90 bits.
_LENGTH = 18
#: The most links that are made at once.
MOST = 100_000


def token(length: int = _LENGTH) -> str:
    """A random token of 5 bits per letter.

    >>> len(token()), token() == token()
    (18, False)
    """
    return "".join(_LETTERS[byte & 31] for byte in Entropy().bytes(length))


def issue(store: Store, name: str, number: int) -> list[str]:
    """New single-use links of a survey; the store keeps their hashes, and they are nowhere else.

    In rotation each link names one attribute by its number, in equal shares of these links. Each choice of a question
    with several choices is an attribute.

    Parameters
    ----------
    store
        Where the survey is.
    name
        The survey.
    number
        How many.
    """
    _checks.integer(low=1, high=MOST, number=number)
    opened = store.survey(name)
    if opened is None or not opened.links:
        raise ParameterError(f"The survey {name!r} takes one link for all: open it with --links for single-use ones.")
    if opened.closed:
        raise ParameterError(f"The survey {name!r} is closed: it takes no answers any more.")
    survey = OpenSurvey(opened).survey
    links = [PersonalLink(token(), place) for place in _places(survey, number)]
    store.add_links(name, (row for link in links for row in _rows(survey, link)))
    return [link.text for link in links]


def _places(survey: Survey, number: int) -> Sequence[int | None]:
    """The number of each link's question: ``collection/rotation.proof.md``; None where links name none."""
    if not survey.is_assigned:
        return [None] * number
    places: list[int] = rotation.assignment(number, len(survey.units), Entropy()).tolist()
    return places


def _rows(survey: Survey, link: PersonalLink) -> list[bytes]:
    """What the store keeps of a link: a hash, or with rounds one for each round and epoch, which it cannot connect."""
    if not survey.has_rounds:
        return [link_hash(link.named)]
    rounds = [round_hash(link.token, number) for number in range(1, survey.rounds + 1)]
    return [*rounds, *(epoch_hash(link.token, number) for number in range(1, survey.repeat.epochs + 1))]


def slips(survey: Survey, addresses: Sequence[str]) -> bytes:
    """Slips to print and cut: each has the title, a link and its QR code.

    Parameters
    ----------
    survey
        The survey.
    addresses
        The links.
    """
    title = survey.title[survey.languages[0]]
    words = TEXTS[TEXTS.first(survey.languages)]
    note = words["slip_rounds"].format(rounds=survey.rounds) if survey.has_rounds else words["slip_once"]
    own = [{"address": address, "code": qr_svg(address)} for address in addresses]
    values = {"language": survey.languages[0], "title": title, "slips": own, "note": note, "digest": survey.digest}
    return fill("slips.html.j2", **values).encode()


def qr_terminal(address: str) -> str:
    """A QR code in half blocks, for a terminal."""
    import io

    import segno

    out = io.StringIO()
    segno.make(address, error="l", micro=False).terminal(out, compact=True, border=2)
    return out.getvalue()
