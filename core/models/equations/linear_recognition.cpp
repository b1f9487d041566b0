#include "core/models/equations/linear_recognition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace graze {
namespace {

std::size_t index_of(Atom a) { return static_cast<std::size_t>(a); }

/// w and phi where an atom is w t + phi.
std::optional<std::pair<Fixed, Fixed>> phase(Graph& graph, Atom a) {
  const AtomOperation op = graph.atom(a);
  if (op.kind == AtomOperation::Kind::input && op.input == 0)
    return std::pair(graph.literal(1), graph.literal(0));
  if (op.kind != AtomOperation::Kind::sum) return std::nullopt;
  const Expression& sum = graph.sum(op.sum);
  if (!sum.products.empty() || sum.linear.size() != 1 || index_of(sum.linear.front().atom) != 0)
    return std::nullopt;
  return std::pair(sum.linear.front().factor, sum.constant);
}

class Recognition {
 public:
  Recognition(Graph& graph, const Motions& motions)
      : graph_(graph), motions_(motions), n_(size(motions.force)) {}

  std::shared_ptr<LinearForm> form() {
    base_ = graph_.literal(0);
    if (motions_.period) base_ = graph_.divide(graph_.literal(2 * M_PI), *motions_.period);
    form_ = std::make_shared<LinearForm>();
    const bool linear = read_mass() && read_forces() && read_contacts() && read_frictions();
    if (!linear) return nullptr;
    form_->base_frequency = base_;
    form_->operations = graph_.fixed();
    return form_;
  }

