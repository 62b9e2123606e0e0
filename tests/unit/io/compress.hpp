#pragma once
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "unit/io/npy_bytes.hpp"

namespace kqd::test {

/// Bytes compressed by zlib; the window says in which format (31: gzip, -15: raw deflate).
inline std::string compressed(std::string_view bytes, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string gzip(std::string_view bytes) {
  return compressed(bytes, 31);
}

/// A member of a zip archive, and false claims that its headers may make.
struct ZipPart {
  std::string name;
  std::string content;
  bool deflated = false;
  bool wide = false;  ///< sizes in the 64-bit extra field
  std::uint32_t checksum_error = 0;
  std::uint64_t claimed_bytes = 0;  ///< 0: the truth
  unsigned method = 0;              ///< 0: as `deflated` says
  unsigned flags = 0;
};

/// A zip archive, written field by field after APPNOTE.TXT.
inline std::string zip(const std::vector<ZipPart>& parts) {
  std::string bytes;
  std::string directory;
  for (const ZipPart& part : parts) {
    const std::string data = part.deflated ? compressed(part.content, -15) : part.content;
    const std::uint64_t checksum =
        crc32_z(0, reinterpret_cast<const Bytef*>(part.content.data()), part.content.size()) ^ part.checksum_error;
    const std::uint64_t size = part.claimed_bytes != 0 ? part.claimed_bytes : part.content.size();
    const std::uint64_t method = part.method != 0 ? part.method : (part.deflated ? 8 : 0);
    const std::string extra = part.wide ? little_endian(1, 2) + little_endian(24, 2) + little_endian(size, 8) +
                                              little_endian(data.size(), 8) + little_endian(bytes.size(), 8)
                                        : "";
    const auto field = [&](std::uint64_t value) { return little_endian(part.wide ? 0xffffffffU : value, 4); };
    const std::string common = little_endian(20, 2) + little_endian(part.flags, 2) + little_endian(method, 2) +
                               little_endian(0, 4) + little_endian(checksum, 4) + field(data.size()) + field(size) +
                               little_endian(part.name.size(), 2) + little_endian(extra.size(), 2);
    // No comment, disk 0, no attributes.
    directory.append("PK\x01\x02").append(little_endian(20, 2)).append(common).append(10, '\0');
    directory.append(field(bytes.size())).append(part.name).append(extra);
    bytes.append("PK\x03\x04").append(common).append(part.name).append(extra).append(data);
  }
  const std::uint64_t place = bytes.size();
  bytes += directory;
  const bool wide = !parts.empty() && parts.front().wide;
  const std::uint64_t end64 = bytes.size();
  if (wide) {
    bytes += "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) + little_endian(0, 4) +
             little_endian(0, 4) + little_endian(parts.size(), 8) + little_endian(parts.size(), 8) +
             little_endian(directory.size(), 8) + little_endian(place, 8);
    bytes += "PK\x06\x07" + little_endian(0, 4) + little_endian(end64, 8) + little_endian(1, 4);
  }
  bytes += "PK\x05\x06" + little_endian(0, 4) + little_endian(parts.size(), 2) + little_endian(parts.size(), 2) +
           little_endian(wide ? 0xffffffffU : directory.size(), 4) + little_endian(wide ? 0xffffffffU : place, 4) +
           little_endian(0, 2);
  return bytes;
}

}  // namespace kqd::test
