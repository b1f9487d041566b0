/// The kernel of the series engine, for any vector type: see core/lanes/series/SERIES.md. Included after a
/// `Simd`.
#pragma once

#include "core/lanes/series/operations.hpp"
#include "core/math/denormals.hpp"
#include "core/math/rough_logarithm.hpp"

namespace graze {
namespace {

inline constexpr int low = 6;  ///< degree of the polynomials that hulls are made of
inline constexpr double epsilon = 0x1p-52;
inline constexpr double nowhere = 2;  ///< on a step

inline Mask none() { return Simd::mask(0); }
inline V smallest(const V* v, int count) {
  V least = v[0];
  for (int j = 1; j < count; ++j) least = smaller(least, v[j]);
  return least;
}

// ---- The series and the length of a step -----------------------------------------------------------------

/// Kernel of one batch.
class SeriesRun {
 public:
  explicit SeriesRun(SeriesBatch& batch) : b_(batch), stride_((batch.order + 1) * lanes) {}

  void run() {
    put(b_.flow.rows, 1, both(1));
    for (int k = 2; k <= b_.order; ++k) put(b_.flow.rows, k, both(0));
    unsigned active = 0;
    for (int lane = 0; lane < lanes; ++lane) active |= b_.begin(b_.owner, lane) ? 1u << lane : 0u;
    while (active != 0) active = step(active);
  }

 private:
  /// Where a lane's polynomial first falls to zero; `nowhere`: not on the step.
  struct Hull {
    V b[low + 1];  ///< Bernstein coefficients of the first terms
    V rounding;    ///< bound of it
    V margin;      ///< … of the other terms, too
  };
  /// How long a step may be.
  struct Length {
    V h;
    Mask certain;  ///< the series exist
  };
  /// The first thing that happens to each lane on the step.
  struct First {
    V at;      ///< fraction of the step
    V second;  ///< of what would come next
    V guard;   ///< contact, or number of contacts: the level; −1: nothing
  };

  // Where rows of the vector begin that is at hand; while packs are worked on, of the pack.
  double* row(int r) const { return b_.rows + r * lanes + first_; }
  double* coefficients(int state) const { return b_.flow.rows + (1 + state) * stride_ + first_; }
  double* polynomial(int guard) const { return b_.polynomials + guard * stride_ + first_; }
  /// Series of a gap or a force.
  const double* guard(int number) const { return b_.flow.outputs[b_.states + number] + first_; }
  /// Rows of a change, and those that the step leads to; index `states`: of the time.
  double* change(int tangent, int i) const {
    return b_.changes + (tangent * (b_.states + 1) + i) * lanes + first_;
  }
  double* changed(int tangent, int i) const { return change(b_.tangents + tangent, i); }
  double* change_series(int tangent, int state) const {
    return b_.change_series + (tangent * b_.states + state) * stride_ + first_;
  }
  int guards() const { return b_.guards + (b_.section == SeriesBatch::Section::level ? 1 : 0); }
  /// Flag of a compliant contact.
  double* flag(int contact) const { return row(b_.row.fixed + b_.contact[contact].flag); }

  unsigned step(unsigned active);
  unsigned end_step(unsigned active, const Length& longest);
  void work_out_switched();
  void expand();
  void begin_changes();
  void move_changes(const V& passed, V* rate);
  void meet_level(const Mask& here, const V* rate);
  Length length() const;
  V held(V h) const;
  void scale(int guard);
  Hull hull(const double* p) const;
  V rate_margin(const double* p, const Hull& hull) const;
  V value(const double* p, int degree, const V& s) const;
  void halley(const double* p, int degree, V& s, V& change) const;
  V first_root(int guard, const Hull& hull, Mask wanted) const;
  Mask certain_up_to(const double* p, const V& end) const;
  void search(int guard, Mask active, First& first, Mask& leaves);
  void give(const SeriesList& list, const V& time, const V* x) const;
  V result(const SeriesList& list, int k) const { return load(list.outputs[k] + first_); }
  /// A contact whose gap is zero, its list being worked out there.
  struct Meeting {
    V gap, approach;  ///< of the side on which the body is
    V reach;          ///< size of the terms in the gap
    V pressing;       ///< as it is before
    Mask certain;     ///< it is no graze
  };
  Meeting meeting(int contact, const V& time, const V* x) const;
  V speed(const V* x) const;
  bool ends_before(int contact) const {
    return b_.section == SeriesBatch::Section::before_impact && contact == b_.section_contact;
  }
  void hit(int contact, const Mask& here, const V& time, V* x, const V* rate, Mask& leaves);
  void pass_surface(int contact, const Mask& here, const V& time, V* x, const V* rate, Mask& leaves);
  void lose_force(int contact, const Mask& here, const First& first, const V& time, const V* x, const V* rate,
                  Mask& leaves);
  void carry_through(const SeriesList& list, const SeriesContact* jumping, const Mask& struck, const V* rate);
  void add_impact(int contact, const Mask& here, Mask& leaves) const;
  void store_step(const Mask& kept, const V& time, const V* x, const First& first);

