#include "core/lane_law.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/lane_batch.hpp"

namespace graze {
namespace {

using Square = LaneLaw::Square;
using Vector = LaneLaw::Vector;
constexpr int most = 2 * LaneLaw::most_dofs;
using Big = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most, most>;
using Columns =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, LaneLaw::most_dofs, LaneLaw::most_contacts>;

constexpr double longest_cell = 1.15;  // |A| h: what the kernel's Taylor polynomials are made for
constexpr int least_cells = 16;
constexpr int most_cells = 4096;
constexpr double most_amplification = 1e3;  // of the forces: digits lost between y and p

/// Whether a symmetric matrix has no negative eigenvalue, but for rounding.
bool is_semidefinite(Square a) {
  const double slack = 1e-12 * a.cwiseAbs().maxCoeff();
  for (Eigen::Index k = 0; k < a.rows(); ++k) {
    const Eigen::Index rest = a.rows() - k - 1;
    if (a(k, k) < -slack) return false;
    if (a(k, k) <= slack) {
      if (rest > 0 && a.row(k).tail(rest).cwiseAbs().maxCoeff() > slack) return false;
      continue;
    }
    const Eigen::Matrix<double, Eigen::Dynamic, 1, 0, LaneLaw::most_dofs, 1> column = a.col(k).tail(rest);
    a.bottomRightCorner(rest, rest) -= column * column.transpose() / a(k, k);
  }
  return true;
}

bool is_symmetric(const Square& a) {
  return (a - a.transpose()).cwiseAbs().maxCoeff() <= 1e-13 * a.cwiseAbs().maxCoeff();
}

/// Coordinates of which the first are the contacts', as many as there are; nothing: contacts depend on each
/// other.
std::optional<Square> free_coordinates(const Columns& normals) {
  const Eigen::Index n = normals.rows();
  const Eigen::Index free = std::min(n, normals.cols());
  Square rows = Square::Zero(n, n);
  rows.topRows(free) = normals.leftCols(free).transpose();
  // The others are positions, those farthest from what is already there.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, LaneLaw::most_dofs, LaneLaw::most_dofs> basis(n,
                                                                                                         n);
  const auto remainder = [&](Vector v, Eigen::Index known) {
    for (Eigen::Index k = 0; k < known; ++k) v -= basis.col(k).dot(v) * basis.col(k);
    return v;
  };
  for (Eigen::Index k = 0; k < n; ++k) {
    Vector best = k < free ? remainder(rows.row(k).transpose(), k) : Vector::Zero(n);
    if (k < free) {
      if (!(best.norm() > 1e-3 * rows.row(k).norm())) return std::nullopt;
    } else {
      for (Eigen::Index i = 0; i < n; ++i) {
        const Vector candidate = remainder(Vector::Unit(n, i), k);
        if (candidate.norm() <= best.norm() + 1e-9) continue;
        best = candidate;
        rows.row(k) = Vector::Unit(n, i).transpose();
      }
    }
    basis.col(k) = best / best.norm();
  }
  return rows;
}

/// The answer of M x'' + C x' + K x = a cos Ωt + b sin Ωt: factors of cos and sin, one below the other.
/// Nothing near resonance.
std::optional<Vector> answer_to(const Square& mass, const Square& damping, const Square& stiffness,
                                double frequency, const Vector& cosine, const Vector& sine) {
  const Eigen::Index n = mass.rows();
  Big both(2 * n, 2 * n);
  const Square dynamic = stiffness - frequency * frequency * mass;
  both << dynamic, frequency * damping, -frequency * damping, dynamic;
  Vector force(2 * n);
  force << cosine, sine;
  if (force.isZero(0)) return Vector::Zero(2 * n).eval();
  const Vector answer = both.partialPivLu().solve(force);
  const double size = (stiffness.cwiseAbs() + frequency * frequency * mass.cwiseAbs()).maxCoeff();
  const double amplification = answer.cwiseAbs().maxCoeff() * size / force.cwiseAbs().maxCoeff();
  if (!(amplification < most_amplification)) return std::nullopt;
  return answer;
}

int cells_for(double period, double rate) {
  const double needed = std::max<double>(least_cells, period * rate / longest_cell);
  if (!(needed <= most_cells)) return 0;
  int cells = least_cells;
  while (cells < needed) cells += std::max(4, cells / 16);
  return cells;
}

}  // namespace

