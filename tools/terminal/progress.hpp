// How far a long run has come, on standard error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace thimble {

/// Shows steps, loss, tokens a second and the time left: as a bar that redraws itself on a terminal, as a
/// plain line every few seconds elsewhere, or not at all.
class Progress {
 public:
  enum class Style {
    automatic,  ///< a bar where standard error is a terminal that can redraw a line, else lines
    bar,
    lines,
    quiet,
  };

  /// Where the text goes and what the time is; tests give their own.
  struct Screen {
    std::function<void(std::string_view)> write = {};  ///< empty: standard error
    std::function<double()> seconds = {};  ///< a clock that only goes forward; empty: the system's
    int width = 0;                         ///< columns; 0: the terminal's, or 80
    bool unicode = false;                  ///< finer bars, of Unicode blocks
  };

  /// `thing`: what is counted.
  explicit Progress(std::int64_t total, Style style = Style::automatic, std::string_view thing = "step");
  Progress(std::int64_t total, Style style, Screen screen, std::string_view thing = "step");

  /// Ends the line of an unfinished bar, so that what follows stands on a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` steps are done. Draws at most ten times a second, or a line every five seconds. A rate that is
  /// not a positive number is left out.
  void update(std::int64_t done, double loss, double tokens_per_second);
  /// The same where nothing has a loss.
  void update(std::int64_t done);

  /// A line of its own between the bars.
  void note(std::string_view line);

  /// Draws the last state with the time it took.
  void finish();

 private:
  void draw(bool last);
  std::string facts(bool last, std::string_view separator) const;
  std::string bar_line(bool last) const;

  std::int64_t total_;
  Style style_;
  Screen screen_;
  double start_;
  std::string_view thing_;
  double drawn_at_ = 0;
  bool drawn_ = false;     // something was drawn
  bool open_bar_ = false;  // the cursor stands in a bar's line
  bool fresh_ = false;     // an update since the last drawing
  bool finished_ = false;
  std::int64_t done_ = 0;
  std::optional<double> loss_;
  double rate_ = 0;
};

}  // namespace thimble
