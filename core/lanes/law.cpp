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

constexpr double longest_cell = 1.15;  // rate × h: what the kernel's Taylor polynomials are made for …
constexpr double longest_engaged = 2;  // … so many times that where a compliant stop is engaged
constexpr int least_cells = 12;
constexpr int most_cells = 4096;
constexpr double rounding = 1e-13;          // of what stands between a motion and a contact
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
    const double square = static_cast<double>(modes.square(j));
    const std::complex<double> s(static_cast<double>(modes.decay(j)), frequency);
    const std::complex<double> det = s * s - square;
    const std::complex<double> inverse = std::conj(det) / std::norm(det);
    const std::complex<double> to_q = (s * q + p) * inverse, to_p = (square * q + s * p) * inverse;
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
  static constexpr std::array<long double, 2 * terms> factor = [] {  // 1/k!
    std::array<long double, 2 * terms> list{1};
    for (std::size_t k = 1; k < list.size(); ++k) list[k] = list[k - 1] / static_cast<long double>(k);
    return list;
  }();
  double own, across, back;
  Step(long double decay, long double square) {
    long double even = 0, odd = 0;
    for (std::size_t k = terms; k-- > 0;) {
      even = even * square + factor[2 * k];
      odd = odd * square + factor[2 * k + 1];
    }
    const long double down = std::exp(-decay);
    own = static_cast<double>(down * even);
    across = static_cast<double>(down * odd);
    back = static_cast<double>(square * down * odd);
  }
};

int cells_for(double period, double rate) {
  const double needed = std::max<double>(least_cells, period * rate / longest_cell);
  if (!(needed <= most_cells)) return 0;
  int cells = least_cells;
  while (cells < needed) cells += std::max(4, cells / 16);
  return cells;
}

/// What a contact does in a set, and what follows it.
struct Act {
  enum class Kind { rigid, open, engaged_by_force, engaged_by_gap, recovering } kind = Kind::rigid;
  int next = -1;  ///< set after its next event; -1: the same, after an impact
  bool engaged() const { return kind == Kind::engaged_by_force || kind == Kind::engaged_by_gap; }
  /// Of the gap n x − d, behind the position.
  bool behind() const { return engaged() || kind == Kind::recovering; }
};

/// The sets of a system: each is a number whose digits are what the contacts do.
struct Sets {
  /// Of each contact: what its digit counts, how many there are.
  std::array<int, LaneLaw::most_contacts> first{}, digits{};
  int count = 1;

  Sets(const LinearLaw& law, const std::vector<int>& contacts) {
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const int contact = contacts[i];
      const StopLaw acts = law.law.empty() ? StopLaw::rigid : law.law[static_cast<std::size_t>(contact)];
      const bool recovers = acts == StopLaw::release_by_force && law.stop_damping(contact) > 0;
      first[i] = count;
      digits[i] = acts == StopLaw::rigid ? 1 : recovers ? 3 : 2;
      count *= digits[i];
    }
  }
  Act act(const LinearLaw& law, const std::vector<int>& contacts, int set, std::size_t i) const {
    const int digit = set / first[i] % digits[i];
    if (digits[i] == 1) return {};
    const int next = set + ((digit + 1) % digits[i] - digit) * first[i];
    if (digit == 0) return {Act::Kind::open, next};
    if (digit == 2) return {Act::Kind::recovering, next};
    const bool by_force =
        digits[i] == 3 && law.law[static_cast<std::size_t>(contacts[i])] == StopLaw::release_by_force;
    return {by_force ? Act::Kind::engaged_by_force : Act::Kind::engaged_by_gap, next};
  }
};

/// Springs, dampers and constant forces with these stops engaged.
struct Acting {
  LaneModes::Square damping, stiffness;
  Vector constant;
};

