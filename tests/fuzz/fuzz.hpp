#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/byte_source.hpp"
#include "io/table.hpp"
#include "kqd/core/error.hpp"

namespace kqd::fuzz {

/// Bytes of unknown number, as those of a pipe.
class PipeSource final : public ByteSource {
 public:
  explicit PipeSource(std::string_view bytes) : ByteSource("pipe"), bytes_("pipe", bytes) {}
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }
  [[nodiscard]] std::size_t read(std::span<char> into) override { return bytes_.read(into); }

 private:
  MemorySource bytes_;
};

/// A reader may return a table with rows and columns or throw an Error, whatever the bytes.
template <class Read>
void expect_table_or_refusal(Read read) {
  try {
    Table table = read();
    const bool whole = table.cells.rows() > 0 && table.cells.cols() > 0 && table.columns.size() == table.cells.cols();
    if (!whole) std::abort();
    table.cells.drain([](std::size_t, MatrixView<const double> block) {
      double total = 0.0;
      for (std::size_t i = 0; i < block.rows(); ++i) total += block(i, block.cols() - 1);
      volatile double kept = total;
      static_cast<void>(kept);
    });
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    if (sentence.empty() || sentence.find('\n') != std::string_view::npos) std::abort();
    if (error.code() == ErrorCode::internal) std::abort();
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace kqd::fuzz
