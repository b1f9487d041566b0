/// Any linear system with stops and dry friction, given by its matrices in the case file.
#include <Eigen/Cholesky>
#include <array>
#include <cmath>
#include <string>

#include "core/linear/family.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

constexpr int dynamic = Eigen::Dynamic;

/// Where each group of numbers begins in the flat list of parameters.
struct Layout {
  Eigen::Index masses = 0;
  Eigen::Index forces = 0;
  Eigen::Index stops = 0;
  Eigen::Index frictions = 0;
  std::vector<double> orders;  ///< forcing frequencies over omega
  Eigen::MatrixXd normals;     ///< in columns
  Eigen::MatrixXd sliding;     ///< directions of friction in columns

  static constexpr std::size_t omega = 0, force_scale = 1, damping_scale = 2, first = 3;
  std::size_t square() const { return static_cast<std::size_t>(masses * masses); }
  std::size_t mass() const { return first; }
  std::size_t damping() const { return mass() + square(); }
  std::size_t stiffness() const { return damping() + square(); }
  std::size_t constant() const { return stiffness() + square(); }
  std::size_t cosine() const { return constant() + static_cast<std::size_t>(masses); }
  std::size_t sine() const { return cosine() + static_cast<std::size_t>(masses * forces); }
  std::size_t position() const { return sine() + static_cast<std::size_t>(masses * forces); }
  std::size_t restitution() const { return position() + static_cast<std::size_t>(stops); }
  std::size_t friction() const { return restitution() + static_cast<std::size_t>(stops); }
};

struct Equations {
  Layout layout;

  template <class S>
  LinearSystem<S, dynamic, dynamic, dynamic, dynamic> operator()(std::span<const S> p) const {
    const Layout& at = layout;
    const Eigen::Index n = at.masses;
    LinearSystem<S, dynamic, dynamic, dynamic, dynamic> s;
    s.resize(n, at.forces, at.stops, at.frictions);
    const auto entry = [&](std::size_t group, Eigen::Index i, Eigen::Index j,
                           Eigen::Index columns) -> const S& {
      return p[group + static_cast<std::size_t>(i * columns + j)];
    };
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        s.mass(i, j) = entry(at.mass(), i, j, n);
        s.damping(i, j) = p[Layout::damping_scale] * entry(at.damping(), i, j, n);
        s.stiffness(i, j) = entry(at.stiffness(), i, j, n);
      }
      s.constant(i) = p[at.constant() + static_cast<std::size_t>(i)];
    }
    s.base_frequency = at.forces > 0 ? p[Layout::omega] : S(0);
    for (Eigen::Index k = 0; k < at.forces; ++k) {
      const double order = at.orders[static_cast<std::size_t>(k)];
      s.frequency(k) = p[Layout::omega] * order;
      s.commensurate = s.commensurate && order == std::round(order);
      for (Eigen::Index i = 0; i < n; ++i) {
        s.cosine(i, k) = p[Layout::force_scale] * entry(at.cosine(), k, i, n);
        s.sine(i, k) = p[Layout::force_scale] * entry(at.sine(), k, i, n);
      }
    }
    for (Eigen::Index c = 0; c < at.stops; ++c) {
      for (Eigen::Index i = 0; i < n; ++i) s.normal(i, c) = S(at.normals(i, c));
      s.position(c) = p[at.position() + static_cast<std::size_t>(c)];
      s.restitution(c) = p[at.restitution() + static_cast<std::size_t>(c)];
    }
    for (Eigen::Index k = 0; k < at.frictions; ++k) {
      for (Eigen::Index i = 0; i < n; ++i) s.sliding(i, k) = S(at.sliding(i, k));
      s.friction(k) = p[at.friction() + static_cast<std::size_t>(k)];
    }
    return s;
  }
};

std::unique_ptr<System> stops_system(const Equations& equations, std::span<const double> values,
                                     const Tolerance& tolerance) {
  FrictionAmplitudes amplitudes;
  for (Eigen::Index k = 0; k < equations.layout.frictions; ++k)
    amplitudes.parameters.push_back(equations.layout.friction() + static_cast<std::size_t>(k));
  amplitudes.directions = equations.layout.sliding;
  return linear_family_system<dynamic, dynamic, dynamic, dynamic>(equations, values, tolerance, amplitudes);
}

