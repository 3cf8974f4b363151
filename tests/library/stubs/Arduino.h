#pragma once
// What the example takes of Arduino's core, for the compiler and linker alone.
#include <stdint.h>
struct SerialStub {
  void begin(long);
  int read();
  void write(uint8_t);
};
extern SerialStub Serial;
unsigned long micros();
void delay(unsigned long);
void pinMode(int, int);
void digitalWrite(int, int);
enum { LED_BUILTIN = 13, OUTPUT = 1, HIGH = 1, LOW = 0 };
