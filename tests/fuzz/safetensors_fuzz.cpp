/// Any bytes as a safetensors file: an Error, or tensors that can all be read.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tools/files/error.hpp"
#include "tools/files/safetensors.hpp"

using namespace thimble;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != ::ssize_t(size)) std::abort();
  try {
    const SafetensorsFile opened(path);
    for (const StoredTensor& t : opened.tensors()) {
      if (opened.find(t.name) == nullptr) std::abort();
      first_non_finite(t);
      std::vector<double> values(t.element_count());
      try {
        opened.read_into(t, std::span(values));
      } catch (const Error&) {
      }
    }
  } catch (const Error& e) {
    if (e.problem().empty()) std::abort();
  }
  return 0;
}
