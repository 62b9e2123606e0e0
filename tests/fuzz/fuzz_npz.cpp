#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.hpp"
#include "io/npz.hpp"

// Archives are read in any order, so the bytes become a file, in memory.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kqd;
  static const int file = memfd_create("archive", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  for (const char* key : {"", "x"}) {
    fuzz::expect_table_or_refusal([&] { return read_npz({path, key}, {}); });
  }
  return 0;
}
