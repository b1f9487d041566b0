/// Rods joined by hinges that knock against each other, wherever they meet.
///
/// Every free end (one that carries no joint) is a contact with every rod that it is not joined to; the foot
/// of the end on that rod says whether it can touch. Rules at an instant, beyond those of
/// core/newton_contacts (each has its test):
/// - A rod is met on either side alike: an end that has passed by comes back from behind.
/// - End on end: a foot at the very end of a rod is on the rod. Both ends then touch each other's rods, and
/// both
///   contacts take part in the impact.
/// - A closed contact whose foot comes to the end of the rod opens.
/// - Several contacts at one instant share one impact: 0 ≤ Λ ⊥ u⁺ + e u⁻ ≥ 0.
/// - A start with rods that cross each other is no start.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "core/math/elimination.hpp"
#include "core/smooth/newton_system.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {

constexpr int ground = -1;

/// What is joined to what; the numbers are parameters.
struct RodLinkage {
  struct Joint {
    int rod;
    int other;  ///< or `ground`
  };
  struct Contact {
    int rod;    ///< whose end it is
    int end;    ///< −1: its head, +1: its foot
    int other;  ///< the rod that it touches
  };

  int rods = 0;
  std::vector<Joint> joints;
  std::vector<Contact> contacts;

  // Places in the list of parameters.
  enum : std::size_t { gravity, restitution, frequency, first };
  std::size_t length(int rod) const { return first + 3 * static_cast<std::size_t>(rod); }
  std::size_t mass(int rod) const { return length(rod) + 1; }
  std::size_t torque(int rod) const { return length(rod) + 2; }
  /// Place of the joint along `rod` and along the other one, as shares of their lengths from the head, or its
  /// coordinates in the ground.
  std::size_t at(std::size_t joint) const { return length(rods) + 5 * joint; }
  std::size_t other_at(std::size_t joint) const { return at(joint) + 1; }
  std::size_t x(std::size_t joint) const { return at(joint) + 2; }
  std::size_t y(std::size_t joint) const { return at(joint) + 3; }
  std::size_t damping(std::size_t joint) const { return at(joint) + 4; }
};

/// After Jin, Wang, Lu & Mei in absolute coordinates: positions q = (x, y, phi) of each rod, phi from the
/// downward vertical, and velocities v. Joints Φ(q) = 0 with D = ∂Φ/∂q:
///
///     [M D^T; D 0] [v'; −λ] = [G; −D' v − 2 α Φ' − α² Φ]      (Baumgarte)
///
/// The paper's canonical momenta p = M v + D^T σ, p' = G + D'^T σ, are this integrated once, σ' = −λ. They
/// are no states here, as σ adds up the joint forces for ever: a rod that hangs at rest has p' = G, and no
/// orbit would come back. With v a periodic motion closes, M being constant an impact is the same system of
/// equations (v jumps by M⁻¹(D^T Λ + ψ P)), and λ is at hand for the forces of closed contacts. What the
/// paper's form would stabilise by itself, D v = −α Φ, is kept by the term 2 α Φ'.
///
/// An impulse P along the normal ψ of a contact changes v by W ψ P, W = M⁻¹ − M⁻¹ D^T (D M⁻¹ D^T)⁻¹ D M⁻¹.
template <class S>
class HingedRodsEquations {
 public:
  static constexpr int states = Eigen::Dynamic;
  static constexpr int contacts = Eigen::Dynamic;
  template <class T>
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  HingedRodsEquations(const RodLinkage& linkage, std::span<const S> p) : linkage_(linkage) {
    gravity_ = p[RodLinkage::gravity];
    bounce_ = p[RodLinkage::restitution];
    omega_ = p[RodLinkage::frequency];
    for (int i = 0; i < linkage.rods; ++i) {
      const S l = p[linkage.length(i)];
      const S m = p[linkage.mass(i)];
      rods_.push_back({l, m, m * l * l / 12.0, p[linkage.torque(i)]});
    }
    for (std::size_t j = 0; j < linkage.joints.size(); ++j) {
      const auto [rod, other] = linkage.joints[j];
      const S arm = (p[linkage.at(j)] - S(0.5)) * p[linkage.length(rod)];
      const S other_arm =
          other == ground ? S(0) : S((p[linkage.other_at(j)] - S(0.5)) * p[linkage.length(other)]);
      joints_.push_back(Joint{{Side{rod, arm, 1}, Side{other, other_arm, -1}},
                              p[linkage.x(j)],
                              p[linkage.y(j)],
                              p[linkage.damping(j)]});
    }
    stabilisation_ = rate();
  }

