#include "io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/fail.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

[[noreturn]] void fail_to_read(const std::string& name, int error) {
  fail(ErrorCode::unreadable_input, "{}: cannot be read: {}", name, std::generic_category().message(error));
}

}  // namespace

FileSource::FileSource(const std::string& path) : ByteSource(printable(path)) {
  do {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) {
    if (errno == ENOENT) fail(ErrorCode::unreadable_input, "{}: no such file", name());
    fail_to_read(name(), errno);
  }
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    fail(ErrorCode::unreadable_input, "{}: is a directory, expected a file", name());
  }
  // Files made up by the kernel (/proc) claim 0 bytes and have more.
  if (known && S_ISREG(status.st_mode) && status.st_size > 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

FileSource::~FileSource() {
  ::close(descriptor_);
}

std::size_t FileSource::read(std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::read(descriptor_, into.data() + done, into.size() - done);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      fail_to_read(name(), errno);
    }
  }
  return done;
}

std::size_t MemorySource::read(std::span<char> into) {
  const std::size_t count = left_.copy(into.data(), into.size());
  left_.remove_prefix(count);
  return count;
}

std::string read_all(ByteSource& source) {
  constexpr std::size_t kStep = std::size_t{1} << 20U;
  std::string bytes;
  std::size_t count = 0;
  do {
    const std::size_t before = bytes.size();
    bytes.resize(before + kStep);
    count = source.read(std::span(bytes).subspan(before));
    bytes.resize(before + count);
  } while (count == kStep);
  return bytes;
}

}  // namespace kqd