[[noreturn]] void refuse(const Value& value, const std::string& key, const std::string& rule) {
  throw InputError(value.place(), key, value.toml(), rule);
}

/// A square matrix of the size of the mass matrix; zero when left out.
Eigen::MatrixXd read_matrix(const Value& table, const char* name, Eigen::Index n) {
  const std::string key = std::string("model.") + name;
  const Value* value = table.find(name);
  if (value == nullptr) return Eigen::MatrixXd::Zero(n, n);
  const auto rows = value->matrix(key);
  if (static_cast<Eigen::Index>(rows.size()) != n || static_cast<Eigen::Index>(rows.front().size()) != n) {
    refuse(*value, key, "must have " + std::to_string(n) + " rows and columns like mass");
  }
  Eigen::MatrixXd m(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j)
      m(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  }
  return m;
}

/// A list with one number per mass; zero when left out.
Eigen::VectorXd read_list(const Value& table, const char* name, const std::string& path, Eigen::Index n) {
  const Value* value = table.find(name);
  if (value == nullptr) return Eigen::VectorXd::Zero(n);
  const std::vector<double> list = value->numbers(path + name);
  if (static_cast<Eigen::Index>(list.size()) != n) {
    refuse(*value, path + name, "must have one number per mass, " + std::to_string(n));
  }
  return Eigen::Map<const Eigen::VectorXd>(list.data(), n);
}

class LinearStops final : public Model {
 public:
  explicit LinearStops(const Value& table);
  std::unique_ptr<System> system(std::span<const double> values, const Tolerance& tolerance) const override {
    return stops_system(equations_, values, tolerance);
  }

 private:
  void add(const std::string& name, const std::string& meaning, double value, Range range = Range::finite()) {
    parameters_.push_back({{name, "1", meaning}, value, range});
  }
  void add_matrix(const char* symbol, const char* meaning, const Eigen::MatrixXd& m) {
    for (Eigen::Index i = 0; i < m.rows(); ++i) {
      for (Eigen::Index j = 0; j < m.cols(); ++j) {
        add(std::string(symbol) + "_" + std::to_string(i + 1) + "_" + std::to_string(j + 1), meaning,
            m(i, j));
      }
    }
  }
  void read_masses(const Value& table);
  void read_forces(const Value& table);
  void read_stops(const Value& table);
  void read_frictions(const Value& table);

  Equations equations_;
};

LinearStops::LinearStops(const Value& table) {
  add("omega", "fundamental forcing frequency", table.at("omega").number("model.omega"), Range::positive());
  add("force_scale", "factor of all harmonic forces", 1);
  add("damping_scale", "factor of the damping matrix", 1);
  read_masses(table);
  read_forces(table);
  read_stops(table);
  read_frictions(table);
}

void LinearStops::read_masses(const Value& table) {
  const Value& mass = table.at("mass");
  const Eigen::Index n = static_cast<Eigen::Index>(mass.matrix("model.mass").size());
  const Eigen::MatrixXd M = read_matrix(table, "mass", n);
  const Eigen::LLT<Eigen::MatrixXd> factor(M);
  const bool symmetric = (M - M.transpose()).cwiseAbs().maxCoeff() <= 1e-12 * M.cwiseAbs().maxCoeff();
  if (!symmetric || factor.info() != Eigen::Success || !(factor.rcond() > 1e-14)) {
    refuse(mass, "model.mass", "must be symmetric and positive definite");
  }
  equations_.layout.masses = n;
  add_matrix("M", "entry of the mass matrix", M);
  add_matrix("C", "entry of the damping matrix", read_matrix(table, "damping", n));
  add_matrix("K", "entry of the stiffness matrix", read_matrix(table, "stiffness", n));
  add_matrix("f", "constant force", read_list(table, "constant", "model.", n));
  for (Eigen::Index i = 1; i <= n; ++i) {
    const std::string k = std::to_string(i);
    states_.push_back({"x" + k, "1", "displacement of mass " + k});
    states_.push_back({"v" + k, "1", "velocity of mass " + k});
  }
}