  int size() const { return 6 * linkage_.rods; }
  int count() const { return static_cast<int>(linkage_.contacts.size()); }
  bool valid() const { return true; }
  Symmetry symmetry(int state) const {
    return state < velocity() && state % 3 == 2 ? Symmetry::turn : Symmetry::none;
  }
  double unit(int state) const { return state >= velocity() ? rate() : 1; }
  S period() const { return omega_ > S(0) ? S(2 * M_PI) / omega_ : S(0); }
  double rate() const {
    double fastest = value_of(omega_);
    for (const Rod& rod : rods_)
      fastest = std::max(fastest, std::sqrt(1.5 * value_of(gravity_) / value_of(rod.length)));
    for (const Joint& joint : joints_) {
      for (const Side& side : joint.sides) {
        if (side.rod != ground)
          fastest = std::max(fastest, value_of(joint.damping) / value_of(this->rod(side.rod).inertia));
      }
    }
    return fastest > 0 ? fastest : 1;
  }

  template <class T>
  void rates(const T& t, const Vector<T>& x, Vector<T>& rate) const {
    rate = x;
    rate.head(velocity()) = x.tail(velocity());
    rate.tail(velocity()) = accelerations(t, x, poses(x));
  }
  template <class T>
  T gap(int i, const T&, const Vector<T>& x) const {
    const Meeting<T> m = meeting(i, x, poses(x));
    return m.gap;
  }
  template <class T>
  T opening(int i, const T&, const Vector<T>& x) const {
    const Meeting<T> m = meeting(i, x, poses(x));
    return m.opening;
  }
  /// −gap'' = −(r'' · n − 2 φ_b' r' · e − φ_b'' f − φ_b'² gap), r from the rod's centre to the end, n and e
  /// across and along the rod, f = r · e.
  template <class T>
  T pressing(int i, const T& t, const Vector<T>& x) const {
    const std::vector<Pose<T>> pose = poses(x);
    const Meeting<T> m = meeting(i, x, pose);
    const Vector<T> a = accelerations(t, x, pose);
    const auto& contact = at(i);
    const Pose<T>& own = pose[index(contact.rod)];
    const Pose<T>& other = pose[index(contact.other)];
    const S arm = end_arm(i);
    const T spin = x(velocity() + 3 * contact.rod + 2);
    const T other_spin = x(velocity() + 3 * contact.other + 2);
    const int p = 3 * contact.rod, q = 3 * contact.other;
    const T inward = spin * spin * arm;
    const T ax = a(p) - a(q) + own.cosine * a(p + 2) * arm - own.sine * inward;
    const T ay = a(p + 1) - a(q + 1) + own.sine * a(p + 2) * arm + own.cosine * inward;
    return other_spin * (m.along_speed * S(2) + other_spin * m.gap) + a(q + 2) * m.foot -
           (ax * other.cosine + ay * other.sine);
  }
  /// Product of the distances from both ends of the rod. A foot at an end but for rounding is on the rod.
  template <class T>
  T foot(int i, const T&, const Vector<T>& x) const {
    const Meeting<T> m = meeting(i, x, poses(x));
    const S half = rod(at(i).other).length / 2.0;
    return (m.foot + half) * (half - m.foot) + S(1e-14 * value_of(half * half));
  }
  /// The end is on the other side of the rod, unless the rods cross.
  bool behind(int i, const Eigen::VectorXd& y) const {
    Vector<S> x(y.size());
    for (Eigen::Index k = 0; k < y.size(); ++k) x(k) = S(y(k));
    const Meeting<S> m = meeting(i, x, poses(x));
    const Meeting<S> head = meeting_at(at(i).rod, at(i).other, -end_arm(i), x, poses(x));
    const double half = value_of(rod(at(i).other).length) / 2;
    const double g = value_of(m.gap), h = value_of(head.gap);
    if (g == 0) return std::abs(value_of(m.foot)) > half;
    if (g * h >= 0) return true;
    const double share = g / (g - h);
    const double crossing = value_of(m.foot) + share * value_of(head.foot - m.foot);
    return std::abs(crossing) > half;
  }
  template <class T>
  void kick(int i, const T&, const Vector<T>& x, const T& speed, Vector<T>& v) const {
    const Vector<T> change = response(i, x).change;
    for (int k = 0; k < velocity(); ++k) v(velocity() + k) = v(velocity() + k) + change(k) * speed;
  }
  template <class T>
  void lift(int i, const T&, const Vector<T>& x, const T& gap, Vector<T>& v) const {
    const Vector<T> change = response(i, x).change;
    for (int k = 0; k < velocity(); ++k) v(k) = v(k) + change(k) * gap;
  }
  S mobility(int i, const S&, const Vector<S>& x) const { return response(i, x).mobility; }
  S restitution(int) const { return bounce_; }
  double reach(int i, double, const Vector<double>&) const {
    return value_of(rod(at(i).rod).length) + value_of(rod(at(i).other).length);
  }
  double length_of(const Vector<double>&) const {
    double longest = 0;
    for (const Rod& rod : rods_) longest = std::max(longest, value_of(rod.length));
    return longest;
  }
  double speed_of(const Vector<double>& x) const { return x.tail(velocity()).cwiseAbs().maxCoeff(); }

