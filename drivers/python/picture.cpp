#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>

#include "drivers/python/convert.hpp"

namespace graze::python {
namespace {

py::dict axis(const PlotAxis& from) {
  using namespace py::literals;
  return py::dict("label"_a = from.label, "from_"_a = from.from, "to"_a = from.to,
                  "logarithmic"_a = from.logarithmic, "rows"_a = from.rows, "marked"_a = from.marked);
}

const char* shape_name(Mark::Shape shape) {
  constexpr std::array names = {"line", "dots", "boxes", "area", "levels", "walls"};
  return names[static_cast<std::size_t>(shape)];
}

const char* dash_name(Mark::Dash dash) {
  constexpr std::array names = {"solid", "dashed", "dotted"};
  return names[static_cast<std::size_t>(dash) - 1];
}

py::dict mark(Mark from) {
  using namespace py::literals;
  return py::dict("shape"_a = shape_name(from.shape), "meaning"_a = from.meaning, "colour"_a = from.colour,
                  "size"_a = from.size, "dash"_a = dash_name(from.dash), "symbol"_a = from.symbol,
                  "opacity"_a = from.opacity, "x"_a = owning_array(std::move(from.x)),
                  "y"_a = owning_array(std::move(from.y)), "x2"_a = owning_array(std::move(from.x2)),
                  "y2"_a = owning_array(std::move(from.y2)));
}

py::object raster(const std::optional<Raster>& from) {
  using namespace py::literals;
  if (!from) return py::none();
  const std::size_t width = from->rows.empty() ? 0 : from->rows.front().size();
  std::vector<double> values;
  values.reserve(width * from->rows.size());
  for (const std::vector<double>& row : from->rows) values.insert(values.end(), row.begin(), row.end());
  const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(from->rows.size()),
                                          static_cast<py::ssize_t>(width)};
  return py::dict("values"_a = owning_array(std::move(values), shape), "palette"_a = from->palette,
                  "with_scale"_a = from->with_scale);
}

py::dict panel(Panel from) {
  using namespace py::literals;
  py::list marks, names;
  for (Mark& each : from.marks) marks.append(mark(std::move(each)));
  for (const PlaceName& name : from.names)
    names.append(py::make_tuple(name.x, name.y, name.text, name.colour));
  return py::dict("name"_a = from.name, "title"_a = from.title, "x"_a = axis(from.x), "y"_a = axis(from.y),
                  "marks"_a = marks, "raster"_a = raster(from.raster), "names"_a = names,
                  "patches"_a = from.patches, "share"_a = from.share, "square"_a = from.square);
}

}  // namespace

py::dict picture_to_python(Picture picture) {
  using namespace py::literals;
  py::list rows;
  for (std::vector<Panel>& row : picture.rows) {
    py::list panels;
    for (Panel& each : row) panels.append(panel(std::move(each)));
    rows.append(panels);
  }
  return py::dict("title"_a = picture.title, "caption"_a = picture.caption, "notes"_a = picture.notes,
                  "rows"_a = rows);
}

}  // namespace graze::python
