#include "fuzz.hpp"
#include "io/gzip_source.hpp"
#include "io/npy.hpp"

// As a file, as a pipe and as what gzip data stand for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kqd;
  const std::string_view bytes = fuzz::text_of(data, size);
  fuzz::expect_table_or_refusal([&] {
    MemorySource source("x.npy", bytes);
    return read_npy(source);
  });
  fuzz::expect_table_or_refusal([&] {
    fuzz::PipeSource source(bytes);
    return read_npy(source);
  });
  if (!bytes.starts_with(kGzipMagic)) return 0;
  fuzz::expect_table_or_refusal([&] {
    GzipSource source(std::make_unique<MemorySource>("x.npy.gz", bytes));
    return read_npy(source);
  });
  return 0;
}
