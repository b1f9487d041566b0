"""The JSON Schema of the case file: valid JSON, and it accepts and refuses what the program does."""

import json
import os
import pathlib
import subprocess
import tempfile
import tomllib
import unittest

BUILD = pathlib.Path(os.environ["GRAZE_BUILD"])
SOURCE = pathlib.Path(os.environ["GRAZE_SOURCE"])
PROGRAM = os.environ["GRAZE"]

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer(),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
BOUNDS = {
    "minimum": lambda v, b: v >= b,
    "maximum": lambda v, b: v <= b,
    "exclusiveMinimum": lambda v, b: v > b,
    "exclusiveMaximum": lambda v, b: v < b,
}
NOTES = {"$schema", "title", "description", "default"}


def valid(value, schema):
    """The part of JSON Schema that the program writes; an unknown keyword is an error of the test."""
    unknown = set(schema) - NOTES - set(BOUNDS) - {
        "type", "const", "enum", "properties", "required", "additionalProperties", "items", "oneOf"}
    assert not unknown, unknown
    types = schema.get("type", [])
    if "type" in schema and not any(TYPES[t](value) for t in ([types] if isinstance(types, str) else types)):
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    is_number = TYPES["number"](value)  # bounds are about numbers only
    if is_number and not all(holds(value, schema[name]) for name, holds in BOUNDS.items() if name in schema):
        return False
    if isinstance(value, list) and "items" in schema and not all(valid(v, schema["items"]) for v in value):
        return False
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        if not all(name in value for name in schema.get("required", [])):
            return False
        if schema.get("additionalProperties", True) is False and not set(value) <= set(properties):
            return False
        if not all(valid(v, properties[name]) for name, v in value.items() if name in properties):
            return False
    if "oneOf" in schema and sum(valid(value, branch) for branch in schema["oneOf"]) != 1:
        return False
    return True


def defaults(schema):
    """All (default, schema) pairs."""
    if isinstance(schema, dict):
        if "default" in schema and "type" in schema:
            yield schema["default"], schema
        for part in schema.values():
            yield from defaults(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from defaults(part)


class SampleSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "schema.json")
            subprocess.run([BUILD / "tests" / "test_format", "[.schema]"], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "GRAZE_SCHEMA": path})
            with open(path, encoding="utf-8") as file:
                cls.schema = json.load(file)

    def test_head(self):
        self.assertEqual(self.schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertEqual(self.schema["title"], 'sample "case"')
        self.assertEqual(self.schema["type"], "object")
        self.assertEqual(self.schema["required"], ["graze", "model"])
        self.assertIs(self.schema["additionalProperties"], False)

    def test_keys(self):
        analysis = self.schema["properties"]["analysis"]
        keys = analysis["properties"]
        self.assertIs(analysis["additionalProperties"], False)
        self.assertEqual(keys["map"], {"type": "string", "enum": ["stroboscopic", "impact", "section"],
                                       "description": "the map", "default": "stroboscopic"})
        self.assertEqual(keys["transient"], {"type": "integer", "minimum": 0, "default": 100,
                                             "description": "iterates dropped"})
        self.assertEqual(keys["levels"], {"type": "array", "items": {"type": "number"},
                                          "description": 'levels "quoted" \\ with a backslash'})
        self.assertEqual(keys["axis"]["required"], ["parameter"])
        self.assertNotIn("type", keys["extra"])
        self.assertEqual(keys["limit"], {"type": "number", "description": "the number limit"})

    def test_variants(self):
        model = self.schema["properties"]["model"]
        names = [branch["properties"]["name"]["const"] for branch in model["oneOf"]]
        self.assertEqual(names, ["ball", "chain"])
        ball, chain = model["oneOf"]
        self.assertEqual(ball["properties"]["height"],
                         {"type": "number", "exclusiveMinimum": 0, "description": "the number height [m]",
                          "default": 1})
        self.assertEqual(ball["description"], "a bouncing ball")
        self.assertEqual(chain["required"], ["name", "mass"])
        self.assertEqual(chain["properties"]["mass"]["items"], {"type": "array", "items": {"type": "number"}})
        self.assertEqual(chain["properties"]["stops"]["items"]["required"], ["position"])

    def test_accepts_and_refuses(self):
        ball = {"graze": 1, "model": {"name": "ball", "height": 2}}
        chain = {"graze": 1, "model": {"name": "chain", "mass": [[1, 0.5]], "stops": [{"position": 1}]}}
        self.assertTrue(valid(ball, self.schema))
        self.assertTrue(valid(chain, self.schema))
        for wrong in (
            {"model": {"name": "ball"}},
            {**ball, "modle": {}},
            {**ball, "model": {"name": "bal"}},
            {**ball, "model": {"name": "ball", "mass": [[1]]}},
            {**ball, "model": {"name": "ball", "height": 0}},
            {**ball, "model": {"name": "ball", "restitution": 1.5}},
            {**ball, "model": {"height": 1}},
            {**ball, "analysis": {"transient": 1.5}},
            {**ball, "analysis": {"follow": 1}},
            {**ball, "analysis": {"map": "impcat"}},
            {**ball, "analysis": {"axis": {"from": 1}}},
            {**chain, "model": {"name": "chain", "mass": [1]}},
            {**chain, "model": {"name": "chain", "mass": [[1]], "stops": [{}]}},
        ):
            self.assertFalse(valid(wrong, self.schema), wrong)

    def test_defaults_are_valid(self):
        pairs = list(defaults(self.schema))
        self.assertGreater(len(pairs), 5)
        for default, schema in pairs:
            self.assertTrue(valid(default, schema), schema)


class ProgramSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(subprocess.run([PROGRAM, "schema"], check=True, capture_output=True).stdout)

    def test_a_model_may_be_given_by_its_file(self):
        case = {"graze": 1, "model": {"file": "mine.toml", "b": 0.4}, "analysis": {"name": "simulate"}}
        self.assertTrue(valid(case, self.schema))
        case["model"]["name"] = "two_dof_stops"
        case["model"]["file"] = 1
        self.assertFalse(valid(case, self.schema))

    def test_every_case_is_valid(self):
        cases = sorted((SOURCE / "data" / "cases").glob("*.toml"))
        self.assertTrue(cases)
        for case in cases:
            with self.subTest(case=case.name):
                self.assertTrue(valid(tomllib.loads(case.read_text(encoding="utf-8")), self.schema))

    def test_a_misspelt_case_is_not(self):
        case = tomllib.loads((SOURCE / "data" / "cases" / "quickstart.toml").read_text(encoding="utf-8"))
        self.assertFalse(valid({**case, "modle": {}}, self.schema))
        self.assertFalse(valid({**case, "model": {**case["model"], "detla": 1}}, self.schema))
        self.assertFalse(valid({**case, "model": {"name": "no_such_model"}}, self.schema))

    def test_defaults_are_valid(self):
        for default, schema in defaults(self.schema):
            self.assertTrue(valid(default, schema), schema)


if __name__ == "__main__":
    unittest.main()
