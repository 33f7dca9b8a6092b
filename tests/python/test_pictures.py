"""Pictures as SVG: round numbers with known answers, texts of any kind, and what a PNG is made by."""

import base64
import itertools
import json
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib

import pytest
from support import PROJECT
from xtts_advise.picture import png
from xtts_advise.picture.figure import draw
from xtts_advise.picture.heat_map import data_uri, palette
from xtts_advise.picture.plot import round_step, ticks_of
from xtts_advise.picture.svg import width_of, wrapped

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "a <b> & \"c\" 'd'",
    "a\nb\tc\x1b[31m",
    "x" * 5000,
    "a\0b",
    "\ud800\ufffe\uffff",
    "a\u2029b\u2028c\x85d\u202ee",
]


def axis(low, high, **more):
    return {"low": low, "high": high, **more}


def labels(given, most):
    return [label for _, label in ticks_of(given, most)]


def panel_of(**more):
    return {"width": 400, "height": 160, "x": axis(0.5, 4.5, counts_things=True), "y": axis(0, 10), **more}


def figure_of(*panels, **more):
    return {"title": "t", "panels": list(panels) or [panel_of()], **more}


def texts_of(svg):
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text")]


# ---- numbers on an axis


def test_steps_are_round():
    assert [round_step(one) for one in (0.011, 0.2, 0.21, 1, 3, 5.1, 70)] == pytest.approx(
        [0.02, 0.2, 0.5, 1, 5, 10, 100]
    )


def test_ticks_are_round_numbers_with_the_digits_that_they_need():
    assert labels(axis(0.0, 0.3), 5) == ["0.0", "0.1", "0.2", "0.3"]
    assert labels(axis(0.0, 30.0), 8) == ["0", "5", "10", "15", "20", "25", "30"]
    assert labels(axis(-11.5, 0.3), 7) == ["-10", "-8", "-6", "-4", "-2", "0"]
    assert labels(axis(0.0, 2500.0), 6) == ["0", "500", "1,000", "1,500", "2,000", "2,500"]


def test_ticks_are_never_more_than_asked_for_and_lie_on_the_axis():
    span = 1e-4
    while span < 1e7:
        for most in range(1, 12):
            ticks = ticks_of(axis(-span / 3, span), most)
            assert len(ticks) <= most
            assert all(-span / 3 - 1e-9 * span <= value <= span * (1 + 1e-9) for value, _ in ticks)
        span *= 1.37


def test_an_empty_or_endless_axis_has_no_ticks():
    for low, high in ((1.0, 1.0), (2.0, 1.0), (0.0, float("inf")), (0.0, float("nan")), (1e15, 1e15 + 0.25)):
        assert ticks_of(axis(low, high), 5) == []


def test_ticks_of_things_begin_at_one_and_are_whole():
    assert labels(axis(0.5, 1.5, counts_things=True), 10) == ["1"]
    assert labels(axis(0.5, 14.5, counts_things=True), 10) == ["1", "2", "4", "6", "8", "10", "12", "14"]
    assert labels(axis(0.5, 99.5, counts_things=True), 5) == ["1", "20", "40", "60", "80"]
    assert labels(axis(0.0, 3.0, counts_things=True), 8) == ["0", "1", "2", "3"]


def test_ticks_of_the_axis_itself_give_way_to_more_important_ones():
    own = [{"at": at, "label": str(at)} for at in (5, 9, 5.5, 11)]
    given = texts_of(draw(figure_of(panel_of(y=axis(0, 10, ticks=own)))))
    assert "5" in given and "9" in given and "5.5" not in given and "11" not in given


# ---- texts


