"""Model files: found by name and by path, checked, part of what a result is."""

import os
import unittest

import h5py

from support.graze_cli import CliTest

MODEL = """graze = 1
meaning = "A mass at a wall."
citations = ["Somebody: A paper"]

[model]
coordinates = ["x"]
force = { x = "F*cos(omega*t) - 0.1*x' - x - b*x^3" }
period = "2*pi/omega"
contact = [{ name = "wall", gap = "s - x", restitution = "r" }]

[model.parameters]
F = { value = 1, meaning = "amplitude" }
omega = { value = 0.9, above = 0, meaning = "frequency" }
b = { value = 0.5, meaning = "cubic stiffness" }
s = { value = 0.8, meaning = "place of the wall", unit = "mm" }
r = { value = 0.7, min = 0, max = 1, meaning = "restitution" }
"""

CASE = """graze = 1
[model]
file = "mine.toml"
b = 0.4
[analysis]
name = "sweep"
axis = { parameter = "omega", from = 0.8, to = 0.9, points = 3 }
transient = 40
record = 16
max_period = 8
[run]
block = 1
"""


class ModelFiles(CliTest):
    def folder_of_models(self, text=MODEL, name="mine"):
        os.makedirs(self.path("models"), exist_ok=True)
        self.write(f"models/{name}.toml", text)
        return {"env": {**os.environ, "GRAZE_MODELS": self.path("models")}}

    def test_a_folder_of_models_is_listed_and_described(self):
        options = self.folder_of_models()
        self.assertIn("A mass at a wall.", self.graze("models", **options)[0])
        out = self.graze("models", "mine", **options)[0]
        for words in ["x'' = F*cos(omega*t)", "contact wall: gap = s - x", "cubic stiffness", "0 < x < inf",
                      "mm", "Somebody: A paper"]:
            self.assertIn(words, out)
        self.write("new.toml", self.graze("new", "mine", **options)[0])
        self.graze("check", "new.toml", **options)
        self.assertNotIn("mine", self.graze("models")[0])

    def test_a_file_and_a_case_are_described(self):
        self.write("mine.toml", MODEL)
        self.write("case.toml", CASE)
        for name in ("mine.toml", "case.toml"):
            self.assertIn("contact wall: gap = s - x", self.graze("models", name)[0])
        self.assertRegex(self.graze("models", "case.toml")[0], r"b +- +0\.4 ")

    def test_by_name_and_by_path_are_the_same(self):
        options = self.folder_of_models()
        self.write("by_name.toml", CASE.replace('file = "mine.toml"', 'name = "mine"'))
        self.write("by_path.toml", CASE.replace("mine.toml", "models/mine.toml"))
        self.graze("run", "by_name.toml", **options)
        self.graze("run", "by_path.toml")
        self.assert_same_arrays("by_name.h5", "by_path.h5")

    def test_a_path_is_relative_to_the_case(self):
        self.folder_of_models()
        self.write("models/case.toml", CASE)
        self.graze("run", "models/case.toml", "-o", "out.h5", "--quiet")

    def test_other_equations_are_another_case(self):
        self.write("mine.toml", MODEL)
        self.write("case.toml", CASE)
        self.graze("run", "case.toml", "--quiet")
        self.assertIn("complete already", self.graze("run", "case.toml")[1])
        self.write("mine.toml", MODEL.replace("0.1*x'", "0.2*x'"))
        self.refused("run", "case.toml", says=["does not come from this case"])

    def test_a_result_knows_its_model(self):
        """Pictures and motions need neither the model file nor GRAZE_MODELS."""
        self.write("mine.toml", MODEL)
        self.write("case.toml", CASE)
        self.graze("run", "case.toml", "--quiet")
        with h5py.File(self.path("case.h5")) as file:
            self.assertEqual(file.attrs["model_toml"], MODEL)
            self.assertEqual(file.attrs["model"], "mine")
        os.remove(self.path("mine.toml"))
        self.graze("plot", "case.h5", "-o", "case.png")
        self.graze("motion", "case.h5", "--at", "omega=0.85", "-o", "motion.h5")
        self.refused("check", "case.toml", says=["mine.toml: cannot be read"])

    def test_shards_are_merged_without_the_file(self):
        self.write("mine.toml", MODEL)
        self.write("case.toml", CASE)
        for part in "12":
            process = self.start("run", "case.toml", "-o", f"part{part}.h5", "--shard", f"{part}/2", "--quiet")
            process.communicate()
            self.assertIn(process.returncode, (0, 75))
        os.remove(self.path("mine.toml"))
        self.graze("merge", "part1.h5", "part2.h5", "-o", "all.h5")

    def test_mistakes_in_the_case(self):
        self.write("mine.toml", MODEL)
        self.write("large.toml", MODEL + "#" * 1000000)
        for old, new, says in [
                ('file = "mine.toml"', 'file = "mine.toml"\nname = "equations"', "name or model.file, not both"),
                ("mine.toml", "other.toml", "other.toml: cannot be read"),
                ("mine.toml", "/dev/zero", "/dev/zero: cannot be read"),
                ("mine.toml", "large.toml", "large.toml: too large"),
                ("b = 0.4", "bb = 0.4", "model.bb = 0.4: unknown key"),
                ("b = 0.4", "r = 1.5", "model.r = 1.5: must satisfy 0 <= x <= 1")]:
            with self.subTest(new=new):
                self.write("case.toml", CASE.replace(old, new))
                self.refused("check", "case.toml", says=[says])

    def test_mistakes_in_the_file(self):
        self.write("case.toml", CASE)
        for old, new, says in [
                ("b*x^3", "b*y^3", "mine.toml:7:48: model.force.x"),
                ("graze = 1\n", "", "graze: is missing"),
                ('meaning = "A mass at a wall."\n', "", "meaning: is missing"),
                ("[model.parameters]", "[model.parameter]", "did you mean parameters?"),
                ("[model.parameters]\n", "[model.parameters]\nfile = 1\n", "chooses the model"),
                ("F = { value = 1,", "F = { value = 1, sense = 2,", "unknown key")]:
            with self.subTest(new=new):
                self.write("mine.toml", MODEL.replace(old, new))
                self.refused("check", "case.toml", says=["mine.toml", says])

    def test_one_bad_file_of_a_folder_is_named_where_it_is_used(self):
        options = self.folder_of_models(MODEL.replace("b*x^3", "b*x^"), "broken")
        self.assertIn("cannot be used: ", self.graze("models", **options)[0])
        self.write("case.toml", CASE.replace('file = "mine.toml"', 'name = "broken"'))
        self.assertIn("broken.toml:7:", self.graze("check", "case.toml", code=2, **options)[1])

    def test_a_name_that_is_taken(self):
        options = self.folder_of_models(MODEL, "two_dof_stops")
        self.assertIn("there is a model two_dof_stops already", self.graze("models", code=2, **options)[1])

    def test_what_nothing_uses_is_warned_of(self):
        self.write("case.toml", CASE.replace('file = "mine.toml"\nb = 0.4', """name = "equations"
parameters = { omega = 0.9, zetta = 0.1 }
coordinates = ["x"]
force = { x = "cos(omega*t) - x" }
period = "2*pi/omega\""""))
        err = self.graze("check", "case.toml")[1]
        self.assertIn("case.toml:4:29: model.parameters.zetta = 0.1: no equation uses this parameter", err)


if __name__ == "__main__":
    unittest.main()
