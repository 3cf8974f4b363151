/// Trains the 4,192-parameter GPT on a list of names. On the PC: thimble board run BOARD microgpt --serial /dev/ttyACM0
/// --documents names.txt --verify, with the same names, follows the run and compares the weights after every step.

#include <models/microgpt.hpp>
#include <thimble.h>

namespace {

// How sums of products are rounded; the host does the same.
#if defined(__ARM_FEATURE_FMA) || defined(__riscv_flen)
constexpr auto kProfile = thimble::Profile::fused;
#else
constexpr auto kProfile = thimble::Profile::separate;  // the processor has no fused multiply-add
#endif
constexpr char kNames[] = "emma\nolivia\nava\nisabella\nsophia\ncharlotte\nmia\namelia\nharper\nevelyn\nabigail\nemily\n";

}  // namespace

extern "C" {

int thimble_board_receive(void) { return Serial.read(); }
void thimble_board_send(std::uint8_t byte) { Serial.write(byte); }
std::uint32_t thimble_board_microseconds(void) { return std::uint32_t(micros()); }

[[noreturn]] void thimble_board_exit(int status) {
  pinMode(LED_BUILTIN, OUTPUT);
  for (;;) {  // one blink: done; more: a failed check
    for (int i = 0; i <= status; ++i) {
      digitalWrite(LED_BUILTIN, HIGH);
      delay(150);
      digitalWrite(LED_BUILTIN, LOW);
      delay(150);
    }
    delay(1000);
  }
}

// No checkpoints in flash: a reset begins anew.
const std::uint32_t thimble_board_flash_block_count = 0;
const std::uint32_t thimble_board_flash_erase_bytes = 0;
const std::uint32_t thimble_board_flash_program_bytes = 0;
int thimble_board_flash_read(std::uint32_t, void*, std::uint32_t) { return 1; }
int thimble_board_flash_program(std::uint32_t, const void*, std::uint32_t) { return 1; }
int thimble_board_flash_erase(std::uint32_t) { return 1; }

}  // extern "C"

void setup() {
  Serial.begin(115200);
  const auto text = std::as_bytes(std::span(kNames, sizeof kNames - 1));
  const int status = thimble::run_minimal_program<thimble::Microgpt, kProfile>(
      "microgpt", text, thimble::TextKind::documents);
  thimble_board_exit(status);
}

void loop() {}
