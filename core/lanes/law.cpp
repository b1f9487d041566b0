#include "core/lanes/law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>

namespace graze {
namespace {

using Vector = LaneLaw::Vector;
using Columns =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, LaneLaw::most_dofs, LaneLaw::most_contacts>;

constexpr double longest_cell = 1.15;  // rate × h: what the kernel's Taylor polynomials are made for
constexpr int least_cells = 12;
constexpr int most_cells = 4096;
constexpr double most_amplification = 1e3;  // of the forces: digits lost between z and p

/// The answer of M x'' + C x' + K x = a cos Ωt + b sin Ωt: factors of cos and sin, one below the other.
/// Nothing near resonance.
std::optional<Vector> answer_to(const LaneModes& modes, double frequency, const Vector& cosine,
                                const Vector& sine) {
  const Eigen::Index n = modes.decay.size();
  Vector answer = Vector::Zero(2 * n);
  if (cosine.isZero(0) && sine.isZero(0)) return answer;
  const Vector a = modes.inverse_mass * cosine, b = modes.inverse_mass * sine;
  for (Eigen::Index j = 0; j < n; ++j) {
    // As real parts of e^{iΩt}.
    std::complex<double> q = 0, p = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::complex<double> force(a(i), -b(i));
      q += modes.to_modes(j, n + i) * force;
      p += modes.to_modes(n + j, n + i) * force;
    }
    const std::complex<double> s(modes.decay(j), frequency);
    const std::complex<double> det = s * s - modes.square(j);
    const std::complex<double> inverse = std::conj(det) / std::norm(det);
    const std::complex<double> to_q = (s * q + p) * inverse, to_p = (modes.square(j) * q + s * p) * inverse;
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::complex<double> x = modes.from_modes(i, j) * to_q + modes.from_modes(i, n + j) * to_p;
      answer(i) += x.real();
      answer(n + i) -= x.imag();
    }
  }
  const double size = (modes.stiffness.cwiseAbs() + frequency * frequency * modes.mass.cwiseAbs()).maxCoeff();
  const double force = std::max(cosine.cwiseAbs().maxCoeff(), sine.cwiseAbs().maxCoeff());
  if (!(answer.cwiseAbs().maxCoeff() * size < most_amplification * force)) return std::nullopt;
  return answer;
}

/// e^{A} of one mode over one cell.
struct Step {
  static constexpr std::size_t terms = 13;
  static constexpr std::array<double, 2 * terms> factor = [] {  // 1/k!
    std::array<double, 2 * terms> list{1};
    for (std::size_t k = 1; k < list.size(); ++k) list[k] = list[k - 1] / static_cast<double>(k);
    return list;
  }();
  double own, across, back;
  Step(double decay, double square) {
    double even = 0, odd = 0;
    for (std::size_t k = terms; k-- > 0;) {
      even = even * square + factor[2 * k];
      odd = odd * square + factor[2 * k + 1];
    }
    const double down = std::exp(-decay);
    own = down * even;
    across = down * odd;
    back = square * across;
  }
};

int cells_for(double period, double rate) {
  const double needed = std::max<double>(least_cells, period * rate / longest_cell);
  if (!(needed <= most_cells)) return 0;
  int cells = least_cells;
  while (cells < needed) cells += std::max(4, cells / 16);
  return cells;
}

}  // namespace