def test_long_texts_take_two_lines_and_end_in_dots():
    assert wrapped("", 100) == [] and wrapped("short", 100) == ["short"]
    assert wrapped("one two three", 70) == ["one two", "three"]
    first, second = wrapped("word " * 100, 200)
    assert first.endswith("word") and second.endswith("…")
    assert [len(line) for line in wrapped("x" * 5000, 71)] == [10, 9]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_any_kind_stay_texts(text):
    series = {"name": text, "colour": "blue", "values": [1.0]}
    level = {"name": text, "colour": "ink", "at": 1.0}
    panel = panel_of(title=text, columns=[series, series], outlines=[series], levels=[level])
    panel["x"]["name"] = panel["y"]["name"] = text
    svg = draw(figure_of(panel, title=text, subtitle=text, aside=text))
    root = ET.fromstring(svg.encode())
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "path",
        "text",
    }
    assert not re.search("[\x00-\x08\x0b-\x1f\x85\u2028\u2029\u202e]", svg)
    assert float(root.get("height")) < 600 and float(root.get("width")) < 900
    assert all(width_of(one) <= float(root.get("width")) for one in texts_of(svg))


def test_persian_begins_at_the_right_and_keeps_what_joins_its_letters():
    root = ET.fromstring(draw(figure_of(title="گفتار", subtitle="می\u200cخواهم 12")))
    lines = [one for one in root.iter(f"{SVG}text") if one.get("direction") == "rtl"]
    assert [one.text for one in lines] == ["گفتار", "می\u200cخواهم 12"]
    assert all(float(one.get("x")) > 0.9 * (float(root.get("width")) - 32) for one in lines)


# ---- panels


def height_of_column(svg, colour):
    floor, top = re.search(rf'<path d="M[\d.]+ ([\d.]+)V([\d.]+)h[^"]*" class="{colour}"/>', svg).groups()
    return float(floor) - float(top)


def test_columns_are_stacked():
    columns = [{"name": "low", "colour": "blue", "values": [2.0]}, {"name": "high", "colour": "green", "values": [6.0]}]
    svg = draw(figure_of(panel_of(columns=columns)))
    assert height_of_column(svg, "blue") == pytest.approx(0.2 * 160, abs=0.1)
    assert height_of_column(svg, "green") == pytest.approx(0.8 * 160, abs=0.1)
    assert svg.index('z" class="green"') < svg.index('z" class="blue"')  # the highest sum is behind
    assert {"low", "high"} <= set(texts_of(svg))


def test_what_is_beyond_the_axis_is_cut():
    svg = draw(figure_of(panel_of(columns=[{"colour": "blue", "values": [1000.0]}])))
    assert height_of_column(svg, "blue") == 160


def test_names_of_levels_do_not_touch():
    levels = [{"name": f"level {i}", "colour": "ink", "at": 5 + 0.01 * i} for i in range(4)]
    root = ET.fromstring(draw(figure_of(panel_of(levels=levels))))
    places = sorted(float(one.get("y")) for one in root.iter(f"{SVG}text") if one.text.startswith("level"))
    assert all(b - a >= 15 for a, b in itertools.pairwise(places)) and len(places) == 4


def test_a_legend_is_not_said_twice():
    columns = [{"name": name, "colour": "blue", "values": [1.0]} for name in ("a phase", "other")]
    outlines = [{"name": "a phase", "colour": "blue", "values": [1.0]}]
    both = panel_of(columns=columns)
    assert texts_of(draw(figure_of(both, both))).count("a phase") == 1
    assert texts_of(draw(figure_of(both, panel_of(columns=columns, outlines=outlines)))).count("a phase") == 3
    assert "a phase" not in texts_of(draw(figure_of(panel_of(columns=columns[:1]))))


def pixels_of(uri):
    """The size of a PNG, and its rows of palette indices."""
    data = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    width, height = struct.unpack(">II", data[16:24])
    begin = data.index(b"IDAT")
    size = struct.unpack(">I", data[begin - 4 : begin])[0]
    rows = zlib.decompress(data[begin + 4 : begin + 4 + size])
    return width, height, [rows[i * (width + 1) + 1 : (i + 1) * (width + 1)] for i in range(height)]


def test_cells_of_a_heat_map_have_several_pixels():
    width, height, rows = pixels_of(data_uri(["00fe", "ff01"], 4, 6))
    assert (width, height) == (4, 6) and rows == [bytes([0, 0, 254, 254])] * 3 + [bytes([255, 255, 1, 1])] * 3