 private:
  struct Rod {
    S length, mass, inertia, torque;
  };
  struct Side {
    int rod;
    S arm;  ///< from the centre along the rod
    double sign;
  };
  struct Joint {
    std::array<Side, 2> sides;
    S x, y;
    S damping;
  };
  template <class T>
  struct Pose {
    T sine, cosine;
  };
  /// How an end stands to a rod.
  template <class T>
  struct Meeting {
    T gap, opening, foot, along_speed;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  const Rod& rod(int i) const { return rods_[index(i)]; }
  const RodLinkage::Contact& at(int i) const { return linkage_.contacts[index(i)]; }
  int velocity() const { return 3 * linkage_.rods; }
  S end_arm(int i) const { return rod(at(i).rod).length * S(0.5 * at(i).end); }
  template <class T>
  static T zero(const Vector<T>& x) {
    return constant(x(0), S(0));
  }

  template <class T>
  std::vector<Pose<T>> poses(const Vector<T>& x) const {
    std::vector<Pose<T>> list;
    for (int i = 0; i < linkage_.rods; ++i) {
      const auto [sine, cosine] = sine_cosine(T(x(3 * i + 2)));
      list.push_back({sine, cosine});
    }
    return list;
  }
  template <class T>
  Meeting<T> meeting(int i, const Vector<T>& x, const std::vector<Pose<T>>& pose) const {
    return meeting_at(at(i).rod, at(i).other, end_arm(i), x, pose);
  }
  template <class T>
  Meeting<T> meeting_at(int a, int b, const S& arm, const Vector<T>& x,
                        const std::vector<Pose<T>>& pose) const {
    const Pose<T>& own = pose[index(a)];
    const Pose<T>& other = pose[index(b)];
    const int p = 3 * a, q = 3 * b, v = velocity();
    const T rx = x(p) - x(q) + own.sine * arm;
    const T ry = x(p + 1) - x(q + 1) - own.cosine * arm;
    const T ux = x(v + p) - x(v + q) + own.cosine * x(v + p + 2) * arm;
    const T uy = x(v + p + 1) - x(v + q + 1) + own.sine * x(v + p + 2) * arm;
    const T foot = rx * other.sine - ry * other.cosine;
    return {rx * other.cosine + ry * other.sine, ux * other.cosine + uy * other.sine - x(v + q + 2) * foot,
            foot, ux * other.sine - uy * other.cosine};
  }
  /// D M⁻¹ D^T. Row 2j is the x direction of joint j, with entries (1, 0, arm cos) at its first rod and the
  /// negative at the other; row 2j + 1 the y direction, (0, 1, arm sin).
  template <class T>
  std::vector<std::vector<T>> joint_matrix(const Vector<T>& x, const std::vector<Pose<T>>& pose) const {
    const std::size_t n = 2 * joints_.size();
    std::vector<std::vector<T>> H(n, std::vector<T>(n, zero(x)));
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      for (std::size_t k = 0; k < joints_.size(); ++k) {
        for (const Side& a : joints_[j].sides) {
          for (const Side& b : joints_[k].sides) {
            if (a.rod == ground || a.rod != b.rod) continue;
            const Rod& own = rod(a.rod);
            const Pose<T>& at_rod = pose[index(a.rod)];
            const S lever = a.arm * b.arm / own.inertia * S(a.sign * b.sign);
            const S inverse = S(a.sign * b.sign) / own.mass;
            const T mixed = at_rod.sine * at_rod.cosine * lever;
            H[2 * j][2 * k] += at_rod.cosine * at_rod.cosine * lever + inverse;
            H[2 * j + 1][2 * k + 1] += at_rod.sine * at_rod.sine * lever + inverse;
            H[2 * j][2 * k + 1] += mixed;
            H[2 * j + 1][2 * k] += mixed;
          }
        }
      }
    }
    return H;
  }
  /// D u.
  template <class T, class Entry>
  std::vector<T> joint_rates(const Vector<T>& x, const std::vector<Pose<T>>& pose, const Entry& u) const {
    std::vector<T> rates;
    for (const Joint& joint : joints_) {
      T dx = zero(x), dy = zero(x);
      for (const Side& side : joint.sides) {
        if (side.rod == ground) continue;
        const Pose<T>& at_rod = pose[index(side.rod)];
        const T turn = u(3 * side.rod + 2) * side.arm;
        dx = dx + (u(3 * side.rod) + at_rod.cosine * turn) * S(side.sign);
        dy = dy + (u(3 * side.rod + 1) + at_rod.sine * turn) * S(side.sign);
      }
      rates.push_back(dx);
      rates.push_back(dy);
    }
    return rates;
  }
  /// u + M⁻¹ D^T λ.
  template <class T>
  void add_joint_forces(const std::vector<T>& force, const std::vector<Pose<T>>& pose, Vector<T>& u) const {
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      for (const Side& side : joints_[j].sides) {
        if (side.rod == ground) continue;
        const Rod& own = rod(side.rod);
        const Pose<T>& at_rod = pose[index(side.rod)];
        const S inverse = S(side.sign) / own.mass;
        const int k = 3 * side.rod;
        u(k) = u(k) + force[2 * j] * inverse;
        u(k + 1) = u(k + 1) + force[2 * j + 1] * inverse;
        u(k + 2) = u(k + 2) + (at_rod.cosine * force[2 * j] + at_rod.sine * force[2 * j + 1]) *
                                  S(side.arm * S(side.sign) / own.inertia);
      }
    }
  }
  template <class T>
  Vector<T> accelerations(const T& t, const Vector<T>& x, const std::vector<Pose<T>>& pose) const {
    using std::cos;
    const int v = velocity();
    Vector<T> a(v);
    for (int i = 0; i < linkage_.rods; ++i) {
      a(3 * i) = zero(x);
      a(3 * i + 1) = zero(x) - gravity_;
      a(3 * i + 2) = cos(t * omega_) * S(rod(i).torque / rod(i).inertia);
    }
    for (const Joint& joint : joints_) {
      T slide = zero(x);  // relative angular velocity
      for (const Side& side : joint.sides) {
        if (side.rod != ground) slide = slide + x(v + 3 * side.rod + 2) * S(side.sign);
      }
      for (const Side& side : joint.sides) {
        if (side.rod == ground) continue;
        const int k = 3 * side.rod + 2;
        a(k) = a(k) - slide * S(joint.damping * S(side.sign) / rod(side.rod).inertia);
      }
    }
    if (joints_.empty()) return a;
    const S alpha(stabilisation_);
    const std::vector<T> free = joint_rates(x, pose, a);
    const std::vector<T> drift = joint_rates(x, pose, x.tail(v));
    std::vector<T> force;
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      T px = zero(x) - joints_[j].x, py = zero(x) - joints_[j].y;  // Φ
      T cx = zero(x), cy = zero(x);                                // D' v
      for (const Side& side : joints_[j].sides) {
        if (side.rod == ground) continue;
        const Pose<T>& at_rod = pose[index(side.rod)];
        const T spin = x(v + 3 * side.rod + 2);
        const T inward = spin * spin * S(side.arm * S(side.sign));
        px = px + (x(3 * side.rod) + at_rod.sine * side.arm) * S(side.sign);
        py = py + (x(3 * side.rod + 1) - at_rod.cosine * side.arm) * S(side.sign);
        cx = cx - at_rod.sine * inward;
        cy = cy + at_rod.cosine * inward;
      }
      force.push_back(-(free[2 * j] + cx + drift[2 * j] * S(alpha * 2.0) + px * S(alpha * alpha)));
      force.push_back(-(free[2 * j + 1] + cy + drift[2 * j + 1] * S(alpha * 2.0) + py * S(alpha * alpha)));
    }
    std::vector<std::vector<T>> H = joint_matrix(x, pose);
    eliminate(H, force);
    add_joint_forces(force, pose, a);
    return a;
  }
  template <class T>
  struct Response {
    Vector<T> change;  ///< W ψ/(ψ^T W ψ): of the velocities, adds 1 to the opening speed
    T mobility;        ///< ψ^T W ψ
  };
  template <class T>
  Response<T> response(int i, const Vector<T>& x) const {
    const std::vector<Pose<T>> pose = poses(x);
    const auto& contact = at(i);
    const Pose<T>& own = pose[index(contact.rod)];
    const Pose<T>& other = pose[index(contact.other)];
    const int p = 3 * contact.rod, q = 3 * contact.other;
    const T turn = (own.cosine * other.cosine + own.sine * other.sine) * end_arm(i);
    const T foot = meeting(i, x, pose).foot;
    const Rod& a = rod(contact.rod);
    const Rod& b = rod(contact.other);
    Vector<T> u(velocity());
    for (T& entry : u) entry = zero(x);
    u(p) = other.cosine / a.mass;
    u(p + 1) = other.sine / a.mass;
    u(p + 2) = turn / a.inertia;
    u(q) = -(other.cosine / b.mass);
    u(q + 1) = -(other.sine / b.mass);
    u(q + 2) = -(foot / b.inertia);
    if (!joints_.empty()) {
      std::vector<T> force = joint_rates(x, pose, u);
      for (T& f : force) f = -f;
      std::vector<std::vector<T>> H = joint_matrix(x, pose);
      eliminate(H, force);
      add_joint_forces(force, pose, u);
    }
    const T gained =
        (u(p) - u(q)) * other.cosine + (u(p + 1) - u(q + 1)) * other.sine + u(p + 2) * turn - u(q + 2) * foot;
    for (T& entry : u) entry = entry / gained;
    return {std::move(u), gained};
  }

  RodLinkage linkage_;
  std::vector<Rod> rods_;
  std::vector<Joint> joints_;
  S gravity_, bounce_, omega_;
  double stabilisation_ = 1;
};

