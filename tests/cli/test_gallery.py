"""The gallery: every command of the page runs as it stands and draws the picture that is shown."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.png import pixels

GRAZE = os.environ["GRAZE"]
SOURCE = Path(os.environ["GRAZE_SOURCE"])
PAGE = SOURCE / "drivers" / "plot" / "GALLERY.md"


def entries():
    """(title, commands, picture) of every section of the page."""
    for section in PAGE.read_text().split("\n## ")[1:]:
        title = section.splitlines()[0]
        commands = [line.strip() for line in section.splitlines() if line.startswith("    graze ")]
        yield title, commands, PAGE.parent / re.search(r"!\[.*\]\((.*)\)", section).group(1)


class Gallery(unittest.TestCase):
    def test_every_picture_is_what_its_commands_draw(self):
        folder = Path(tempfile.mkdtemp(prefix="graze gallery "))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "data").symlink_to(SOURCE / "data")
        shown = set()
        for title, commands, picture in entries():
            shown.add(picture.name)
            with self.subTest(title=title):
                for command in commands:
                    words = shlex.split(command)
                    run = subprocess.run([GRAZE, *words[1:]], cwd=folder, capture_output=True, text=True)
                    self.assertEqual(run.returncode, 0, run.stderr)
                self.assert_alike(folder / picture.name, picture)
        self.assertGreater(len(shown), 10)
        self.assertEqual(shown, {entry.name for entry in picture.parent.iterdir()})

    def assert_alike(self, drawn, stored):
        """Same size, and the colours of all but two percent of the pixels: fonts may differ by a little."""
        width, height, colours = pixels(drawn)
        stored_width, stored_height, stored_colours = pixels(stored)
        self.assertEqual((width, height), (stored_width, stored_height))
        differing = sum(abs(colours.get(c, 0) - stored_colours.get(c, 0)) for c in {*colours, *stored_colours}) / 2
        self.assertLess(differing, 0.02 * width * height)

    def test_the_gallery_is_small(self):
        self.assertLess(sum(picture.stat().st_size for _, _, picture in entries()), 3e6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
