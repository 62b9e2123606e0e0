#include "io/zip_archive.hpp"

#include <zlib.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/fail.hpp"
#include "io/inflater.hpp"

namespace kqd {
namespace {

// Layout of the format: PKWARE, APPNOTE.TXT, sections 4.3.7 (member), 4.3.12 (directory), 4.3.14 to 4.3.16 (its end).
constexpr std::string_view kMemberMark = "PK\x03\x04";
constexpr std::string_view kEntryMark = "PK\x01\x02";
constexpr std::string_view kEndMark = "PK\x05\x06";
constexpr std::string_view kEnd64Mark = "PK\x06\x06";
constexpr std::string_view kLocator64Mark = "PK\x06\x07";
constexpr std::size_t kMemberBytes = 30;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kLongestComment = 65535;
constexpr std::uint32_t kSee64 = 0xffffffffU;  // means that the number is kept in 64 bits elsewhere
constexpr std::uint64_t kLargestDirectory = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMostGain = 1032;  // deflate spends at least one bit on 129 bytes
constexpr std::size_t kBufferBytes = std::size_t{1} << 17U;

std::uint64_t number_at(std::string_view bytes, std::size_t place, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(bytes[place + i]);
  return value;
}

// The record that ends an archive: the last of its marks whose comment reaches the end of the file.
std::string_view find_end_record(std::string_view tail) {
  for (auto at = tail.rfind(kEndMark); at != std::string_view::npos; at = at == 0 ? at : tail.rfind(kEndMark, at - 1)) {
    const std::string_view record = tail.substr(at);
    if (record.size() >= kEndBytes && kEndBytes + number_at(record, 20, 2) == record.size()) return record;
    if (at == 0) break;
  }
  return {};
}

// The sizes of an entry that do not fit 32 bits are in an extra field of kind 1, in this order, those only.
void read_extra_sizes(std::string_view extra, std::initializer_list<std::uint64_t*> numbers) {
  while (extra.size() >= 4) {
    const std::uint64_t kind = number_at(extra, 0, 2);
    const std::size_t length = std::min<std::size_t>(number_at(extra, 2, 2), extra.size() - 4);
    std::string_view content = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (kind != 1) continue;
    for (std::uint64_t* number : numbers) {
      if (*number != kSee64 || content.size() < 8) continue;
      *number = number_at(content, 0, 8);
      content.remove_prefix(8);
    }
  }
}

ZipMember read_entry(std::string_view entry, std::size_t name_bytes, std::size_t extra_bytes) {
  ZipMember member{.name = std::string(entry.substr(kEntryBytes, name_bytes)),
                   .method = static_cast<unsigned>(number_at(entry, 10, 2)),
                   .encrypted = (number_at(entry, 8, 2) & 1U) != 0,
                   .checksum = static_cast<std::uint32_t>(number_at(entry, 16, 4)),
                   .compressed_bytes = number_at(entry, 20, 4),
                   .bytes = number_at(entry, 24, 4),
                   .header_place = number_at(entry, 42, 4)};
  read_extra_sizes(entry.substr(kEntryBytes + name_bytes, extra_bytes),
                   {&member.bytes, &member.compressed_bytes, &member.header_place});
  return member;
}

// The inflated bytes of a member, as many as the directory promised, and their checksum.
class MemberSource final : public ByteSource {
 public:
  MemberSource(std::string name, const FileSource& file, const ZipMember& member, std::uint64_t place)
      : ByteSource(std::move(name)),
        file_(file),
        member_(member),
        place_(place),
        compressed_left_(member.compressed_bytes),
        left_(member.bytes) {
    if (member.method != 0) {
      inflater_.emplace(Inflater::Format::raw);
      buffer_.resize(kBufferBytes);
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return member_.bytes; }

  [[nodiscard]] std::size_t read(std::span<char> into) override {
    into = into.first(std::min<std::uint64_t>(into.size(), left_));
    if (into.empty()) return 0;
    if (inflater_) {
      inflate_into(into);
    } else {
      take(into);
    }
    left_ -= into.size();
    checksum_ = crc32_z(checksum_, reinterpret_cast<const Bytef*>(into.data()), into.size());
    if (left_ == 0 && checksum_ != member_.checksum) {
      fail_at(ErrorCode::unreadable_input, name(), "is damaged, its checksum is wrong", "", "Make the file again");
    }
    return into.size();
  }

 private:
  // The next bytes of the archive; open() made sure that they are there.
  void take(std::span<char> into) {
    if (file_.read_at(place_, into) < into.size()) {
      fail_at(ErrorCode::unreadable_input, name(), "became shorter while it was read");
    }
    place_ += into.size();
    compressed_left_ -= into.size();
  }

  void inflate_into(std::span<char> room) {
    while (!room.empty()) {
      if (pending_.empty() && compressed_left_ > 0) {
        const auto piece = std::span(buffer_).first(std::min<std::uint64_t>(buffer_.size(), compressed_left_));
        take(piece);
        pending_ = piece;
      }
      const std::size_t before = room.size() + pending_.size();
      const auto status = inflater_->run(pending_, room);
      const bool stuck = room.size() + pending_.size() == before && compressed_left_ == 0;
      if (status == Inflater::Status::damaged || (!room.empty() && (status == Inflater::Status::ended || stuck))) {
        fail_at(ErrorCode::unreadable_input, name(),
                fmt::format("is damaged, its data do not inflate to the {} bytes the archive promises", member_.bytes));
      }
    }
  }

  const FileSource& file_;
  ZipMember member_;
  std::uint64_t place_;
  std::uint64_t compressed_left_;
  std::uint64_t left_;
  uLong checksum_ = 0;
  std::optional<Inflater> inflater_;
  std::vector<char> buffer_;
  std::span<const char> pending_;
};

}  // namespace

ZipArchive::ZipArchive(const std::string& path) : file_(path), size_(file_.size().value_or(0)) {
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(size_, kEndBytes + kLongestComment);
  const std::string tail = bytes_at(size_ - tail_bytes, tail_bytes);
  const std::string_view end = find_end_record(tail);
  if (end.empty()) fail_damaged("the record at its end is missing");
  const std::string end64 = find_end64_record(size_ - end.size());
  if (end64.empty()) {
    read_directory(number_at(end, 16, 4), number_at(end, 12, 4));
  } else {
    read_directory(number_at(end64, 48, 8), number_at(end64, 40, 8));
  }
}

// The record with 64-bit numbers, found by a locator in front of the record that ends the archive; empty: none.
std::string ZipArchive::find_end64_record(std::uint64_t end_place) const {
  if (end_place < kLocator64Bytes) return {};
  const std::string locator = bytes_at(end_place - kLocator64Bytes, kLocator64Bytes);
  if (!locator.starts_with(kLocator64Mark)) return {};
  std::string end64 = bytes_at(number_at(locator, 8, 8), kEnd64Bytes);
  if (!end64.starts_with(kEnd64Mark)) fail_damaged("the 64-bit record at its end is missing");
  return end64;
}

void ZipArchive::read_directory(std::uint64_t place, std::uint64_t bytes) {
  if (bytes > kLargestDirectory) fail_damaged(fmt::format("its directory claims {} bytes", bytes));
  const std::string directory = bytes_at(place, bytes);
  for (std::string_view left = directory; !left.empty();) {
    if (left.size() < kEntryBytes || !left.starts_with(kEntryMark)) fail_damaged("its directory is none");
    const std::size_t name_bytes = number_at(left, 28, 2);
    const std::size_t extra_bytes = number_at(left, 30, 2);
    const std::size_t entry_bytes = kEntryBytes + name_bytes + extra_bytes + number_at(left, 32, 2);
    if (entry_bytes > left.size()) fail_damaged("its directory is cut off");
    members_.push_back(read_entry(left, name_bytes, extra_bytes));
    left.remove_prefix(entry_bytes);
  }
}

std::string ZipArchive::bytes_at(std::uint64_t place, std::uint64_t count) const {
  if (place > size_ || count > size_ - place) fail_damaged("a part of it is beyond its end");
  std::string bytes(count, '\0');
  if (file_.read_at(place, bytes) < count) fail_damaged("it became shorter while it was read");
  return bytes;
}

// Where the data of a member begin: its own header repeats the directory's entry and has a length of its own.
std::uint64_t ZipArchive::find_data(const ZipMember& member) const {
  const std::string header = bytes_at(member.header_place, kMemberBytes);
  if (!header.starts_with(kMemberMark)) fail_damaged("a member is not where its directory says");
  return member.header_place + kMemberBytes + number_at(header, 26, 2) + number_at(header, 28, 2);
}

std::unique_ptr<ByteSource> ZipArchive::open(const ZipMember& member, std::string name) const {
  if (member.encrypted) {
    fail_at(ErrorCode::unreadable_input, name, "is encrypted", "an archive without a password");
  }
  if (member.method != 0 && member.method != 8) {
    fail_at(ErrorCode::unreadable_input, name, fmt::format("is compressed by method {}", member.method),
            "stored or deflated data");
  }
  const std::uint64_t place = find_data(member);
  if (place > size_ || member.compressed_bytes > size_ - place) fail_damaged("a member reaches beyond its end");
  const std::uint64_t most = member.method == 0 ? member.compressed_bytes : member.compressed_bytes * kMostGain;
  if (member.bytes > most) {
    fail_at(ErrorCode::unreadable_input, name,
            fmt::format("claims {} bytes, more than its {} compressed bytes can hold", member.bytes,
                        member.compressed_bytes));
  }
  return std::make_unique<MemberSource>(std::move(name), file_, member, place);
}

void ZipArchive::fail_damaged(std::string_view reason) const {
  fail_at(ErrorCode::unreadable_input, name(), fmt::format("is not a zip archive, or a damaged one: {}", reason));
}

}  // namespace kqd