 private:
  template <class List>
  static Eigen::Index size(const List& list) {
    return static_cast<Eigen::Index>(list.size());
  }
  LinearForm::Matrix zeros(Eigen::Index rows, Eigen::Index columns) {
    return LinearForm::Matrix::Constant(rows, columns, graph_.literal(0));
  }
  bool read_mass() {
    form_->mass = zeros(n_, n_);
    for (Eigen::Index i = 0; i < n_; ++i) {
      for (Eigen::Index j = 0; j < n_; ++j) {
        const Expression& m = motions_.mass[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        if (!m.is_fixed()) return false;
        form_->mass(i, j) = m.constant;
      }
    }
    return true;
  }
  bool read_forces() {
    form_->damping = form_->stiffness = zeros(n_, n_);
    form_->constant = zeros(n_, 1);
    for (Eigen::Index i = 0; i < n_; ++i) {
      const Expression force = motions_.force[static_cast<std::size_t>(i)];
      if (!force.products.empty()) return false;
      form_->constant(i) = force.constant;
      for (const auto& term : force.linear) {
        if (!read_term(i, term)) return false;
      }
    }
    const Eigen::Index count = size(orders_);
    form_->frequency.resize(count);
    form_->cosine = form_->sine = zeros(n_, count);
    Eigen::Index k = 0;
    for (const auto& [order, amplitudes] : orders_) {
      form_->frequency(k) = graph_.multiply(graph_.literal(order), base_);
      form_->commensurate = form_->commensurate && order == std::round(order);
      form_->cosine.col(k) = amplitudes.cosine;
      form_->sine.col(k++) = amplitudes.sine;
    }
    return true;
  }
  bool read_term(Eigen::Index i, const Expression::Linear& term) {
    const AtomOperation op = graph_.atom(term.atom);
    if (op.kind == AtomOperation::Kind::input) {
      if (op.input == 0) return false;
      const Eigen::Index state = static_cast<Eigen::Index>(op.input) - 1;
      LinearForm::Matrix& to = state % 2 == 0 ? form_->stiffness : form_->damping;
      to(i, state / 2) = graph_.multiply(graph_.literal(-1), term.factor);
      return true;
    }
    const bool harmonic = op.kind == AtomOperation::Kind::call &&
                          (op.function == Function::cos || op.function == Function::sin);
    const auto argument = harmonic ? phase(graph_, op.a) : std::nullopt;
    if (!argument) return false;
    const auto [w, u] = graph_.with_factor(argument->first);
    const auto [one, v] = graph_.with_factor(base_);
    if (u != v || one == 0 || w == 0) return false;
    add_harmonic(i, w / one, op.function == Function::sin, argument->second, term.factor);
    return true;
  }
  /// factor cos(order Omega t + phase), or sin.
  void add_harmonic(Eigen::Index i, double order, bool is_sine, Fixed phase, Fixed factor) {
    const auto [place, is_new] = orders_.try_emplace(std::abs(order));
    if (is_new) place->second = {zeros(n_, 1), zeros(n_, 1)};
    const Fixed cosine = graph_.multiply(factor, graph_.call(Function::cos, phase));
    const Fixed sine = graph_.multiply(factor, graph_.call(Function::sin, phase));
    const Fixed turned = graph_.literal(order < 0 ? -1 : 1);
    const auto add = [&](Fixed& to, double sign, Fixed what) {
      to = graph_.add(to, graph_.multiply(graph_.literal(sign), what));
    };
    add(place->second.cosine(i), 1, is_sine ? sine : cosine);
    add(place->second.sine(i), is_sine ? 1 : -1, graph_.multiply(turned, is_sine ? cosine : sine));
  }
  bool read_contacts() {
    const Eigen::Index count = size(motions_.contacts);
    form_->normal = zeros(n_, count);
    form_->position = form_->restitution = zeros(count, 1);
    form_->stop_stiffness = form_->stop_damping = form_->preload = zeros(count, 1);
    bool compliant = false;
    for (Eigen::Index c = 0; c < count; ++c) {
      const Motions::Contact& contact = motions_.contacts[static_cast<std::size_t>(c)];
      if (!contact.is_linear || !contact.gap.products.empty()) return false;
      for (const auto& term : contact.gap.linear) {
        const AtomOperation op = graph_.atom(term.atom);
        if (op.kind != AtomOperation::Kind::input || op.input == 0) return false;
        form_->normal(static_cast<Eigen::Index>(op.input - 1) / 2, c) =
            graph_.multiply(graph_.literal(-1), term.factor);
      }
      form_->position(c) = contact.gap.constant;
      form_->restitution(c) = contact.restitution;
      form_->law.push_back(contact.law);
      compliant = compliant || contact.law != StopLaw::rigid;
      if (contact.law == StopLaw::rigid) continue;
      form_->stop_stiffness(c) = contact.stiffness;
      form_->stop_damping(c) = contact.damping;
      form_->preload(c) = contact.preload;
    }
    if (!compliant) form_->law.clear();
    return true;
  }
  bool read_frictions() {
    const Eigen::Index count = size(motions_.frictions);
    form_->sliding = zeros(n_, count);
    form_->friction = zeros(count, 1);
    for (Eigen::Index k = 0; k < count; ++k) {
      const Motions::Friction& friction = motions_.frictions[static_cast<std::size_t>(k)];
      const Expression& slip = friction.slip;
      if (!friction.factor || !slip.products.empty() || graph_.literal_value(slip.constant) != 0.0)
        return false;
      if (friction.contact >= 0 &&
          motions_.contacts[static_cast<std::size_t>(friction.contact)].law != StopLaw::release_by_force)
        return false;
      for (const auto& term : slip.linear) {
        const AtomOperation op = graph_.atom(term.atom);
        if (op.kind != AtomOperation::Kind::input || op.input == 0 || op.input % 2 == 1) return false;
        form_->sliding(static_cast<Eigen::Index>(op.input) / 2 - 1, k) = term.factor;
      }
      form_->friction(k) = *friction.factor;
      form_->pressed_by.push_back(friction.contact);
    }
    return true;
  }

  struct Amplitudes {
    LinearForm::Vector cosine, sine;
  };

  Graph& graph_;
  const Motions& motions_;
  Eigen::Index n_;
  Fixed base_{};
  std::map<double, Amplitudes> orders_;
  std::shared_ptr<LinearForm> form_;
};

}  // namespace

std::shared_ptr<LinearForm> linear_form(Graph& graph, const Motions& motions) {
  return Recognition(graph, motions).form();
}

}  // namespace graze
