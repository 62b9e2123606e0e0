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
  if (!refill()) fail(ErrorCode::empty_sample, "{}: the file is empty, expected gzip data", name());
  if (!std::string_view(pending_.data(), pending_.size()).starts_with(kGzipMagic)) {
    fail(ErrorCode::unreadable_input,
         "{}: does not start like gzip data; if it is not compressed, drop .gz from its name", name());
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
    fail(ErrorCode::unreadable_input, "{}: other bytes follow the gzip data at byte {}, expected the end of the file",
         name(), bytes_taken_ - pending_.size() + 1);
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
      fail(ErrorCode::unreadable_input, "{}: ends within its gzip data, expected the whole file (was it cut off?)",
           name());
    }
    const std::size_t room_before = room.size();
    const Inflater::Status status = inflater_.run(pending_, room);
    bytes_given_ += room_before - room.size();
    if (bytes_given_ > kAlwaysAllowed && bytes_given_ / kLargestExpansion > bytes_taken_) {
      fail(ErrorCode::resource_limit,
           "{}: expands to more than {} times its size, as no table should; if it is right, expand it by gunzip first",
           name(), kLargestExpansion);
    }
    if (status == Inflater::Status::ended) in_member_ = false;
    if (status == Inflater::Status::damaged) {
      fail(ErrorCode::unreadable_input, "{}: the gzip data are damaged near byte {} ({}), make the file again", name(),
           bytes_taken_ - pending_.size(), inflater_.reason());
    }
  }
  return into.size() - room.size();
}

}  // namespace kqd
