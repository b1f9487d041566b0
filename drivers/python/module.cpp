/// The module graze._graze: what the package graze is made of.
#include <pybind11/complex.h>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <cmath>

#include "analysis/maps/map_keys.hpp"
#include "core/system/registry.hpp"
#include "data/archive.hpp"
#include "drivers/library/case.hpp"
#include "drivers/library/run.hpp"
#include "drivers/plot/plot.hpp"
#include "drivers/python/convert.hpp"
#include "drivers/python/listening.hpp"
#include "drivers/python/system.hpp"
#include "generated/version.hpp"

namespace graze::python {
namespace {

using namespace py::literals;

// ---- Cases -----------------------------------------------------------------------------------------------

/// With the lock of the interpreter released: reading may take long where a case names a result.
Case case_of_text(const std::string& text, const std::string& name,
                  const std::vector<std::string>& overrides) {
  const py::gil_scoped_release release;
  return make_case(parse_case(text, name, overrides));
}

Case case_of_file(const std::string& path, const std::vector<std::string>& overrides) {
  const py::gil_scoped_release release;
  return load_case(path, overrides);
}

py::dict attributes_of(const Case& given, int threads) {
  py::dict all;
  for (const auto& [name, text] : case_attributes(given, make_plan(given, threads).threads))
    all[py::str(name)] = text;
  all["identity"] = given.identity;
  all["graze_version"] = GRAZE_VERSION;
  all["git_sha1"] = GRAZE_GIT_SHA;
  all["compiler"] = GRAZE_COMPILER;
  return all;
}

py::tuple run_case(const Case& given, int threads, const py::object& progress) {
  std::atomic<double> share = 0;
  RunWatch watch;
  watch.progress = [&share](double done) { share = done; };
  std::optional<Dataset> result = listening(
      [&](const InterruptFlag& flag) {
        watch.interrupt = &flag;
        return run(given, threads, watch);
      },
      [&] {
        if (!progress.is_none()) progress(share.load());
      });
  if (!progress.is_none()) progress(1.0);
  return dataset_to_python(std::move(*result));
}

// ---- Pictures and files ----------------------------------------------------------------------------------

Attributes attributes_from(const py::dict& given) {
  Attributes all;
  for (const auto& [name, text] : given) all.emplace_back(name.cast<std::string>(), text.cast<std::string>());
  return all;
}

PlotSource source_of(const std::string& name, const py::tuple& data, const py::dict& attributes) {
  Result result{dataset_from_python(data), attributes_from(attributes), true};
  Described described(result.attributes);
  return {name, std::move(result), std::move(described)};
}

PlotOptions plot_options(std::vector<std::string> panels, int start, double from, double to, double y_from,
                         double y_to, double width) {
  PlotOptions options;
  options.panels = std::move(panels);
  options.start = start;
  options.from = from;
  options.to = to;
  options.y_from = y_from;
  options.y_to = y_to;
  options.page.width = width;
  return options;
}

py::dict picture_of_files(const std::vector<std::string>& files, const PlotOptions& options) {
  Picture picture;
  {
    const py::gil_scoped_release release;
    picture = picture_of(files, options);
  }
  return picture_to_python(std::move(picture));
}

py::dict picture_of_results(const py::list& results, const PlotOptions& options) {
  std::vector<PlotSource> sources;
  for (const py::handle result : results) {
    const auto part = result.cast<py::tuple>();
    sources.push_back(
        source_of(part[0].cast<std::string>(), part[1].cast<py::tuple>(), part[2].cast<py::dict>()));
  }
  Picture picture;
  {
    const py::gil_scoped_release release;
    picture = picture_of(sources, options);
  }
  return picture_to_python(std::move(picture));
}

void save(const std::string& path, const py::tuple& data, const py::dict& attributes,
          const std::string& identity, bool overwrite) {
  const Dataset dataset = dataset_from_python(data);
  const Attributes texts = attributes_from(attributes);
  const py::gil_scoped_release release;
  write_result(path, dataset, texts, identity, overwrite);
}

// ---- Models ----------------------------------------------------------------------------------------------

py::list quantities(const std::vector<Quantity>& list) {
  py::list all;
  for (const Quantity& q : list)
    all.append(py::dict("name"_a = q.name, "unit"_a = q.unit, "meaning"_a = q.meaning));
  return all;
}

py::dict model_description(const std::string& name) {
  const ModelInfo& info = find_model(name);
  py::list keys;
  for (const Key& key : info.keys)
    keys.append(
        py::dict("name"_a = key.name, "unit"_a = key.unit, "meaning"_a = key.meaning,
                 "default"_a = key.fallback.empty() ? py::object(py::none()) : py::str(key.fallback.toml()),
                 "range"_a = key.type == Key::Type::number ? key.range.text() : std::string()));
  return py::dict("name"_a = info.name, "meaning"_a = info.meaning, "equations"_a = info.equations,
                  "parameters"_a = keys, "states"_a = quantities(info.states),
                  "contacts"_a = quantities(info.contacts), "citations"_a = info.citations);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelInfo& info : models()) names.push_back(info.name);
  return names;
}

std::vector<std::string> analysis_keys(const std::string& name) {
  for (const AnalysisInfo& info : analyses()) {
    if (info.name != name) continue;
    std::vector<std::string> names;
    for (const Key& key : info.keys) names.push_back(key.name);
    return names;
  }
  throw InputError("there is no analysis " + name);
}

// ---- Systems ---------------------------------------------------------------------------------------------

std::optional<Section> section_of(const Case& given, const py::dict& keys) {
  const auto system = given.problem.model->system(given.problem.model->values(), given.problem.tolerance);
  if (keys.empty() && system && !(system->period() > 0)) return std::nullopt;
  const Value table = checked(value_of(keys, ""), map_keys(), "map");
  return read_section(table, *given.problem.model, given.problem.tolerance);
}

std::unique_ptr<MovingSystem> make_system(const std::string& text, const py::dict& map) {
  Case given = case_of_text(text, "System", {});
  std::optional<Section> section = section_of(given, map);
  return std::make_unique<MovingSystem>(std::move(given), section);
}

py::dict parameters_of(const MovingSystem& system) {
  py::dict all;
  for (const Parameter& p : system.model().parameters()) all[py::str(p.name)] = p.value;
  return all;
}

std::vector<std::string> names_of(const std::vector<Quantity>& list) {
  std::vector<std::string> names;
  for (const Quantity& q : list) names.push_back(q.name);
  return names;
}

py::array_t<std::complex<double>> complex_array(std::vector<std::complex<double>> values) {
  return owning_array(std::move(values));
}

/// States one below the other; rows that do not exist are not numbers.
Eigen::MatrixXd rows_of(const std::vector<Eigen::VectorXd>& states) {
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(states.size()), states.empty() ? 0 : states.front().size());
  for (std::size_t k = 0; k < states.size(); ++k)
    rows.row(static_cast<Eigen::Index>(k)) = states[k].transpose();
  return rows;
}

