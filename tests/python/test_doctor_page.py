"""The doctor's HTML page. tests/html asks a parser and a browser whether it is well-formed and looks right."""

import math
import re
import subprocess
import sys

import pytest
from support import PROJECT
from xtts_advise.charts import Bar, Bars, Chart, Histogram, Level, Series, Stack
from xtts_advise.findings import Change, Check, Evidence, Finding, Gain
from xtts_advise.page.page import Facts, page_of
from xtts_advise.page.persian import PERSIAN
from xtts_advise.page.pictures import picture_of
from xtts_advise.picture.svg import fitting


def two_checks():
    gain, change = Gain(2.0, 3.0, "measured"), Change("data.preprocessing_mode", "runtime", "precompute", "because")
    remedy = "Build a cache with `xtts-precompute 'my  <data>' CACHE`, not `train.py`."
    small = Check("memory", "Memory", "Little.", [Finding("warn", "Little.", "Buy memory.", gain=Gain(1.1, 1.3))])
    large = Check("storage", "Storage", "Slow.", [Finding("fail", "Slow.", remedy, "config.yaml:3", gain, [change])])
    large.evidence = [Evidence("a batch", "190 ms", "read past the page cache", 190.0, "ms")]
    return [small, large]


def charts_of(values):
    bars = [Bar("bar", value, value - 1.0, value + 1.0) for value in values]
    parts = [("part", value) for value in values]
    contents = [Series("batches", "ms", values), Histogram("ms", values), Bars("ms", bars), Stack("ms", parts)]
    return [Chart("t", content) for content in contents]


def texts_of(picture):
    return re.findall("<text[^>]*>([^<]*)</text>", picture.svg)


def rects_of(picture, kind):
    """x, y, width and height of each rectangle of that class."""
    found = re.findall('<rect x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)" class="(.*?)"/>', picture.svg)
    return [tuple(map(float, numbers)) for *numbers, its_kind in found if its_kind == kind]


def columns_of(picture, kind):
    """x, y, width and height of each column in the path of that class."""
    paths = re.findall(f'<path d="([^"]*)" class="{kind}(?: crisp)?"/>', picture.svg)
    found = [re.findall(r"M(.*?) (.*?)V(.*?)h(.*?)V", path) for path in paths]
    return [(float(x), float(top), float(w), float(y) - float(top)) for one in found for x, y, top, w in one]


def test_the_verdict_then_the_command_then_advice_by_gain_then_changes_then_checks():
    page = page_of(Facts(date="today", machine=["8 processors"], config="my/config.yaml"), two_checks())
    order = [
        '<p dir="auto">Slow.</p>',
        "Run this first",
        '<pre dir="ltr"><code><span>xtts-precompute</span> <span>',
        "<h2>What to do, most useful first",
        '<code dir="ltr">config.yaml:3</code>: Build a cache with <code dir="ltr">xtts-precompute',
        ', not <code dir="ltr">train.py</code>.',
        "Buy memory.",
        "Expected speed of training",
        "<bdi>my/config.yaml</bdi>",
        "<del><code>− runtime</code></del><ins><code>+ precompute</code></ins>",
        '<details class="folded">',
        "read past the page cache",
        "8 processors",
    ]
    places = [page.find(text) for text in order]
    assert -1 not in places and places == sorted(places), list(zip(order, places))
    command = re.search("<pre.*?>(.*)</pre>", page)[1]
    assert re.sub("<.*?>", "", command) == "xtts-precompute &#39;my  &lt;data&gt;&#39; CACHE"
    assert "2 to 3 times as fast</span>, measured" in page
    assert "✗ 1 fail" in page and "! 1 warn" in page
    assert "`" not in page


def test_a_remedy_without_a_command_is_said_in_front():
    checks = [Check("a", "A", "Slow.", [Finding("fail", "Slow.", "Set `workers: 8`.")])]
    front = page_of(Facts(), checks).partition("<h2>")[0]
    assert 'Do this first</p>\n<p>Set <code dir="ltr">workers: 8</code>.</p>' in front
    assert "<pre" not in front


def test_a_key_that_is_taken_away():
    checks = [Check("a", "A", "", [Finding("warn", "t", "r", changes=[Change("data.old", "1", "", "why")])])]
    page = page_of(Facts(), checks)
    assert "<del><code>− 1</code></del>" in page and "The lines of this key become comments." in page
    assert "<ins>" not in page