namespace {

[[noreturn]] void refuse(const Value& value, const std::string& key, const std::string& rule) {
  throw InputError(value.place(), key, value.toml(), rule);
}

class HingedRods final : public Model {
 public:
  explicit HingedRods(const Value& table);
  std::vector<double> start(std::span<const double> values) const override;
  std::unique_ptr<System> system(std::span<const double> values, const Tolerance& tolerance) const override {
    using Kind = SmoothKind<HingedRodsEquations, RodLinkage>;
    return std::make_unique<TaylorSystem<Kind>>(Kind{{linkage_}}, values, tolerance);
  }

 private:
  void add(const std::string& name, const std::string& meaning, double value, Range range) {
    parameters_.push_back({{name, "1", meaning}, value, range});
  }
  void read_rods(const Value& table);
  void read_joints(const Value& table);
  void find_contacts(const Value& table);
  bool free_end(int rod, int end) const;

  RodLinkage linkage_;
  std::vector<double> angles_;  ///< of the start
};

HingedRods::HingedRods(const Value& table) {
  add("gravity", "acceleration of free fall", table.at("gravity").number("model.gravity"),
      Range::non_negative());
  add("e", "restitution", table.at("e").number("model.e"), Range::unit());
  add("frequency", "frequency of the torques; 0: none, autonomous",
      table.at("frequency").number("model.frequency"), Range::non_negative());
  read_rods(table);
  read_joints(table);
  find_contacts(table);
}

void HingedRods::read_rods(const Value& table) {
  const Value::Array& list = table.at("rod").array("model.rod");
  if (list.empty()) refuse(table.at("rod"), "model.rod", "needs at least one rod");
  linkage_.rods = static_cast<int>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string k = std::to_string(i + 1);
    add("length_" + k, "length of rod " + k, list[i].at("length").number("model.rod.length"),
        Range::positive());
    add("mass_" + k, "mass of rod " + k, list[i].at("mass").number("model.rod.mass"), Range::positive());
    add("torque_" + k, "amplitude of the torque on rod " + k, list[i].at("torque").number("model.rod.torque"),
        Range::finite());
    angles_.push_back(list[i].at("angle").number("model.rod.angle"));
    states_.push_back({"x" + k, "1", "centre of rod " + k + ", to the right"});
    states_.push_back({"y" + k, "1", "centre of rod " + k + ", upwards"});
    states_.push_back({"phi" + k, "rad", "angle of rod " + k + " from the downward vertical"});
  }
  for (std::size_t i = 0; i < 3 * list.size(); ++i)
    states_.push_back(
        {states_[i].name + "_dot", states_[i].unit, "rate of " + states_[i].name, states_[i].name});
}

