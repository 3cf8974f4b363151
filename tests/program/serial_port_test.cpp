/// A serial device, whatever it was used for before.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tools/board/fd_channel.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;

TEST_GROUP(SerialPort){};

TEST(SerialPort, IsSetUpInFullAndHadAlone) {
  const int other = ::posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(other >= 0 && ::grantpt(other) == 0 && ::unlockpt(other) == 0);
  const std::string device = ::ptsname(other);
  const int before = ::open(device.c_str(), O_RDWR | O_NOCTTY);
  termios t{};
  CHECK(::tcgetattr(before, &t) == 0);
  t.c_cflag |= CSTOPB | CRTSCTS;
  CHECK(::tcsetattr(before, TCSANOW, &t) == 0);
  int alone = 0;
  {
    SerialPort port(device, 57600);
    CHECK(port.name() == device);
    CHECK(::tcgetattr(before, &t) == 0);
    CHECK((t.c_cflag & (CSTOPB | CRTSCTS)) == 0);
    CHECK(::cfgetospeed(&t) == B57600);
    CHECK(::ioctl(before, TIOCGEXCL, &alone) == 0 && alone == 1);
  }
  CHECK(::ioctl(before, TIOCGEXCL, &alone) == 0 && alone == 0);
  ::close(before);
  ::close(other);
}
