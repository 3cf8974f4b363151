#include "ports/bare/file_flash.hpp"

#include "ports/bare/semihosting.hpp"

namespace thimble {

namespace {

constinit semihosting::File flash_file;
constinit FlashGeometry flash_geometry;

constexpr std::size_t kChunk = 64;

std::uint32_t flash_bytes() { return flash_geometry.block_count * flash_geometry.erase_bytes; }

bool inside(std::uint32_t address, std::size_t size) {
  return address <= flash_bytes() && size <= flash_bytes() - address;
}

bool read(void*, std::uint32_t address, std::span<std::byte> to) {
  return inside(address, to.size()) && (to.empty() || semihosting::read_at(flash_file, address, to));
}

bool program(void*, std::uint32_t address, std::span<const std::byte> bytes) {
  const std::uint32_t unit = flash_geometry.program_bytes;
  if (!inside(address, bytes.size()) || address % unit != 0 || bytes.size() % unit != 0) return false;
  while (!bytes.empty()) {
    std::byte chunk[kChunk];
    const std::size_t n = bytes.size() < kChunk ? bytes.size() : kChunk;
    if (!semihosting::read_at(flash_file, address, {chunk, n})) return false;
    for (std::size_t i = 0; i < n; ++i) chunk[i] &= bytes[i];
    if (!semihosting::write_at(flash_file, address, {chunk, n})) return false;
    address += std::uint32_t(n);
    bytes = bytes.subspan(n);
  }
  return true;
}

bool set_all_bits(std::uint32_t address, std::uint32_t size) {
  std::byte chunk[kChunk];
  for (std::byte& b : chunk) b = std::byte{0xFF};
  for (std::uint32_t done = 0; done < size; done += kChunk) {
    if (!semihosting::write_at(flash_file, address + done, chunk)) return false;
  }
  return true;
}

bool erase(void*, std::uint32_t block) {
  if (block >= flash_geometry.block_count) return false;
  return set_all_bits(block * flash_geometry.erase_bytes, flash_geometry.erase_bytes);
}

/// The path in a command line that ends in flash=PATH, or null.
const char* flash_path(const char* line) {
  const char* path = nullptr;
  for (const char* word = line;; ++word) {
    constexpr char kKey[] = "flash=";
    int n = 0;
    while (kKey[n] != 0 && word[n] == kKey[n]) ++n;
    if (kKey[n] == 0) path = word + n;
    while (*word != 0 && *word != ' ') ++word;
    if (*word == 0) return path;
  }
}

}  // namespace

Flash open_file_flash(const FlashGeometry& geometry) {
  char line[256];
  if (!semihosting::command_line(line)) return {};
  const char* const path = flash_path(line);
  if (path == nullptr) return {};
  flash_geometry = geometry;
  flash_file = semihosting::open(path, semihosting::OpenMode::existing);
  if (flash_file.handle < 0) {
    flash_file = semihosting::open(path, semihosting::OpenMode::truncated);
    if (flash_file.handle < 0 || !set_all_bits(0, flash_bytes())) return {};
  }
  if (semihosting::length(flash_file) != std::intptr_t(flash_bytes())) return {};
  return {nullptr, geometry, read, program, erase};
}

}  // namespace thimble