void HingedRods::read_joints(const Value& table) {
  const Value* joints = table.find("joint");
  const Value::Array none;
  const Value::Array& list = joints != nullptr ? joints->array("model.joint") : none;
  for (std::size_t j = 0; j < list.size(); ++j) {
    const Value& joint = list[j];
    const auto rod_of = [&](const char* key) {
      const std::int64_t number = joint.at(key).integer(std::string("model.joint.") + key);
      if (number > linkage_.rods) {
        refuse(joint.at(key), std::string("model.joint.") + key,
               "there are only " + std::to_string(linkage_.rods) + " rods");
      }
      return static_cast<int>(number) - 1;
    };
    linkage_.joints.push_back({rod_of("rod"), rod_of("other")});  // rod 0 is the ground
    if (linkage_.joints.back().rod == linkage_.joints.back().other)
      refuse(joint, "model.joint", "joins a rod to itself");
    const std::string k = "_j" + std::to_string(j + 1);
    const std::string what = " of joint " + std::to_string(j + 1);
    const auto number = [&](const char* key) {
      return joint.at(key).number(std::string("model.joint.") + key);
    };
    add("at" + k, "place along its rod" + what, number("at"), Range::unit());
    add("other_at" + k, "place along the other rod" + what, number("other_at"), Range::unit());
    add("x" + k, "place in the ground" + what, number("x"), Range::finite());
    add("y" + k, "height in the ground" + what, number("y"), Range::finite());
    add("damping" + k, "damping" + what, number("damping"), Range::non_negative());
  }
}