Acting acting(const LinearLaw& law, const std::vector<int>& contacts, std::size_t engaged) {
  Acting with{law.damping, law.stiffness, law.constant};
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (((engaged >> i) & 1) == 0) continue;
    const int contact = contacts[i];
    const Vector normal = law.normal.col(contact);
    with.damping += law.stop_damping(contact) * normal * normal.transpose();
    with.stiffness += law.stop_stiffness(contact) * normal * normal.transpose();
    with.constant += law.stop_stiffness(contact) * law.position(contact) * normal;
  }
  return with;
}

}  // namespace

/// What a set is made of.
struct LaneLaw::Setting {
  const LinearLaw& law;
  const LaneModes& modes;
  const std::vector<int>& contacts;
  std::size_t engaged = 0;                ///< a bit for each of them
  std::array<Act, most_contacts> acts{};  ///< of them
  int cells = 0;
  bool sets = false;
  std::int64_t mode = 0;
};

std::vector<LaneLaw> LaneLaw::of(const LinearLaw& law, LaneModesOfSets& modes) {
  const Eigen::Index n = law.mass.rows();
  if (n > most_dofs || law.frequency.size() > most_harmonics || law.position.size() > 16) return {};
  if (!(law.base_frequency > 0) || !law.commensurate) return {};
  std::vector<int> contacts;
  for (Eigen::Index i = 0; i < law.position.size(); ++i) {
    if (std::isfinite(law.position(i))) contacts.push_back(static_cast<int>(i));
  }
  if (contacts.empty() || contacts.size() > most_contacts) return {};
  const Sets sets(law, contacts);
  if (sets.count > static_cast<int>(most_sets)) return {};

  // The modes of all sets of engaged stops; the fastest of them is what cells are made for.
  std::size_t compliant = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) compliant |= std::size_t{sets.digits[i] > 1} << i;
  modes.resize(std::max(modes.size(), compliant + 1));
  double rate = law.frequency.size() > 0 ? law.frequency.maxCoeff() : 0.0;
  for (std::size_t engaged = 0; engaged <= compliant; ++engaged) {
    if ((engaged & ~compliant) != 0) continue;
    const Acting with = acting(law, contacts, engaged);
    LaneModes& own = modes[engaged];
    if (!own.are_of(law.mass, with.damping, with.stiffness))
      own = LaneModes(law.mass, with.damping, with.stiffness);
    if (!own.sound) return {};
    rate = std::max(rate, engaged == 0 ? own.rate : own.rate / longest_engaged);
  }
  const int cells = cells_for(2 * std::numbers::pi / law.base_frequency, rate);
  if (cells == 0 || law.events <= (most_impacts + 1) * cells) return {};

  std::vector<LaneLaw> laws;
  laws.reserve(static_cast<std::size_t>(sets.count));
  std::array<const LaneLaw*, std::size_t{1} << most_contacts>
      with{};  // the first one with these stops engaged
  for (int set = 0; set < sets.count; ++set) {
    std::array<Act, most_contacts> acts;
    std::size_t engaged = 0;
    std::int64_t mode = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      acts[i] = sets.act(law, contacts, set, i);
      engaged |= std::size_t{acts[i].engaged()} << i;
      const Spring spring = acts[i].engaged()  ? Spring::engaged
                            : acts[i].behind() ? Spring::recovering
                                               : Spring::open;
      if (acts[i].kind != Act::Kind::rigid)
        mode |= static_cast<std::int64_t>(spring) << (law.springs + 2 * contacts[i]);
    }
    const Setting setting{law, modes[engaged], contacts, engaged, acts, cells, sets.count > 1, mode};
    auto lane = with[engaged] != nullptr ? with[engaged]->before_contacts() : in(setting);
    if (!lane) return {};
    lane->add_contacts(setting);
    laws.push_back(std::move(*lane));
    with[engaged] = &laws.back();
  }
  for (int set = 0; sets.count > 1 && set < sets.count; ++set) {
    LaneLaw& lane = laws[static_cast<std::size_t>(set)];
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const int next = std::max(sets.act(law, contacts, set, i).next, 0);
      lane.add_way_to(laws[static_cast<std::size_t>(next)]);
    }
  }
  return laws;
}

