"""The picture of the README: a respondent's page and the results, on a phone, of `bruit survey demo`.

    python tools/survey_picture.py docs/figures/survey.png

Needs the extra ``collector``, Playwright and a Chromium on the machine; nothing is downloaded.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bruit.cli.survey import _store
from bruit.collector import demo
from bruit.collector.serving import Listening

PHONE = {"width": 390, "height": 844}
PEOPLE = 200


def main(output: Path) -> None:
    """Answer the demo once in a browser, and put two of its pages side by side."""
    with tempfile.TemporaryDirectory(prefix="bruit-picture-") as folder, sync_playwright() as playwright:
        store = _store.opened(f"{folder}/{_store.DEFAULT}", new=True)
        opened = demo.opened(store, Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            with demo.running(store, Listening(port=0)) as port:
                demo.respond(opened, port, PEOPLE)
                link = f"http://127.0.0.1:{port}/s/{demo.NAME}"
                pages = [seen(browser, link), seen(browser, f"{link}/results?token={opened.secret}")]
            side_by_side(browser, pages, output)
        finally:
            browser.close()
            store.disconnect()


def seen(browser: Browser, address: str) -> bytes:
    """What a phone shows of an address."""
    tab = browser.new_page(viewport=PHONE, locale="en")
    tab.goto(address)
    tab.get_by_role("heading").first.wait_for()
    return tab.screenshot()


def side_by_side(browser: Browser, pictures: list[bytes], output: Path) -> None:
    """Pictures of phones in a row, as one file."""
    images = "".join(f'<img src="data:image/png;base64,{base64.b64encode(picture).decode()}">' for picture in pictures)
    row = "body{margin:0;padding:24px;display:flex;gap:24px;background:#eef1f4}"
    style = f"{row}img{{border:1px solid #b8c0c8;border-radius:18px}}"
    width = len(pictures) * (PHONE["width"] + 26) + 24
    tab = browser.new_page(viewport={"width": width, "height": PHONE["height"] + 50})
    tab.set_content(f"<style>{style}</style>{images}")
    tab.screenshot(path=str(output))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
