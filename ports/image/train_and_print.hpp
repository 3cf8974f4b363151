#pragma once
/// An image's program: trains, and prints a line a step on the console.

#include "board_config.hpp"
#include "ports/api/board_port.hpp"
#include "ports/api/image_data.hpp"
#include "ports/bare/text_line.hpp"
#include "ports/image/image_trainer.hpp"
#include "ports/image/train_steps.hpp"

namespace thimble {

template <class Model>
int train_and_print(Engine<float>& engine, int steps) {
  Port& port = board_port();
  const auto print = [&](const TextLine& line) { port.send(port.state, line.bytes()); };
  std::uint64_t before = port.ticks(port.state);
  const Status s = train_steps<Model>(
      engine, image_data(), steps, [&](int step, const UpdateResult& r, std::uint64_t digest) {
        TextLine line;
        line.text("step ").decimal(std::uint64_t(step)).text(" loss ").six_decimals(r.loss).text(" digest ");
        line.hexadecimal(digest, 8).text(" ticks ").decimal(port.ticks(port.state) - before).text("\n");
        print(line);
        before = port.ticks(port.state);
      });
  TextLine line;
  line.text("end ").text(text_of(s)).text(" stack ").decimal(port.stack_high_water(port.state)).text(" of ");
  line.decimal(port.stack_bytes).text("\n");
  print(line);
  return s == Status::ok ? 0 : 1;
}

}  // namespace thimble
