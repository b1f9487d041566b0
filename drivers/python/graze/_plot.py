"""The program's diagrams in matplotlib: the same panels, marks and colours, drawn by another hand."""

from __future__ import annotations

import math
import os
import textwrap
from typing import Any, Optional, Sequence, Union

import numpy

from graze import _graze
from graze._results import Result, from_xarray, root_of

_MILLIMETRE = 72 / 25.4  # points

# By the number that the program gives to a symbol: matplotlib's marker, and whether it is filled.
_MARKERS = {1: ("+", False), 2: ("x", False), 3: ("*", False), 4: ("s", False), 5: ("s", True), 6: ("o", False),
            7: ("o", True), 8: ("^", False), 9: ("^", True), 10: ("v", False), 11: ("v", True), 12: ("D", False),
            13: ("D", True), 14: ("p", False), 15: ("p", True)}
_DASHES = {"solid": "-", "dashed": (0, (4, 2.5)), "dotted": (0, (1, 1.5))}
_SIDE_BY_SIDE = 320.0  # points, of a page that has two squares side by side
_LEAST_DOT = 1.0       # points: smaller ones are hardly seen where a pixel is as large
_PANEL_HEIGHT = 95.0   # points, of a panel with a share of 1
_LABELS = 50.0         # that the numbers and the label of the y axis take, at the side
_ROW_HEIGHT = 13.0     # of a row of an axis of rows
_LETTER = 0.52         # width of a letter, in units of the font size


def _line(axes, mark):
    return axes.plot(mark["x"], mark["y"], color=mark["colour"], linewidth=mark["size"],
                     linestyle=_DASHES[mark["dash"]], alpha=mark["opacity"])[0]


def _dots(axes, mark):
    marker, filled = _MARKERS.get(mark["symbol"], ("o", True))
    small = mark["size"] < 2 and filled
    size = max(mark["size"], _LEAST_DOT)
    return axes.plot(mark["x"], mark["y"], linestyle="none", marker=marker, markersize=size,
                     color=mark["colour"], markerfacecolor=mark["colour"] if filled else "none",
                     markeredgewidth=0 if small else 0.6, rasterized=len(mark["x"]) > 5000)[0]


def _boxes(axes, mark):
    from matplotlib.collections import PolyCollection

    x, x2, y, y2 = (mark[key] for key in ("x", "x2", "y", "y2"))
    corners = numpy.stack([numpy.stack([x, x2, x2, x], 1), numpy.stack([y, y, y2, y2], 1)], 2)
    return axes.add_collection(PolyCollection(corners, facecolors=mark["colour"], alpha=mark["opacity"],
                                              edgecolors=mark["colour"], linewidths=0.2), autolim=False)


def _area(axes, mark):
    return axes.fill_between(mark["x"], mark["y"], mark["y2"], color=mark["colour"], alpha=mark["opacity"],
                             linewidth=0)


def _levels(axes, mark):
    return [axes.axhline(y, color=mark["colour"], linewidth=mark["size"], linestyle=_DASHES[mark["dash"]])
            for y in mark["y"]][-1]


def _walls(axes, mark):
    return [axes.axvline(x, color=mark["colour"], linewidth=mark["size"], linestyle=_DASHES[mark["dash"]])
            for x in mark["x"]][-1]


_SHAPES = {"line": _line, "dots": _dots, "boxes": _boxes, "area": _area, "levels": _levels, "walls": _walls}


def _is_empty(mark) -> bool:
    return not (numpy.any(numpy.isfinite(mark["x"])) or numpy.any(numpy.isfinite(mark["y"])))


def _is_visible(mark, panel) -> bool:
    """Whether any of a mark lies within the axes; a legend tells of nothing else."""
    def within(values, axis):
        return (values >= axis["from_"]) & (values <= axis["to"])

    x, y = mark["x"], mark["y"]
    if mark["shape"] == "levels":
        return bool(numpy.any(within(y, panel["y"])))
    if mark["shape"] == "walls":
        return bool(numpy.any(within(x, panel["x"])))
    if mark["shape"] == "boxes":
        return bool(numpy.any((mark["x2"] >= panel["x"]["from_"]) & (x <= panel["x"]["to"])
                              & (mark["y2"] >= panel["y"]["from_"]) & (y <= panel["y"]["to"])))
    if mark["shape"] == "area":
        return bool(numpy.any(within(x, panel["x"])))
    return bool(numpy.any(within(x, panel["x"]) & within(y, panel["y"])))


