// Prints what Hugging Face's GGUF parser finds in a file, as JSON, for a check by hand.
// Usage: npm install --no-save @huggingface/gguf && node gguf_check.mjs FILE
import { gguf } from "@huggingface/gguf";

const path = process.argv[2];
if (path === undefined) {
  console.error("usage: node gguf_check.mjs FILE");
  process.exit(2);
}
const { metadata, tensorInfos } = await gguf(path, { allowLocalFile: true });
const plain = (key, value) => (typeof value === "bigint" ? Number(value) : value);
console.log(JSON.stringify({ metadata, tensorInfos }, plain, 2));
