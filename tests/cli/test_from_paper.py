"""The page of worked examples: its files are valid, its commands run."""
import os
import re
import shlex
from pathlib import Path

from support.graze_cli import CliTest, main

PAGE = Path(os.environ["GRAZE_SOURCE"]) / "data" / "models" / "FROM_PAPER.md"


class FromPaper(CliTest):
    def test_files_are_valid_and_commands_run(self):
        page = PAGE.read_text(encoding="utf-8")
        files = re.findall(r"```toml\n(# (\w+\.toml)\n.*?)```", page, re.DOTALL)
        self.assertEqual([name for _, name in files], ["rig.toml", "crane.toml", "swing.toml", "feeder.toml"])
        for text, name in files:
            self.write(name, text)
        few = ["--set", "analysis.axis.points=5"]
        commands = [shlex.split(line) for line in re.findall(r"^    (graze .*)$", page, re.MULTILINE)]
        self.assertEqual(len(commands), 13)
        for command in commands:
            cut = few if command[1] in ("check", "run") else []
            _, err = self.graze(*command[1:], *cut)
            self.assertNotIn("warning", err)

    def test_links_and_pictures_exist(self):
        links = re.findall(r"\]\(([^):]+)\)", PAGE.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(links), 5)
        for link in links:
            self.assertTrue((PAGE.parent / link).exists(), link)


if __name__ == "__main__":
    main()
