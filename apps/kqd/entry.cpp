#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "entry.hpp"
#include "interrupt.hpp"
#include "kqd/core/error.hpp"
#include "kqd/options/options.hpp"
#include "output.hpp"
#include "program.hpp"

namespace kqd::app {
namespace {

enum ExitCode { kUsage = 2, kInternalError = 3, kResourceLimit = 4 };

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::resource_limit:
      return kResourceLimit;
    case ErrorCode::internal:
      return kInternalError;
    case ErrorCode::interrupted:
      return interrupted_exit_code();
    default:
      return kUsage;
  }
}

// Input files may be mapped (ReadOptions::map_files). When another process shortens one meanwhile, the system sends
// this signal, and the process cannot continue.
extern "C" void on_bus_error(int /*signal*/) {
  constexpr std::string_view kSentence =
      "kqd: an input file became shorter while it was in use; run again when no other program writes it\n";
  static std::atomic_flag printed;  // several threads may touch the missing part
  while (printed.test_and_set()) ::pause();
  if (::write(STDERR_FILENO, kSentence.data(), kSentence.size()) < 0) ::_exit(kUsage);
  ::_exit(kUsage);
}

// A closed stream leaves its number to the next file that is opened, and messages would go there. It is replaced by one
// that takes messages, but gives no input and takes no results.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    static_cast<void>(::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY));
  }
}

int run(int argc, char** argv) {
  try {
    return Program().run(argc, argv);
  } catch (const Error& error) {
    note(render(error.parts(), program_names));
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    note("out of memory");
    return kResourceLimit;
  } catch (const std::exception& error) {
    note(fmt::format("internal error (please report it): {}", error.what()));
    return kInternalError;
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  fill_closed_streams();
  std::signal(SIGBUS, on_bus_error);
  std::signal(SIGXFSZ, SIG_IGN);  // print() and write_text() report a file beyond its limit
  std::signal(SIGPIPE, SIG_IGN);  // print() ignores a closed pipe
  catch_interrupts();
  return run(argc, argv);
}

}  // namespace kqd::app