/// A motion's state with the time since the beginning told at once.
struct PlacedState {
  HybridState state;
  double time;
};

PlacedState placed(const MovingSystem& system, HybridState state) {
  const double time = system.time_of(state);
  return {std::move(state), time};
}

void bind_system(py::module_& module) {
  py::class_<PlacedState>(module, "State")
      .def_property_readonly("x", [](const PlacedState& s) { return s.state.x; })
      .def_property_readonly("time", [](const PlacedState& s) { return s.time; })
      .def_property_readonly("mode", [](const PlacedState& s) { return s.state.mode; })
      .def("__repr__", [](const PlacedState& s) {
        return py::str("State(x={}, time={}, mode={})").format(s.state.x, s.time, s.state.mode);
      });
  py::class_<KeptEvent>(module, "Event")
      .def_readonly("time", &KeptEvent::time)
      .def_readonly("kind", &KeptEvent::kind)
      .def_readonly("contact", &KeptEvent::contact)
      .def_readonly("friction", &KeptEvent::friction)
      .def_readonly("jump", &KeptEvent::jump)
      .def_readonly("approach_speed", &KeptEvent::approach_speed)
      .def_readonly("force", &KeptEvent::force)
      .def_property_readonly("before", [](const KeptEvent& e) { return e.before; })
      .def_property_readonly("after", [](const KeptEvent& e) { return e.after; })
      .def("__repr__", [](const KeptEvent& e) {
        return py::str("Event({}, time={}, contact={}, approach_speed={})")
            .format(e.kind, e.time, e.contact, e.approach_speed);
      });
  py::class_<MovingSystem>(module, "MovingSystem")
      .def(py::init(&make_system))
      .def_property_readonly("parameters", &parameters_of)
      .def_property_readonly("states", [](const MovingSystem& s) { return names_of(s.model().states()); })
      .def_property_readonly("contacts", [](const MovingSystem& s) { return names_of(s.model().contacts()); })
      .def_property_readonly("jumps", [](const MovingSystem& s) { return names_of(s.model().jumps()); })
      .def_property_readonly("frictions",
                             [](const MovingSystem& s) { return names_of(s.model().frictions()); })
      .def_property_readonly("period", &MovingSystem::period)
      .def("start", [](const MovingSystem& s) { return placed(s, s.start()); })
      .def("state", [](const MovingSystem& s, const Eigen::VectorXd& x,
                       double time) { return placed(s, s.state_at(x, time)); })
      .def("advance",
           [](MovingSystem& s, const PlacedState& from, double duration) {
             Moved moved = listening([&](const InterruptFlag&) { return s.advance(from.state, duration); });
             return py::make_tuple(placed(s, std::move(moved.state)), std::move(moved.events));
           })
      .def("map",
           [](MovingSystem& s, const PlacedState& from) {
             Mapped mapped;
             {
               const py::gil_scoped_release release;
               const Denormals flushed(Denormals::mode() | Denormals::flush);
               mapped = s.map(from.state);
             }
             return py::make_tuple(placed(s, std::move(mapped.to.state)), std::move(mapped.jacobian),
                                   std::move(mapped.to.events));
           })
      .def("orbit",
           [](MovingSystem& s, const PlacedState& guess, int period) {
             Orbit orbit = listening([&](const InterruptFlag&) { return s.orbit(guess.state, period); });
             return py::make_tuple(placed(s, std::move(orbit.start)), orbit.period, orbit.residual,
                                   std::move(orbit.jacobian), complex_array(std::move(orbit.multipliers)));
           })
      .def("gaps", [](MovingSystem& s, const PlacedState& at) {
        const py::gil_scoped_release release;
        return s.gaps(at.state);
      });
}

