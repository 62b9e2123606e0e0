#include "io/inflater.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>

namespace kqd {
namespace {

constexpr int kLargestWindow = 15;
constexpr int kGzipHeader = 16;  // added to the window: zlib then reads the header and checks the checksum

uInt chunk_of(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

}  // namespace

struct Inflater::State {
  z_stream stream{};
};

Inflater::Inflater(Format format) : state_(std::make_unique<State>()) {
  const int window = format == Format::gzip ? kLargestWindow + kGzipHeader : -kLargestWindow;
  if (inflateInit2(&state_->stream, window) != Z_OK) throw std::bad_alloc();
}

Inflater::~Inflater() {
  inflateEnd(&state_->stream);
}

Inflater::Status Inflater::run(std::span<const char>& in, std::span<char>& out) {
  z_stream& stream = state_->stream;
  // zlib never writes to its input; the cast is what its interface asks for.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = chunk_of(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = chunk_of(out.size());
  const uInt taken_before = stream.avail_in;
  const uInt room_before = stream.avail_out;
  const int code = inflate(&stream, Z_NO_FLUSH);
  in = in.subspan(taken_before - stream.avail_in);
  out = out.subspan(room_before - stream.avail_out);
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  if (code == Z_STREAM_END) return Status::ended;
  return code == Z_OK || code == Z_BUF_ERROR ? Status::more : Status::damaged;
}

void Inflater::restart() {
  inflateReset(&state_->stream);
}

std::string Inflater::reason() const {
  return state_->stream.msg != nullptr ? state_->stream.msg : "no such stream";
}

}  // namespace kqd
