"""What the tests of the thimble command share. Their programs are called with BUILD/thimble first."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

THIMBLE = os.path.abspath(sys.argv.pop(1))
TEXT = "".join(f"line {i}: the quick brown fox jumps over the lazy dog {i * i}\n" for i in range(400))


def run(*arguments):
    return subprocess.run([THIMBLE, *map(str, arguments)], capture_output=True, text=True, timeout=600)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.text = self.file("text.txt", TEXT)

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, content):
        path = self.path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def ok(self, *arguments):
        r = run(*arguments, "--json")
        self.assertEqual(r.returncode, 0, r.stderr)
        return json.loads(r.stdout)

    def fails(self, *arguments, says, status=1):
        """Exit status, words of the message, nothing on standard output, no new file."""
        before = sorted(self.path.iterdir())
        r = run(*arguments)
        self.assertEqual(r.returncode, status, r.stdout + r.stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, r.stderr)
        self.assertNotIn("terminate called", r.stderr)
        self.assertEqual(before, sorted(self.path.iterdir()), "a failed command must leave nothing behind")

    def trained(self, model="pocket", steps=3):
        weights = self.path / f"{model}.safetensors"
        self.ok("train", model, "--text", self.text, "--steps", steps, "--save", weights)
        return weights