py::dict located(const Bifurcation& at) {
  return py::dict("kind"_a = bifurcation_names()[static_cast<std::size_t>(at.kind)], "contact"_a = at.contact,
                  "parameter"_a = at.parameter, "parameter_error"_a = at.error, "x"_a = at.state,
                  "orbit"_a = rows_of(at.orbit), "periods"_a = at.periods, "turn"_a = at.turn);
}

py::dict branch_point(const Continuation& walk) {
  const BranchPoint& p = walk.point();
  py::list passed;
  for (const Bifurcation& at : walk.passed()) passed.append(located(at));
  return py::dict("parameter"_a = p.parameter, "x"_a = p.orbit.empty() ? p.state : p.orbit.front(),
                  "orbit"_a = rows_of(p.orbit), "turn"_a = p.period, "impacts"_a = p.impacts,
                  "stable"_a = p.stable, "admissible"_a = p.admissible, "residual"_a = p.residual,
                  "multipliers"_a = complex_array(p.multipliers), "passed"_a = passed);
}

std::unique_ptr<BranchWalk> make_walk(MovingSystem& system, const std::string& parameter,
                                      const PlacedState& guess, int period, double from, double to,
                                      int direction, double step, int points) {
  ContinuationOptions options;
  options.from = from;
  options.to = to;
  options.step = step;
  options.points = points;
  return listening([&](const InterruptFlag&) {
    return std::make_unique<BranchWalk>(system, parameter, guess.state, period, direction, options);
  });
}

void bind_branch(py::module_& module) {
  py::class_<BranchWalk>(module, "BranchWalk")
      .def(py::init(&make_walk), py::keep_alive<1, 2>())
      .def("next", [](BranchWalk& b) { return listening([&](const InterruptFlag&) { return b.next(); }); })
      .def_property_readonly("point", [](const BranchWalk& b) { return branch_point(b.walk()); })
      .def_property_readonly("end", [](const BranchWalk& b) { return b.walk().end(); });
}

/// Errors of this library as exceptions of the package, with the program's own messages.
void bind_errors(py::module_& module) {
  static const py::exception<InputError> input_error(module, "InputError", PyExc_ValueError);
  static const py::exception<MotionError> motion_error(module, "MotionError", PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      PyErr_SetString(input_error.ptr(), error.what());
    } catch (const MotionError& error) {
      py::object raised = py::reinterpret_borrow<py::object>(motion_error)(error.what());
      raised.attr("outcome") = error.outcome;
      PyErr_SetObject(motion_error.ptr(), raised.ptr());
    }
  });
}

}  // namespace

PYBIND11_MODULE(_graze, module) {
  module.attr("__version__") = GRAZE_VERSION;
  bind_errors(module);
  py::class_<Case>(module, "Case")
      .def_property_readonly("title", [](const Case& c) { return c.title; })
      .def_property_readonly("analysis", [](const Case& c) { return c.question->name; })
      .def_property_readonly("warnings", [](const Case& c) { return c.warnings; })
      .def_property_readonly("text", [](const Case& c) { return c.file.text; });
  module.def("case_of_text", &case_of_text);
  module.def("case_of_file", &case_of_file);
  module.def("toml_document", [](const py::dict& table) { return toml_document(value_of(table, "")); });
  module.def("run", &run_case);
  module.def("attributes", &attributes_of);
  module.def("save", &save);
  py::class_<PlotOptions>(module, "PlotOptions").def(py::init(&plot_options));
  module.def("picture_of_files", &picture_of_files);
  module.def("picture_of_results", &picture_of_results);
  module.def("model_names", &model_names);
  module.def("model", &model_description);
  module.def("analysis_keys", &analysis_keys);
  bind_system(module);
  bind_branch(module);
}

}  // namespace graze::python
