#!/usr/bin/python3
"""A bare-metal port: console, clock, flash, stack, faults, end. Usage: port_test.py FOLDER BOARD

Builds the probe image (tests/boards/probe.cpp) for the board in FOLDER and talks to it in QEMU.
"""

import json
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
FOLDER, BOARD = None, None


def build():
    family = next((SOURCE / "ports").glob(f"*/boards/{BOARD}")).parents[1].name
    for command in (
        ["cmake", "-S", SOURCE, "-B", FOLDER, "-G", "Ninja", f"-DTHIMBLE_BOARD={BOARD}",
         "--toolchain", SOURCE / f"tools/cmake/boards/{family}.cmake"],
        ["cmake", "--build", FOLDER, "--target", "probe"],
    ):
        r = subprocess.run(command, capture_output=True, text=True)
        if r.returncode != 0:
            sys.exit(r.stdout + r.stderr)


class Port(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.flash = Path(self.folder.name) / "flash"
        self.board = json.loads((FOLDER / "board.json").read_text())

    def tearDown(self):
        self.folder.cleanup()

    def talk(self, letters):
        """What the probe says to these bytes, and its exit status."""
        command = [*self.board["qemu"].split(), "-display", "none", "-monitor", "none", "-serial", "stdio", "-icount",
                   "shift=0", "-semihosting-config", f"enable=on,target=native,arg=probe,arg=flash={self.flash}",
                   "-kernel", str(FOLDER / "probe.elf")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as emulator:
            watchdog = threading.Timer(60, emulator.kill)
            watchdog.start()
            first = emulator.stdout.readline()
            if first != b"ready\n":
                emulator.kill()
                self.fail(f"it begins with {first}")
            said, _ = emulator.communicate(letters)
            watchdog.cancel()
        return said.decode(), emulator.returncode

    def test_console_loses_nothing_of_a_burst(self):
        burst = bytes(range(200)) * 10
        said, status = self.talk((b"b" + burst) * 5 + b"x")
        self.assertEqual(said, f"sum {sum(burst)}\n" * 5)
        self.assertEqual(status, 7)

    def test_clock_counts_instructions(self):
        said, _ = self.talk(b"tx")
        first, second = map(int, re.search(r"loops (\d+) (\d+)", said).groups())
        self.assertGreater(first, 10_000)
        self.assertLess(first, 200_000)
        self.assertLess(abs(first - second), first // 100)

    def test_flash_keeps_what_it_was_given(self):
        said, _ = self.talk(b"fx")
        self.assertIn("flash good refuses first 255\n", said)
        said, _ = self.talk(b"fx")
        self.assertIn("flash good refuses first 0\n", said)
        blocks, erase_bytes = self.board["checkpoint_blocks"][:2]
        self.assertEqual(self.flash.stat().st_size, blocks * erase_bytes)

    def test_a_flash_of_another_size_is_none(self):
        self.flash.write_bytes(b"short")
        said, _ = self.talk(b"fx")
        self.assertIn("flash none\n", said)
        self.assertEqual(self.flash.read_bytes(), b"short")

    def test_stack_is_measured(self):
        said, _ = self.talk(b"sx")
        before, after, declared = map(int, re.search(r"stack (\d+) (\d+) of (\d+)", said).groups())
        self.assertGreater(before, 0)
        self.assertGreaterEqual(after, before)
        self.assertGreaterEqual(after, 1024)
        self.assertEqual(declared, self.board["stack_bytes"])

    def test_a_fault_says_where(self):
        said, status = self.talk(b"u")
        self.assertEqual(status, 4, said)
        self.assertIn("fault:", said)
        name = "mepc" if self.board["family"] == "riscv" else "pc"
        place = int(re.search(rf"{name} ([0-9a-f]+)", said).group(1), 16)
        tool = "riscv64-unknown-elf-" if self.board["family"] == "riscv" else "arm-none-eabi-"
        where = subprocess.run([tool + "addr2line", "-fCe", FOLDER / "probe.elf", hex(place)], capture_output=True,
                               text=True).stdout
        self.assertRegex(where, "run_undefined_instruction|main", f"{hex(place)} is in {where}")

    def test_stack_overflow_is_a_fault(self):
        said, status = self.talk(b"o")
        self.assertEqual(status, 4, said)
        self.assertIn("fault:", said)

    def test_a_failed_check_says_where(self):
        said, status = self.talk(b"c")
        self.assertEqual(status, 3)
        self.assertRegex(said, r"fatal: \S*tests/boards/probe\.cpp:\d+\n")


if __name__ == "__main__":
    BOARD = sys.argv.pop(2)
    FOLDER = Path(sys.argv.pop(1)) / f"probe-{BOARD}"
    build()
    unittest.main(verbosity=2)
