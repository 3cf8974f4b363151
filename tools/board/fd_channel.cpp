#include "tools/board/fd_channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "tools/files/error.hpp"

namespace thimble {

namespace {

constexpr std::chrono::seconds kTakesNothing{10};  ///< until the line is given up

}  // namespace

void FdChannel::set_descriptors(int input, int output) {
  input_ = input;
  output_ = output;
  ::fcntl(output_, F_SETFL, ::fcntl(output_, F_GETFL) | O_NONBLOCK);
}

/// The other side may take nothing more until what it says is read, so both go on while this waits.
void FdChannel::write(std::span<const std::byte> bytes) {
  auto limit = now() + kTakesNothing;
  while (!bytes.empty()) {
    const ssize_t n = ::write(output_, bytes.data(), bytes.size());
    if (n > 0) {
      bytes = bytes.subspan(std::size_t(n));
      limit = now() + kTakesNothing;
    }
    if (n >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) throw Error(name_, last_words(), "");
    const std::chrono::milliseconds left = limit - now();
    if (left.count() <= 0) {
      throw Error(name_, "it has taken no bytes for " + std::to_string(kTakesNothing.count()) + " s",
                  "is the line held by flow control, or the other side at a stop?");
    }
    pollfd p[] = {{output_, POLLOUT, 0}, {input_, POLLIN, 0}};
    if (::poll(p, 2, int(left.count())) <= 0 || p[1].revents == 0) continue;
    std::byte chunk[4096];
    const std::size_t count = read_now(chunk);
    early_.insert(early_.end(), chunk, chunk + count);
  }
}

std::size_t FdChannel::read(std::span<std::byte> to, std::chrono::milliseconds wait) {
  if (!early_.empty()) {
    const std::size_t n = std::min(to.size(), early_.size());
    std::copy_n(early_.begin(), n, to.begin());
    early_.erase(early_.begin(), early_.begin() + std::ptrdiff_t(n));
    return n;
  }
  pollfd p{input_, POLLIN, 0};
  const int ready = ::poll(&p, 1, int(wait.count()));
  if (ready == 0 || (ready < 0 && errno == EINTR)) return 0;
  return read_now(to);
}

/// What is there; an Error where the line has been closed.
std::size_t FdChannel::read_now(std::span<std::byte> to) {
  const ssize_t n = ::read(input_, to.data(), to.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (n <= 0) throw Error(name_, last_words(), "");
  return std::size_t(n);
}

std::chrono::milliseconds FdChannel::now() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

SerialPort::SerialPort(const std::string& device, int baud) : FdChannel(device) {
  const std::map<int, speed_t> speeds = {{9600, B9600},     {19200, B19200},   {38400, B38400},   {57600, B57600},
                                         {115200, B115200}, {230400, B230400}, {460800, B460800}, {921600, B921600}};
  const auto speed = speeds.find(baud);
  if (speed == speeds.end()) throw Error("--baud", std::to_string(baud) + " is none of the usual rates", "try 115200");
  fd_ = ::open(device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    const bool busy = errno == EBUSY;
    throw Error(device, std::strerror(errno), busy ? "another program has it: end that first"
                                                   : "is the board plugged in, and may you use its port (group dialout)?");
  }
  try {
    set_up(device, baud, speed->second);
  } catch (...) {
    ::close(fd_);
    throw;
  }
  set_descriptors(fd_, fd_);
}

/// What the device does not take it leaves as it was and says nothing, so it is asked afterwards.
void SerialPort::set_up(const std::string& device, int baud, unsigned speed) {
  termios t{}, taken{};
  if (::tcgetattr(fd_, &t) != 0) throw Error(device, "is no serial device", "");
  if (::ioctl(fd_, TIOCEXCL) != 0) throw Error(device, std::string("cannot be had alone: ") + std::strerror(errno), "");
  ::cfmakeraw(&t);
  t.c_cflag |= CLOCAL | CREAD;
  t.c_cflag &= ~tcflag_t(CSTOPB | CRTSCTS);
  if (::cfsetspeed(&t, speed) != 0 || ::tcsetattr(fd_, TCSANOW, &t) != 0 || ::tcgetattr(fd_, &taken) != 0) {
    throw Error(device, std::string("cannot be set up: ") + std::strerror(errno), "");
  }
  if (::cfgetospeed(&taken) != speed) {
    throw Error(device, "does not go at " + std::to_string(baud) + " bits a second", "give another --baud");
  }
  constexpr tcflag_t kMode = CSIZE | CSTOPB | PARENB | CRTSCTS;
  if ((taken.c_cflag & kMode) != CS8) throw Error(device, "has no 8 bits without parity and flow control", "");
  ::tcflush(fd_, TCIOFLUSH);
}

SerialPort::~SerialPort() {
  ::ioctl(fd_, TIOCNXCL);
  ::close(fd_);
}

}  // namespace thimble
