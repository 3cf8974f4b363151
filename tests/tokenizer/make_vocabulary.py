#!/usr/bin/python3
"""Learns the small vocabulary of the tokenizer's tests, and says what its ids must be.

Everything here is independent of the C++ code: the pre-tokens are found by hand from Unicode's categories, the merges
are applied as in the first published description (all occurrences of the best pair at once, in plain loops).
Writes vocab.json, merges.txt, tokenizer.json and expected.json beside itself; --check compares instead.
"""

import collections
import json
import random
import sys
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
MERGES = 300
SPACES = set(map(chr, [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F,
                       0x3000]))
END = "<|endoftext|>"


def alphabet():
    visible = [b for b in range(256) if 0x21 <= b <= 0x7E or 0xA1 <= b <= 0xAC or b >= 0xAE]
    hidden = [b for b in range(256) if b not in visible]
    return {b: chr(b) for b in visible} | {b: chr(256 + i) for i, b in enumerate(hidden)}


ALPHABET = alphabet()


def kind(c):
    if c in SPACES:
        return "space"
    return {"L": "letter", "N": "number"}.get(unicodedata.category(c)[0], "other")


def pre_tokens(text):
    at = 0
    while at < len(text):
        end = at
        contraction = next((s for s in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d") if text.startswith(s, at)), None)
        first = at + 1 if text[at] == " " and at + 1 < len(text) and kind(text[at + 1]) != "space" else at
        if contraction:
            end = at + len(contraction)
        elif kind(text[first]) != "space":
            end = first
            while end < len(text) and kind(text[end]) == kind(text[first]):
                end += 1
        else:
            while end < len(text) and kind(text[end]) == "space":
                end += 1
            if end < len(text) and end - at > 1:
                end -= 1
        yield text[at:end]
        at = end


def merged(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i:i + 2]) == pair:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def learn(text):
    words = collections.Counter(pre_tokens(text))
    split = {w: [ALPHABET[b] for b in w.encode()] for w in words}
    merges = []
    for _ in range(MERGES):
        pairs = collections.Counter()
        for w, n in words.items():
            for pair in zip(split[w], split[w][1:]):
                pairs[pair] += n
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        split = {w: merged(s, best) for w, s in split.items()}
    return merges


def encode(text, vocabulary, ranks):
    ids = []
    for word in pre_tokens(text):
        symbols = [ALPHABET[b] for b in word.encode()]
        while True:
            known = [p for p in zip(symbols, symbols[1:]) if p in ranks]
            if not known:
                break
            symbols = merged(symbols, min(known, key=ranks.get))
        ids += [vocabulary[s] for s in symbols]
    return ids


def strings():
    fixed = ["", " ", "  ", "\n", " \n ", "a", " a", "  a", "a ", "a  b", "don't we'll I've you're he's I'm she'd",
             "DON'T 'S 'sx 'rest 'lll ''s", "x's's", "1234567890 3.14 12abc34", "hello\r\n\r\n  world\t\tend", END,
             "a" + END + "b", "\u00a0\u00a0x", "x\u3000\u3000y", "\u180ex \u180e", "\u200bx\u200b", "e\u0301 a\u0308\u0323",
             "日本語のテキスト", "中文，标点。", "한국어 텍스트", "العربية ٣٤", "हिन्दी १२", "👍🏽 👩‍👩‍👧 🏳️‍🌈", "Ⅷ ½ ² ①",
             "\x00\x01\x1c\x1d\x1e\x1f\x7f\x85\x85a", "\ufffd\ufeffx", "ÃÂ Ġ Ċ", "the " * 40, "e" * 200, " " * 100 + "x"]
    draw = random.Random(1)
    pieces = ["the", " of", " and", "token", "'ll", "'", " ", "  ", "\n", "\t", "7", "42", "é", "ß", "я", "漢", "あ", "👍",
              "\u0301", "\u2003", "\u2028", "_", "...", "->", "::", "(", ")", "size_t", "const", "std", "\u00ad", "٣", "ª"]
    mixed = ["".join(draw.choice(pieces) for _ in range(draw.randint(1, 25))) for _ in range(300)]
    return fixed + mixed


def main():
    root = HERE.parent.parent
    sources = sorted(root.glob("tools/data/*.?pp")) + sorted(root.glob("tools/files/*.?pp"))
    if (HERE / "merges.txt").exists():  # the text goes on to change; the vocabulary, once learned, does not
        merges = [tuple(line.split(" ")) for line in (HERE / "merges.txt").read_text().splitlines()[1:]]
    else:
        merges = learn("".join(p.read_text() for p in sources))
    vocabulary = {ALPHABET[b]: b for b in range(256)}
    for a, b in merges:
        vocabulary.setdefault(a + b, len(vocabulary))
    vocabulary[END] = len(vocabulary)
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    added = {"id": vocabulary[END], "content": END, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    hugging_face = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [added], "normalizer": None,
        "pre_tokenizer": byte_level, "post_processor": byte_level, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                  "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary,
                  "merges": [list(m) for m in merges]}}
    expected = [{"text": s, "ids": encode(s, vocabulary, ranks)} for s in strings()]
    files = {
        "vocab.json": json.dumps(vocabulary, ensure_ascii=False) + "\n",
        "merges.txt": "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges),
        "tokenizer.json": json.dumps(hugging_face, ensure_ascii=False) + "\n",
        "expected.json": "[\n" + ",\n".join(json.dumps(e) for e in expected) + "\n]\n",
    }
    for name, content in files.items():
        if "--check" in sys.argv:
            if (HERE / name).read_text() != content:
                sys.exit(f"{name} is not what make_vocabulary.py makes")
        else:
            (HERE / name).write_text(content)
    print(f"{len(vocabulary)} tokens, {len(merges)} merges, {len(expected)} strings")


if __name__ == "__main__":
    main()
