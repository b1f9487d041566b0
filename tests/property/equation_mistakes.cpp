/// Typical mistakes in typed systems: each is refused with its place, what is wrong and what to do instead.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/models/equations/typed_model.hpp"
#include "tests/support.hpp"

using namespace graze;
using namespace graze::test;

namespace {

/// Lines that a correct case might have, one of them wrong.
struct Mistake {
  std::string text;
  std::string message;  ///< from the line on
};

const std::vector<Mistake> mistakes = {
    // What is missing, or too much.
    {"", "2:2: model.coordinates: is missing: coordinates, states or both"},
    {"coordinates = ['x']", "2:2: model.force.x: is missing: the equation of x"},
    {"coordinates = ['x']\nstates = ['p']\nforce = { x = 1 }",
     "2:2: model.rate.p: is missing: the equation of p"},
    {"coordinates = ['x']\nforce = { x = 1, y = 2 }", "5:18: model.force.y = 2: there is no y"},
    {"coordinates = ['pos']\nforce = { pos = 1, post = 2 }",
     "5:20: model.force.post = 2: there is no post; did you mean pos?"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nforces = 1",
     "6:1: model.forces = 1: unknown key; did you mean force?"},
    {"coordinates = ['x']\nforce = { x = 1 }\ncontact = [{ gap = 'x' }]",
     "6:12: model.contact.0.restitution: is missing"},
    // Names.
    {"coordinates = ['x', 'x']\nforce = { x = 1 }",
     "4:22: model.coordinates = \"x\": the name x is there already"},
    {"coordinates = ['t']\nforce = { t = 1 }",
     "4:17: model.coordinates = \"t\": t means something else in expressions; another name"},
    {"coordinates = ['x 1']\nforce = { x = 1 }",
     "4:17: model.coordinates = \"x 1\": a name is a letter and then letters, digits and _, not \"x 1\""},
    {"coordinates = ['x']\nforce = { x = '-x' }\nparameters = { x = 1 }",
     "4:17: model.coordinates = \"x\": the name x is there already"},
    {"coordinates = ['x']\nforce = { x = '-stiffnes*x' }\nparameters = { stiffness = 1 }",
     "5:17: model.force.x = \"-stiffnes*x\": stiffnes: there is no such name; did you mean stiffness?"},
    {"coordinates = ['x']\nstates = ['p']\nforce = { x = \"p'\" }\nrate = { p = 1 }",
     "6:16: model.force.x = \"p'\": p': p is no coordinate: only these have a velocity"},
    {"coordinates = ['x']\nforce = { x = 'a' }\ndefinitions = { a = 'b', b = 'a' }",
     "6:31: model.definitions.b = \"a\": a: goes in a circle: a -> b -> a"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ndefinitions = { a = 'b' }",
     "6:22: model.definitions.a = \"b\": b: there is no such name"},
    // Syntax.
    {"coordinates = ['x']\nforce = { x = '-(x' }",
     "5:17: model.force.x = \"-(x\": (: this parenthesis is not closed"},
    {"coordinates = ['x']\nforce = { x = '-x)' }",
     "5:18: model.force.x = \"-x)\": ): closes a parenthesis that is not open"},
    {"coordinates = ['x']\nforce = { x = '2 x' }",
     "5:18: model.force.x = \"2 x\": x: an operator is missing before it; a product is written with *"},
    {"coordinates = ['x']\nforce = { x = '' }", "5:16: model.force.x = \"\": an expression is missing"},
    {"coordinates = ['x']\nforce = { x = 'x**3' }",
     "5:17: model.force.x = \"x**3\": **: a power is written ^"},
    {"coordinates = ['x']\nforce = { x = 'sine(x)' }",
     "5:16: model.force.x = \"sine(x)\": sine: there is no function sine; did you mean sin?"},
    {"coordinates = ['x']\nforce = { x = 'ln(x)' }",
     "5:16: model.force.x = \"ln(x)\": ln: the natural logarithm is log"},
    {"coordinates = ['x']\nforce = { x = 'atan2(x, 1)' }",
     "5:16: model.force.x = \"atan2(x, 1)\": atan2: write atan(y/x)"},
    // Corners and jumps, divisions, exponents.
    {"coordinates = ['x']\nforce = { x = '-abs(x)' }",
     "5:17: model.force.x = \"-abs(x)\": abs: abs has a corner or a jump: say it as a contact"},
    {"coordinates = ['x']\nforce = { x = \"-sign(x')\" }",
     "5:17: model.force.x = \"-sign(x')\": sign: sign has a corner or a jump"},
    {"coordinates = ['x']\nforce = { x = '1/0' }",
     "5:18: model.force.x = \"1/0\": 0: is zero: nothing can be divided by it"},
    {"coordinates = ['x']\nforce = { x = '2^x' }",
     "5:18: model.force.x = \"2^x\": x: an exponent may depend on parameters only"},
    // Time.
    {"coordinates = ['x']\nforce = { x = 'cos(t)' }",
     "5:20: model.force.x = \"cos(t)\": t: time has no place here; where it has, the model has a period"},
    {"coordinates = ['x']\nforce = { x = 'cos(t)' }\nperiod = 5",
     "6:1: model.period = 5: forces, rates, gaps or jumps are not the same a period later"},
    {"coordinates = ['x']\nforce = { x = 'cos(t)' }\nperiod = '2*pi'\n"
     "contact = [{ gap = '3 - x', normal_force = 'depth*(5 + cos(t/2))' }]",
     "6:11: model.period = \"2*pi\": forces, rates, gaps or jumps are not the same a period later"},
    {"coordinates = ['x', 'y']\nforce = { x = 'cos(t)', y = '-y' }\nperiod = '2*pi'\n"
     "contact = [{ gap = 'y + 3', stiffness = 5, slip = \"x'\", mu = '0.3 + 0.1*cos(t/2)' }]",
     "6:11: model.period = \"2*pi\": forces, rates, gaps or jumps are not the same a period later"},
    {"coordinates = ['x']\nforce = { x = 'cos(t)' }\nperiod = '2*pi'\n"
     "friction = [{ slip = \"x'\", amplitude = 0.3, static = '0.5 + 0.1*cos(t/2)' }]",
     "6:11: model.period = \"2*pi\": forces, rates, gaps or jumps are not the same a period later"},
    {"coordinates = ['x']\nforce = { x = 'cos(t)' }\nperiod = -6.28",
     "6:1: model.period = -6.28: is -6.28 at these parameter values: must satisfy 0 < x"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nperiod = 'x'",
     "6:11: model.period = \"x\": x: may depend on parameters only, not on time or states"},
    // Friction.
    {"coordinates = ['x']\nforce = { x = '-x' }\nfriction = [{ slip = \"x'\", amplitude = 0.3, static = 0.2 "
     "}]",
     "6:45: model.friction.0.static = 0.2: is 0.2 at these parameter values: must satisfy 0.3 <= x"},
    {"coordinates = ['x', 'y']\nforce = { x = '-x', y = -1 }\n"
     "contact = [{ gap = 'y', restitution = 0, mu = 0.3, static = 0.2, slip = \"x'\" }]",
     "6:52: model.contact.0.static = 0.2: is 0.2 at these parameter values: must satisfy 0.3 <= x"},
    // Mass.
    {"coordinates = ['x']\nforce = { x = '-x' }\nmass = { x = \"x'\" }",
     "6:1: model.mass = { x = \"x'\" }: may not depend on velocities"},
    {"coordinates = ['x', 'y']\nforce = { x = 1, y = 1 }\nmass = [[1, 'x'], ['y', 1]]",
     "6:1: model.mass = [[1, \"x\"], [\"y\", 1]]: must be symmetric"},
    {"coordinates = ['x', 'y']\nforce = { x = 1, y = 1 }\nmass = [[1, 2]]",
     "6:1: model.mass = [[1, 2]]: must be a table by coordinate, or a matrix of 2 rows and columns"},
    // Contacts.
    {"coordinates = ['x']\nforce = { x = 1 }\ncontact = [{ gap = \"1 - x'\", restitution = 1 }]",
     "6:21: model.contact.0.gap = \"1 - x'\": 1 - x': a gap may not depend on velocities"},
    {"coordinates = ['x']\nforce = { x = 1 }\ncontact = [{ gap = '1', restitution = 1 }]",
     "6:21: model.contact.0.gap = \"1\": 1: a gap must depend on a coordinate"},
    {"coordinates = ['x']\nforce = { x = 1 }\ncontact = [{ gap = 'x', restitution = '2' }]",
     "6:40: model.contact.0.restitution = \"2\": is 2.0 at these parameter values: must satisfy 0 <= x <= 1"},
    {"coordinates = ['x']\nforce = { x = 1 }\ncontact = [{ gap = 'x', restitution = 'x' }]",
     "6:40: model.contact.0.restitution = \"x\": x: may depend on parameters only"},
    // Jumps.
    {"coordinates = ['x']\nforce = { x = 1 }\njump = [{ when = 'x', set = { y = 1 } }]",
     "6:31: model.jump.0.set.y = 1: there is no y"},
    {"coordinates = ['x']\nforce = { x = 1 }\njump = [{ when = 'x', set = { x_dt = 1 } }]",
     "6:31: model.jump.0.set.x_dt = 1: there is no x_dt; did you mean x_dot?"},
    {"coordinates = ['x']\nforce = { x = 1 }\njump = [{ when = '1', set = { x = 1 } }]",
     "6:19: model.jump.0.when = \"1\": 1: what a jump waits for must depend on a state or on time"},
    {"coordinates = ['x']\nforce = { x = 1 }\njump = [{ when = 'x', set = {} }]",
     "6:23: model.jump.0.set = {}: sets no state"},
    {"coordinates = ['x']\nforce = { x = 1 }\njump = [{ when = 'x', direction = 'left', set = { x = 1 } }]",
     "model.jump.0.direction"},
    // Laws of contacts, frictions.
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', restitution = 1, stiffness = 2 "
     "}]",
     "6:29: model.contact.0.restitution = 1.0: a contact with a stiffness or a normal_force has no "
     "restitution"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', stiffness = 2, normal_force = "
     "'depth' }]",
     "6:60: model.contact.0.normal_force = \"depth\": a contact has a stiffness or a normal_force, not both"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', restitution = 1, damping = 2 }]",
     "6:46: model.contact.0.damping = 2.0: only of a contact with a stiffness"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', normal_force = 'depth', preload "
     "= 2 }]",
     "6:53: model.contact.0.preload = 2.0: only of a contact with a stiffness"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', restitution = 1, release = "
     "'gap' }]",
     "6:57: model.contact.0.release = \"gap\": only of a contact with a stiffness or a normal_force"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', restitution = 1, mu = 0.2 }]",
     "6:46: model.contact.0.mu = 0.2: needs slip, the sliding speed, beside it"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', stiffness = 1, mu = 0.2 }]",
     "6:44: model.contact.0.mu = 0.2: needs slip, the sliding speed, beside it"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', stiffness = 1, preload = 3, mu "
     "= 0.2, slip = \"x'\" }]",
     "6:44: model.contact.0.preload = 3.0: a contact with mu has no preload: friction on an "
     "abutment, where it rests with a part of that, is not modelled"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', stiffness = 1, foot = '1' }]",
     "6:52: model.contact.0.foot = \"1\": only of a rigid contact"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', stiffness = '-1' }]",
     "6:42: model.contact.0.stiffness = \"-1\": is -1.0 at these parameter values: must satisfy 0 < x"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', normal_force = \"3*depth'\" }]",
     "6:45: model.contact.0.normal_force = \"3*depth'\": 3*depth': must depend on depth, which is minus the "
     "gap"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', normal_force = '2 + depth' }]",
     "6:45: model.contact.0.normal_force = \"2 + depth\": 2 + depth: must be 0 where depth and depth' are; a "
     "force that is there from the beginning is a preload"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = '1 - x', normal_force = 'k*dept^1.5' }]",
     "6:45: model.contact.0.normal_force = \"k*dept^1.5\": k: there is no such name"},
    {"coordinates = ['x']\nforce = { x = '-x' }\ncontact = [{ gap = 'depth - x', restitution = 1 }]",
     "6:21: model.contact.0.gap = \"depth - x\": depth: there is no such name"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nfriction = [{ slip = \"x'^2\", amplitude = 1 }]",
     "6:23: model.friction.0.slip = \"x'^2\": x'^2: a slip must be linear in the velocities"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nfriction = [{ slip = 'x', amplitude = 1 }]",
     "6:23: model.friction.0.slip = \"x\": x: a slip must depend on a velocity"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nfriction = [{ slip = \"x'\", amplitude = '-1' }]",
     "6:41: model.friction.0.amplitude = \"-1\": is -1.0 at these parameter values: must satisfy 0 <= x"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nfriction = [{ amplitude = 1 }]",
     "6:13: model.friction.0.slip: is missing"},
    // Symmetries, the order of states, the start.
    {"coordinates = ['x']\nforce = { x = '-x' }\nstart = { x_dott = 1 }",
     "6:11: model.start.x_dott = 1: there is no x_dott; did you mean x_dot?"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nsymmetry = { shift = ['x'] }",
     "6:24: model.symmetry.shift = \"x\": forces, rates or gaps depend on it"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nsymmetry = { turn = ['y'] }",
     "6:23: model.symmetry.turn = \"y\": there is no such coordinate or state"},
    {"coordinates = ['x']\nforce = { x = '-x' }\norder = ['x']",
     "6:1: model.order = [\"x\"]: must have each coordinate, velocity and state once"},
    {"coordinates = ['x']\nforce = { x = '-x' }\nvelocities = ['v', 'w']",
     "6:1: model.velocities = [\"v\", \"w\"]: must have a name for each coordinate"},
    // Parameters.
    {"coordinates = ['x']\nforce = { x = '-m*x' }\nparameters = { m = { value = 1, min = 2 } }",
     "6:16: model.parameters.m = { value = 1, min = 2 }: must satisfy 2 <= x"},
    {"coordinates = ['x']\nforce = { x = '-m*x' }\nparameters = { m = { value = 1, min = 0, above = 0 } }",
     "6:42: model.parameters.m.above = 0.0: give min or above, not both"},
};

std::string message_of(const std::string& text) {
  try {
    make_model("name = 'equations'\n" + text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("typed systems: mistakes are refused with their place and rule", "[equations]") {
  CHECK(mistakes.size() >= 30);
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.text);
    CHECK_THAT(message_of(mistake.text), Catch::Matchers::Contains(mistake.message));
  }
}

TEST_CASE("typed systems: what nothing uses is warned of, with its place", "[equations]") {
  const auto model = make_model(
      "name = 'equations'\n"
      "coordinates = ['x']\n"
      "force = { x = '-k*x' }\n"
      "parameters = { k = 1, d = 2 }\n"
      "definitions = { damper = 'd*x' }");
  const auto* typed = dynamic_cast<const TypedModel*>(model.get());
  REQUIRE(typed != nullptr);
  REQUIRE(typed->warnings().size() == 2);
  CHECK_THAT(typed->warnings()[0],
             Catch::Matchers::Contains("6:23: model.parameters.d = 2: no equation uses this parameter"));
  CHECK_THAT(typed->warnings()[1],
             Catch::Matchers::Contains("model.definitions.damper = \"d*x\": no equation"));
}

TEST_CASE("typed systems: where less holds at rest than sliding, parameters make no system", "[equations]") {
  const char* const laws[] = {
      "coordinates = ['x']\nforce = { x = '-x' }\nfriction = [{ slip = \"x'\", amplitude = 0.3, static = 's' "
      "}]",
      "coordinates = ['x', 'y']\nforce = { x = '-x', y = -1 }\n"
      "contact = [{ gap = 'y', restitution = 0, mu = 0.3, static = 's', slip = \"x'\" }]",
      "coordinates = ['x', 'y']\nforce = { x = '-x', y = -1 }\n"
      "contact = [{ gap = 'y', stiffness = 9, mu = 0.3, static = 's', slip = \"x'\" }]"};
  for (const char* law : laws) {
    CAPTURE(law);
    const auto model = make_model("name = 'equations'\nparameters = { s = 0.4 }\n" + std::string(law));
    for (const double s : {0.3, 0.5}) CHECK(model->system(std::vector<double>{s}, Tolerance{}) != nullptr);
    CHECK(model->system(std::vector<double>{0.2}, Tolerance{}) == nullptr);
  }
}