def test_the_main_check_gives_the_verdict_and_its_charts_stand_in_front_once():
    bar = Bars("ms", [Bar("a", 1.0)])
    checks = two_checks()
    checks[1].charts = [Chart(f"Chart {i}", bar) for i in range(4)]
    checks.append(Check("other", "Other", "", charts=[Chart("Of what passes", bar)]))
    main = Check("will_it_help", "Will precomputing help?", "No.", charts=[Chart("Main chart", bar)])
    page = page_of(Facts(), [*checks, main])
    front, _, rest = page.partition("<h2>What to do")
    assert '<p dir="auto">No.</p>' in front and '<span class="status tone-good">No</span>' in front
    assert re.findall("<figcaption>(.*?)</figcaption>", front) == ["Main chart", "Chart 0", "Chart 1", "Chart 2"]
    folded = rest.partition("What was checked")[2]
    assert re.findall("<figcaption>(.*?)</figcaption>", folded) == ["Chart 3", "Of what passes"]


def test_nothing_has_words():
    assert "Nothing was checked." in page_of(Facts(), [])
    page = page_of(Facts(), [Check("a", "A", "Fine.")])
    assert "Nothing was found that holds training back." in page and "Nothing is advised." in page
    assert "Nothing more is known about this." in page
    assert "Changes of" not in page and "<figure" not in page and "first</p>" not in page


def test_a_page_is_the_same_in_each_process():
    program = "import sys; sys.path[:0] = sys.argv[1:]; "
    program += "import write_pages as w; print(w.page_of(w.Facts(), w.usual_checks()))"
    call = [sys.executable, "-c", program, PROJECT / "tests/html"]
    pages = {
        subprocess.run(call, env={"PYTHONHASHSEED": seed}, check=True, capture_output=True).stdout for seed in "12"
    }
    assert len(pages) == 1 and b"</html>" in pages.pop()


def test_all_texts_are_escaped_and_what_steers_is_shown():
    text = "<script>&\"' \x1b[31m \u202e \udcff \uffff {{ 7 * 7 }} 日本 é"
    finding = Finding("fail", text, text, text, Gain(1.0, 2.0, text), [Change(text, text, text, text)])
    charts = [Chart(text, Bars(text, [Bar(text, 1.0)]), text), Chart(text, Stack(text, [(text, 1.0)]))]
    charts += [Chart(text, Series(text, text, [1.0, 2.0], 1.0)), Chart(text, Histogram(text, [1.0]))]
    checks = [Check(text, text, text, [finding], [Evidence(text, text, text, None, text)], charts)]
    page = page_of(Facts(text, text, [text], [text], text), checks)
    assert "<script" not in page and not re.search("[\x1b\u202e\udcff\uffff]", page)
    shown = "&lt;script&gt;&amp;&#34;&#39; \\x1b[31m \\u202e \\udcff \\uffff {{ 7 * 7 }} 日本 é"
    assert f"<title>{shown}</title>" in page
    assert page.count(shown) > 20


def test_the_persian_page_keeps_what_is_english_from_left_to_right():
    page = page_of(Facts(config=""), two_checks(), "fa")
    assert '<html lang="fa" dir="rtl">' in page
    for word in ("fail", "warn", "What to do, most useful first", "Run this first", "Why does the GPU wait?"):
        assert PERSIAN[word] in page
    assert "✗ ۱ ایراد" in page and "\\u200c" not in page
    assert '<ol class="items" lang="en" dir="ltr">' in page and '<pre dir="ltr">' in page


def test_each_persian_word_is_one_that_the_page_says():
    sources = [
        path.read_text() for path in (PROJECT / "src/python/xtts_advise/page").glob("p*") if path.stem != "persian"
    ]
    missing = [word for word in PERSIAN if not any(f'"{word}"' in source for source in sources)]
    assert missing == ["Will precomputing help?"]  # the doctor's title


@pytest.mark.parametrize("values", [[], [math.nan, math.nan]])
def test_nothing_to_draw(values):
    for chart in charts_of(values):
        picture = picture_of(chart)
        assert not picture.pieces and picture.remarks[0] == "There is nothing to draw."


@pytest.mark.parametrize("values", [[3.0], [3.0] * 3, [1.0, sys.float_info.max], [1.0, 1e-320, 5.0], [-1e308, 1e308]])
def test_values_of_any_size_have_finite_places(values):
    for chart in charts_of(values):
        picture = picture_of(chart)
        assert picture.pieces and picture.rows and picture.description
        assert not re.search("nan|inf", picture.svg)
        kinds = ("mark", "mark-soft", "middle")
        for x, y, width, height in (
            one for kind in kinds for one in rects_of(picture, kind) + columns_of(picture, kind)
        ):
            assert 0 <= x <= x + width <= 360.1 and 0 <= y <= y + height <= picture.height