std::optional<LaneLaw> LaneLaw::of(const LinearLaw& law, LaneModes& modes) {
  const Eigen::Index n = law.mass.rows();
  const Eigen::Index harmonics = law.frequency.size();
  if (n > most_dofs || harmonics > most_harmonics || law.position.size() > 16) return std::nullopt;
  if (!(law.base_frequency > 0) || !law.commensurate) return std::nullopt;

  LaneLaw lane;
  lane.dofs = static_cast<int>(n);
  for (Eigen::Index i = 0; i < law.position.size(); ++i) {
    if (std::isfinite(law.position(i))) lane.contacts.push_back(static_cast<int>(i));
  }
  const Eigen::Index m = static_cast<Eigen::Index>(lane.contacts.size());
  if (m == 0 || m > most_contacts) return std::nullopt;
  if (!modes.are_of(law.mass, law.damping, law.stiffness)) {
    modes = LaneModes(law.mass, law.damping, law.stiffness);
  }
  if (!modes.sound) return std::nullopt;
  lane.classical = modes.classical && n <= most_classical;

  const double period = 2 * std::numbers::pi / law.base_frequency;
  const double fastest = harmonics > 0 ? law.frequency.maxCoeff() : 0.0;
  lane.cells = cells_for(period, std::max(modes.rate, fastest));
  if (lane.cells == 0 || law.events <= (most_impacts + 1) * lane.cells) return std::nullopt;
  lane.cell = period / lane.cells;
  const double h = lane.cell;
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    lane.orders.push_back(static_cast<int>(std::lround(law.frequency(j) / law.base_frequency)));
  }

  Columns normals(n, m);
  for (Eigen::Index i = 0; i < m; ++i)
    normals.col(i) = law.normal.col(lane.contacts[static_cast<std::size_t>(i)]);
  const auto still = answer_to(modes, 0, law.constant, Vector::Zero(n));
  if (!still) return std::nullopt;
  lane.still = still->head(n);
  Answer& driven = lane.driven;
  driven.resize(n, 2 * harmonics);
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    const auto found = answer_to(modes, law.frequency(j), law.cosine.col(j), law.sine.col(j));
    if (!found) return std::nullopt;
    driven.col(2 * j) = found->head(n);
    driven.col(2 * j + 1) = found->tail(n);
  }
  lane.at_phase_zero = lane.answer(0);

  // Everything in cells: p counts per cell.
  lane.decay = h * modes.decay;
  lane.square = h * h * modes.square;
  lane.from_modes.resize(2 * n, 2 * n);
  lane.to_modes.resize(2 * n, 2 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index half = 0; half < 2; ++half) {
      const Eigen::Index inner = half * n + i, outer = 2 * i + half;
      lane.from_modes.row(outer) << modes.from_modes.row(inner).head(n),
          modes.from_modes.row(inner).tail(n) / h;
      lane.to_modes.col(outer) << modes.to_modes.col(inner).head(n), h * modes.to_modes.col(inner).tail(n);
    }
  }

  std::vector<double>& out = lane.rows;
  out.reserve(128);
  const auto add = [&](const auto& values) { out.insert(out.end(), values.begin(), values.end()); };
  Vector own(n), across(n), back(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const Step step(lane.decay(j), lane.square(j));
    own(j) = step.own;
    across(j) = step.across;
    back(j) = step.back;
  }
  for (const Vector& part : {own, across, back, lane.decay, lane.square}) add(part);
  const Form form = lane.vigour_form();
  add(form);

  struct Contact {
    Vector value, rate, push, pushed;  // pushed: a cell after `push`
    double position, stretch, driven, kick, scale, drag, restitution;
  };
  std::array<Contact, most_contacts> all;
  const std::span<Contact> list(all.data(), static_cast<std::size_t>(m));
  for (Eigen::Index i = 0; i < m; ++i) {
    Contact& c = list[static_cast<std::size_t>(i)];
    const int contact = lane.contacts[static_cast<std::size_t>(i)];
    c.value = Vector::Zero(2 * n);
    const Vector direction = modes.inverse_mass * normals.col(i);
    const double mobility = normals.col(i).dot(direction);
    c.push = Vector::Zero(2 * n);
    for (Eigen::Index k = 0; k < n; ++k) {
      c.value += normals(k, i) * lane.from_modes.row(2 * k).transpose();
      c.push += (direction(k) / (mobility * h)) * lane.to_modes.col(2 * k + 1);
    }
    c.rate.resize(2 * n);
    c.stretch = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      const double q = c.value(j), p = c.value(n + j), a = lane.decay(j), D = lane.square(j);
      const double k = std::max(0.0, a * a - D);
      c.rate(j) = D * p - a * q;
      c.rate(n + j) = q - a * p;
      c.stretch += c.rate(n + j) * c.rate(n + j) + k * p * p;
    }
    c.stretch = std::sqrt(c.stretch);
    c.pushed.resize(2 * n);
    c.pushed << own.cwiseProduct(c.push.head(n)) + across.cwiseProduct(c.push.tail(n)),
        back.cwiseProduct(c.push.head(n)) + own.cwiseProduct(c.push.tail(n));
    c.kick = lane.vigour(form, c.push);
    c.drag = c.rate.dot(lane.derivative(c.push));
    const double away = normals.col(i).dot(lane.still);
    c.position = law.position(contact) - away;
    c.scale = std::abs(law.position(contact)) + std::abs(away);
    c.driven = 0;
    for (Eigen::Index j = 0; j < harmonics; ++j) {
      const double amplitude =
          std::hypot(normals.col(i).dot(driven.col(2 * j)), normals.col(i).dot(driven.col(2 * j + 1)));
      const double square = law.frequency(j) * h * law.frequency(j) * h;
      c.driven += square * square * amplitude;
      c.scale += amplitude;
    }
    c.restitution = law.restitution(contact);
  }
  // The most that the gap of one contact loses in the cell after a unit kick of another one.
  const auto spill = [](const Contact& of, const Contact& by) {
    const double begin = of.value.dot(by.push), end = of.value.dot(by.pushed);
    const double least =
        std::min({begin, begin + of.rate.dot(by.push) / 3, end - of.rate.dot(by.pushed) / 3, end});
    return std::max(0.0, of.stretch * by.kick / 384 - least);
  };
  const auto add_each = [&](const auto& value) {
    for (const Contact& c : list) out.push_back(value(c));
  };
  constexpr double rounding = 1e-13;
  const Eigen::Index terms = lane.classical ? n : 2 * n;
  for (const Contact& c : list) add(c.value.head(terms));
  for (const Contact& c : list) add(c.push.tail(terms));
  add_each([](const Contact& c) { return c.position; });
  add_each([](const Contact& c) { return c.stretch; });
  add_each([](const Contact& c) { return c.driven; });
  add_each([](const Contact& c) { return c.kick; });
  add_each([](const Contact& c) { return rounding * c.scale; });
  add_each([](const Contact& c) { return c.restitution; });
  add_each([](const Contact& c) { return c.drag; });
  add_each([&](const Contact& c) { return 1.01 * law.chatter * (1 - c.restitution) / (law.rate * h); });
  for (const Contact& c : list) {
    for (const Contact& hit : list) out.push_back(spill(c, hit));
  }
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index j = 0; j < 2 * harmonics; ++j) out.push_back(normals.col(i).dot(driven.col(j)));
  }
  return lane;
}

