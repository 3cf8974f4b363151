#!/usr/bin/python3
"""What is in an image, and what is not. Usage: image_test.py BUILD/thimble BOARD MODEL

RAM must be the plan, the stack and the objects of budgets.json, to the byte; code must keep to its budget.
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

BUDGETS = json.loads((Path(__file__).parent / "budgets.json").read_text())
# What may come from the toolchain's libraries: memory blocks, and arithmetic that the processor has no instruction for.
LIBRARY_OBJECTS = re.compile(r"(lib_a-|libc_string_|)(mem(cpy|set|move|cmp)|strlen)\S*\.o$")
FORBIDDEN = re.compile(
    r"malloc|calloc|realloc|(^|_)free(_r)?$|sbrk|operator (new|delete)|_Znwj|_Zdl|__cxa_(throw|begin|allocate|atexit|guard)|"
    r"_Unwind|personality|typeinfo|_ZTI|printf|puts|putchar|fopen|fwrite|stdout|std::(basic_string<|__cxx11|ios)|_impure|"
    r"^(__ieee754_)?(sin|cos|tan|exp|log|pow|sqrt|tanh|erf|fma|floor|ceil|round|lround|ldexp|frexp)(f|l|10|2)?$"
)
THIMBLE = BOARD = MODEL = None


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = json.loads(output(THIMBLE, "board", "build", BOARD, MODEL, "--json"))
        cls.elf = Path(cls.built["image"])
        cls.board = json.loads((cls.elf.parent / "board.json").read_text())
        cls.tool = "riscv64-unknown-elf-" if cls.board["family"] == "riscv" else "arm-none-eabi-"
        cls.sections = {}
        for line in output(cls.tool + "size", "-A", "-d", cls.elf).splitlines():
            words = line.split()
            if len(words) == 3 and words[0].startswith("."):
                cls.sections[words[0]] = int(words[1])
        cls.objects = {}
        for line in output(cls.tool + "nm", "-S", "-C", cls.elf).splitlines():
            m = re.match(r"([0-9a-f]+) ([0-9a-f]+) [bBdD] (.*)", line)
            if m:
                name = m.group(3).replace("(anonymous namespace)::", "")
                cls.objects[name] = cls.objects.get(name, 0) + int(m.group(2), 16)

    def test_no_heap_exceptions_rtti_stdio_or_libm(self):
        symbols = [line.split(None, 2)[-1] for line in output(self.tool + "nm", "-C", self.elf).splitlines()]
        self.assertGreater(len(symbols), 100)
        found = [s for s in symbols if FORBIDDEN.search(re.sub(r"^[A-Za-z] ", "", s))]
        self.assertEqual(found, [])

    def test_libraries_give_memory_blocks_and_arithmetic_only(self):
        used = set(re.findall(r"^\S*?(lib\w+)\.a\((\S+)\)$", Path(f"{self.elf}.map").read_text(), re.MULTILINE))
        self.assertTrue(used)
        self.assertLessEqual({library for library, _ in used}, {"libc", "libgcc", "libthimble_program"})
        strange = [o for library, o in used if library == "libc" and not LIBRARY_OBJECTS.search(o)]
        self.assertEqual(strange, [])
        self.assertEqual([o for library, o in used if library == "libgcc" and "unwind" in o], [])

    def test_ram_is_the_plan_the_stack_and_named_bytes(self):
        budget = BUDGETS["named_bytes"]
        trainer = self.objects.pop("trainer")
        word = "64" if "rv64" in BOARD else "32"
        self.assertEqual(trainer, self.built["arena_bytes"] + BUDGETS["engine_bytes"][word])
        named = {n: b for n, b in self.objects.items()}
        allowed = budget[word]
        self.assertEqual({n: b for n, b in named.items() if b > allowed.get(n, -1)}, {}, "objects that are not in the budget")
        ram = sum(self.sections.get(s, 0) for s in (".data", ".bss", ".second"))
        padding = ram - trainer - sum(named.values())
        self.assertGreaterEqual(padding, 0)
        self.assertLess(padding, 64)
        self.assertEqual(self.sections[".stack"], self.board["stack_bytes"])
        total = self.built["ram_bytes"] + self.built["second_ram_bytes"]
        self.assertEqual(total, self.built["arena_bytes"] + BUDGETS["engine_bytes"][word] + self.board["stack_bytes"] +
                         sum(named.values()) + padding)
        print(f"\n{BOARD} {MODEL}: RAM {total} = arena {self.built['arena_bytes']} + stack {self.board['stack_bytes']} + "
              f"engine {BUDGETS['engine_bytes'][word]} + {sum(named.values())} named + {padding} between them")
        most = BUDGETS["ram_bytes"].get(MODEL)
        if most:
            self.assertLessEqual(total, most)

    def test_code_keeps_to_its_budget(self):
        code = self.built["flash_bytes"] - self.built["text_bytes"]
        print(f"\n{BOARD} {MODEL}: {code} bytes of code and tables")
        self.assertLessEqual(code, BUDGETS["code_bytes"][MODEL][BOARD])


if __name__ == "__main__":
    MODEL, BOARD, THIMBLE = sys.argv.pop(), sys.argv.pop(), sys.argv.pop()
    unittest.main(verbosity=2)
