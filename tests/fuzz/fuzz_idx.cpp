#include "fuzz.hpp"
#include "io/idx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kqd;
  const std::string_view bytes = fuzz::text_of(data, size);
  fuzz::expect_table_or_refusal([&] {
    MemorySource source("x.idx", bytes);
    return read_idx(source);
  });
  fuzz::expect_table_or_refusal([&] {
    fuzz::PipeSource source(bytes);
    return read_idx(source);
  });
  return 0;
}
