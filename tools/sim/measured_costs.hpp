#pragma once

namespace thimble {

/// costs.json: {board: {op: [forward, backward]}}, instructions for each multiply-add.
extern const char* const kMeasuredCosts;

}  // namespace thimble
