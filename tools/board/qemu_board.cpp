#include "tools/board/qemu_board.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/board/programs.hpp"
#include "tools/files/error.hpp"

namespace thimble {

std::vector<std::string> qemu_command(const BoardInfo& board, const QemuOptions& o) {
  std::vector<std::string> c = board.qemu;
  const auto add = [&](std::initializer_list<std::string> words) { c.insert(c.end(), words); };
  if (o.count_instructions) add({"-icount", "shift=0"});
  add({"-display", "none", "-monitor", "none", "-serial", "stdio"});
  const std::string argument = o.flash.empty() ? "" : ",arg=flash=" + o.flash.string();
  add({"-semihosting-config", "enable=on,target=native" + argument});
  add({"-kernel", o.image.string()});
  return c;
}

QemuBoard::QemuBoard(const BoardInfo& board, const QemuOptions& options) : FdChannel(board.name + " (QEMU)") {
  if (options.flash.string().find(',') != std::string::npos) {
    throw Error(options.flash.string(), "QEMU takes no comma in a path", "give the flash's file another name");
  }
  require_program(board.qemu.at(0));
  start(qemu_command(board, options));
}

void QemuBoard::start(const std::vector<std::string>& command) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw Error(name(), std::strerror(errno), "");
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  process_ = ::fork();
  if (process_ == 0) {
    // However this program ends, the emulator ends with it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A Ctrl-C is for this program, which stops the board first.
    ::setpgid(0, 0);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  const int failed = errno;
  ::close(in[0]);
  ::close(out[1]);
  to_board_ = in[1];
  from_board_ = out[0];
  set_descriptors(from_board_, to_board_);
  if (process_ < 0) throw Error(command[0], std::strerror(failed), "");
}

QemuBoard::~QemuBoard() {
  kill();
  ::close(to_board_);
  ::close(from_board_);
}

int QemuBoard::wait() {
  if (process_ < 0) return 0;
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void QemuBoard::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  wait();
}

std::string QemuBoard::last_words() { return "the emulator has ended with status " + std::to_string(wait()); }

}  // namespace thimble