def _raster(figure, axes, panel):
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    raster = panel["raster"]
    places = numpy.array([place for place, _ in raster["palette"]], float)
    low, high = places[0], places[-1]
    colours = [colour for _, colour in raster["palette"]]
    mixed = LinearSegmentedColormap.from_list("graze", list(zip((places - low) / (high - low), colours)), N=1024)
    mixed.set_bad("#ffffff")
    # The cells share the panel evenly, whatever its axes count.
    image = axes.imshow(numpy.ma.masked_invalid(raster["values"]), origin="lower", aspect="auto", cmap=mixed,
                        norm=Normalize(low, high), interpolation="nearest", extent=(0, 1, 0, 1),
                        transform=axes.transAxes, zorder=0)
    if raster["with_scale"]:
        figure.colorbar(image, ax=axes, pad=0.02, aspect=25)


def _set_axis(axis, limits, description):
    if description["rows"]:
        axis.set_ticks([k + 0.5 for k in range(len(description["rows"]))], description["rows"])
        axis.set_tick_params(length=0)
    if description["marked"]:
        axis.set_ticks([place for place, _ in description["marked"]], [text for _, text in description["marked"]])
    limits(description["from_"], description["to"])


def _names(axes, panel):
    """Names beside their places, those left out that would cover another one."""
    if not panel["names"]:
        return
    size = axes.xaxis.label.get_fontsize() * 0.85
    axes.figure.canvas.draw()  # the layout decides how much room there is
    points = 72 / axes.figure.dpi
    frame = axes.get_window_extent()
    top, right = frame.y1 * points, frame.x1 * points
    taken: list[tuple[float, float, float]] = []
    for x, y, text, colour in panel["names"]:
        across, up = axes.transData.transform((x, y)) * points
        width = 0.75 * size * len(text) + 1
        covered = any(abs(up - other_up) < size and across < other + other_width and other < across + width
                      for other, other_up, other_width in taken)
        inside = panel["x"]["from_"] <= x <= panel["x"]["to"] and panel["y"]["from_"] <= y <= panel["y"]["to"]
        if covered or not inside:
            continue
        taken.append((across, up, width))
        above, beside = up + size + 3 < top, across + width + 3 < right
        axes.annotate(text, (x, y), (3 if beside else -3, 3 if above else -3), textcoords="offset points", color=colour,
                      fontsize=size, ha="left" if beside else "right", va="bottom" if above else "top")


def _columns(texts, width, font) -> int:
    """How many columns a legend of these texts may have in a width."""
    column = (3.4 + _LETTER * max(len(text) for text in texts)) * 0.9 * font
    return max(1, min(len(texts), int(width / column)))


def _wrapped(text, width, font) -> str:
    return textwrap.fill(text, max(20, int(width / (_LETTER * font))))


def _legend(axes, panel, handles, width):
    from matplotlib.patches import Patch

    entries = [(handle, meaning) for handle, meaning in handles]
    entries += [(Patch(facecolor=colour, edgecolor="#606060", linewidth=0.3), text)
                for colour, text in panel["patches"]]
    size = axes.xaxis.label.get_fontsize()
    if not entries:
        axes.set_title(panel["title"], fontsize=size, loc="left", pad=4)
        return
    columns = _columns([text for _, text in entries], width, size)
    axes.legend(*zip(*entries), loc="lower left", title=panel["title"] or None, title_fontsize=size, alignment="left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2, frameon=False,
                ncol=columns, handlelength=1.6, columnspacing=1.2, handletextpad=0.5, labelspacing=0.25)


def _draw_panel(figure, axes, panel, width, with_x_label):
    if panel["raster"] is not None:
        _raster(figure, axes, panel)
    handles = []
    for mark in panel["marks"]:
        if _is_empty(mark):
            continue
        handle = _SHAPES[mark["shape"]](axes, mark)
        if mark["meaning"] and _is_visible(mark, panel):
            handles.append((handle, mark["meaning"]))
    if panel["x"]["logarithmic"]:
        axes.set_xscale("log")
    if panel["y"]["logarithmic"]:
        axes.set_yscale("log")
    _set_axis(axes.xaxis, axes.set_xlim, panel["x"])
    _set_axis(axes.yaxis, axes.set_ylim, panel["y"])
    if with_x_label:
        axes.set_xlabel(panel["x"]["label"])
    else:
        axes.tick_params(labelbottom=False)
    axes.set_ylabel(panel["y"]["label"])
    if panel["square"]:
        axes.set_box_aspect(1)
    axes.set_label(panel["name"])
    _legend(axes, panel, handles, width - _LABELS)


def _in_a_row(row, rows) -> int:
    """How many panels would fill a row: squares are as large as those of other rows."""
    return max(len(each) for each in rows if each[0]["square"]) if row[0]["square"] else len(row)


def _row_height(row, width) -> float:
    if row[0]["square"]:
        return 0.8 * width
    rows = len(row[0]["y"]["rows"])
    return _ROW_HEIGHT * rows + 6 if rows else _PANEL_HEIGHT * row[0]["share"]