void LinearStops::read_forces(const Value& table) {
  Layout& at = equations_.layout;
  const Value* forces = table.find("force");
  const Value::Array none;
  const Value::Array& list = forces != nullptr ? forces->array("model.force") : none;
  at.forces = static_cast<Eigen::Index>(list.size());
  Eigen::MatrixXd cosine(at.forces, at.masses), sine(at.forces, at.masses);
  for (Eigen::Index k = 0; k < at.forces; ++k) {
    const Value& force = list[static_cast<std::size_t>(k)];
    at.orders.push_back(force.at("order").number("model.force.order"));
    cosine.row(k) = read_list(force, "cosine", "model.force.", at.masses).transpose();
    sine.row(k) = read_list(force, "sine", "model.force.", at.masses).transpose();
  }
  add_matrix("a", "cosine amplitude (force, mass)", cosine);
  add_matrix("b", "sine amplitude (force, mass)", sine);
}

void LinearStops::read_stops(const Value& table) {
  Layout& at = equations_.layout;
  const Value* stops = table.find("stop");
  const Value::Array none;
  const Value::Array& list = stops != nullptr ? stops->array("model.stop") : none;
  constexpr std::size_t most = 62;  // the mode has one bit for each
  if (list.size() > most) refuse(*stops, "model.stop", "at most 62 stops");
  at.stops = static_cast<Eigen::Index>(list.size());
  at.normals.resize(at.masses, at.stops);
  for (Eigen::Index c = 0; c < at.stops; ++c) {
    const Value& stop = list[static_cast<std::size_t>(c)];
    at.normals.col(c) = read_list(stop, "normal", "model.stop.", at.masses);
    if (at.normals.col(c).isZero(0)) refuse(stop.at("normal"), "model.stop.normal", "must not be zero");
    const Value* name = stop.find("name");
    const std::string label = name != nullptr ? name->text("model.stop.name") : std::to_string(c + 1);
    contacts_.push_back({label, "1", "stop " + label});
  }
  for (std::size_t c = 0; c < list.size(); ++c) {
    add("position_" + contacts_[c].name, "position of the stop: normal . x <= position",
        list[c].at("position").number("model.stop.position"), Range::any());
  }
  for (std::size_t c = 0; c < list.size(); ++c) {
    add("restitution_" + contacts_[c].name, "restitution of the stop",
        list[c].at("restitution").number("model.stop.restitution"), Range::unit());
  }
}

void LinearStops::read_frictions(const Value& table) {
  Layout& at = equations_.layout;
  const Value* frictions = table.find("friction");
  if (frictions == nullptr) return;
  const Value::Array& list = frictions->array("model.friction");
  at.frictions = static_cast<Eigen::Index>(list.size());
  if (ModeLayout{at.stops, at.frictions}.bits() > ModeLayout::most_bits) {
    refuse(*frictions, "model.friction", "at most 31 stops and frictions together");
  }
  at.sliding.resize(at.masses, at.frictions);
  for (Eigen::Index k = 0; k < at.frictions; ++k) {
    const Value& friction = list[static_cast<std::size_t>(k)];
    at.sliding.col(k) = read_list(friction, "direction", "model.friction.", at.masses);
    if (at.sliding.col(k).isZero(0))
      refuse(friction.at("direction"), "model.friction.direction", "must not be zero");
    const Value* name = friction.find("name");
    const std::string label = name != nullptr ? name->text("model.friction.name") : std::to_string(k + 1);
    frictions_.push_back({label, "1", "friction " + label});
    add("friction_" + label, "amplitude of the dry friction; 0: none",
        friction.at("amplitude").number("model.friction.amplitude"), Range::non_negative());
  }
}

Key key(const char* name, Key::Type type, const char* meaning) {
  Key k;
  k.name = name;
  k.type = type;
  k.unit = "1";
  k.meaning = meaning;
  k.range = Range::finite();
  return k;
}

