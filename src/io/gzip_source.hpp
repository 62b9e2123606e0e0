#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "io/byte_source.hpp"
#include "io/inflater.hpp"

namespace kqd {

/// How every gzip file starts.
inline constexpr std::string_view kGzipMagic = "\x1f\x8b";

/// Inflated gzip data: one or more members one after another, then nothing but zeros (tapes pad with them).
/// Throws Error{unreadable_input} for data that are damaged, cut off or followed by something else, and
/// Error{resource_limit} for data that expand beyond 16 MiB and 250 times their size: a file of some bytes must not
/// fill the memory.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> compressed);

  /// Unknown: the size that a gzip file claims is that of its last member modulo 2^32, and is not checked.
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }
  [[nodiscard]] std::size_t read(std::span<char> into) override;

 private:
  [[nodiscard]] bool refill();
  void begin_member();

  std::unique_ptr<ByteSource> compressed_;
  Inflater inflater_;
  std::vector<char> buffer_;
  std::span<const char> pending_;  // compressed bytes not yet inflated
  std::uint64_t bytes_taken_ = 0;  // from `compressed_`
  std::uint64_t bytes_given_ = 0;
  bool in_member_ = false;
  bool ended_ = false;
};

}  // namespace kqd
