#pragma once
/// The checkpoint part of an emulated board's flash: a file of the host, with the geometry of the real part.

#include "core/checkpoint/flash.hpp"

namespace thimble {

/// Opens the file that the command line names (the last word, flash=PATH), or makes it, all bits set. A flash without
/// functions where none is named, or it cannot be opened, or its size is not the geometry's.
/// Emulated flash programs a chunk at a time: a power cut (the emulator killed) may leave a call half done.
Flash open_file_flash(const FlashGeometry& geometry);

}  // namespace thimble
