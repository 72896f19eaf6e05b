"""Publications: a file says what is released of a table; it is published once, and saved for everybody."""

from bruit.publications.publication import Publication, Request
from bruit.publications.published import Published
from bruit.publications.publishing import publish

__all__ = ["Publication", "Published", "Request", "publish"]
