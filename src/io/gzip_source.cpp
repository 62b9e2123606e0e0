#include "io/gzip_source.hpp"

#include <algorithm>
#include <utility>

#include "core/fail.hpp"

namespace kqd {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 17U;
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{16} << 20U;
constexpr std::uint64_t kLargestExpansion = 250;  // tables of numbers rarely reach 20

}  // namespace

GzipSource::GzipSource(std::unique_ptr<ByteSource> compressed)
    : ByteSource(compressed->name()),
      compressed_(std::move(compressed)),
      inflater_(Inflater::Format::gzip),
      buffer_(kBufferBytes) {
  if (!refill()) fail_at(ErrorCode::empty_sample, name(), "the file is empty", "gzip data");
  if (!std::string_view(pending_.data(), pending_.size()).starts_with(kGzipMagic)) {
    fail_at(ErrorCode::unreadable_input, name(), "does not start like gzip data", "",
            "If it is not compressed, drop .gz from its name");
  }
  in_member_ = true;
}

bool GzipSource::refill() {
  const std::size_t count = compressed_->read(buffer_);
  pending_ = std::span(buffer_).first(count);
  bytes_taken_ += count;
  return count > 0;
}

// Between members: the next one, or the end.
void GzipSource::begin_member() {
  for (;;) {
    pending_ = {std::ranges::find_if(pending_, [](char c) { return c != '\0'; }), pending_.end()};
    if (!pending_.empty()) break;
    if (!refill()) {
      ended_ = true;
      return;
    }
  }
  if (pending_.front() != kGzipMagic.front()) {
    fail_at(ErrorCode::unreadable_input, name(),
            fmt::format("other bytes follow the gzip data at byte {}", bytes_taken_ - pending_.size() + 1),
            "the end of the file");
  }
  inflater_.restart();
  in_member_ = true;
}

std::size_t GzipSource::read(std::span<char> into) {
  std::span<char> room = into;
  while (!room.empty() && !ended_) {
    if (!in_member_) {
      begin_member();
      continue;
    }
    if (pending_.empty() && !refill()) {
      fail_at(ErrorCode::unreadable_input, name(), "ends within its gzip data", "the whole file (was it cut off?)");
    }
    const std::size_t room_before = room.size();
    const Inflater::Status status = inflater_.run(pending_, room);
    bytes_given_ += room_before - room.size();
    if (bytes_given_ > kAlwaysAllowed && bytes_given_ / kLargestExpansion > bytes_taken_) {
      fail_at(ErrorCode::resource_limit, name(),
              fmt::format("expands to more than {} times its size, as no table should", kLargestExpansion), "",
              "If it is right, expand it by gunzip first");
    }
    if (status == Inflater::Status::ended) in_member_ = false;
    if (status == Inflater::Status::damaged) {
      fail_at(ErrorCode::unreadable_input, name(),
              fmt::format("the gzip data are damaged near byte {} ({})", bytes_taken_ - pending_.size(),
                          inflater_.reason()),
              "", "Make the file again");
    }
  }
  return into.size() - room.size();
}

}  // namespace kqd
