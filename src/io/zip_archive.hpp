#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.hpp"

namespace kqd {

/// One file within a zip archive, as the archive's directory describes it.
struct ZipMember {
  std::string name;
  unsigned method = 0;  ///< 0: stored, 8: deflated
  bool encrypted = false;
  std::uint32_t checksum = 0;  ///< CRC-32 of the bytes
  std::uint64_t compressed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t header_place = 0;  ///< position of the member's own header in the file
};

/// A zip archive, with or without the 64-bit extension, read in any order. Nothing the directory says is believed
/// before it is checked against the size of the file: places, sizes and the most that deflate can gain.
class ZipArchive {
 public:
  /// Throws Error{unreadable_input} for what is not a zip archive, or a damaged one.
  explicit ZipArchive(const std::string& path);

  [[nodiscard]] const std::string& name() const { return file_.name(); }
  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }

  /// The bytes of a member, whose size is known; with the last of them the checksum is compared.
  /// `name` starts messages about them. The archive must outlive the source.
  /// Throws Error{unreadable_input} for a member that is encrypted, compressed in another way, or damaged.
  [[nodiscard]] std::unique_ptr<ByteSource> open(const ZipMember& member, std::string name) const;

 private:
  [[nodiscard]] std::string bytes_at(std::uint64_t place, std::uint64_t count) const;
  [[nodiscard]] std::string find_end64_record(std::uint64_t end_place) const;
  void read_directory(std::uint64_t place, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t find_data(const ZipMember& member) const;
  [[noreturn]] void fail_damaged(std::string_view reason) const;

  FileSource file_;
  std::uint64_t size_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace kqd
