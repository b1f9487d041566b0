/// The command line of graze with a model of one's own:
///     own_program models wall_pendulum
///     own_program run wall_pendulum.toml --events -
#include <cmath>
#include <graze/graze.hpp>

namespace mine {

enum : std::size_t { gravity, wall, bounce };  // in the order of the table of parameters

/// A pendulum that hits an inclined wall. One template for every number type: the engine calls it with
/// doubles, with derivatives and with power series.
template <class S>
struct WallPendulum {
  static constexpr int states = 2;
  static constexpr int contacts = 1;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;

  explicit WallPendulum(std::span<const S> values)
      : pull_(values[gravity]), angle_(values[wall]), bounce_(values[bounce]) {}

  bool valid() const { return true; }
  S period() const { return S(0); }
  double rate() const { return std::sqrt(graze::value_of(pull_)); }

  template <class T>
  void rates(const T&, const Vector<T>& x, Vector<T>& rate) const {
    rate(0) = x(1);
    rate(1) = -(pull_ * sin_of(x(0)));
  }
  template <class T>
  T gap(int, const T&, const Vector<T>& x) const {
    return x(0) - angle_;
  }
  template <class T>
  T opening(int, const T&, const Vector<T>& x) const {
    return x(1);
  }
  template <class T>
  T pressing(int, const T&, const Vector<T>& x) const {
    return pull_ * sin_of(x(0));
  }
  template <class T>
  void kick(int, const T&, const Vector<T>&, const T& speed, Vector<T>& v) const {
    v(1) += speed;
  }
  template <class T>
  void lift(int, const T&, const Vector<T>&, const T& gap, Vector<T>& v) const {
    v(0) += gap;
  }
  S restitution(int) const { return bounce_; }
  double reach(int, double, const Vector<double>& x) const {
    return std::abs(x(0)) + std::abs(graze::value_of(angle_));
  }
  double length_of(const Vector<double>& x) const { return std::abs(x(0)); }
  double speed_of(const Vector<double>& x) const { return std::abs(x(1)); }

  template <class T>
  static T sin_of(const T& x) {
    using std::sin;
    return sin(x);
  }

  S pull_, angle_, bounce_;
};

}  // namespace mine

GRAZE_MODEL(wall_pendulum) {
  graze::ModelInfo info;
  info.name = "wall_pendulum";
  info.meaning = "A pendulum that hits an inclined wall.";
  info.equations =
      "angle'' = -gravity sin(angle)\n"
      "angle >= wall; impact: angle' -> -restitution angle'";
  info.states = {{"angle", "rad", "from the vertical"}, {"speed", "rad s-1", "angular velocity"}};
  info.contacts = {{"wall", "1", "pendulum at the wall"}};
  info.modes = "bit 0 set: the pendulum rests at the wall";
  info.start = [](std::span<const double>) { return std::vector<double>{1.0, 0.0}; };
  info.set_parameters(
      {{{"gravity", "s-2", "gravity over length"}, 1, graze::Range::positive()},
       {{"wall", "rad", "inclination of the wall"}, 0.1, graze::Range{-1.5, 1.5, false, false}},
       {{"restitution", "1", "restitution of the wall"}, 0.8, graze::Range::unit()}},
      graze::smooth_system<mine::WallPendulum>);
  return info;
}

int main(int argc, char** argv) { return graze::main(argc, argv); }