  SeriesBatch& b_;
  const long stride_;
  int first_ = 0;  ///< lane of the vector that is at hand
  // Of the step under way:
  V power_[20 + 1]{};  ///< k: its length to the power of k, k > 0
  V armed_{};          ///< 1 where the section may be met next, −1 where its level has to be passed first
  V side_[16]{};       ///< of contacts
  V flag_[16]{};       ///< … that are compliant
  V rebound_{};        ///< of the lanes that are hit
  Mask ends_{};        ///< of these, those whose chatter may complete
};

/// What hangs on flags, of the pack.
inline void SeriesRun::work_out_switched() {
  const auto fixed = [&](int f) { return row(b_.row.fixed + f); };
  for (int i = 0; i < b_.switched_count; ++i) {
    const SeriesSwitched& s = b_.switched[i];
    const Pack a = load_pack(fixed(s.a)), b = load_pack(fixed(s.b));
    const Pack result = s.kind == SeriesSwitched::Kind::sum       ? a + b
                        : s.kind == SeriesSwitched::Kind::product ? a * b
                                                                  : a / b;
    put(fixed(s.result), 0, result);
  }
}

inline void SeriesRun::expand() {
  const SeriesList& list = b_.flow;
  work_out_switched();
  put(list.rows, 0, load_pack(row(b_.row.time)));
  const int order = b_.order, states = b_.states;
  const long stride = stride_;
  double* const state = coefficients(0);
  const double* const* const rates = list.outputs;
  const bool changes = b_.tangents > 0;
  for (int s = 0; s < states; ++s) put(state + s * stride, 0, load_pack(row(b_.row.state + s)));
  const auto integrate = [=](int k) {
    const Pack share = both(part_of[k + 1]);
    for (int s = 0; s < states; ++s) put(state + s * stride, k + 1, get(rates[s], k) * share);
  };
  for (int at = 0; at < lanes; at += width) evaluate_first(list, at);
  integrate(0);
  if (changes) begin_changes();
  for (int k = 1; k <= order; ++k) {
    Orders::of(k).evaluate(list);
    if (k == order) break;
    integrate(k);
    if (changes) Orders::of(k).expand_changes(b_, stride);
  }
}

// ---- Changes of the state --------------------------------------------------------------------------------

/// A change that comes from an event belongs to a point that is met at another time: less that of the motion
/// from there on it is one at the same time.
inline void SeriesRun::begin_changes() {
  for (int t = 0; t < b_.tangents; ++t) {
    const Pack late = load_pack(change(t, b_.states));
    for (int s = 0; s < b_.states; ++s)
      put(change_series(t, s), 0, fma(-late, get(coefficients(s), 1), load_pack(change(t, s))));
  }
  expand_changes<0>(b_, stride_);
}

/// To where the step ends, at the same time; `rate`: of the states there.
inline void SeriesRun::move_changes(const V& passed, V* rate) {
  for (int t = 0; t < b_.tangents; ++t) {
    for (int s = 0; s < b_.states; ++s) store(changed(t, s), value(change_series(t, s), b_.order, passed));
    store(changed(t, b_.states), all(0));
  }
  for (int s = 0; s < b_.states; ++s) {
    V sum = all(0);
    for (int k = b_.order; k > 0; --k) sum = fma(sum, passed, get_one(coefficients(s), k) * all(k));
    rate[s] = sum;
  }
}

/// The section's level is met.
inline void SeriesRun::meet_level(const Mask& here, const V* rate) {
  for (int t = 0; t < b_.tangents; ++t) {
    const V late = -load(changed(t, b_.coordinate)) / rate[b_.coordinate];
    for (int s = 0; s < b_.states; ++s) {
      const V v = load(changed(t, s));
      const V there = s == b_.coordinate ? all(0) : fma(late, rate[s], v);
      store(changed(t, s), pick(here, there, v));
    }
    store(changed(t, b_.states), pick(here, late, load(changed(t, b_.states))));
  }
}

/// An event where output 0 of a list is zero, the list being worked out there. With g that output, w its
/// rate, v the change before and f the rates of the states: the event comes δt = −∂g v/w later and changes
/// everything by v + f δt; what an impact, s being the shares of an impulse, adds to the velocities,
/// −(1 + r) w s, by what follows from that.
inline void SeriesRun::carry_through(const SeriesList& list, const SeriesContact* jumping, const Mask& struck,
                                     const V* rate) {
  const auto along = [&](const V& time, const auto& direction, V* slope) {
    put_one(list.rows + first_, 1, time);
    for (int s = 0; s < b_.states; ++s) put_one(list.rows + first_ + (1 + s) * 2 * lanes, 1, direction(s));
    evaluate<1>(list);
    slope[0] = get_one(list.outputs[0] + first_, 1);
    if (jumping == nullptr) return;
    slope[1] = get_one(list.outputs[1] + first_, 1);
    for (int k = 0; k < jumping->moved; ++k) slope[2 + k] = get_one(list.outputs[3 + k] + first_, 1);
  };
  V by_motion[2 + 16], by_change[2 + 16];
  along(
      all(1), [&](int s) { return rate[s]; }, by_motion);
  for (int t = 0; t < b_.tangents; ++t) {
    along(
        all(0), [&](int s) { return load(changed(t, s)); }, by_change);
    const V late = -by_change[0] / by_motion[0];
    const auto slope = [&](int k) { return fma(late, by_motion[k], by_change[k]); };
    const auto add = [&](int i, const V& more) {
      double* const place = changed(t, i);
      store(place, load(place) + pick(struck, more, all(0)));
    };
    for (int s = 0; s < b_.states; ++s) add(s, late * rate[s]);
    add(b_.states, late);
    if (jumping == nullptr) continue;
    const V opening = result(list, 1), factor = -all(1) - load(row(b_.row.fixed + jumping->restitution));
    for (int k = 0; k < jumping->moved; ++k)
      add(jumping->velocity[k], factor * fma(result(list, 3 + k), slope(1), opening * slope(2 + k)));
  }
}

/// The radius of convergence that the last coefficients of every series tell, each as a share of its size
/// |c_0| + |c_1| h + |c_2| h² (several, as symmetric motions lack three of four), and the part of it on which
/// the last term is `tolerance`; h being first 0 and then the length found with that.
inline SeriesRun::Length SeriesRun::length() const {
  constexpr int looked_at = 4;
  const int n = b_.order;
  const V longest = rough_logarithm<Whole>(all(40) / load(row(b_.row.rate)));
  const V part = rough_logarithm<Whole>(all(b_.tolerance)) * all(part_of[n]);
  V h = all(0);
  for (int pass = 0; pass < 2; ++pass) {
    V left_out[looked_at] = {all(0), all(0), all(0), all(0)};
    for (int i = 0; i < b_.weighed_count; ++i) {
      const double* const c = b_.weighed[i] + first_;
      const V size = fma(h, fma(h, modulus(get_one(c, 2)), modulus(get_one(c, 1))), modulus(get_one(c, 0)));
      const V inverse = pick(above(size, 0), all(1) / size, all(0));
      for (int j = 0; j < looked_at; ++j)
        left_out[j] = greater(left_out[j], modulus(get_one(c, n - j)) * inverse);
    }
    V logarithm = longest;
    for (int j = 0; j < looked_at; ++j)
      logarithm = smaller(logarithm, part - rough_logarithm<Whole>(left_out[j]) * all(part_of[n - j]));
    h = rough_power<Whole>(logarithm);
  }
  V sum = all(0);
  for (int i = 0; i < b_.weighed_count; ++i) {
    const double* const c = b_.weighed[i] + first_;
    sum = fma(get_one(c, n), all(0), fma(get_one(c, n - 1), all(0), sum));
  }
  h = held(h);
  return {h, same(sum, all(0)) & above(h, 0)};
}

/// The part of a step on which no argument moves further than the last coefficients can tell for:
/// `Tape::held` and `reach_of` (core/math), for all lanes.
inline V SeriesRun::held(V h) const {
  constexpr double unseen = 100;
  for (int i = 0; i < b_.flow.reached_count; ++i) {
    const SeriesReached& reached = b_.flow.reached[i];
    const double* const a = reached.argument + first_;
    V moved = all(0);
    for (int k = b_.order; k > 0; --k) moved = (moved + modulus(get_one(a, k))) * h;
    const V first = get_one(a, 0);
    V most = all(3) * modulus(first);
    switch (reached.reach) {
      case SeriesReached::Reach::exponential:
        most = greater(all(b_.order), -first - all(unseen));
        break;
      case SeriesReached::Reach::saturation:
        most = greater(all(b_.order), all(2) * modulus(first) - all(unseen)) * all(0.5);
        break;
      case SeriesReached::Reach::pole:
        break;
    }
    h = pick(below(most, moved), h * most / moved, h);
  }
  return h;
}

// ---- Guards ----------------------------------------------------------------------------------------------

/// A guard's polynomial in fractions of the step, positive while nothing happens; a zero at the beginning
/// that is known is divided out.
inline void SeriesRun::scale(int guard) {
  const int n = b_.order;
  double* const p = polynomial(guard);
  const bool is_level = guard == b_.guards;
  const double* const c = is_level ? coefficients(b_.coordinate) : this->guard(guard);
  V sign, first = get_one(c, 0), speed = get_one(c, 1);
  Mask zero;
  if (is_level) {
    sign = all(-b_.direction);
    first = first - all(b_.level);
    zero = same(first, all(0));
  } else {
    sign = guard < b_.contacts ? side_[guard] : all(1);
    zero = above(load(row(b_.row.left + guard)), 0);
    const V known = load(row(b_.row.speed + guard));
    speed = pick(zero & above(known, 0), known * sign, speed);
  }
  put_one(p, 0, first * sign);
  put_one(p, 1, speed * (power_[1] * sign));
  for (int k = 2; k <= n; ++k) put_one(p, k, get_one(c, k) * (power_[k] * sign));
  if (any(zero)) {
    for (int k = 0; k < n; ++k) put_one(p, k, pick(zero, get_one(p, k + 1), get_one(p, k)));
    put_one(p, n, pick(zero, all(0), get_one(p, n)));
  }
  if (!is_level) return;
  armed_ = pick(below(get_one(p, 0), all(0)), all(-1), all(1));
  for (int k = 0; k <= n; ++k) put_one(p, k, get_one(p, k) * armed_);
}

inline SeriesRun::Hull SeriesRun::hull(const double* p) const {
  constexpr double inverse[] = {1, 1.0 / 6, 1.0 / 15, 1.0 / 20, 1.0 / 15, 1.0 / 6, 1};
  Hull hull;
  V size = all(0);
  for (int k = 0; k <= low; ++k) {
    const V c = get_one(p, k);
    hull.b[k] = c * all(inverse[k]);
    size = size + modulus(c);
  }
  for (int pass = 1; pass <= low; ++pass) {
    for (int j = low; j >= pass; --j) hull.b[j] = hull.b[j] + hull.b[j - 1];
  }
  V rest = all(0);
  for (int k = low + 1; k <= b_.order; ++k) rest = rest + modulus(get_one(p, k));
  hull.rounding = all(16 * epsilon) * (size + rest);
  hull.margin = rest + hull.rounding;
  return hull;
}

/// Bound of the derivative of the terms that a hull leaves out, and of rounding.
inline V SeriesRun::rate_margin(const double* p, const Hull& hull) const {
  V rate = all(0);
  for (int k = low + 1; k <= b_.order; ++k) rate = fma(all(k), modulus(get_one(p, k)), rate);
  return rate + all(low) * hull.rounding;
}

inline V SeriesRun::value(const double* p, int degree, const V& s) const {
  V sum = get_one(p, degree);
  for (int k = degree - 1; k >= 0; --k) sum = fma(sum, s, get_one(p, k));
  return sum;
}

/// One step of Halley's method.
inline void SeriesRun::halley(const double* p, int degree, V& s, V& change) const {
  V f = get_one(p, degree), slope = all(0), half_curvature = all(0);
  for (int k = degree - 1; k >= 0; --k) {
    half_curvature = fma(half_curvature, s, slope);
    slope = fma(slope, s, f);
    f = fma(f, s, get_one(p, k));
  }
  change = f * slope / (slope * slope - f * half_curvature);
  s = s - change;
}

/// Whether a polynomial with a zero at `end` is certainly positive before: divided by end − s its hull is.
inline Mask SeriesRun::certain_up_to(const double* p, const V& end) const {
  double scaled[(20 + 1) * lanes];
  V power = all(1);
  for (int k = 0; k <= b_.order; ++k) {
    put_one(scaled, k, get_one(p, k) * power);
    power = power * end;
  }
  const Hull h = hull(scaled);
  V least[low];
  for (int j = 0; j < low; ++j) least[j] = (h.b[j] - h.b[low]) * all(static_cast<double>(low) / (low - j));
  return below(rate_margin(scaled, h), smallest(least, low));
}

/// For lanes whose hull is not positive.
inline V SeriesRun::first_root(int guard, const Hull& hull, Mask wanted) const {
  const double* const p = polynomial(guard);
  V s = all(nowhere);
  for (int j = low - 1; j >= 0; --j) {
    const V crossing = (all(j) + hull.b[j] / (hull.b[j] - hull.b[j + 1])) * all(1.0 / low);
    s = pick(below(hull.b[j + 1], all(0)), crossing, s);
  }
  V change = all(0);
  halley(p, low, s, change);
  halley(p, low, s, change);
  halley(p, b_.order, s, change);
  halley(p, b_.order, s, change);
  constexpr double near = 1e-9;  // of itself: the step after would end in rounding
  Mask certain = above(s, 0) & below(s, all(1.25)) & below(modulus(change), s * all(near));
  certain = certain & certain_up_to(p, s);
  V root = pick(certain & ~above(s, 1), s, all(nowhere));
  const Mask open = wanted & ~certain;
  if (!any(open)) return root;
  // No zero in either half?
  V left[low + 1], right[low + 1], b[low + 1];
  for (int j = 0; j <= low; ++j) b[j] = hull.b[j];
  for (int pass = 0; pass <= low; ++pass) {
    left[pass] = b[0];
    right[low - pass] = b[low - pass];
    for (int j = 0; j + pass < low; ++j) b[j] = (b[j] + b[j + 1]) * all(0.5);
  }
  const Mask clear = below(hull.margin, smaller(smallest(left, low + 1), smallest(right, low + 1)));
  const unsigned asked = Simd::bits(open & ~clear);
  for (int lane = 0; asked != 0 && lane < width; ++lane) {
    if ((asked >> lane & 1) == 0) continue;
    double c[20 + 1];
    for (int k = 0; k <= b_.order; ++k) c[k] = p[k * lanes + lane];
    root[lane] = b_.first_zero(c, b_.order + 1);
  }
  return root;
}

/// Whether and where a guard ends the step.
inline void SeriesRun::search(int guard, Mask active, First& first, Mask& leaves) {
  const Hull h = hull(polynomial(guard));
  const Mask clear = below(h.margin, smallest(h.b, low + 1));
  if (!any(active & ~clear)) return;
  // One that is not clearly positive at the beginning is at something that has to be decided there.
  leaves = leaves | (active & ~clear & ~below(all(4) * h.rounding, h.b[0]));
  Mask wanted = active & ~clear & ~leaves;
  if (guard == b_.guards) {
    // On its way to the side that the section is met from, once, it passes the level: nothing happens there.
    V falls[low];
    for (int j = 0; j < low; ++j) falls[j] = (h.b[j] - h.b[j + 1]) * all(low);
    const V margin = rate_margin(polynomial(guard), h);
    wanted = wanted & ~(below(armed_, all(0)) & below(margin, smallest(falls, low)));
  }
  if (!any(wanted)) return;
  const V root = pick(wanted, first_root(guard, h, wanted), all(nowhere));
  const Mask sooner = below(root, first.at);
  first.second = smaller(greater(root, first.at), first.second);
  first.guard = pick(sooner, all(guard), first.guard);
  first.at = pick(sooner, root, first.at);
}

// ---- Events ----------------------------------------------------------------------------------------------

/// Works out a list of order 1 at a point.
inline void SeriesRun::give(const SeriesList& list, const V& time, const V* x) const {
  put_one(list.rows + first_, 0, time);
  for (int s = 0; s < b_.states; ++s) put_one(list.rows + first_ + (1 + s) * 2 * lanes, 0, x[s]);
  evaluate_first(list, first_);
}

/// The greatest of the velocities.
inline V SeriesRun::speed(const V* x) const {
  V greatest = all(0);
  for (int k = 0; k < b_.velocity_count; ++k) greatest = greater(greatest, modulus(x[b_.velocities[k]]));
  return greatest;
}

inline SeriesRun::Meeting SeriesRun::meeting(int i, const V& time, const V* x) const {
  const SeriesContact& contact = b_.contact[i];
  give(contact.impact, time, x);
  Meeting at;
  at.gap = result(contact.impact, 0);
  at.approach = -result(contact.impact, 1) * side_[i];
  at.reach = all(0);
  for (int k = 0; k < contact.terms; ++k)
    at.reach = at.reach + modulus(result(contact.impact, 3 + contact.moved + k));
  // Of a compliant contact lengths count that are zero with the gap, as in the scalar engine.
  if (contact.flag >= 0) at.reach = at.reach + speed(x) / load(row(b_.row.rate));
  give(contact.pressing, time, x);
  at.pressing = result(contact.pressing, 0) * side_[i];
  const V depth = all(64 * epsilon) * at.reach;
  at.certain = above(at.approach, 0) & below(modulus(at.pressing) * depth, at.approach * at.approach);
  return at;
}

inline void SeriesRun::add_impact(int i, const Mask& here, Mask& leaves) const {
  double* const impacts = row(b_.row.impacts + i);
  const V count = load(impacts) + pick(here, all(1), all(0));
  leaves = leaves | (here & above(count, b_.most_impacts));
  store(impacts, count);
}

/// An impact, or a body that passes by where the contact has no foot.
inline void SeriesRun::hit(int i, const Mask& here, const V& time, V* x, const V* rate, Mask& leaves) {
  const SeriesContact& contact = b_.contact[i];
  const Meeting at = meeting(i, time, x);
  const V side = side_[i];
  Mask passes = none();
  Mask certain = at.certain;
  if (contact.has_foot) {
    constexpr double end = 1e-10;
    const V foot = result(contact.impact, 2);
    passes = here & below(foot, all(0));
    certain = certain & below(at.reach * at.reach * all(end), modulus(foot));
  }
  const Mask struck = here & ~passes;
  const bool jumps = !ends_before(i);
  if (b_.tangents > 0) carry_through(contact.impact, jumps ? &contact : nullptr, struck, rate);
  const V restitution = load(row(b_.row.fixed + contact.restitution));
  const V rebound = restitution * at.approach;
  for (int k = 0; k < contact.moved; ++k) {
    const V share = pick(struck, result(contact.impact, 3 + k), all(0));
    V& place = x[contact.position[k]];
    V& velocity = x[contact.velocity[k]];
    place = fma(-share, at.gap, place);
    if (jumps) velocity = fma(share, side * (at.approach + rebound), velocity);
  }
  give(contact.pressing, time, x);
  const V after = result(contact.pressing, 0) * side;
  // A graze, a rebound that leaves nothing, a chatter that may complete: not here.
  certain = certain & same(after * all(0), all(0));
  const V shortest = all(1.01 * b_.chatter) * after * (all(1) - restitution);
  const Mask bounces = above(rebound, 0) & ~below(load(row(b_.row.rate)) * rebound, shortest);
  leaves = leaves | (here & ~certain) | (struck & ~bounces);
  ends_ = ends_ | (struck & certain & ~bounces);
  side_[i] = pick(passes, -side, side);
  rebound_ = pick(here, pick(passes, all(0), rebound), rebound_);
  add_impact(i, jumps ? struck & ~leaves : none(), leaves);
}

/// Into a compliant contact, or out of it: positions and velocities go on. Before a section where it begins
/// the body is put on it.
inline void SeriesRun::pass_surface(int i, const Mask& here, const V& time, V* x, const V* rate,
                                    Mask& leaves) {
  constexpr double at_rest = 1e-12;  // of the speed
  const SeriesContact& contact = b_.contact[i];
  const Meeting at = meeting(i, time, x);
  leaves = leaves | (here & ~(at.certain & below(speed(x) * all(at_rest), at.approach)));
  if (b_.tangents > 0) carry_through(contact.impact, nullptr, here, rate);
  const Mask enters = here & above(side_[i], 0);
  rebound_ = pick(here, at.approach, rebound_);
  if (ends_before(i)) {
    for (int k = 0; k < contact.moved; ++k) {
      const V share = pick(enters, result(contact.impact, 3 + k), all(0));
      x[contact.position[k]] = fma(-share, at.gap, x[contact.position[k]]);
    }
  }
  const Mask passes = ends_before(i) ? here & ~enters : here;
  flag_[i] = pick(passes, pick(enters, all(1), all(0)), flag_[i]);
  side_[i] = pick(passes, -side_[i], side_[i]);
  add_impact(i, passes & enters & ~leaves, leaves);
}

/// The force of a compliant contact falls through zero within it.
inline void SeriesRun::lose_force(int i, const Mask& here, const First& first, const V& time, const V* x,
                                  const V* rate, Mask& leaves) {
  const SeriesContact& contact = b_.contact[i];
  const double* const p = polynomial(contact.force_guard);
  V slope = all(0);
  for (int k = b_.order; k > 0; --k) slope = fma(slope, first.at, get_one(p, k) * all(k));
  const Meeting at = meeting(i, time, x);
  const V depth = at.gap * side_[i];
  leaves = leaves | (here & ~(below(slope, all(0)) & below(all(64 * epsilon) * at.reach, depth)));
  if (b_.tangents > 0) {
    give(contact.force, time, x);
    carry_through(contact.force, nullptr, here, rate);
  }
  flag_[i] = pick(here, all(0), flag_[i]);
}

/// What has become of the lanes that are kept.
inline void SeriesRun::store_step(const Mask& kept, const V& time, const V* x, const First& first) {
  const auto update = [&](int r, const V& v) { store(row(r), pick(kept, v, load(row(r)))); };
  update(b_.row.time, time);
  for (int s = 0; s < b_.states; ++s) update(b_.row.state + s, x[s]);
  for (int i = 0; i < b_.contacts; ++i) {
    const Mask here = is(first.guard, i);
    update(b_.row.side + i, side_[i]);
    update(b_.row.left + i, pick(here, all(1), all(0)));
    update(b_.row.speed + i, pick(here, rebound_, all(0)));
    if (b_.contact[i].flag >= 0) store(flag(i), pick(kept, flag_[i], load(flag(i))));
  }
  for (int i = b_.contacts; i < b_.guards; ++i) {
    update(b_.row.left + i, all(0));
    update(b_.row.speed + i, all(0));
  }
  for (int t = 0; t < b_.tangents; ++t) {
    for (int s = 0; s <= b_.states; ++s)
      store(change(t, s), pick(kept, load(changed(t, s)), load(change(t, s))));
  }
}

inline unsigned SeriesRun::step(unsigned active) {
  first_ = 0;
  expand();
  const auto each_vector = [&](const auto& f) {
    for (first_ = 0; first_ < lanes; first_ += width) {
      const unsigned here = active >> first_ & ((1u << width) - 1);
      if (here != 0) f(here);
    }
  };
  // Chains of operations, each of which waits for the one before: side by side those of one vector fill the
  // gaps of another's.
  Length longest[packed];
  each_vector([&](unsigned) { longest[first_ / width] = length(); });
  unsigned goes_on = 0;
  each_vector([&](unsigned here) { goes_on |= end_step(here, longest[first_ / width]) << first_; });
  return goes_on;
}

/// Of one vector, its series being there.
inline unsigned SeriesRun::end_step(unsigned active_bits, const Length& longest) {
  using Section = SeriesBatch::Section;
  const Mask active = Simd::mask(active_bits);
  Mask leaves = active & ~longest.certain;
  const V time = load(row(b_.row.time)), deadline = load(row(b_.row.deadline));
  const V rest = deadline - time;
  const Mask ends = ~below(longest.h, rest);
  const V h = pick(ends, rest, longest.h);
  power_[1] = h;
  for (int k = 2; k <= b_.order; ++k) power_[k] = power_[k - 1] * h;
  for (int i = 0; i < b_.contacts; ++i) {
    side_[i] = load(row(b_.row.side + i));
    if (b_.contact[i].flag >= 0) flag_[i] = load(flag(i));
  }
  First first{all(nowhere), all(nowhere), all(-1)};
  for (int guard = 0; guard < guards(); ++guard) {
    scale(guard);
    search(guard, active & ~leaves, first, leaves);
  }
  const Mask happens = active & ~leaves & below(first.at, all(nowhere));
  first.guard = pick(happens, first.guard, all(-1));
  const V fraction = pick(happens, first.at, all(1));
  const V passed = h * fraction;
  V x[16];
  for (int s = 0; s < b_.states; ++s) x[s] = value(coefficients(s), b_.order, passed);
  V rate[16];
  if (b_.tangents > 0) move_changes(passed, rate);
  V now = time + passed;
  Mask arrived = ends_ = none();
  if (any(happens)) {
    constexpr double together = 1e-9;  // of a step: one event or two is not to be told here
    leaves = leaves | (happens & below(first.second - first.at, all(together)));
    for (int i = 0; i < b_.contacts; ++i) {
      const SeriesContact& contact = b_.contact[i];
      const bool is_rigid = contact.flag < 0;
      const Mask here = happens & ~leaves & is(first.guard, i);
      if (any(here) && is_rigid) hit(i, here, now, x, rate, leaves);
      if (any(here) && !is_rigid) pass_surface(i, here, now, x, rate, leaves);
      const Mask loses = happens & ~leaves & is(first.guard, contact.force_guard);
      if (contact.force_guard >= 0 && any(loses)) lose_force(i, loses, first, now, x, rate, leaves);
    }
    if (b_.section == Section::level) {
      const Mask here = happens & is(first.guard, b_.guards);
      x[b_.coordinate] = pick(here, all(b_.level), x[b_.coordinate]);
      arrived = here & above(armed_, 0);
      if (b_.tangents > 0) meet_level(arrived, rate);
    } else if (b_.section != Section::deadline) {
      const V before = load(row(b_.row.side + b_.section_contact));
      const bool is_rigid = b_.contact[b_.section_contact].flag < 0;
      arrived = happens & is(first.guard, b_.section_contact) &
                (is_rigid ? same(side_[b_.section_contact], before) : above(before, 0));
    }
  }
  V sum = all(0);
  for (int s = 0; s < b_.states; ++s) sum = fma(x[s], all(0), sum);
  for (int t = 0; t < b_.tangents; ++t) {
    for (int s = 0; s <= b_.states; ++s) sum = fma(load(changed(t, s)), all(0), sum);
  }
  leaves = leaves | (active & ~same(sum, all(0)));
  ends_ = ends_ & same(sum, all(0));
  const Mask late = (ends & ~happens) | ~below(now, deadline);
  now = pick(late, deadline, now);
  if (b_.section == Section::deadline) {
    arrived = active & late;
    leaves = leaves | (active & ~late & ~below(time, now));
  } else {
    leaves = leaves | (active & ~arrived & (late | ~below(time, now)));
    const V period = load(row(b_.row.period));
    const Mask wraps = above(period, 0) & ~below(now, period) & ~leaves & active;
    now = pick(wraps, now - period, now);
    store(row(b_.row.deadline), pick(wraps, deadline - period, deadline));
    store(row(b_.row.turns), load(row(b_.row.turns)) + pick(wraps, all(1), all(0)));
  }
  store_step(active & ~leaves, now, x, first);
  const unsigned ends_bits = Simd::bits(ends_), left_bits = Simd::bits(leaves & active),
                 arrived_bits = Simd::bits(arrived & ~leaves);
  for (int lane = 0; (left_bits | arrived_bits) >> lane != 0; ++lane) {
    const unsigned bit = 1u << lane;
    if (((left_bits | arrived_bits) & bit) == 0) continue;
    const bool goes_on = (left_bits & bit) != 0 ? b_.left(b_.owner, first_ + lane, (ends_bits & bit) != 0)
                                                : b_.arrived(b_.owner, first_ + lane);
    active_bits = goes_on ? active_bits | bit : active_bits & ~bit;
  }
  return active_bits;
}

inline void run_series(SeriesBatch& batch) {
  const Denormals flushed(Denormals::mode() | Denormals::flush);
  SeriesRun(batch).run();
}

}  // namespace
}  // namespace graze