def _draw(picture: dict[str, Any], width: float, height: Optional[float], font: float):
    import matplotlib

    style = {"font.size": font, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
             "axes.titlesize": font, "figure.titlesize": font + 1, "legend.fontsize": font * 0.9,
             "xtick.direction": "in", "ytick.direction": "in"}
    with matplotlib.rc_context(style):
        # A narrow page has one square in a row.
        rows = [part for row in picture["rows"]
                for part in ([[panel] for panel in row] if width < _SIDE_BY_SIDE else [row])]
        counts = [_in_a_row(row, rows) for row in rows]
        heights = [_row_height(row, width / count) for row, count in zip(rows, counts)]
        room = 2.2 * font * len(heights) + 5 * font * (2 + len(picture["notes"]))
        figure = _new_figure(width / 72, (height or sum(heights) + room) / 72)
        across = math.lcm(*counts)
        grid = figure.add_gridspec(len(rows), across, height_ratios=heights)
        placed: list[tuple[Any, dict[str, Any]]] = []
        for k, (row, count) in enumerate(zip(rows, counts)):
            above = placed[-1] if placed and _shares_axis(row, rows[k - 1]) else None
            last = k + 1 == len(rows) or not _shares_axis(row, rows[k + 1])
            span = across // count
            for column, panel in enumerate(row):
                axes = figure.add_subplot(grid[k, column * span:(column + 1) * span],
                                          sharex=above[0] if above else None)
                _draw_panel(figure, axes, panel, width / count, last)
                placed.append((axes, panel))
        heading = "\n".join(_wrapped(text, width, font) for text in (picture["title"], picture["caption"]) if text)
        if heading:
            figure.suptitle(heading, x=0.02, ha="left", fontsize=font)
        if picture["notes"]:
            notes = [_wrapped(note, width, 0.85 * font) for note in picture["notes"]]
            figure.supxlabel("\n".join(notes), x=0.02, ha="left", fontsize=0.85 * font)
        figure.align_ylabels()
        for axes, panel in placed:
            _names(axes, panel)
    return figure


def _shares_axis(row, other) -> bool:
    """Whether two rows stand one below the other over the same axis, of which the lower one has the numbers."""
    return all(len(each) == 1 and not each[0]["square"] for each in (row, other)) \
        and row[0]["x"]["label"] == other[0]["x"]["label"]


def _new_figure(width: float, height: float):
    """Of pyplot, so that notebooks and interactive sessions show it."""
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), dpi=150, layout="constrained")


def plot(result: Union[Result, str, os.PathLike], *more: Union[Result, str, os.PathLike],
         panels: Union[None, str, Sequence[str]] = None, from_: float = -math.inf, to: float = math.inf,
         y_from: float = -math.inf, y_to: float = math.inf, start: Optional[int] = None, width: float = 174.0,
         height: Optional[float] = None, font_size: float = 8.0, title: Optional[str] = None, caption: bool = True):
    """Draws a result as `graze plot` does: the same panels, marks and colours, as a figure of matplotlib.

    result    what `run`, `sweep`, … return, a dataset that xarray has opened, or the name of a result file; several
              sweeps and continuations over one parameter: in one diagram
    panels    by name, from the top: "x1,class" or ["x1", "class"]; a wrong name is answered with all of them
    from_, to, y_from, y_to   the part of the x axis, and of the y axis of the first panel, that is drawn
    start     only this initial state, counted from 0
    width, height   of the figure in millimetres (84: one column of a journal, 174: both); font_size in points
    title     another one than that of the case; "": none; `caption`: whether to tell the parameters that differ
              from their defaults

    Returns the matplotlib Figure; its axes have the names of their panels as labels. Raises InputError for what
    cannot be drawn, ModuleNotFoundError without matplotlib.
    """
    names = panels.split(",") if isinstance(panels, str) else list(panels or [])
    options = _graze.PlotOptions([name for name in names if name], -1 if start is None else start, from_, to, y_from,
                                 y_to, width * _MILLIMETRE)
    files = [os.fspath(each) for each in (result, *more) if isinstance(each, (str, os.PathLike))]
    results = [each for each in (result, *more) if not isinstance(each, (str, os.PathLike))]
    if files and results:
        raise _graze.InputError("give files or results, not both")
    if files:
        picture = _graze.picture_of_files(files, options)
    else:
        sources = [(str(root_of(each).attrs.get("title", "")), *from_xarray(each)) for each in results]
        try:
            picture = _graze.picture_of_results(sources, options)
        except IndexError as missing:
            raise _graze.InputError(f"this is no result that can be drawn: {missing}") from None
    if title is not None:
        picture["title"] = title
    if not caption:
        picture["caption"] = ""
    return _draw(picture, width * _MILLIMETRE, height * _MILLIMETRE if height else None, font_size)