/// Whether no joint sits at this end.
bool HingedRods::free_end(int rod, int end) const {
  const double place = end < 0 ? 0 : 1;
  for (std::size_t j = 0; j < linkage_.joints.size(); ++j) {
    const auto [a, b] = linkage_.joints[j];
    if (a == rod && parameters_[linkage_.at(j)].value == place) return false;
    if (b == rod && parameters_[linkage_.other_at(j)].value == place) return false;
  }
  return true;
}

void HingedRods::find_contacts(const Value& table) {
  const auto joined = [&](int a, int b) {
    return std::any_of(linkage_.joints.begin(), linkage_.joints.end(), [&](const RodLinkage::Joint& joint) {
      return (joint.rod == a && joint.other == b) || (joint.rod == b && joint.other == a);
    });
  };
  for (int a = 0; a < linkage_.rods; ++a) {
    for (const int end : {-1, 1}) {
      if (!free_end(a, end)) continue;
      for (int b = 0; b < linkage_.rods; ++b) {
        if (a == b || joined(a, b)) continue;
        linkage_.contacts.push_back({a, end, b});
        const std::string own = std::to_string(a + 1) + (end < 0 ? "h" : "f");
        contacts_.push_back({own + "_" + std::to_string(b + 1), "1",
                             std::string(end < 0 ? "head" : "foot") + " of rod " + std::to_string(a + 1) +
                                 " on rod " + std::to_string(b + 1)});
      }
    }
  }
  constexpr std::size_t most = 31;  // the mode has two bits for each
  if (linkage_.contacts.size() > most) {
    refuse(table.at("rod"), "model.rod",
           std::to_string(linkage_.contacts.size()) + " pairs of a free end and a rod; at most 31");
  }
}