std::optional<LaneLaw> LaneLaw::of(const LinearLaw& law) {
  const auto& sys = law.equations;
  const double rate = law.rate;
  const Eigen::Index n = sys.mass.rows();
  const Eigen::Index harmonics = sys.frequency.size();
  if (n > most_dofs || harmonics > most_harmonics || sys.position.size() > 16) return std::nullopt;
  if (!(sys.base_frequency > 0) || !sys.commensurate) return std::nullopt;

  LaneLaw lane;
  lane.dofs = static_cast<int>(n);
  for (Eigen::Index i = 0; i < sys.position.size(); ++i) {
    if (std::isfinite(sys.position(i))) lane.contacts.push_back(static_cast<int>(i));
  }
  const Eigen::Index m = static_cast<Eigen::Index>(lane.contacts.size());
  if (m == 0 || m > most_contacts) return std::nullopt;
  const double period = 2 * std::numbers::pi / sys.base_frequency;
  lane.cells = cells_for(period, rate);
  if (lane.cells == 0 || law.events <= 4 * lane.cells) return std::nullopt;
  lane.cell = period / lane.cells;
  const double h = lane.cell;
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    lane.orders.push_back(static_cast<int>(std::lround(sys.frequency(j) / sys.base_frequency)));
  }

  // Energy does not grow: then no derivative of a free motion does.
  const Square M = sys.mass, C = sys.damping, K = sys.stiffness;
  if (!is_symmetric(M) || !is_symmetric(K) || !is_semidefinite(K)) return std::nullopt;
  if (!is_semidefinite((C + C.transpose()).eval())) return std::nullopt;

  Columns normals(n, m);
  for (Eigen::Index i = 0; i < m; ++i)
    normals.col(i) = sys.normal.col(lane.contacts[static_cast<std::size_t>(i)]);
  const auto free = free_coordinates(normals);
  if (!free) return std::nullopt;
  lane.to_free = *free;
  lane.from_free = free->inverse();

  // Everything in the kernel's coordinates and cells.
  const Square inverse_mass = M.inverse();
  Square& stiffness = lane.stiffness;
  Square& damping = lane.damping;
  Square& mass = lane.mass;
  stiffness = -h * h * lane.to_free * inverse_mass * K * lane.from_free;
  damping = -h * lane.to_free * inverse_mass * C * lane.from_free;
  mass = lane.from_free.transpose() * M * lane.from_free;
  const Columns inner_normals = lane.from_free.transpose() * normals;
  lane.still = Vector::Zero(n);
  if (!sys.constant.isZero(0)) {
    const Square zero = Square::Zero(n, n);
    const auto displaced = answer_to(Square::Zero(n, n), zero, K, 0, sys.constant, Vector::Zero(n));
    if (!displaced) return std::nullopt;
    lane.still = lane.to_free * displaced->head(n);
  }
  Answer& driven = lane.driven;
  driven.resize(n, 2 * harmonics);
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    const auto found = answer_to(M, C, K, sys.frequency(j), sys.cosine.col(j), sys.sine.col(j));
    if (!found) return std::nullopt;
    driven.col(2 * j) = lane.to_free * found->head(n);
    driven.col(2 * j + 1) = lane.to_free * found->tail(n);
  }

  lane.at_phase_zero = lane.answer(0);

  Big step = Big::Identity(2 * n, 2 * n);
  Big term = step;
  Big A = Big::Zero(2 * n, 2 * n);
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n) = stiffness;
  A.bottomRightCorner(n, n) = damping;
  for (int k = 1; k <= 22; ++k) {
    term = (A * term * (1.0 / k)).eval();
    step += term;
  }

  std::vector<double>& out = lane.rows;
  out.reserve(128);
  const auto add = [&](const auto& matrix) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      for (Eigen::Index j = 0; j < matrix.cols(); ++j) out.push_back(matrix(i, j));
    }
  };
  add(step);
  add(stiffness);
  add(damping);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i; j < n; ++j) out.push_back(mass(i, j));
  }
  for (Eigen::Index i = std::min(n, m); i < m; ++i) add(inner_normals.col(i).transpose());
  const Square inner_inverse = lane.to_free * inverse_mass * lane.to_free.transpose();
  Eigen::Array<double, LaneLaw::most_contacts, 1> position, stretch, bound, kick, scale, restitution;
  for (Eigen::Index i = 0; i < m; ++i) {
    const int contact = lane.contacts[static_cast<std::size_t>(i)];
    const Vector direction = inner_inverse * inner_normals.col(i);
    const double mobility = inner_normals.col(i).dot(direction);
    const Vector push = direction / mobility;
    add(push.transpose());
    Vector kicked = Vector::Zero(2 * n);
    kicked.tail(n) = push;
    kick(i) = lane.vigour(kicked);
    const double away = inner_normals.col(i).dot(lane.still);
    position(i) = sys.position(contact) - away;
    stretch(i) = std::sqrt(mobility);
    bound(i) = 0;
    scale(i) = std::abs(sys.position(contact)) + std::abs(away);
    for (Eigen::Index j = 0; j < harmonics; ++j) {
      const double amplitude = std::hypot(inner_normals.col(i).dot(driven.col(2 * j)),
                                          inner_normals.col(i).dot(driven.col(2 * j + 1)));
      bound(i) += std::pow(sys.frequency(j) * h, 4) * amplitude;
      scale(i) += amplitude;
    }
    restitution(i) = sys.restitution(contact);
  }
  const auto add_each = [&](const auto& value) {
    for (Eigen::Index i = 0; i < m; ++i) out.push_back(value(i));
  };
  constexpr double rounding = 1e-13;
  constexpr double slow = 1e-7;
  add_each([&](Eigen::Index i) { return position(i); });
  add_each([&](Eigen::Index) { return 0.0; });  // level: made in the kernel
  add_each([&](Eigen::Index i) { return stretch(i); });
  add_each([&](Eigen::Index i) { return bound(i); });
  add_each([&](Eigen::Index i) { return kick(i); });
  add_each([&](Eigen::Index i) { return rounding * scale(i); });
  add_each([&](Eigen::Index i) { return restitution(i); });
  add_each([&](Eigen::Index i) { return 1.01 * law.chatter * (1 - restitution(i)) / (rate * h); });
  add_each([&](Eigen::Index i) { return slow * scale(i); });
  add_each([&](Eigen::Index) { return 0.0; });  // impacts
  out.push_back(0);                             // vigour
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index j = 0; j < 2 * harmonics; ++j) out.push_back(inner_normals.col(i).dot(driven.col(j)));
  }
  return lane;
}

