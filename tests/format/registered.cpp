/// Lists that source files add to.
#include "core/settings/registered.hpp"

#include <catch2/catch.hpp>

#include "core/system/registry.hpp"

using namespace graze;

namespace {

struct Fruit {
  std::string name;
};
struct Stone {
  std::string name;
};

struct Leaf {
  std::string name;
};

const Registered<Leaf> oak([] { return Leaf{"oak"}; });
const Registered<Leaf> more([](const std::vector<Leaf>& others) {
  return std::vector<Leaf>{{others.front().name + "2"}, {"ash"}};
});
const Registered<Fruit> pear([] { return Fruit{"pear"}; });
const Registered<Fruit> apple([] { return Fruit{"apple"}; });
const Registered<Stone> marble([] { return Stone{"marble"}; });
const Registered<Stone> marble_again([] { return Stone{"marble"}; });

}  // namespace

TEST_CASE("what is registered is listed by name") {
  const std::vector<Fruit>& all = Registered<Fruit>::all();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "apple");
  CHECK(all[1].name == "pear");
  CHECK(&all == &Registered<Fruit>::all());
}

TEST_CASE("several may be registered at once, by who knows the others") {
  const std::vector<Leaf>& all = Registered<Leaf>::all();
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "ash");
  CHECK(all[1].name == "oak");
  CHECK(all[2].name == "oak2");
}

TEST_CASE("two of one name are an error") {
  CHECK_THROWS_WITH(Registered<Stone>::all(), "\"marble\" is registered twice");
}

TEST_CASE("a model is found by its name, its settings are checked") {
  CHECK(find_model("bouncing_ball").name == "bouncing_ball");
  CHECK_THROWS_WITH(find_model("bouncing_bal"),
                    "there is no model bouncing_bal; did you mean bouncing_ball?");
  CHECK_THROWS_WITH(find_model("q"),
                    Catch::StartsWith("there is no model q; the models are bilinear_oscillator, "));
  Value settings;
  settings.set("e", Value(0.25));
  const auto model = make_model("bouncing_ball", settings);
  CHECK(model->values()[static_cast<std::size_t>(model->parameter_index("e"))] == 0.25);
  settings.set("e", Value(1.5));
  CHECK_THROWS_AS(make_model("bouncing_ball", settings), InputError);
}
