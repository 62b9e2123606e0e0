#include "fuzz.hpp"
#include "io/csv.hpp"

// The first byte chooses the options. A small buffer puts its edges where bugs live.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kqd;
  if (size == 0) return 0;
  const unsigned choice = *data;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  constexpr std::string_view kDelimiters = std::string_view("\0,;\t", 4);
  const CsvFormat format{.delimiter = kDelimiters[choice & 3U],
                         .header = static_cast<CsvHeader>((choice >> 2U) % 3),
                         .decimal_comma = (choice & 0x40U) != 0};
  const CsvLimits limits{.buffer_bytes = (choice & 0x80U) != 0 ? std::size_t{64} : std::size_t{1} << 16U};
  fuzz::expect_table_or_refusal([&] {
    MemorySource source("x.csv", text);
    return read_csv(source, format, {.missing = {"gone"}, .dates = (choice & 0x20U) != 0}, limits);
  });
  return 0;
}