def test_values_that_are_not_finite_are_counted():
    for chart in charts_of([1.0, math.nan, 2.0, math.inf]):
        assert "2 values are not finite and left out." in picture_of(chart).remarks


def test_bars_are_as_long_as_their_values():
    bars = [Bar("now", 200.0), Bar("cache", 100.0, 80.0, 120.0), Bar("less", -50.0, -60.0, -40.0)]
    picture = picture_of(Chart("t", Bars("ms", bars, [Level("limit", 150.0)])))
    # 356 units are 260 ms, and 0 lies at 84.2.
    assert [(x, width) for x, _, width, _ in rects_of(picture, "mark")] == [(84.2, 273.8), (84.2, 109.5), (29.4, 54.8)]
    assert [(x, width) for x, _, width, _ in rects_of(picture, "mark-soft")][1:] == [(193.7, 54.8), (2.0, 27.4)]
    assert picture.rows == [
        ("now", "200 ms"),
        ("cache", "100 ms (80.0 to 120)"),
        ("less", "-50.0 ms (-60.0 to -40.0)"),
        ("limit", "150 ms"),
    ]
    assert picture.remarks == ["The pale part is the range in which the value lies."]
    assert "limit" in texts_of(picture)


def test_parts_of_a_stack_share_its_width():
    picture = picture_of(Chart("t", Stack("ms", [("a", 75.0), ("b", 25.0), ("below 0", -5.0)])))
    assert [rects_of(picture, f"part-{i}")[0][2] for i in (1, 2)] == [266.0, 88.0]
    rows = [("a", "75.0 ms, 75 %"), ("b", "25.0 ms, 25 %"), ("below 0", "0 ms, 0 %"), ("in all", "100 ms")]
    assert picture.rows == rows


def test_a_series_marks_its_period():
    values = [9.0 if i % 10 == 3 else 1.0 for i in range(100)]
    picture = picture_of(Chart("t", Series("batches", "ms", values, 10.0)))
    assert "repeats every 10 batches" in texts_of(picture) and "They repeat every 10." in picture.description
    assert len(columns_of(picture, "mark")) == 100 and len(rects_of(picture, "band")) == 5
    assert ("half are at most", "1.00 ms") in picture.rows and ("95 % are at most", "9.00 ms") in picture.rows
    for period in (None, math.nan, 101.0, 0.5):
        assert "repeat" not in str(picture_of(Chart("t", Series("batches", "ms", values, period))))


def test_many_values_share_columns_that_show_the_largest():
    picture = picture_of(Chart("t", Series("batches", "ms", [1.0] * 999 + [10.0])))
    marks = columns_of(picture, "mark")
    assert len(marks) == 148 and max(height for *_, height in columns_of(picture, "mark-soft")) == 140.0
    assert 14 < marks[-1][3] < 40  # the last mean
    assert "A column stands for several values" in picture.remarks[0]


def test_a_histogram_counts():
    picture = picture_of(Chart("t", Histogram("ms", [float(i) for i in range(10)] + [0.0] * 15)))
    heights = [round(height, 1) for *_, height in columns_of(picture, "mark")]
    assert heights == [140.0, *[round(140 * 2 / 17, 1)] * 4]


def test_a_text_that_fits_and_one_that_does_not():
    assert fitting("now", 40.0) == "now"
    assert fitting("W" * 100, 60.0) == "WWWW…"
    assert fitting("i" * 500, 360.0).endswith("…")
    assert fitting("", 5.0) == ""


@pytest.mark.parametrize(("language", "label"), [("en", "Yes"), ("fa", "بله")])
def test_the_label_of_the_verdict_is_its_answer(language, label):
    check = Check("will_it_help", "Will it help?", "Yes: twice as fast.", [Finding("fail", "Yes: twice as fast.")])
    assert f'<span class="status tone-bad">{label}</span>' in page_of(Facts(), [check], language)
    other = Check("storage", "Storage", "Yes is no answer here.", [Finding("fail", "Yes is no answer here.")])
    assert label not in re.search('<div class="verdict.*?</p>', page_of(Facts(), [other], language), re.DOTALL)[
        0
    ].replace("Yes is no", "")
