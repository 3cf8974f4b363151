#include <Arduino.h>

SerialStub Serial;
void SerialStub::begin(long) {}
int SerialStub::read() { return -1; }
void SerialStub::write(uint8_t) {}
unsigned long micros() { return 0; }
void delay(unsigned long) {}
void pinMode(int, int) {}
void digitalWrite(int, int) {}
void setup();
void loop();
int main() {
  setup();
  loop();
}
