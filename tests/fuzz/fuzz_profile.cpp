// Profiles: bytes as they are, the same with checksums that fit, and the sum of two that are accepted.
#include <zlib.h>

#include <algorithm>
#include <optional>

#include "fuzz.hpp"
#include "kqd/profile/profile.hpp"

namespace {

using kqd::Error;
using kqd::ErrorCode;
using kqd::Profile;

constexpr std::size_t kHead = 12;     // magic and version
constexpr std::size_t kTrailer = 8;   // "DONE" and a checksum
constexpr std::size_t kSection = 16;  // tag, length and checksum

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void put(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>((value >> (8 * i)) & 0xffU);
}

// Checksums keep random changes from what is behind them.
std::string with_checksums(std::string bytes) {
  if (bytes.size() < kHead + kTrailer) return bytes;
  std::size_t at = kHead;
  while (at + kSection + kTrailer <= bytes.size()) {
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = (length << 8U) | static_cast<unsigned char>(bytes[at + 4 + i]);
    if (length > bytes.size() - at - kSection) break;
    put(bytes, at + 12 + length, checksum(std::string_view(bytes).substr(at + 12, length)));
    at += kSection + length;
  }
  bytes.replace(bytes.size() - kTrailer, 4, "DONE");
  put(bytes, bytes.size() - 4, checksum(std::string_view(bytes).substr(0, bytes.size() - 4)));
  return bytes;
}

void check_refusal(const Error& error) {
  const std::string_view sentence = error.what();
  if (sentence.empty() || sentence.find('\n') != std::string_view::npos) std::abort();
  if (error.code() == ErrorCode::internal) std::abort();
}

// Accepted bytes are written as they were read.
std::optional<Profile> read(const std::string& bytes) {
  try {
    Profile profile = Profile::deserialize(bytes, {.max_bytes = std::size_t{1} << 24U});
    if (profile.serialize() != bytes) std::abort();
    return profile;
  } catch (const Error& error) {
    check_refusal(error);
    return std::nullopt;
  }
}

std::optional<std::string> merged(Profile a, const Profile& b) {
  try {
    a.merge(b);
    const std::string bytes = a.serialize();
    if (Profile::deserialize(bytes).serialize() != bytes) std::abort();
    return bytes;
  } catch (const Error& error) {
    check_refusal(error);
    return std::nullopt;
  }
}

void add_up(const Profile& a, const Profile& b) {
  const std::optional<std::string> sum = merged(a, b);
  if (merged(b, a) != sum) std::abort();
  if (!sum) return;
  const Profile both = Profile::deserialize(*sum);
  Profile left = both;
  left.subtract(b);
  Profile rest = a;
  rest.coarsen(both.rows_per_group() / a.rows_per_group());
  if (left.serialize() != rest.serialize()) std::abort();
  Profile coarse_a = a;
  Profile coarse_b = b;
  Profile coarse = both;
  try {
    for (Profile* profile : {&coarse_a, &coarse_b, &coarse}) profile->coarsen(2);
  } catch (const Error& error) {
    return check_refusal(error);  // too many groups would be one
  }
  if (merged(coarse_a, coarse_b) != coarse.serialize()) std::abort();
}

}  // namespace

// Two profiles, the length of the first one in two bytes before them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = kqd::fuzz::text_of(data, size);
  if (size < 2) return 0;
  const std::size_t length = std::min<std::size_t>(data[0] + 256U * data[1], size - 2);
  const std::string first(text.substr(2, length));
  const std::string second(text.substr(2 + length));
  static_cast<void>(read(first));
  const std::optional<Profile> a = read(with_checksums(first));
  const std::optional<Profile> b = read(with_checksums(second));
  if (a && b) add_up(*a, *b);
  return 0;
}
