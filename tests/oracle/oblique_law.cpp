/// The law of oblique impact with friction: three ways to compute it, its invariants, published states.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "core/contact/oblique_impact.hpp"
#include "core/math/dual.hpp"

using namespace graze;

namespace {

struct Impact {
  double angle, mu;
  ObliqueContact<double> contact;
  double slip, block;

  double approach() const { return slip * contact.cosine - block; }
};

ObliqueContact<double> contact_at(double angle, double mu, double m, double r) {
  return {std::cos(angle), mu * std::abs(std::sin(angle)), m, r};
}

/// A state with approach; one in ten starts without slip, one in ten has r = 0 or 1.
class RandomStates {
 public:
  Impact next() {
    while (true) {
      Impact s;
      s.angle = 3 * unit_(random_) - 1.5;
      s.mu = 2 * unit_(random_);
      double r = unit_(random_);
      if (unit_(random_) < 0.1) r = std::round(r);
      s.contact = contact_at(s.angle, s.mu, 0.05 * std::pow(400.0, unit_(random_)), r);
      s.slip = unit_(random_) < 0.1 ? 0 : 4 * unit_(random_) - 2;
      s.block = 4 * unit_(random_) - 2;
      if (s.approach() > 1e-6) return s;
    }
  }

 private:
  std::mt19937_64 random_{20240711};
  std::uniform_real_distribution<double> unit_{0, 1};
};

double difference(const ObliqueImpact<double>& a, const ObliqueImpact<double>& b) {
  return std::max(std::abs(a.slip - b.slip), std::abs(a.block - b.block));
}

/// What rounding is measured by.
double size(const Impact& s, const ObliqueImpact<double>& after) {
  return std::max({std::abs(s.slip), std::abs(s.block), std::abs(after.slip), std::abs(after.block)});
}

double energy(double slip, double block, double m) { return 0.5 * (slip * slip + block * block / m); }

}  // namespace

TEST_CASE("oblique law: closed form, event to event and stepping agree on 2e5 random states") {
  RandomStates states;
  double events = 0, stepping = 0;
  std::array<int, 3> courses{};
  int jammed = 0, painleve = 0, changed = 0;
  constexpr int count = 200000;
  for (int k = 0; k < count; ++k) {
    const Impact s = states.next();
    const auto exact = closed_form(s.contact, s.slip, s.block);
    const auto pieces = event_to_event(s.contact, s.slip, s.block);
    ++courses[static_cast<std::size_t>(exact.course)];
    const double back = s.contact.cosine - s.contact.friction;
    jammed += back <= 0;
    painleve += s.slip < 0 && s.contact.mass_ratio + s.contact.cosine * back <= 0;
    changed += exact.course != pieces.course;
    events = std::max(events, difference(exact, pieces) / size(s, exact));
    constexpr std::array numbers = {10, 23, 50, 400};
    const int n = numbers[static_cast<std::size_t>(k) % numbers.size()];
    const auto steps = incremental_impulse(s.contact, s.slip, s.block, n);
    stepping = std::max(stepping, difference(pieces, steps) / size(s, pieces));
    changed += steps.course != pieces.course;
  }
  CAPTURE(events, stepping);
  CHECK(events < 1e-13);
  CHECK(stepping < 1e-12);
  CHECK(changed == 0);
  for (const int n : courses) CHECK(n > count / 20);
  CHECK(jammed > count / 10);
  CHECK(painleve > count / 200);
}

TEST_CASE("oblique law: energy never grows, is kept only by a smooth elastic impact, the bodies part") {
  RandomStates states;
  double gained = -1, largest_kept = -1;
  int kept = 0;
  double slowest = 1;
  for (int k = 0; k < 200000; ++k) {
    Impact s = states.next();
    const double before = energy(s.slip, s.block, s.contact.mass_ratio);
    const auto after = event_to_event(s.contact, s.slip, s.block);
    const double change = energy(after.slip, after.block, s.contact.mass_ratio) / before - 1;
    gained = std::max(gained, change);
    const double opening = after.block - after.slip * s.contact.cosine;
    slowest = std::min(slowest, opening / size(s, after));
    // What it takes to lose something: friction work μ|sin| |u| per impulse, or the loss of restitution.
    if (s.contact.friction > 0.1 && s.contact.restitution < 0.9) kept += change > -1e-6;
    s.contact.friction = 0;
    s.contact.restitution = 1;
    const auto smooth = event_to_event(s.contact, s.slip, s.block);
    largest_kept = std::max(largest_kept,
                            std::abs(energy(smooth.slip, smooth.block, s.contact.mass_ratio) / before - 1));
  }
  CAPTURE(gained, largest_kept, slowest);
  CHECK(gained < 1e-13);
  CHECK(largest_kept < 1e-12);
  CHECK(slowest > -1e-13);
  CHECK(kept == 0);
}