/// What a kernel knows of a contact in a set: until its next event d − (row · z + what forces make of it) >
/// 0, in cells. It is a gap; of a compliant stop that is engaged, its force over its stiffness, or −gap.
struct LaneLaw::Contact {
  Vector value, rate, push, pushed;  // pushed: a cell after `push`
  Vector forced;                     // factors of cos, sin of each force
  double position, stretch, driven, kick, scale, drag, restitution;
  double shock;  ///< what its event takes from a change of velocities, per change of the row
};

LaneLaw::Contact LaneLaw::contact(const Setting& setting, std::size_t i) const {
  const LinearLaw& law = setting.law;
  const LaneModes& modes = setting.modes;
  const Act& act = setting.acts[i];
  const Eigen::Index n = dofs, harmonics = static_cast<Eigen::Index>(orders.size());
  const double h = cell;
  const int number = contacts[i];
  const Vector normal = law.normal.col(number);
  Contact c;
  const Vector direction = modes.inverse_mass * normal;
  const double mobility = normal.dot(direction);
  c.value = c.push = Vector::Zero(2 * n);
  for (Eigen::Index k = 0; k < n; ++k) {
    c.value += normal(k) * from_modes.row(2 * k).transpose();
    c.push += (direction(k) / (mobility * h)) * to_modes.col(2 * k + 1);
  }
  const double away = normal.dot(still);
  c.position = law.position(number) - away;
  c.scale = std::abs(law.position(number)) + std::abs(away);
  c.forced = Vector::Zero(2 * harmonics);
  for (Eigen::Index j = 0; j < 2 * harmonics; ++j) c.forced(j) = normal.dot(driven.col(j));
  const auto rate_of = [&](const Vector& row) {
    Vector rate(2 * n);
    for (Eigen::Index j = 0; j < n; ++j) {
      rate(j) = square(j) * row(n + j) - decay(j) * row(j);
      rate(n + j) = row(j) - decay(j) * row(n + j);
    }
    return rate;
  };
  const double lag = act.kind == Act::Kind::engaged_by_force  // in cells
                         ? law.stop_damping(number) / (law.stop_stiffness(number) * h)
                         : 0.0;
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    const double turn = law.frequency(j) * h, a = c.forced(2 * j), b = c.forced(2 * j + 1);
    c.forced(2 * j) = a + lag * turn * b;
    c.forced(2 * j + 1) = b - lag * turn * a;
    c.scale += (1 + lag * turn) * std::hypot(a, b);
  }
  if (lag > 0) c.value += lag * rate_of(c.value);
  if (act.behind()) {
    c.value = -c.value;
    c.forced = -c.forced;
    c.position = -c.position;
  }
  c.rate = rate_of(c.value);
  c.stretch = 0;
  for (Eigen::Index j = 0; j < n; ++j) {
    const double p = c.value(n + j), k = std::max(0.0, decay(j) * decay(j) - square(j));
    c.stretch += c.rate(n + j) * c.rate(n + j) + k * p * p;
  }
  c.stretch = std::sqrt(c.stretch);
  c.drag = c.rate.dot(derivative(c.push));
  c.driven = 0;
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    const double turn = law.frequency(j) * h * law.frequency(j) * h;
    c.driven += turn * turn * std::hypot(c.forced(2 * j), c.forced(2 * j + 1));
  }
  c.restitution = law.restitution(number);
  const bool jumps = act.kind == Act::Kind::open || (act.kind == Act::Kind::engaged_by_gap);
  c.shock = act.next >= 0 && jumps ? law.stop_damping(number) * mobility * h : 0.0;
  return c;
}

