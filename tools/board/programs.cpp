#include "tools/board/programs.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "tools/files/error.hpp"

extern char** environ;

namespace thimble {

namespace {

/// Debian's and Ubuntu's packages.
const std::map<std::string, std::string> kPackages = {
    {"qemu-system-arm", "qemu-system-arm"},
    {"qemu-system-riscv32", "qemu-system-misc"},
    {"qemu-system-riscv64", "qemu-system-misc"},
    {"arm-none-eabi-g++", "gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib"},
    {"riscv64-unknown-elf-g++", "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf libstdc++-arm-none-eabi-newlib"},
    {"cmake", "cmake"},
    {"ninja", "ninja-build"},
};

}  // namespace

bool has_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

void require_program(const std::string& name) {
  if (has_program(name)) return;
  const auto package = kPackages.find(name);
  throw Error(name, "is not installed", package == kPackages.end() ? "" : "apt-get install " + package->second);
}

int run_program(const std::vector<std::string>& command, const std::filesystem::path& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t process = -1;
  const int failed = ::posix_spawnp(&process, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw Error(command[0], std::strerror(failed), "");
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace thimble
