// A curve in text, to look at after a run.
#pragma once

#include <span>
#include <string>

#include "tools/terminal/format.hpp"

namespace thimble {

/// How a curve is drawn.
struct PlotOptions {
  std::string title = {};        ///< what is drawn upwards; stands above the axis
  std::string x_title = "step";  ///< what is drawn across
  double first_x = 1;            ///< x of the first value
  double x_step = 1;             ///< x from one value to the next
  int width = 80;                ///< columns in all, labels included; at least 24
  int height = 10;               ///< rows of the curve; at least 2
  bool unicode = utf8_locale();  ///< braille dots, 2 x 4 a character; else ASCII, 1 x 2
};

/// The curve with both axes labelled, in lines no longer than `width`. More values than dots are averaged,
/// dot by dot; values that are not finite are left out and counted below. Without any finite value it is one
/// line that says so.
std::string plot_curve(std::span<const double> values, const PlotOptions& options = {});

}  // namespace thimble
