#include "tools/command/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace thimble {

namespace {

std::atomic<bool> interrupted{false};
std::atomic<const char*> said{""};

void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
  const char* const text = said;
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

}  // namespace

const std::atomic<bool>& catch_interrupts(const char* text) {
  said = text;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  return interrupted;
}

}  // namespace thimble