TEST_CASE("oblique law: homogeneous, symmetric under reflection of the angle, continuous between the cases") {
  RandomStates states;
  double homogeneous = 0, mirrored = 0, jump = 0;
  for (int k = 0; k < 100000; ++k) {
    const Impact s = states.next();
    const auto after = closed_form(s.contact, s.slip, s.block);
    const auto larger = closed_form(s.contact, 3 * s.slip, 3 * s.block);
    homogeneous = std::max(
        homogeneous, difference(larger, {3 * after.slip, 3 * after.block, after.course}) / size(s, after));
    const auto mirror = contact_at(-s.angle, s.mu, s.contact.mass_ratio, s.contact.restitution);
    mirrored = std::max(mirrored, difference(after, closed_form(mirror, s.slip, s.block)));
    // On the boundaries: slip stops exactly at the end of compression, or of the impact.
    const double ahead = s.contact.cosine + s.contact.friction;
    const double sink = s.contact.mass_ratio + s.contact.cosine * ahead;
    const double slip = std::abs(s.slip) + 0.1;
    for (const double whole : {1.0, 1 + s.contact.restitution}) {
      const double approach = slip / ahead * sink / whole;
      const double block = slip * s.contact.cosine - approach;
      const double h = 1e-9 * approach;
      const auto early = closed_form(s.contact, slip, block - h),
                 late = closed_form(s.contact, slip, block + h);
      jump = std::max(jump, difference(early, late) / (std::abs(slip) + std::abs(block)));
    }
  }
  CAPTURE(homogeneous, mirrored, jump);
  CHECK(homogeneous < 1e-13);
  CHECK(mirrored == 0);
  CHECK(jump < 1e-6);
}

TEST_CASE("oblique law: published states") {
  // m = 0.6, r = 0.6, μ = 0.5, θ0 = 1
  const auto contact = contact_at(1, 0.5, 0.6, 0.6);
  const double ahead = contact.cosine + contact.friction;
  const auto stop = [&](double u) { return u / ahead; };
  const auto end = [&](double u, double x) {
    return (u * contact.cosine - x) / (contact.mass_ratio + contact.cosine * ahead);
  };
  CHECK(stop(0.8) == Approx(0.832).margin(5e-4));
  CHECK(end(0.8, -0.6) == Approx(0.922).margin(5e-4));
  CHECK(stop(1.3) == Approx(1.353).margin(5e-4));
  CHECK(end(1.3, -0.4) == Approx(0.985).margin(5e-4));
  CHECK(1.6 * end(1.3, -0.4) == Approx(1.576).margin(5e-4));
  CHECK(stop(1.2) == Approx(1.249).margin(1e-3));
  CHECK(1.6 * end(1.2, -0.1) == Approx(1.070).margin(5e-4));
  CHECK(event_to_event(contact, 0.8, -0.6).course == SlipCourse::reverses);
  CHECK(event_to_event(contact, 1.3, -0.4).course == SlipCourse::reverses);
  CHECK(event_to_event(contact, 1.2, -0.1).course == SlipCourse::keeps);
}

TEST_CASE("oblique law: without friction the four linear coefficients, jammed the block alone rebounds") {
  RandomStates states;
  for (int k = 0; k < 1000; ++k) {
    Impact s = states.next();
    const double c = s.contact.cosine, m = s.contact.mass_ratio, r = s.contact.restitution;
    ObliqueContact<double> smooth = s.contact;
    smooth.friction = 0;
    const auto after = event_to_event(smooth, s.slip, s.block);
    const double slip = ((m - r * c * c) * s.slip + (1 + r) * c * s.block) / (m + c * c);
    const double block = ((1 + r) * m * c * s.slip + (c * c - r * m) * s.block) / (m + c * c);
    REQUIRE(after.slip == Approx(slip).margin(1e-13));
    REQUIRE(after.block == Approx(block).margin(1e-12));
    ObliqueContact<double> jam = s.contact;
    jam.friction = 1.5 * c;
    const auto locked = event_to_event(jam, 0.0, -1.0);
    REQUIRE(locked.slip == 0);
    REQUIRE(locked.block == Approx(r).margin(1e-15));
    REQUIRE(locked.course == SlipCourse::locks);
  }
}

TEST_CASE("oblique law: dual numbers give the derivatives of all three forms") {
  RandomStates states;
  using S = Dual<2>;
  double worst = 0;
  for (int k = 0; k < 2000; ++k) {
    const Impact s = states.next();
    const ObliqueContact<S> contact{S(s.contact.cosine), S(s.contact.friction), S(s.contact.mass_ratio),
                                    S(s.contact.restitution)};
    S u(s.slip), x(s.block);
    u.slope = {1, 0};
    x.slope = {0, 1};
    const auto exact = closed_form(contact, u, x);
    for (const auto& other : {event_to_event(contact, u, x), incremental_impulse(contact, u, x, 40)}) {
      for (std::size_t j = 0; j < 2; ++j) {
        const double scale = 1 + std::abs(exact.slip.slope[j]) + std::abs(exact.block.slope[j]);
        worst = std::max({worst, std::abs(other.slip.slope[j] - exact.slip.slope[j]) / scale,
                          std::abs(other.block.slope[j] - exact.block.slope[j]) / scale});
      }
    }
    // Of degree one: Euler's relation.
    const double euler = exact.slip.slope[0] * s.slip + exact.slip.slope[1] * s.block - exact.slip.value;
    worst = std::max(worst, std::abs(euler) / (1 + std::abs(exact.slip.value)));
  }
  CHECK(worst < 1e-11);
}
