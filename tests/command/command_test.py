#!/usr/bin/python3
"""What the thimble command does with good and bad input. Usage: command_test.py BUILD/thimble"""

import json
import math
import signal
import struct
import subprocess
import time
import unittest
from pathlib import Path

from command import Command, run, TEXT, THIMBLE

VOCABULARY = Path(__file__).resolve().parent.parent / "tokenizer"


class Results(Command):
    def test_models_are_listed(self):
        names = [m["name"] for m in self.ok("models")["models"]]
        for name in ["neuron", "residual_stack", "mlp", "microgpt", "decoder", "pocket", "char", "gpt2_small"]:
            self.assertIn(name, names)

    def test_the_listed_arena_is_the_planned_one(self):
        for m in self.ok("models")["models"]:
            plan = self.ok("plan", m["name"], "--threads", 1, "--batch", m["batch"], "--context", m["context"])
            self.assertEqual(m["arena_bytes"], plan["arena_bytes"], m["name"])

    def test_the_neuron(self):
        g = self.ok("grad", "neuron", "--real", "f64")
        self.assertAlmostEqual(g["values"]["y"], -0.19737532, places=7)
        self.assertAlmostEqual(g["stops"]["s"], 0.96104298, places=7)
        self.assertAlmostEqual(g["weights"]["w1"], 1.92208597, places=7)

    def test_the_saturated_neuron(self):
        twos = [f for name in ["x1", "x2", "w1", "w2", "b"] for f in ("--set", f"{name}=2")]
        exact = 1 - math.tanh(10) ** 2
        self.assertAlmostEqual(self.ok("grad", "neuron", *twos, "--real", "f64")["stops"]["s"], exact, delta=1e-15)
        self.assertEqual(self.ok("grad", "neuron", *twos, "--real", "f32")["stops"]["s"], 0)

    def test_a_nudge_of_the_neuron_agrees(self):
        r = self.ok("gradcheck", "neuron", "--weight", "w1", "--index", 0, "--nudge", "1e-4")
        self.assertLess(r["largest_error"], 3e-8)

    def test_every_kind_of_weight_of_the_decoder_agrees_with_a_nudge(self):
        self.assertLess(self.ok("gradcheck", "decoder", "--samples", 552)["largest_error"], 1e-9)

    def test_plans_of_gpt2_small_have_no_gap(self):
        p = self.ok("plan", "gpt2_small")
        self.assertEqual({name: s["gap"] for name, s in p["schedules"].items()}, {"elements": 0, "none": 0, "blocks": 0})
        self.assertEqual(p["recompute"], "elements")

    def test_the_picture_of_a_plan_is_xml(self):
        picture = self.path / "plan.svg"
        self.ok("plan", "decoder", "--svg", picture)
        import xml.etree.ElementTree
        self.assertTrue(xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg"))

    def test_a_fused_update_takes_less_memory_and_changes_no_bit(self):
        train = ["train", "pocket", "--text", self.text, "--clip", 0, "--lr", 1e-3, "--schedule", "constant"]
        plain = self.ok(*train, "--steps", 5)
        fused = self.ok(*train, "--steps", 5, "--fuse-update", "--threads", 1)
        self.assertEqual(plain["digest"], fused["digest"])
        self.assertEqual(plain["gradient_norms"], fused["gradient_norms"])
        self.assertLess(fused["arena_bytes"], plain["arena_bytes"])
        plans = [self.ok("plan", "microgpt", *more) for more in ([], ["--fuse-update"])]
        self.assertEqual([p["persistent"]["gradients"] for p in plans], [16768, 0])
        self.assertLess(plans[1]["arena_bytes"], plans[0]["arena_bytes"])
        kinds = [s["kind"] for s in plans[1]["program"]]
        self.assertEqual(kinds.count("update"), 7)
        folder = self.path / "run"
        self.ok(*train, "--steps", 3, "--checkpoint", folder)
        resumed = self.ok(*train, "--steps", 5, "--checkpoint", folder, "--resume", "--fuse-update")
        self.assertEqual(resumed["digest"], plain["digest"])

    def test_training_repeats_itself_and_depends_on_the_seed(self):
        def digest(*more):
            return self.ok("train", "pocket", "--text", self.text, "--steps", 5, *more)["digest"]
        self.assertEqual(digest(), digest("--threads", 1, "--recompute", "blocks", "--isa", "plain"))
        self.assertEqual(digest(), digest("--recompute", "elements"))
        self.assertNotEqual(digest(), digest("--seed", 2))

    def test_training_learns_and_writes_what_it_says(self):
        log, weights = self.path / "log.jsonl", self.path / "w.safetensors"
        r = self.ok("train", "pocket", "--text", self.text, "--steps", 150, "--log", log, "--save", weights)
        self.assertLess(r["held_out_loss"], r["unigram_entropy"] - 0.5)
        self.assertAlmostEqual(r["bits_per_byte"], r["held_out_loss"] / math.log(2), places=6)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([line["step"] for line in lines if "learning_rate" in line], list(range(1, 151)))
        s = self.ok("sample", "pocket", "--weights", weights, "--prompt", "the ", "--length", 100, "--top-k", 5)
        self.assertEqual(len(s["samples"][0]["tokens"]), 100)
        self.assertEqual(s, self.ok("sample", "pocket", "--weights", weights, "--prompt", "the ", "--length", 100,
                                    "--top-k", 5, "--isa", "plain", "--threads", 1) | {"kernels": s["kernels"]})

    def test_a_gradient_check_nudges_no_weight_twice(self):
        self.assertEqual(self.ok("gradcheck", "neuron")["samples"], 3)
        self.assertEqual(self.ok("gradcheck", "neuron", "--samples", 10**9)["samples"], 3)
        self.assertEqual(self.ok("gradcheck", "decoder")["samples"], 552)
        ignored = self.file("ignored.json", "[[[1, -1, -1]]]")
        r = self.ok("gradcheck", "decoder", "--tokens", ignored)
        self.assertEqual((r["loss"], r["largest_error"], r["passed"]), (0, 0, True))

    def test_documents_columns_and_tokens_train(self):
        names = self.file("names.txt", "anna\nbob\n\nclara\r\nda\n")
        self.ok("train", "microgpt", "--documents", names, "--steps", 8)
        sensor = self.file("s.csv", "time,value\n" + "".join(f"{i},{math.sin(i / 5) * 10}\n" for i in range(600)))
        bins = self.path / "bins.safetensors"
        self.ok("train", "pocket", "--csv", sensor, "--column", "value", "--steps", 5, "--save", bins)
        text = self.ok("sample", "pocket", "--weights", bins, "--prompt", "1 2", "--length", 3)["samples"][0]["text"]
        self.assertEqual(text.split("\n")[0], "1 2")
        self.assertEqual(len([float(x) for x in text.split()]), 5)
        tokens = self.file("t.json", json.dumps([[[1, 2, 3, 4]], [[4, 3, 2, 1]]]))
        self.assertEqual(self.ok("train", "decoder", "--tokens", tokens)["steps"], 2)

    def test_text_becomes_tokens_and_comes_back(self):
        def tokenize(data, *flags):
            r = subprocess.run([THIMBLE, "tokenize", "--tokenizer", VOCABULARY, *flags], input=data,
                               capture_output=True, timeout=60)
            self.assertEqual(r.returncode, 0, r.stderr)
            return r.stdout
        whole = b"one two\n<|endoftext|>three \xff\x00\n"
        self.assertEqual(tokenize(tokenize(whole), "--decode"), whole)
        self.assertEqual(tokenize(tokenize(b"a b\n\nc\n", "--lines"), "--lines", "--decode"), b"a b\n\nc\n")
        self.assertEqual(tokenize(tokenize(b"a\nb\0c\0", "--zero"), "--zero", "--decode"), b"a\nb\0c\0")
        ids = json.loads(tokenize(b"a<|endoftext|>", "--json"))
        self.assertEqual(ids["ids"], [[97, ids["id_count"] - 1]])
        self.assertGreater(json.loads(tokenize(b"<|endoftext|>", "--json", "--ordinary"))["tokens"], 1)

    def test_the_tokenizer_of_a_prompt(self):
        r = self.ok("grad", "gpt2_small", "--tokenizer", VOCABULARY, "--prompt", "a b<|endoftext|>")
        self.assertEqual(r["tokens"][1:] + r["targets"][-1:], r["targets"])
        self.assertEqual([r["tokens"][0], len(r["loss_per_position"])], [97, len(r["tokens"])])

    def test_an_interrupted_run_leaves_log_and_weights(self):
        log, weights = self.path / "log.jsonl", self.path / "w.safetensors"
        p = subprocess.Popen([THIMBLE, "train", "pocket", "--text", self.text, "--steps", "10000000", "--log", log,
                              "--save", weights, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not (log.exists() and log.stat().st_size > 2000):
            self.assertIsNone(p.poll())
            time.sleep(0.02)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130)
        result = json.loads(out)
        self.assertTrue(result["interrupted"])
        self.assertEqual(json.loads(log.read_text().splitlines()[-1])["digest"], result["digest"])
        self.assertEqual(run("sample", "pocket", "--weights", weights, "--length", 5).returncode, 0)

    def test_interrupted_in_a_long_text_it_saves_at_once(self):
        long = self.file("long.txt", TEXT * 400)  # held-out windows for minutes
        weights = self.path / "w.safetensors"
        p = subprocess.Popen([THIMBLE, "train", "char", "--text", long, "--steps", "1000000", "--save", weights,
                              "--held-out", "0.9", "--evaluate-every", "1000000"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(2)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 130)
        self.assertIn(b"stopping, then saving", err)
        self.assertTrue(weights.exists())

    def test_a_killed_run_goes_on_as_if_it_had_never_stopped(self):
        for optimizer, schedule in (("adamw", "cosine"), ("sgd", "wsd")):
            with self.subTest(optimizer):
                common = ["train", "pocket", "--text", self.text, "--steps", 100, "--accumulate", 3, "--optimizer", optimizer,
                          "--schedule", schedule, "--lr", 0.01]
                whole = self.ok(*common)
                folder = self.path / optimizer
                for kill in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):  # between steps, and in a window
                    p = subprocess.Popen([THIMBLE, *map(str, common), "--checkpoint", folder, "--every", "7", "--resume",
                                          "--isa", "plain", "--threads", "1"], stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
                    time.sleep(0.3)
                    p.send_signal(kill)
                    p.wait(timeout=60)
                resumed = self.ok(*common, "--checkpoint", folder, "--resume")
                self.assertEqual(resumed["digest"], whole["digest"])
                self.assertEqual(len(list(folder.iterdir())), 2)
                again = self.ok(*common, "--checkpoint", folder, "--resume")
                self.assertEqual((again["digest"], again["steps"]), (whole["digest"], 0))

    def test_a_damaged_checkpoint_gives_way_to_the_one_before(self):
        common = ["train", "pocket", "--text", self.text, "--steps", 20, "--checkpoint", self.path / "run"]
        whole = self.ok(*common, "--every", 5)
        newest = sorted((self.path / "run").iterdir())[-1]
        data = bytearray(newest.read_bytes())
        data[len(data) // 2] ^= 4
        newest.write_bytes(data)
        r = run(*common, "--resume", "--json")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn(newest.name, r.stderr)
        self.assertEqual(json.loads(r.stdout)["digest"], whole["digest"])
        self.assertEqual(json.loads(r.stdout)["resumed_at_step"], 15)

    def test_steps_that_are_left_out_are_told(self):
        weights = self.path / "w.safetensors"
        names = self.file("names.txt", "emma\nolivia\nava\nisabella\nsophia\ncharlotte\n")
        r = run("train", "decoder", "--documents", names, "--steps", 5, "--lr", 1e6, "--warmup", 0, "--save", weights)
        self.assertEqual(r.returncode, 1)
        self.assertIn("the last step was left out", r.stderr)
        self.assertEqual(run("inspect", weights, "--verify").returncode, 0)


class BadInput(Command):
    def test_unknown_model_names_the_nearest(self):
        self.fails("train", "chra", "--text", self.text, says=["chra", "char"])

    def test_texts_that_are_no_texts(self):
        save = ["--save", self.path / "never.safetensors", "--log", self.path / "never.jsonl"]
        self.fails("train", "char", "--text", self.path / "none.txt", *save, says="none.txt")
        self.fails("train", "char", "--text", self.path, *save, says=str(self.path))
        self.fails("train", "char", "--text", self.file("empty.txt", ""), *save, says="empty")
        self.fails("train", "char", "--text", self.file("short.txt", "too short"), *save, says=["short.txt", "65"])
        self.fails("train", "pocket", "--text", self.file("all.bin", bytes(range(256)) * 9), *save, says=["256", "96"])

    def test_no_source_or_two(self):
        self.fails("train", "char", says="--text")
        self.fails("train", "char", "--text", self.text, "--documents", self.text, says="more than one")

    def test_tokens_out_of_range(self):
        for ids in ([1, 27, 2], [1, -2, 2], [-1, 1, 2]):
            bad = self.file("bad.json", json.dumps([[[0, 1, 2]], [ids]]))
            self.fails("train", "decoder", "--tokens", bad, says=["bad.json", "[1][0]"])
        self.fails("grad", "decoder", "--tokens", self.file("no.json", "{"), says="no.json")
        self.fails("train", "decoder", "--tokens", self.file("long.json", json.dumps([[[0] * 30]])), says="long.json")
        self.fails("train", "decoder", "--tokens", self.file("float.json", "[[[0, 1.5]]]"), says="float.json")

    def test_columns(self):
        sensor = self.file("s.csv", "time,value\n1,2\n2,x\n")
        self.fails("train", "pocket", "--csv", sensor, "--column", "valeu", says=["valeu", "value"])
        self.fails("train", "pocket", "--csv", sensor, "--column", "value", says="line 3")
        self.fails("train", "pocket", "--csv", sensor, says="--column")

    def test_options_out_of_range(self):
        data = ["train", "char", "--text", self.text]
        self.fails(*data, "--context", 100, says="100")
        self.fails(*data, "--lr", -1, says="--lr", status=2)
        self.fails(*data, "--lr", 1e39, says="--lr", status=2)
        self.fails(*data, "--steps", 10**18, says="--steps", status=2)
        self.fails(*data, "--lr", "nan", says="--lr", status=2)
        self.fails(*data, "--betas", 0.9, 1.5, says="betas", status=2)
        self.fails(*data, "--recompute", "h.0.nothing", says="h.0.nothing")
        self.fails(*data, "--isa", "sse9", says="--isa", status=2)
        self.fails(*data, "--batch", -1, says="--batch", status=2)
        self.fails("train", "neuron", "--text", self.text, says="neuron")
        self.fails("sample", "neuron", "--weights", self.text, says="neuron")
        self.fails("grad", "neuron", "--set", "w9=1", says="w9")
        self.fails("gradcheck", "decoder", "--weight", "wte.weight", "--index", 100000, says="--index")

    def test_flags_that_contradict_each_other(self):
        tokens = self.file("t.json", json.dumps([[[1, 2, 3, 4]]]))
        data = ["train", "decoder", "--tokens", tokens]
        self.fails(*data, "--momentum", 0.5, says="--momentum")
        self.fails(*data, "--optimizer", "sgd", "--eps", 1e-9, says="--eps")
        self.fails(*data, "--schedule", "cosine", "--decay-steps", 1, says="wsd")
        self.fails(*data, "--schedule", "gpt3", "--min-lr", 1e-9, says="--min-lr")
        self.fails(*data, "--fuse-update", "--accumulate", 2, says=["--fuse-update", "--accumulate"])
        self.fails(*data, "--fuse-update", "--clip", 1, says=["--fuse-update", "--clip 0"])
        self.fails("plan", "decoder", "--fuse-update", "--program", "decode", says="--fuse-update")
        self.fails(*data, "--batch", 3, says="--batch", status=2)
        self.fails(*data, "--column", "x", says="--csv", status=2)
        self.fails(*data, "--resume", says="--checkpoint", status=2)
        before = tokens.read_bytes()
        self.fails(*data, "--save", tokens, says="--tokens")
        self.fails("grad", "decoder", "--tokens", tokens, "--out", tokens, says="--out")
        self.assertEqual(tokens.read_bytes(), before)

    def test_numbers_that_are_none(self):
        for value in ("-1", "010", "99999999999999999999999", "1.5", "x", ""):
            self.fails("bench", "neuron", "--seed", value, says="--seed", status=2)
            self.fails("bench", "neuron", "--steps", value, says="--steps", status=2)
        for value in ("-1", "nan", "inf", "x"):
            self.fails("gradcheck", "neuron", "--nudge", value, says="--nudge", status=2)
            self.fails("sample", "char", "--weights", self.text, "--temperature", value, says="--temperature", status=2)
        self.fails("grad", "neuron", "--set", "x1=nan", says="--set")
        self.fails("gradcheck", "decoder", "--index", 3, says="--weight", status=2)
        r = run("bench", "neuron", "--steps", "-1")
        self.assertLess(len(r.stderr), 200)

    def test_weights_that_have_grown_too_large(self):
        weights = self.trained("pocket", 1)
        data = bytearray(weights.read_bytes())
        length = struct.unpack("<Q", data[:8])[0]
        for name, entry in json.loads(data[8:8 + length]).items():
            if name != "__metadata__":
                begin, end = (8 + length + offset for offset in entry["data_offsets"])
                data[begin:end] = struct.pack("<f", 3e38) * ((end - begin) // 4)
        weights.write_bytes(data)
        self.fails("sample", "pocket", "--weights", weights, says=["position 0", "finite"])

    def test_a_resumed_run_must_be_the_same(self):
        common = ["train", "pocket", "--text", self.text, "--checkpoint", self.path / "run"]
        self.ok(*common, "--steps", 10)
        self.fails(*common, "--steps", 10, says="--resume")
        for more, says in ((["--steps", 20], "--steps"), (["--steps", 10, "--schedule", "linear"], "cosine"),
                           (["--steps", 10, "--seed", 9], "--seed"), (["--steps", 10, "--batch", 2], "--batch"),
                           (["--steps", 10, "--real", "f64"], "number_type"),
                           (["--steps", 10, "--profile", "separate"], "profile"),
                           (["--steps", 10, "--optimizer", "sgd"], "header")):
            self.fails(*common, "--resume", *more, says=says)

    def test_weights_of_another_model_are_refused(self):
        weights = self.trained("char", 1)
        moved = self.path / "moved.safetensors"
        raw = weights.read_bytes()
        moved.write_bytes(raw.replace(b"gelu_tanh", b"gelu_erf ", 1).replace(b'"gelu_erf "', b'"gelu_erf" ', 1)
                          .replace(b'gelu_erf \\"', b'gelu_erf\\" ', 1))
        self.fails("sample", "char", "--weights", moved, says="activation")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            r = subprocess.run([THIMBLE, "models"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertIn("standard output", r.stderr)

    def test_where_weights_cannot_be_written(self):
        self.fails("train", "pocket", "--text", self.text, "--steps", 2, "--save", self.path / "no/such/w.safetensors",
                   says="no/such")

    def test_hostile_weights(self):
        good = self.trained().read_bytes()
        length = struct.unpack("<Q", good[:8])[0]
        header = json.loads(good[8:8 + length])

        def with_header(h):
            text = json.dumps(h).encode()
            return struct.pack("<Q", len(text)) + text + good[8 + length:]

        def changed(name, **fields):
            return with_header({**header, name: {**header[name], **fields}})

        first = header["wte.weight"]["data_offsets"][0] + 8 + length
        missing = {k: v for k, v in header.items() if k != "ln_f.bias"}
        bad = {
            "empty": (b"", ""),
            "eight": (good[:8], ""),
            "header": (good[:8 + length // 2], ""),
            "data": (good[:-4], ""),
            "huge": (b"\xff" * 8 + good[8:], ""),
            "json": (good[:8] + b"}" + good[9:], ""),
            "shape": (changed("wte.weight", shape=[16, 96]), "wte.weight"),
            "dtype": (changed("wte.weight", dtype="I32"), "wte.weight"),
            "missing": (with_header(missing), ""),
            "nan": (good[:first] + struct.pack("<f", math.nan) + good[first + 4:], "wte.weight"),
        }
        for name, (content, words) in bad.items():
            with self.subTest(name):
                path = self.file(f"{name}.safetensors", content)
                self.fails("sample", "pocket", "--weights", path, says=[path.name, words])
                self.fails("train", "pocket", "--text", self.text, "--weights", path, "--save",
                           self.path / "never.safetensors", says=[path.name, words])
        self.fails("sample", "char", "--weights", self.path / "pocket.safetensors", says="context 32")

    def test_tokenizers(self):
        data = ["train", "pocket", "--text", self.text, "--tokenizer"]
        self.fails(*data, VOCABULARY, says=["557", "96"])
        self.fails(*data, self.path, says=["tokenizer.json", "vocab.json"])
        self.fails(*data, self.path / "none.json", says="none.json")
        self.fails(*data, self.file("bad.json", "{"), says="bad.json")
        self.fails("train", "pocket", "--documents", self.text, "--tokenizer", VOCABULARY, says="--text")
        self.fails("grad", "decoder", says="--prompt")
        self.fails("grad", "decoder", "--prompt", "1", says="1 tokens")
        self.fails("grad", "decoder", "--prompt", "1 99", says="99")
        self.fails("tokenize", says="--tokenizer", status=2)

    def test_a_prompt_with_unknown_symbols(self):
        self.fails("sample", "pocket", "--weights", self.trained(), "--prompt", "tab\t", says="--prompt")


if __name__ == "__main__":
    unittest.main()