double LaneLaw::vigour(Vector y) const {
  const Eigen::Index n = dofs;
  for (int k = 0; k < 3; ++k) {
    const Vector acceleration = stiffness * y.head(n) + damping * y.tail(n);
    y.head(n) = y.tail(n).eval();
    y.tail(n) = acceleration;
  }
  const double kinetic = y.tail(n).dot(mass * y.tail(n));
  const double elastic = -y.head(n).dot(mass * (stiffness * y.head(n)));
  return std::sqrt(std::max(0.0, kinetic + elastic));
}

Vector LaneLaw::answer(int at_cell) const {
  Vector sum = Vector::Zero(2 * dofs);
  sum.head(dofs) = still;
  for (std::size_t j = 0; j < orders.size(); ++j) {
    const double turn = 2 * std::numbers::pi * orders[j] / cells;
    const double c = std::cos(turn * at_cell), s = std::sin(turn * at_cell);
    const Eigen::Index k = 2 * static_cast<Eigen::Index>(j);
    sum.head(dofs) += driven.col(k) * c + driven.col(k + 1) * s;
    sum.tail(dofs) += turn * (driven.col(k + 1) * c - driven.col(k) * s);
  }
  return sum;
}

Vector LaneLaw::inside(const Eigen::VectorXd& x) const {
  const Eigen::Index n = dofs;
  Vector q(n), v(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    q(i) = x(2 * i);
    v(i) = x(2 * i + 1) * cell;
  }
  Vector y(2 * n);
  y << to_free * q, to_free * v;
  return y - at_phase_zero;
}

void LaneLaw::outside(const double* y, long stride, int at_cell, double* x) const {
  const Vector forced = at_cell == 0 ? at_phase_zero : answer(at_cell);
  for (int i = 0; i < dofs; ++i) {
    double q = 0, v = 0;
    for (int j = 0; j < dofs; ++j) {
      q += from_free(i, j) * (y[j * stride] + forced(j));
      v += from_free(i, j) * (y[(dofs + j) * stride] + forced(dofs + j));
    }
    x[2 * i] = q;
    x[2 * i + 1] = v / cell;
  }
}

}  // namespace graze
