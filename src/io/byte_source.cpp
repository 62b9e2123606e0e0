#include "io/byte_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

[[noreturn]] void fail_to_read(const std::string& name, int error) {
  fail_at(ErrorCode::unreadable_input, name, fmt::format("cannot be read: {}", std::generic_category().message(error)));
}

// Calls read_some(place, bytes, done so far) until all is there or nothing more comes.
std::size_t fill(std::span<char> into, const std::string& name,
                 FunctionRef<ssize_t(char*, std::size_t, std::size_t)> read_some) {
  std::size_t done = 0;
  while (done < into.size()) {
    stop_point();
    const ssize_t count = read_some(into.data() + done, into.size() - done, done);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      fail_to_read(name, errno);
    }
  }
  return done;
}

}  // namespace

FileSource::FileSource(const std::string& path) : ByteSource(printable(path)) {
  do {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) {
    if (errno == ENOENT) fail_at(ErrorCode::unreadable_input, name(), "no such file");
    fail_to_read(name(), errno);
  }
  look_at_descriptor();
}

FileSource::FileSource(std::string name, int descriptor)
    : ByteSource(std::move(name)), descriptor_(descriptor), owned_(false) {
  look_at_descriptor();
}

void FileSource::look_at_descriptor() {
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    if (owned_) ::close(descriptor_);
    fail_at(ErrorCode::unreadable_input, name(), "is a directory", "a file");
  }
  // Files made up by the kernel (/proc) claim 0 bytes and have more.
  if (!known || !S_ISREG(status.st_mode) || status.st_size <= 0) return;
  const off_t place = ::lseek(descriptor_, 0, SEEK_CUR);
  if (place >= 0 && place <= status.st_size) size_ = static_cast<std::uint64_t>(status.st_size - place);
}

FileSource::~FileSource() {
  if (owned_) ::close(descriptor_);
}

std::size_t FileSource::read(std::span<char> into) {
  return fill(into, name(),
              [this](char* place, std::size_t bytes, std::size_t) { return ::read(descriptor_, place, bytes); });
}

std::size_t FileSource::read_at(std::uint64_t place, std::span<char> into) const {
  return fill(into, name(), [&](char* to, std::size_t bytes, std::size_t done) {
    return ::pread(descriptor_, to, bytes, static_cast<off_t>(place + done));
  });
}

std::shared_ptr<void> FileSource::map(std::uint64_t place, std::size_t bytes) const {
  if (!may_map_ || !size_ || place > *size_ || bytes > *size_ - place || bytes == 0) return {};
  const std::uint64_t page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t before = place % page_bytes;
  const std::size_t length = before + bytes;
  void* const pages =
      ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor_, static_cast<off_t>(place - before));
  if (pages == MAP_FAILED) return {};  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): a POSIX macro
  ::madvise(pages, length, MADV_WILLNEED);
  const std::shared_ptr<void> mapping(pages, [length](void* p) { ::munmap(p, length); });
  return {mapping, static_cast<char*>(pages) + before};
}

std::size_t MemorySource::read(std::span<char> into) {
  const std::size_t count = left_.copy(into.data(), into.size());
  left_.remove_prefix(count);
  return count;
}

PeekedSource::PeekedSource(std::unique_ptr<ByteSource> source)
    : ByteSource(source->name()), source_(std::move(source)), beginning_(kPeekedBytes, '\0') {
  beginning_.resize(source_->read(beginning_));
}

std::size_t PeekedSource::read(std::span<char> into) {
  const std::size_t count = std::string_view(beginning_).substr(replayed_).copy(into.data(), into.size());
  replayed_ += count;
  return count + source_->read(into.subspan(count));
}

std::string read_all(ByteSource& source, std::uint64_t limit) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 20U;
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    const std::uint64_t wanted = std::min(kStep, limit - before);
    bytes.resize(before + wanted);
    const std::size_t count = source.read(std::span(bytes).subspan(before));
    bytes.resize(before + count);
    if (count < wanted || wanted == 0) return bytes;
  }
}

}  // namespace kqd