/// At rest at the angles of the case, rods placed along their joints from the ground, the others at the
/// origin.
std::vector<double> HingedRods::start(std::span<const double> values) const {
  const std::size_t n = static_cast<std::size_t>(linkage_.rods);
  std::vector<double> state(6 * n, 0.0);
  std::vector<bool> placed(n, false);
  // A point of a rod: its centre plus a share of its length along it.
  const auto along = [&](int rod, double share) {
    const double s = (share - 0.5) * values[linkage_.length(rod)];
    const double angle = angles_[static_cast<std::size_t>(rod)];
    return std::pair(s * std::sin(angle), -s * std::cos(angle));
  };
  const auto put = [&](int rod, double x, double y, double share) {
    const auto [dx, dy] = along(rod, share);
    state[3 * static_cast<std::size_t>(rod)] = x - dx;
    state[3 * static_cast<std::size_t>(rod) + 1] = y - dy;
    placed[static_cast<std::size_t>(rod)] = true;
  };
  const auto point = [&](int rod, double share) {
    const auto [dx, dy] = along(rod, share);
    return std::pair(state[3 * static_cast<std::size_t>(rod)] + dx,
                     state[3 * static_cast<std::size_t>(rod) + 1] + dy);
  };
  const auto is_placed = [&](int rod) { return rod == ground || placed[static_cast<std::size_t>(rod)]; };
  for (std::size_t i = 0; i < n; ++i) state[3 * i + 2] = angles_[i];
  for (std::size_t round = 0; round < n; ++round) {
    for (std::size_t j = 0; j < linkage_.joints.size(); ++j) {
      const auto [rod, other] = linkage_.joints[j];
      const double at = values[linkage_.at(j)], other_at = values[linkage_.other_at(j)];
      if (!is_placed(rod) && is_placed(other)) {
        const auto [x, y] = other == ground ? std::pair(0.0, 0.0) : point(other, other_at);
        put(rod, x + values[linkage_.x(j)], y + values[linkage_.y(j)], at);
      } else if (is_placed(rod) && !is_placed(other)) {
        const auto [x, y] = point(rod, at);
        put(other, x - values[linkage_.x(j)], y - values[linkage_.y(j)], other_at);
      }
    }
  }
  return state;
}

Key key(const char* name, Key::Type type, const char* meaning, Range range, double fallback) {
  Key k;
  k.name = name;
  k.type = type;
  k.unit = "1";
  k.meaning = meaning;
  k.range = range;
  k.fallback = type == Key::Type::integer ? Value(static_cast<std::int64_t>(fallback)) : Value(fallback);
  return k;
}

std::vector<Key> rod_keys() {
  return {key("length", Key::Type::number, "length", Range::positive(), 1),
          key("mass", Key::Type::number, "mass, spread evenly", Range::positive(), 1),
          key("torque", Key::Type::number, "amplitude of the torque cos(frequency t)", Range::finite(), 0),
          key("angle", Key::Type::number, "start: angle from the downward vertical", Range::finite(), 0)};
}

