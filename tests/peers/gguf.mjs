// Hugging Face's GGUF parser against what thimble exports. Usage: gguf.mjs BUILD/thimble. Exit status 77 where the npm
// packages are not installed (npm install in this folder).
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";

let gguf;
try {
  ({ gguf } = await import("@huggingface/gguf"));
} catch {
  console.log("@huggingface/gguf is not installed");
  process.exit(77);
}

const thimble = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "thimble-gguf-"));
try {
  const text = join(folder, "text.txt"), weights = join(folder, "w.safetensors"), file = join(folder, "w.gguf");
  writeFileSync(text, "the quick brown fox jumps over the lazy dog\n".repeat(200));
  const run = (...args) => execFileSync(thimble, args, { stdio: ["ignore", "pipe", "ignore"] });
  run("train", "char", "--text", text, "--steps", "2", "--batch", "2", "--save", weights);
  run("export", weights, file, "--to", "gguf");
  const { metadata, tensorInfos } = await gguf(file, { allowLocalFile: true });
  assert.equal(metadata["general.architecture"], "gpt2");
  assert.equal(metadata["gpt2.block_count"], 3);
  assert.equal(metadata["gpt2.attention.head_count"], 6);
  assert.equal(metadata["gpt2.embedding_length"], 96);
  assert.equal(metadata["tokenizer.ggml.model"], "gpt2");
  assert.equal(metadata["tokenizer.ggml.tokens"].length, 256);
  assert.equal(tensorInfos.length, 40);
  const shape = (name) => tensorInfos.find((t) => t.name === name).shape.map(Number);
  assert.deepEqual(shape("token_embd.weight"), [96, 256]);
  assert.deepEqual(shape("blk.2.attn_qkv.weight"), [96, 288]);
  assert.deepEqual(shape("blk.0.ffn_up.weight"), [96, 384]);
  assert.deepEqual(shape("blk.0.ffn_down.weight"), [384, 96]);
  console.log(`${tensorInfos.length} tensors, ${Object.keys(metadata).length} entries of metadata: as they should be`);
} finally {
  rmSync(folder, { recursive: true });
}