std::vector<Key> stop_keys() {
  Key normal = key("normal", Key::Type::numbers,
                   "direction towards the stop, one number per mass: [1, 0] above mass 1, [-1, 0] below it, "
                   "[1, -1] between 1 and 2");
  normal.required = true;
  Key position = key("position", Key::Type::number, "the gap is position - normal . x; inf: none");
  position.required = true;
  position.range = Range::any();
  Key restitution = key("restitution", Key::Type::number, "Newton's coefficient of restitution");
  restitution.range = Range::unit();
  restitution.fallback = Value(0.7);
  return {key("name", Key::Type::text, "name of the contact; its number when left out"), normal, position,
          restitution};
}

std::vector<Key> friction_keys() {
  Key direction =
      key("direction", Key::Type::numbers,
          "direction of sliding, one number per mass: [1, 0] mass 1 on the ground, [1, -1] masses 1 "
          "and 2 on each other");
  direction.required = true;
  Key amplitude = key("amplitude", Key::Type::number, "the force is at most this; 0: none");
  amplitude.required = true;
  amplitude.range = Range::non_negative();
  return {key("name", Key::Type::text, "name of the friction; its number when left out"), direction,
          amplitude};
}

std::vector<Key> force_keys() {
  Key order = key("order", Key::Type::number, "frequency over omega; whole orders keep the forcing periodic");
  order.range = Range::positive();
  order.fallback = Value(1.0);
  return {order, key("cosine", Key::Type::numbers, "amplitudes of cos(order omega t), one per mass"),
          key("sine", Key::Type::numbers, "amplitudes of sin(order omega t), one per mass")};
}

}  // namespace

GRAZE_MODEL(linear_stops) {
  ModelInfo info;
  info.name = "linear_stops";
  info.meaning =
      "Any number of masses with linear springs and dampers, harmonic forces, rigid stops and dry friction, "
      "given by matrices.";
  info.equations =
      "M x'' + C x' + K x = f + sum_k [a_k cos(order_k omega t) + b_k sin(order_k omega t)]\n"
      "stop c: gap = position_c - normal_c . x >= 0; impact: normal velocity -> -restitution_c times itself\n"
      "friction k: -direction_k times amplitude_k sgn(direction_k . x'), at rest anything up to that";
  info.citations = {
      "Brogliato: Nonsmooth Mechanics, 3rd edition, Springer 2016 (Newton's law with several contacts, "
      "complementarity)"};
  Key omega = key("omega", Key::Type::number, "fundamental forcing frequency");
  omega.range = Range::positive();
  omega.fallback = Value(1.0);
  Key mass = key("mass", Key::Type::matrix, "mass matrix, symmetric and positive definite");
  mass.required = true;
  Key force = key("force", Key::Type::tables, "harmonic forces");
  force.children = force_keys();
  Key stop = key("stop", Key::Type::tables, "stops");
  stop.children = stop_keys();
  Key friction = key("friction", Key::Type::tables, "dry frictions");
  friction.children = friction_keys();
  info.keys = {omega,
               mass,
               key("damping", Key::Type::matrix, "damping matrix; zero when left out"),
               key("stiffness", Key::Type::matrix, "stiffness matrix; zero when left out"),
               key("constant", Key::Type::numbers, "constant forces, one per mass"),
               force,
               stop,
               friction};
  info.states = {{"x1", "1", "displacement of mass 1"}, {"v1", "1", "velocity of mass 1; and so on"}};
  info.contacts = {{"1", "1", "first stop; and so on, or by name"}};
  info.frictions = {{"1", "1", "first friction; and so on, or by name"}};
  info.modes =
      "bit c set: stop number c (from 0) is closed\n"
      "  with friction, after n stops bits n + 2k, n + 2k + 1: friction k (from 0), 0 none, 1 slides "
      "forward, "
      "2 backward, 3 sticks\n"
      "  then bit c of the next n set: stop c is closed but does not press, friction holds the masses";
  info.make = [](const Value& table) -> std::shared_ptr<const Model> {
    return std::make_shared<LinearStops>(table);
  };
  return info;
}

}  // namespace graze
