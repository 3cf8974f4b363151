#pragma once
/// The clock: SysTick, 24 bits wide, and the number of times that it ran over.

namespace thimble {

void start_ticks();
/// SysTick's interrupt.
void on_tick_overflow();

}  // namespace thimble
