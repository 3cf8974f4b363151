#pragma once
/// The bytes that an image carries in flash to train on: the file that it was built with.

#include <cstddef>
#include <span>

extern "C" const std::byte thimble_image_data[];
extern "C" const std::byte thimble_image_data_end[];

namespace thimble {

inline std::span<const std::byte> image_data() {
  return {thimble_image_data, std::size_t(thimble_image_data_end - thimble_image_data)};
}

}  // namespace thimble