def test_a_heat_map_fills_its_panel_and_says_what_its_colours_mean():
    heat_map = {"rows": ["00fe"], "value_name": "ln magnitude", "low": -11.5, "high": 1.2}
    svg = draw(figure_of(panel_of(heat_map=heat_map)))
    image, bar = ET.fromstring(svg).iter(f"{SVG}image")
    assert (float(image.get("width")), float(image.get("height"))) == (400, 160)
    assert pixels_of(image.get("href"))[:2] == (800, 320)
    assert float(bar.get("x")) > float(image.get("x")) + 400
    assert {"ln magnitude", "-10", "0"} <= set(texts_of(svg))


def test_each_level_is_brighter_than_the_one_below():
    colours = [palette()[i : i + 3] for i in range(0, 768, 3)]
    light = [[((byte / 255 + 0.055) / 1.055) ** 2.4 for byte in colour] for colour in colours]
    light = [0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in light]
    assert light[:255] == sorted(set(light[:255])) and light[0] < 0.02 and light[254] > 0.85
    assert colours[255] == bytes([128, 128, 128])


# ---- light and dark, and PNG


def test_each_class_has_a_colour_and_what_is_no_data_has_a_dark_one():
    levels = [{"name": "mean", "colour": "ink", "at": 4.0}]
    svg = draw(figure_of(panel_of(columns=[{"colour": "blue", "values": [2.0]}], levels=levels), aside="a"))
    style = ET.fromstring(svg).find(f"{SVG}style").text
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    used = {name for names in re.findall('class="(.*?)"', svg) for name in names.split()}
    assert {"paper", "ink", "small", "tick", "axis", "blue"} <= used
    assert all(f".{name}{{" in light for name in used)
    coloured = {name for name in used if f".{name}{{color:" in light}
    assert {name for name in coloured if f".{name}{{color:" in dark} == coloured - {"blue"}


@pytest.mark.parametrize("programs", [("rsvg-convert",), png.BROWSERS], ids=["librsvg", "a browser"])
def test_a_png_has_two_pixels_a_point_and_is_light(programs, monkeypatch, tmp_path):
    found = next(filter(None, map(shutil.which, programs)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(programs)} is on PATH: librsvg2-bin brings the first")
    (tmp_path / "bin").mkdir()
    for name in (found, "sh", "dirname", "readlink", "basename", "env", "cat", "ls", "bash", "grep", "head", "sed"):
        if shutil.which(name):  # Chromium's command is a script
            (tmp_path / "bin" / name.rpartition("/")[2]).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    svg = draw(figure_of(title="Größe"))
    picture = png.png_of(svg)
    width, height = struct.unpack(">II", picture[16:24])
    root = ET.fromstring(svg)
    assert (width, height) == (2 * int(root.get("width")), 2 * int(root.get("height")))


def test_without_a_converter_it_says_which_command_brings_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(png.NoPng, match=r"neither rsvg-convert nor Chromium \(as root: apt-get install librsvg2-bin\)"):
        png.png_of(draw(figure_of()))
    for words, why in (("echo no memory >&2", "no memory"), ("exit 3", "it wrote nothing"), ("echo text", "nothing")):
        (tmp_path / "rsvg-convert").write_text(f"#!/bin/sh\n{words}\n")
        (tmp_path / "rsvg-convert").chmod(0o755)
        with pytest.raises(png.NoPng, match=f"rsvg-convert failed: .*{why}"):
            png.png_of(draw(figure_of()))


def test_the_command_writes_the_svg_where_no_png_can_be_made(tmp_path):
    figure = json.dumps(figure_of(title="گفتار")).encode()

    def drawn(kind):
        call = [sys.executable, PROJECT / "src/python/xtts_advise", "picture", kind]
        return subprocess.run(call, input=figure, capture_output=True, env={"PATH": str(tmp_path)}, check=True)

    svg, no_png = drawn("svg"), drawn("png")
    assert svg.stdout == no_png.stdout and "<title>گفتار</title>".encode() in svg.stdout
    assert svg.stderr == b"" and b"apt-get install librsvg2-bin" in no_png.stderr.splitlines()[-1]
