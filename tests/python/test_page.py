"""The page of the package shows what works: its blocks of code run, one after the other, as in one notebook."""

import os
import pathlib
import re
import tempfile
import unittest

import matplotlib

matplotlib.use("Agg")

SOURCE = pathlib.Path(os.environ["GRAZE_SOURCE"])


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        os.symlink(SOURCE / "data", "data")

    def blocks(self, page):
        text = (SOURCE / page).read_text(encoding="utf-8")
        return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)

    def test_python(self):
        names = {}
        blocks = self.blocks("drivers/python/PYTHON.md")
        self.assertGreater(len(blocks), 5)
        for number, block in enumerate(blocks):
            exec(compile(block, f"block {number}", "exec"), names)
        self.assertTrue(pathlib.Path("result.h5").exists())
        self.assertTrue(names["orbit"].stable)
        self.assertEqual(201, names["result"].sizes["delta"])

    def test_readme(self):
        [block] = [text for text in self.blocks("README.md") if "import graze" in text]
        names = {}
        exec(compile(block, "README.md", "exec"), names)
        self.assertEqual((2, 2), names["jacobian"].shape)

    def test_links(self):
        page = SOURCE / "drivers/python/PYTHON.md"
        for link in re.findall(r"\]\(([^):]+)\)", page.read_text(encoding="utf-8")):
            self.assertTrue((page.parent / link).exists(), link)


if __name__ == "__main__":
    unittest.main()