/// But for what depends on what its contacts do.
std::optional<LaneLaw> LaneLaw::in(const Setting& setting) {
  const LinearLaw& law = setting.law;
  const LaneModes& modes = setting.modes;
  const Eigen::Index n = law.mass.rows();
  const Eigen::Index harmonics = law.frequency.size();
  LaneLaw lane;
  lane.dofs = static_cast<int>(n);
  lane.contacts = setting.contacts;
  lane.classical = !setting.sets && modes.classical && n <= most_classical;
  lane.cells = setting.cells;
  lane.cell = 2 * std::numbers::pi / law.base_frequency / lane.cells;
  const double h = lane.cell;
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    lane.orders.push_back(static_cast<int>(std::lround(law.frequency(j) / law.base_frequency)));
  }
  const auto still =
      answer_to(modes, 0, acting(law, setting.contacts, setting.engaged).constant, Vector::Zero(n));
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
  const long double exact = 2 * std::numbers::pi_v<long double> / law.base_frequency / lane.cells;
  const LaneModes::Fine decay = exact * modes.decay, square = exact * exact * modes.square;
  lane.decay = decay.cast<double>();
  lane.square = square.cast<double>();
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
    const Step step(decay(j), square(j));
    own(j) = step.own;
    across(j) = step.across;
    back(j) = step.back;
  }
  for (const Vector& part : {own, across, back, lane.decay, lane.square}) add(part);
  add(lane.vigour_form());
  return lane;
}

/// As `in` makes it.
LaneLaw LaneLaw::before_contacts() const {
  LaneLaw lane = *this;
  lane.rows.resize(8 * static_cast<std::size_t>(dofs));
  lane.more.clear();
  return lane;
}

/// What is left to be known, of one whose springs are known.
void LaneLaw::add_contacts(const Setting& setting) {
  mode = setting.mode;
  const Eigen::Index n = dofs;
  const double* const known = rows.data();
  const Vector own = Vector::Map(known, n), across = Vector::Map(known + n, n),
               back = Vector::Map(known + 2 * n, n);
  const Form form = Form::Map(known + 5 * n, 3 * n);
  std::array<Contact, most_contacts> places;
  const std::span<Contact> list(places.data(), contacts.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    Contact& c = list[i];
    c = contact(setting, i);
    c.pushed.resize(2 * n);
    c.pushed << own.cwiseProduct(c.push.head(n)) + across.cwiseProduct(c.push.tail(n)),
        back.cwiseProduct(c.push.head(n)) + own.cwiseProduct(c.push.tail(n));
    c.kick = vigour(form, c.push);
  }
  // The most that the gap of one contact loses in the cell after a unit kick of another one.
  const auto spill = [](const Contact& of, const Contact& by) {
    const double begin = of.value.dot(by.push), end = of.value.dot(by.pushed);
    const double least =
        std::min({begin, begin + of.rate.dot(by.push) / 3, end - of.rate.dot(by.pushed) / 3, end});
    return std::max(0.0, of.stretch * by.kick / 384 - least);
  };
  const auto add_each = [&](const auto& value) {
    for (const Contact& c : list) rows.push_back(value(c));
  };
  const auto add = [&](const auto& values) { rows.insert(rows.end(), values.begin(), values.end()); };
  const Eigen::Index terms = classical ? n : 2 * n;
  for (const Contact& c : list) add(c.value.head(terms));
  for (const Contact& c : list) add(c.push.tail(terms));
  add_each([](const Contact& c) { return c.position; });
  add_each([](const Contact& c) { return c.stretch; });
  add_each([](const Contact& c) { return c.driven; });
  add_each([](const Contact& c) { return c.kick; });
  add_each([](const Contact& c) { return rounding * c.scale; });
  add_each([](const Contact& c) { return c.restitution; });
  add_each([](const Contact& c) { return c.drag; });
  add_each([&](const Contact& c) {
    return 1.01 * setting.law.chatter * (1 - c.restitution) / (setting.law.rate * cell);
  });
  for (const Contact& c : list) {
    for (const Contact& hit : list) rows.push_back(spill(c, hit));
  }
  for (const Contact& c : list) add(c.forced);
  if (setting.sets) add_set(setting, list);
}