std::vector<Key> joint_keys() {
  Key rod = key("rod", Key::Type::integer, "number of the rod, from 1", Range{1, 1e9}, 1);
  rod.required = true;
  rod.fallback = {};
  return {
      rod,
      key("at", Key::Type::number, "place along it: 0 head … 1 foot", Range::unit(), 0),
      key("other", Key::Type::integer, "number of the other rod; 0: the ground", Range{0, 1e9}, 0),
      key("other_at", Key::Type::number, "place along the other rod", Range::unit(), 1),
      key("x", Key::Type::number, "place in the ground, to the right", Range::finite(), 0),
      key("y", Key::Type::number, "place in the ground, upwards", Range::finite(), 0),
      key("damping", Key::Type::number, "torque per relative angular velocity", Range::non_negative(), 0)};
}

}  // namespace

GRAZE_MODEL(hinged_rods) {
  ModelInfo info;
  info.name = "hinged_rods";
  info.meaning =
      "Any number of uniform rods in a vertical plane, joined by hinges to the ground and to each other; "
      "their "
      "free ends hit the sides of other rods, wherever they meet.";
  info.equations =
      "M v' = G + D^T lambda, joints Phi(q) = 0 with D = dPhi/dq, stabilised: Phi'' + 2 a Phi' + a^2 Phi = "
      "0\n"
      "contact: an end of one rod on another one, gap its distance from the line of that rod, while its foot "
      "lies on the rod\n"
      "impact: M (v+ - v-) = D^T Lambda + psi P, D v+ = 0, rate of the gap -> -e times itself";
  info.citations = {
      "Jin Li, Wang Qi, Lu Qishao, Mei Shuli: An automatic searching method for collision points of "
      "multibody "
      "systems",
      "Lankarani H. M., Nikravesh P. E.: Canonical impulse-momentum equations for impact analysis of "
      "multibody "
      "systems",
      "Baumgarte J.: Stabilization of constraints and integrals of motion in dynamical systems"};
  Key rod;
  rod.name = "rod";
  rod.type = Key::Type::tables;
  rod.meaning = "the rods; numbered from 1";
  rod.children = rod_keys();
  rod.required = true;
  Key joint;
  joint.name = "joint";
  joint.type = Key::Type::tables;
  joint.meaning = "the hinges";
  joint.children = joint_keys();
  info.keys = {key("gravity", Key::Type::number, "acceleration of free fall", Range::non_negative(), 9.81),
               key("e", Key::Type::number, "restitution", Range::unit(), 1),
               key("frequency", Key::Type::number, "frequency of the torques; 0: none, autonomous",
                   Range::non_negative(), 0),
               rod, joint};
  info.states = {
      {"x1", "1", "centre of rod 1, to the right"},
      {"y1", "1", "centre of rod 1, upwards"},
      {"phi1", "rad", "angle of rod 1 from the downward vertical; so on, then the rates x1_dot …"}};
  info.contacts = {{"1f_2", "1", "foot of rod 1 on rod 2; and so on, heads as 1h_2"}};
  info.modes =
      "bit c set: contact number c (from 0) is closed; bit (contacts + c) set: the end is met from the other "
      "side "
      "of the rod";
  info.example = R"(# Two pendulums side by side; the foot of either hits the other rod.
gravity = 9.81
e = 0.8  # restitution
# frequency = 0.0  # of the torques; 0: no forcing

# One table for each rod; they are numbered from 1.
[[model.rod]]
length = 1.0
mass = 1.0
angle = -1.2  # at the start, from the downward vertical
# torque = 0.0  # amplitude of the torque cos(frequency t)

[[model.rod]]
length = 0.8
mass = 0.7

# One table for each hinge, of a rod with the ground (other = 0) or with another rod.
[[model.joint]]
rod = 1
at = 0.0  # place along the rod: 0 head, 1 foot
x = 0.0  # place in the ground
y = 0.0
damping = 0.02

[[model.joint]]
rod = 2
x = 0.4
damping = 0.02
)";
  info.make = [](const Value& table) -> std::shared_ptr<const Model> {
    return std::make_shared<HingedRods>(table);
  };
  return info;
}

}  // namespace graze
