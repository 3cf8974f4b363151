#!/usr/bin/python3
"""What `thimble board` and `thimble sim` do with good and bad input. Usage: command_test.py BUILD/thimble"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "command"))
from command import Command, run, THIMBLE


class Boards(Command):
    def test_board_list_says_what_fits(self):
        boards = {b["name"]: b for b in self.ok("board", "list")["boards"]}
        self.assertIn("pocket", boards["mps2-an386"]["fits"])
        self.assertIn("microgpt", boards["netduinoplus2"]["fits"])
        self.assertNotIn("gpt2_small", [m for b in boards.values() for m in b["fits"]])

    def test_unknown_boards_and_models_are_named(self):
        self.fails("board", "run", "mps2-an387", "pocket", says=["mps2-an387", "mps2-an386"])
        self.fails("board", "build", "mps2-an386", "pokket", says=["pokket", "pocket"])
        self.fails("sim", "nonesuch", "microgpt", says=["nonesuch", "mps2-an386"])

    def test_missing_programs_are_named_with_their_package(self):
        tools = self.path / "bin"
        tools.mkdir()
        environment = {"PATH": str(tools)}
        r = subprocess.run([THIMBLE, "board", "run", "mps2-an386", "pocket"], capture_output=True, text=True, env=environment)
        self.assertEqual(r.returncode, 1)
        self.assertIn("apt-get install qemu-system-arm", r.stderr)
        (tools / "qemu-system-arm").symlink_to("/bin/true")
        (tools / "cmake").symlink_to("/bin/true")
        (tools / "ninja").symlink_to("/bin/true")
        r = subprocess.run([THIMBLE, "board", "run", "mps2-an386", "pocket"], capture_output=True, text=True, env=environment)
        self.assertEqual(r.returncode, 1)
        self.assertIn("apt-get install gcc-arm-none-eabi", r.stderr)

    def test_a_text_may_have_any_name(self):
        names = self.file('a; "b" \\ $c.txt', "anna\notto\n")
        image = self.ok("board", "build", "mps2-an386", "microgpt", "--documents", names)
        self.assertGreater(image["flash_bytes"], 0)

    def test_builds_for_one_board_wait_for_each_other(self):
        builds = []
        for letter in "abc":
            text = self.file(letter, f"{letter * 4}\n" * 1000)
            builds.append(subprocess.Popen([THIMBLE, "board", "run", "mps2-an386", "microgpt", "--documents", text,
                                            "--steps", "2", "--verify", "--json"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        for build in builds:
            said, errors = build.communicate(timeout=600)
            self.assertEqual(build.returncode, 0, errors)
            self.assertEqual(json.loads(said)["steps_verified"], 2)

    def test_a_text_that_flash_has_no_room_for_is_refused_with_sizes(self):
        text = self.file("long", "anna\n" * 300000)
        self.fails("board", "build", "mps2-an386", "microgpt", "--documents", text,
                   says=["bytes of flash", "1500000", "524288", "shorter"])

    def test_a_text_that_the_emulator_has_no_room_for_is_refused_with_sizes(self):
        text = self.file("long", "anna\n" * 110000)
        self.fails("board", "build", "mps3-an547", "microgpt", "--documents", text,
                   says=["bytes of flash", "550000", "524288 that QEMU has memory for", "missing", "shorter"])

    def test_lines_and_files_that_are_none_are_refused(self):
        self.fails("board", "pull", "mps2-an386", "pocket", self.path / "x", says=["--flash", "--serial"])
        self.fails("board", "run", "mps2-an386", "pocket", "--serial", "/dev/null", says="/dev/null")
        self.fails("board", "run", "mps2-an386", "pocket", "--serial", self.path / "none", says=["none", "dialout"])
        flash = self.file("flash", "short")
        self.fails("board", "pull", "mps2-an386", "pocket", self.path / "x", "--flash", flash, says=["flash", "bytes"])

    def test_a_model_that_a_board_has_no_room_for_is_neither_built_nor_simulated(self):
        sizes = ["gpt2_small", "bytes", "missing", "the largest tensors are wte.weight "]
        self.fails("sim", "mps2-an386", "gpt2_small", says=sizes)
        for verb in "build", "run":
            self.fails("board", verb, "netduinoplus2", "gpt2_small", says=sizes)
        self.fails("board", "build", "netduinoplus2", "pocket", "--recompute", "none", says=["--recompute blocks"])

    def test_a_wrong_schedule_is_refused_before_anything_is_built(self):
        for verb in ["board", "build"], ["board", "run"], ["sim"]:
            self.fails(*verb, "mps2-an386", "microgpt", "--recompute", "h.*.midd", says=["h.*.midd", "no activation"])

    def test_a_model_without_tokens_is_not_built(self):
        self.fails("board", "build", "mps2-an386", "neuron", says=["neuron", "tokens"])

    def test_windows_from_the_host_are_one_row(self):
        for verb in ["board", "run"], ["sim"]:
            self.fails(*verb, "rv64gc", "mlp", "--from-host", says=["--from-host", "mlp trains on 16 rows at once"])

    def test_no_faults_beside_others_are_refused(self):
        self.fails("sim", "mps2-an386", "microgpt", "--faults", "none,line", says=["--faults", "none stands alone"])

    def test_lives_of_which_none_finishes_are_told(self):
        r = run("sim", "mps2-an386", "microgpt", "--faults", "all", "--steps", 1, "--lives", 2)  # cut off before a step ends
        self.assertEqual(r.returncode, 1, r.stdout + r.stderr)
        self.assertIn("no life finished", r.stderr)

    def test_an_empty_name_of_a_text_is_refused(self):
        for command in [("board", "run"), ("board", "build"), ("sim",)]:
            for option in ["--text", "--documents"]:
                self.fails(*command, "mps2-an386", "microgpt", option, "", says=[option, "empty"], status=2)
        self.fails("board", "run", "mps2-an386", "microgpt", "--serial", "", says=["--serial", "empty"], status=2)

    def test_a_text_that_the_model_cannot_train_on_is_refused_before_the_image_is_built(self):
        text = self.file("symbols", "".join(map(chr, range(32, 127))) + "\n")
        for command in ["build", "run"]:
            self.fails("board", command, "mps2-an386", "microgpt", "--documents", text, says=["symbols: ", "vocabulary"])
            self.fails("board", command, "mps2-an386", "neuron", says=["neuron", "no tokens"])

    def test_a_prompt_that_the_board_cannot_read_is_refused_before_it_trains(self):
        run_it = ["board", "run", "mps2-an386", "microgpt", "--prompt"]
        self.fails(*run_it, "Q", says=["--prompt", "Q"])
        self.fails(*run_it, "a" * 193, says=["--prompt", "193", "192"])
        self.fails(*run_it, "a", "--from-host", says=["--prompt", "--from-host"])

    def test_a_silent_device_is_named_and_can_be_left(self):
        ours, theirs = os.openpty()
        device = os.ttyname(theirs)
        p = subprocess.Popen([THIMBLE, "board", "run", "mps2-an386", "microgpt", "--serial", device],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("waiting for " + device, p.stderr.readline())
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=20)
        self.assertEqual((p.returncode, out), (130, ""))
        os.close(ours)
        os.close(theirs)

    def test_an_interrupted_run_reports_and_goes_on_from_where_it_was(self):
        log, flash = self.path / "log", self.path / "flash"
        command = [THIMBLE, "board", "run", "mps2-an386", "microgpt", "--steps", "400", "--flash", str(flash), "--log",
                   str(log), "--prompt", "a", "--json"]
        p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while p.poll() is None and (not log.exists() or log.read_text().count("\n") < 3):
            time.sleep(0.01)
        os.killpg(p.pid, signal.SIGINT)  # as a terminal does it
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130, err)
        self.assertNotIn("qemu", err)
        first = json.loads(out)
        self.assertTrue(first["interrupted"])
        self.assertEqual((first["first_step"], len(first["losses"])), (1, first["steps"]))
        r = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.assertEqual(r.returncode, 0, r.stderr)
        second = json.loads(r.stdout)
        self.assertEqual(second["first_step"], first["steps"] + 1)
        self.assertEqual(len(second["losses"]), 400 - first["steps"])
        self.assertTrue(second["sample"].startswith("a"))
        steps = [json.loads(line)["step"] for line in log.read_text().splitlines()]
        self.assertEqual(steps, list(range(1, 401)))

    def test_a_flash_is_a_file_of_its_size(self):
        run = ("board", "run", "netduinoplus2", "microgpt", "--steps", 2, "--flash")
        self.fails(*run, self.file("short", "x" * 1000), says=["short", "1000 bytes", "524288"])
        self.fails(*run, self.path, says="is no file")
        self.fails(*run, self.path / "none" / "flash", says="create it first")
        self.fails(*run, "", says=["--flash", "empty"], status=2)
        self.fails(*run, self.path / ("x" * 201), says="shorter")
        self.fails("board", "push", "netduinoplus2", "microgpt", self.path / "x", says="--flash")

    def test_a_run_goes_on_with_its_own_options_and_text(self):
        flash = self.path / "flash"
        run = ("board", "run", "netduinoplus2", "microgpt", "--steps", 6, "--save-every", 2, "--flash", flash)
        first = self.ok(*run)
        self.assertEqual(first["steps"], 6)
        self.assertGreater(first["saves"], 3)
        self.assertEqual(self.ok(*run)["digest"], first["digest"])
        self.fails(*run, "--lr", 0.5, says=["seed 1", "step 6", "--fresh"])
        self.fails(*run, "--documents", self.file("names", "anna\notto\n"), says="another text")
        checkpoint = self.path / "board.thimble"
        self.fails("board", "pull", "netduinoplus2", "decoder", checkpoint, "--flash", flash,
                   says=["microgpt", "decoder"])
        self.assertFalse(checkpoint.exists())
        self.ok("board", "pull", "netduinoplus2", "microgpt", checkpoint, "--flash", flash)
        self.fails("board", "push", "netduinoplus2", "decoder", checkpoint, "--flash", self.path / "other",
                   says=["microgpt", "decoder"])
        self.assertFalse((self.path / "other").exists())

    def test_a_profile_counts_the_work_that_the_schedule_does(self):
        run = ("board", "run", "mps2-an386", "pocket", "--steps", 2, "--profile")
        for schedule, least, most in [("none", 1.9, 2), ("blocks", 2.5, 3)]:  # backward is two products a forward one
            ops = {op["op"]: op for op in self.ok(*run, "--recompute", schedule)["ops"]}
            ratio = ops["linear"]["backward_multiply_adds"] / ops["linear"]["forward_multiply_adds"]
            self.assertTrue(least < ratio <= most, f"{schedule}: {ratio}")

    def test_lives_of_a_board_end_well_and_replay(self):
        first = self.ok("sim", "mps2-an386", "microgpt", "--lives", 5, "--seed", 3)
        self.assertEqual(first["wrong"], [])
        self.assertEqual(sum(first["outcomes"].values()), 5)
        self.assertGreater(first["resets"], 5)
        self.assertEqual(first, self.ok("sim", "mps2-an386", "microgpt", "--lives", 5, "--seed", 3))


if __name__ == "__main__":
    unittest.main()
