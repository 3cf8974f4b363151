/// Any bytes as a file of tensors; the first byte says of which format. An Error, or tensors that can all be read.

#include <cstdlib>

#include "tools/files/error.hpp"
#include "tools/files/gguf.hpp"
#include "tools/files/llmc.hpp"
#include "tools/files/npz.hpp"
#include "tools/files/safetensors.hpp"

using namespace thimble;

namespace {

void read_all(const TensorFile& file) {
  for (const StoredTensor& t : file.tensors()) {
    if (file.find(t.name) == nullptr) std::abort();
    first_non_finite(t);
    std::vector<double> values(t.element_count());
    try {
      file.read_into(t, std::span(values));
    } catch (const Error&) {  // a type that is not converted
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  try {
    switch (data[0] % 4) {
      case 0: read_all(NpzFile::from_bytes(bytes, "fuzz.npz")); break;
      case 1: read_all(GgufFile::from_bytes(bytes, "fuzz.gguf")); break;
      case 2: read_all(LlmcFile::from_bytes(bytes, "fuzz.bin")); break;
      default: read_all(SafetensorsFile::from_bytes(bytes, "fuzz.safetensors"));
    }
  } catch (const Error& e) {
    if (e.problem().empty()) std::abort();
  }
  return 0;
}
