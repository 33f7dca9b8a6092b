#!/usr/bin/env python3
"""check_pages.py [FOLDER]: looks at the HTML reports that write_pages.py writes.

Each page is well-formed XML, loads nothing, and is the same when it is written again. In Chromium, at the width of a
phone and of a desk, light and dark: nothing overflows, no text has a contrast below 4.5, the console is silent, and
folded details are open on paper. Tab reaches each summary, which Enter opens. The Persian page runs from right to left,
and its commands from left to right. With FOLDER, pages and pictures of them stay there, to be looked at. Without
Jinja2 all is skipped, and without Chromium the checks in a browser: it says so and exits with 77.
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from browser import Browser, find_browser

WIDTHS = (390, 1280)
CONTRAST_MIN = 4.5

OVERFLOW = """(() => {
  const width = document.documentElement.clientWidth;
  const found = [...document.querySelectorAll('body *')].filter(one =>
    one.getClientRects().length && !one.closest('thead') && one.getBoundingClientRect().right > width + 0.5);
  const cut = [...document.querySelectorAll('svg text')].filter(one => one.getClientRects().length &&
    (one.getBoundingClientRect().right > one.ownerSVGElement.getBoundingClientRect().right + 1 ||
     one.getBoundingClientRect().left < one.ownerSVGElement.getBoundingClientRect().left - 1));
  return {scroll: document.documentElement.scrollWidth - width,
          wide: found.slice(0, 5).map(one => one.outerHTML.slice(0, 200)),
          cut: cut.slice(0, 5).map(one => one.outerHTML.slice(0, 200)), title: document.title};
})()"""

# A text's ground is the first opaque background behind it; that of SVG is the number's rectangle.
CONTRAST = """(() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [r, g, b] = numbers(colour).map(c => c / 255).map(c =>
      c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const is_opaque = colour => { const all = numbers(colour); return all.length < 4 || all[3] === 1; };
  const ground_of = element => {
    for (let one = element; one; one = one.parentElement) {
      const ground = getComputedStyle(one).backgroundColor;
      if (is_opaque(ground)) return ground;
    }
    return 'rgb(255, 255, 255)';
  };
  const grounds_of = text => {
    if (!text.ownerSVGElement) return [ground_of(text)];
    const box = text.getBBox(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    const behind = [...text.ownerSVGElement.querySelectorAll('rect')].filter(one => {
      const b = one.getBBox(); return b.x <= x && x <= b.x + b.width && b.y <= y && y <= b.y + b.height; });
    return behind.length ? behind.slice(-1).map(one => getComputedStyle(one).fill) : [ground_of(text)];
  };
  const found = [];
  let count = 0;
  for (const one of document.querySelectorAll('body *')) {
    if (!one.getClientRects().length) continue;
    if (one.closest('title, desc')) continue;
    if (![...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    const ink = one.ownerSVGElement ? getComputedStyle(one).fill : getComputedStyle(one).color;
    for (const ground of grounds_of(one)) {
      const [a, b] = [light(ink), light(ground)];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      ++count;
      if (contrast < MIN) found.push([contrast.toFixed(2), ink, ground, one.outerHTML.slice(0, 120)]);
    }
  }
  return {count, found: found.slice(0, 8)};
})()"""

# Blocks in folded details that are not shown.
HIDDEN = """(() => {
  const all = [...document.querySelectorAll('details:not([open]) > :not(summary)')];
  return {count: all.length, hidden: all.filter(one => !one.checkVisibility()).length};
})()"""

# The focus: which summary has it (-1: none), whether it is marked, and whether its details are open.
FOCUS = """(() => {
  const one = document.activeElement, style = getComputedStyle(one);
  return {index: [...document.querySelectorAll('summary')].indexOf(one), open: Boolean(one.parentElement?.open),
          marked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2};
})()"""
SHOWN_SUMMARIES = """[...document.querySelectorAll('summary')].flatMap((one, i) => one.checkVisibility() ? [i] : [])"""

# On the Persian page, what does not run as it should.
DIRECTIONS = """(() => {
  const runs = (what, way) => [...document.querySelectorAll(what)].filter(one =>
    getComputedStyle(one).direction !== way).map(one => one.outerHTML.slice(0, 120));
  const headings = [...document.querySelectorAll('h1, h2, .label')];
  return {wrong: [...runs('html, h1, h2, .label, .counts', 'rtl'), ...runs('.verdict p, pre, code, svg, td', 'ltr')],
          latin: headings.filter(one => !/[\u0600-\u06ff]/.test(one.textContent)).map(one => one.textContent),
          left: headings.filter(one => { const range = document.createRange(); range.selectNodeContents(one);
            return range.getBoundingClientRect().right < one.getBoundingClientRect().right - 1; }).length};
})()"""

OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true; })"

failures: list[str] = []


def expect(is_so: bool, message: str) -> None:
    if not is_so:
        failures.append(message)


class _Links(HTMLParser):
    """Whatever could load something or run, as an HTML parser sees it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe", "object", "embed", "base", "form", "a", "image", "use"}:
            self.found.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "style", "srcset", "action"} or name.startswith("on"):
                self.found.append(f"{tag} {name}")
            if name == "id":
                self.ids.append(str(value))


def check_text(page: pathlib.Path) -> None:
    text = page.read_text(encoding="utf-8", errors="strict")
    try:
        ET.fromstring(text)
    except ET.ParseError as error:
        expect(False, f"{page.name}: not well-formed: {error}")
    links = _Links()
    links.feed(text)
    expect(not links.found, f"{page.name}: {links.found}")
    expect(len(set(links.ids)) == len(links.ids), f"{page.name}: an id occurs twice")
    expect("url(" not in text and "@import" not in text, f"{page.name}: the style sheet loads something")
    expect(not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text), f"{page.name}: control characters")
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        numbers = re.sub(r"<(text|title|desc)[^>]*>.*?</\1>", "", picture, flags=re.DOTALL)
        expect(not re.search('nan|inf|="-"', numbers), f"{page.name}: a coordinate is no number: {numbers[:200]}")


def check_in_browser(browser: Browser, page: pathlib.Path, pictures: pathlib.Path | None) -> None:
    for width in WIDTHS:
        for is_dark in (False, True):
            where = f"{page.name} at {width} px, {'dark' if is_dark else 'light'}"
            browser.open(page.as_uri(), width, dark=is_dark)
            if pictures:
                name = f"{page.stem}-{width}-{'dark' if is_dark else 'light'}"
                (pictures / f"{name}-folded.png").write_bytes(browser.screenshot())
            browser.evaluate(OPEN_ALL)
            if pictures:
                (pictures / f"{name}-open.png").write_bytes(browser.screenshot())
            found = browser.evaluate(OVERFLOW)
            expect(found["scroll"] <= 0 and not found["wide"], f"{where}: too wide by {found}")
            expect(not found["cut"], f"{where}: text of a chart is cut: {found['cut']}")
            expect(found["title"] != "taken", f"{where}: a text of the data ran as a script")
            contrast = browser.evaluate(CONTRAST.replace("MIN", str(CONTRAST_MIN)))
            expect(contrast["count"] > 3 and not contrast["found"], f"{where}: contrast: {contrast}")
            expect_silence(browser, page, where)
    check_keyboard(browser, page)
    if page.stem == "persian":
        found = browser.evaluate(DIRECTIONS)
        expect(not (found["wrong"] or found["latin"] or found["left"]), f"{page.name}: directions: {found}")
    browser.open(page.as_uri(), 794, medium="print")
    folded = browser.evaluate(HIDDEN)
    expect(folded["hidden"] == 0, f"{page.name}: on paper, {folded['hidden']} of {folded['count']} blocks are hidden")
    browser.open(page.as_uri(), 1280)
    folded = browser.evaluate(HIDDEN)
    expect(folded["hidden"] == folded["count"], f"{page.name}: on a screen, folded details are open")
    pdf = browser.pdf()
    expect(pdf.startswith(b"%PDF"), f"{page.name}: no PDF")
    if pictures:
        (pictures / f"{page.stem}.pdf").write_bytes(pdf)


def check_keyboard(browser: Browser, page: pathlib.Path) -> None:
    browser.open(page.as_uri(), 1280)
    for index in browser.evaluate(SHOWN_SUMMARIES):
        browser.press("Tab")
        focus = browser.evaluate(FOCUS)
        expect(focus == {"index": index, "open": False, "marked": True}, f"{page.name}: Tab to {index}: {focus}")
        browser.press("Enter")
        expect(browser.evaluate(FOCUS)["open"], f"{page.name}: Enter does not open summary {index}")
        browser.press("Enter")
        expect(not browser.evaluate(FOCUS)["open"], f"{page.name}: Enter does not fold summary {index}")


def expect_silence(browser: Browser, page: pathlib.Path, where: str) -> None:
    for event in browser.events:
        expect(
            event["method"] not in {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"},
            f"{where}: the console says {event.get('params')}",
        )
        if event["method"] == "Network.requestWillBeSent":
            url = event["params"]["request"]["url"]
            expect(url == page.as_uri(), f"{where}: it asks for {url}")


def main(folder: str | None) -> int:
    if importlib.util.find_spec("jinja2") is None:
        print("SKIPPED: this Python has no Jinja2: no pages were written")
        return 77
    writer = pathlib.Path(__file__).with_name("write_pages.py")
    with tempfile.TemporaryDirectory() as scratch:
        pages = pathlib.Path(folder or scratch).resolve()
        pages.mkdir(exist_ok=True)
        again = pathlib.Path(scratch, "again")
        again.mkdir()
        for target in (pages, again):
            subprocess.run([sys.executable, writer, target], check=True)
        written = sorted(pages.glob("*.html"))
        expect(len(written) == 5, f"{len(written)} pages")
        for page in written:
            expect(page.read_bytes() == (again / page.name).read_bytes(), f"{page.name}: differs when written again")
            check_text(page)
        found = find_browser()
        if found is None:
            print("SKIPPED: no Chromium on PATH (or in XTTS_BROWSER): the pages were not looked at in a browser")
        else:
            with Browser(found) as browser:
                for page in written:
                    check_in_browser(browser, page, pages if folder else None)
    for failure in failures:
        print("FAILED:", failure)
    if failures:
        return 1
    return 0 if found else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
