#pragma once
/// Bytes over file descriptors: a serial device, or an emulator's pipes.

#include <string>
#include <vector>

#include "tools/board/byte_channel.hpp"

namespace thimble {

class FdChannel : public ByteChannel {
 public:
  FdChannel(const FdChannel&) = delete;
  FdChannel& operator=(const FdChannel&) = delete;

  void write(std::span<const std::byte> bytes) override;
  std::size_t read(std::span<std::byte> to, std::chrono::milliseconds wait) override;
  std::chrono::milliseconds now() const override;
  std::string name() const override { return name_; }

 protected:
  /// name: of the device, for errors. The descriptors are the subclass's to close.
  explicit FdChannel(std::string name) : name_(std::move(name)) {}
  void set_descriptors(int input, int output);
  /// Why the other side is gone.
  virtual std::string last_words() { return "the other side has closed the line"; }

 private:
  std::size_t read_now(std::span<std::byte> to);

  std::string name_;
  int input_ = -1;
  int output_ = -1;
  std::vector<std::byte> early_;  ///< bytes that came while `write` waited
};

/// A serial device, raw, 8 data bits, no parity, one stop bit, no flow control; no other program can open it meanwhile.
class SerialPort : public FdChannel {
 public:
  explicit SerialPort(const std::string& device, int baud = 115200);
  ~SerialPort() override;

 private:
  void set_up(const std::string& device, int baud, unsigned speed);

  int fd_;
};

}  // namespace thimble