/// SetRows but for `over`.
void LaneLaw::add_set(const Setting& setting, std::span<const Contact> list) {
  const std::size_t states = 2 * static_cast<std::size_t>(dofs);
  more.reserve(list.size() * (5 + states * (states + 1 + 2 * orders.size())));
  const auto add_each = [&](const auto& value) {
    for (std::size_t i = 0; i < list.size(); ++i) more.push_back(value(setting.acts[i], list[i]));
  };
  add_each([](const Act& act, const Contact&) { return static_cast<double>(act.next); });
  add_each([](const Act& act, const Contact&) {
    return act.kind == Act::Kind::open || act.kind == Act::Kind::engaged_by_gap ? 1.0 : 0.0;
  });
  add_each([](const Act& act, const Contact&) {
    return act.kind == Act::Kind::rigid || act.kind == Act::Kind::open ? 1.0 : 0.0;
  });
  add_each([](const Act& act, const Contact&) { return act.kind == Act::Kind::recovering ? 1.0 : 0.0; });
  add_each([](const Act&, const Contact& c) { return c.shock; });
}

/// SetRows::over of one contact.
void LaneLaw::add_way_to(const LaneLaw& next) {
  const Eigen::Index states = 2 * dofs;
  const Big over = next.to_modes * from_modes;
  const auto lost = [&](const auto& of) {  // what the forces make of positions and velocities here, not there
    Vector x(states);
    for (Eigen::Index i = 0; i < dofs; ++i) {
      const auto [position, velocity] = of(*this, i);
      const auto [position_there, velocity_there] = of(next, i);
      x(2 * i) = position - position_there;
      x(2 * i + 1) = velocity - velocity_there;
    }
    return Vector(next.to_modes * x);
  };
  const Eigen::Index harmonics = static_cast<Eigen::Index>(orders.size());
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 2 * most_dofs, 1 + 2 * most_harmonics> columns(
      states, 1 + 2 * harmonics);
  columns.col(0) = lost([](const LaneLaw& law, Eigen::Index i) { return std::pair(law.still(i), 0.0); });
  for (Eigen::Index j = 0; j < harmonics; ++j) {
    const double turn = 2 * std::numbers::pi * orders[static_cast<std::size_t>(j)] / cells / cell;
    const Eigen::Index k = 2 * j;
    columns.col(k + 1) = lost([&](const LaneLaw& law, Eigen::Index i) {
      return std::pair(law.driven(i, k), turn * law.driven(i, k + 1));
    });
    columns.col(k + 2) = lost([&](const LaneLaw& law, Eigen::Index i) {
      return std::pair(law.driven(i, k + 1), -turn * law.driven(i, k));
    });
  }
  for (Eigen::Index i = 0; i < states; ++i) {
    for (Eigen::Index j = 0; j < states; ++j) more.push_back(over(i, j));
    for (Eigen::Index k = 0; k < columns.cols(); ++k) more.push_back(columns(i, k));
  }
}

double LaneLaw::clearance(std::size_t i, const Vector& z, int at_cell) const {
  const std::size_t n = static_cast<std::size_t>(dofs), m = contacts.size();
  const std::size_t terms = classical ? n : 2 * n;
  const double* const value = rows.data() + 8 * n + terms * i;
  const double* const position = rows.data() + 8 * n + 2 * m * terms;
  const double scale = position[4 * m + i] / rounding;
  const double* const forced = position + 8 * m + m * m + 2 * i * orders.size();
  double clear = position[i];
  double size = scale;
  for (std::size_t j = 0; j < terms; ++j) {
    clear -= value[j] * z(static_cast<Eigen::Index>(j));
    size += std::abs(value[j] * z(static_cast<Eigen::Index>(j)));
  }
  for (std::size_t j = 0; j < orders.size(); ++j) {
    const double phase = 2 * std::numbers::pi * (static_cast<double>(orders[j]) * at_cell / cells);
    clear -= forced[2 * j] * std::cos(phase) + forced[2 * j + 1] * std::sin(phase);
  }
  return clear / size;
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
    constexpr double lost = 1e-14;  // share of the kernel's sum that rounding may cost where it cancels
    const auto alone = [&](double fourth, double third) {
      return (fourth * fourth + stiffness * third * third) * (1 + lost) + lost * std::abs(mixed);
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