Vector LaneLaw::derivative(const Vector& z) const {
  const Eigen::Index n = dofs;
  Vector rate(2 * n);
  for (Eigen::Index j = 0; j < n; ++j) {
    rate(j) = z(n + j) - decay(j) * z(j);
    rate(n + j) = square(j) * z(j) - decay(j) * z(n + j);
  }
  return rate;
}

LaneLaw::Form LaneLaw::vigour_form() const {
  const Eigen::Index n = dofs;
  Form form(3 * n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const double a = decay(j), D = square(j);
    double third_q = 1, third_p = 0;  // the q of A³z for z = (1, 0) and (0, 1)
    double fourth_q = 0, fourth_p = 0;
    for (int k = 0; k < 4; ++k) {
      fourth_q = D * third_p - a * third_q;
      fourth_p = third_q - a * third_p;
      if (k == 3) break;
      third_q = fourth_q;
      third_p = fourth_p;
    }
    const double stiffness = a * a - D;
    const double mixed = 2 * (fourth_q * fourth_p + stiffness * third_q * third_p);
    const double rounding = 1e-14;  // of the sum in the kernel, which may cancel
    const auto alone = [&](double fourth, double third) {
      return (fourth * fourth + stiffness * third * third) * (1 + rounding) + rounding * std::abs(mixed);
    };
    form(j) = alone(fourth_q, third_q);
    form(n + j) = mixed;
    form(2 * n + j) = alone(fourth_p, third_p);
  }
  return form;
}

double LaneLaw::vigour(const Vector& z) const { return vigour(vigour_form(), z); }

double LaneLaw::vigour(const Form& form, const Vector& z) const {
  const Eigen::Index n = dofs;
  double sum = 0;
  for (Eigen::Index j = 0; j < n; ++j) {
    sum += (form(j) * z(j) + form(n + j) * z(n + j)) * z(j) + form(2 * n + j) * z(n + j) * z(n + j);
  }
  return std::sqrt(std::max(0.0, sum));
}

Vector LaneLaw::answer(double at_cell) const {
  Vector sum = Vector::Zero(2 * dofs);
  for (int i = 0; i < dofs; ++i) sum(2 * i) = still(i);
  for (std::size_t j = 0; j < orders.size(); ++j) {
    const double turn = 2 * std::numbers::pi * orders[j] / cells;
    const double c = std::cos(turn * at_cell), s = std::sin(turn * at_cell);
    const Eigen::Index k = 2 * static_cast<Eigen::Index>(j);
    for (int i = 0; i < dofs; ++i) {
      sum(2 * i) += driven(i, k) * c + driven(i, k + 1) * s;
      sum(2 * i + 1) += turn / cell * (driven(i, k + 1) * c - driven(i, k) * s);
    }
  }
  return sum;
}

Vector LaneLaw::inside(const Eigen::VectorXd& x, int at_cell) const {
  return to_modes * (x - (at_cell == 0 ? at_phase_zero : answer(at_cell)));
}

void LaneLaw::outside(const double* z, long stride, double at_cell, double* x) const {
  const auto sum = [&](const Vector& forced) {
    const int states = 2 * dofs;
    for (int i = 0; i < states; ++i) x[i] = forced(i);
    const double* column = from_modes.data();
    for (int j = 0; j < states; ++j, column += states) {
      for (int i = 0; i < states; ++i) x[i] += column[i] * z[j * stride];
    }
  };
  if (at_cell == 0) return sum(at_phase_zero);
  sum(answer(at_cell));
}

Vector LaneLaw::tangent_outside(const double* z, long stride) const {
  using Rows = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<>>;
  return from_modes * Rows(z, 2 * dofs, Eigen::InnerStride<>(stride));
}

}  // namespace graze
