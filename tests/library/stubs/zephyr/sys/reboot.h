#pragma once
#define SYS_REBOOT_COLD 1
extern "C" void sys_reboot(int);
