#pragma once
/// The handler of every fault and of interrupts without a driver: prints the registers, ends with kFaultStatus.

namespace thimble {

extern "C" void thimble_fault();

}  // namespace thimble
