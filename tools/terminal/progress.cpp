#include "tools/terminal/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tools/terminal/format.hpp"

namespace thimble {
namespace {

constexpr double kBarSeconds = 0.1;
constexpr double kLineSeconds = 5;

Progress::Style resolved(Progress::Style style) {
  if (style != Progress::Style::automatic) return style;
  const char* terminal = std::getenv("TERM");
  const bool redraws = terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
  return redraws && ::isatty(STDERR_FILENO) == 1 ? Progress::Style::bar : Progress::Style::lines;
}

int terminal_width() {
  constexpr int kUsual = 80;
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write_to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

Progress::Screen completed(Progress::Screen screen) {
  if (!screen.write) screen.write = write_to_stderr;
  if (!screen.seconds) screen.seconds = steady_seconds;
  return screen;
}

/// `width` columns, filled up to `share` of them.
std::string bar(double share, int width, bool unicode) {
  std::string text;
  if (!unicode) {
    const int full = static_cast<int>(share * width);
    return text.append(static_cast<std::size_t>(full), '#')
        .append(static_cast<std::size_t>(width - full), '.');
  }
  constexpr const char* kEighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  const int eighths = static_cast<int>(share * width * 8);
  for (int column = 0; column < width; ++column) text += kEighths[std::clamp(eighths - 8 * column, 0, 8)];
  return text;
}

}  // namespace

Progress::Progress(std::int64_t total, Style style, std::string_view thing)
    : Progress(total, style, {.unicode = utf8_locale()}, thing) {}

Progress::Progress(std::int64_t total, Style style, Screen screen, std::string_view thing)
    : total_(std::max<std::int64_t>(1, total)),
      style_(resolved(style)),
      screen_(completed(std::move(screen))),
      start_(screen_.seconds()),
      thing_(thing) {}

Progress::~Progress() {
  if (open_bar_) screen_.write("\n");
}

void Progress::update(std::int64_t done, double loss, double tokens_per_second) {
  loss_ = loss;
  rate_ = tokens_per_second;
  update(done);
}

void Progress::update(std::int64_t done) {
  if (style_ == Style::quiet) return;
  done_ = done;
  fresh_ = true;
  const double interval = style_ == Style::bar ? kBarSeconds : kLineSeconds;
  if (!drawn_ || screen_.seconds() - drawn_at_ >= interval) draw(false);
}

void Progress::note(std::string_view line) {
  if (style_ == Style::quiet) return;
  std::string text = open_bar_ ? "\r\x1b[K" : "";
  screen_.write(text.append(line).append("\n"));
  const bool redraw = open_bar_;
  open_bar_ = false;
  if (redraw) draw(false);
}

void Progress::finish() {
  if (finished_ || style_ == Style::quiet) return;
  finished_ = true;
  if (drawn_ || fresh_) draw(true);
}

void Progress::draw(bool last) {
  if (style_ == Style::bar) {
    std::string line = "\r";
    screen_.write(line.append(bar_line(last)).append("\x1b[K").append(last ? "\n" : ""));
    open_bar_ = !last;
  } else {
    screen_.write(facts(last, ", ") + "\n");
  }
  drawn_ = true;
  fresh_ = false;
  drawn_at_ = screen_.seconds();
}

std::string Progress::facts(bool last, std::string_view separator) const {
  const double elapsed = screen_.seconds() - start_;
  std::string text = std::string(thing_) + " " + grouped(done_) + "/" + grouped(total_);
  if (loss_) {
    char loss[32];
    std::snprintf(loss, sizeof loss, "loss %.4f", *loss_);
    text.append(separator).append(loss);
  }
  if (std::isfinite(rate_) && rate_ > 0) {
    text.append(separator).append(grouped(std::llround(std::min(rate_, 1e15)))).append(" tokens/s");
  }
  if (last) {
    text.append(separator).append("took " + human_seconds(elapsed));
  } else if (done_ > 0) {
    const double left =
        elapsed / static_cast<double>(done_) * static_cast<double>(std::max<std::int64_t>(0, total_ - done_));
    text.append(separator).append(human_seconds(left)).append(" left");
  }
  return text;
}

std::string Progress::bar_line(bool last) const {
  // The last column stays free: some terminals move on to the next line when it is written.
  const int width = (screen_.width > 0 ? screen_.width : terminal_width()) - 1;
  const double share = std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0.0, 1.0);
  std::string text = facts(last, "  ");
  if (static_cast<int>(text.size()) > width) text.resize(static_cast<std::size_t>(std::max(0, width)));
  constexpr int kShortestBar = 6;
  constexpr int kLongestBar = 40;
  const std::string percent = padded_left(std::to_string(static_cast<int>(100 * share)), 3) + " % ";
  const int room = width - static_cast<int>(text.size() + percent.size()) - 3;
  if (room < kShortestBar) return text;
  std::string line = "[";
  return line.append(bar(share, std::min(room, kLongestBar), screen_.unicode))
      .append("] ")
      .append(percent)
      .append(text);
}

}  // namespace thimble
