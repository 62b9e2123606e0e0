#include "io/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

[[noreturn]] void fail_to_write(const std::filesystem::path& path, const std::error_code& reason) {
  fail(ErrorCode::unwritable_output, "cannot write {}: {}", printable(path.string()), reason.message());
}

[[noreturn]] void fail_to_write(const std::filesystem::path& path, int error_number) {
  fail_to_write(path, std::error_code(error_number, std::generic_category()));
}

bool is_null_device(const std::filesystem::path& path) {
  return path == "/dev/null";
}

// A rename would replace a device or a pipe by a file.
void refuse_special_file(const std::filesystem::path& path) {
  std::error_code error;  // the opening that follows reports what cannot be read here
  const auto status = std::filesystem::status(path, error);
  if (error == std::errc::too_many_symbolic_link_levels) fail_to_write(path, error);
  if (std::filesystem::is_directory(status)) fail_to_write(path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail(ErrorCode::unwritable_output, "cannot write {}: it is not a regular file", printable(path.string()));
  }
}

// The path to write to: the target of a link, or of several, also when nothing is there yet.
std::filesystem::path target_of(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // more are a circle, which opening the file reports
  std::error_code no_link;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, no_link);
    if (no_link) break;
    path = path.parent_path() / next;
  }
  return path;
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), target_(target_of(path_)) {
  if (is_null_device(path_)) {
    file_.reset(std::fopen(path_.c_str(), "wb"));
    if (!file_) fail_to_write(path_, errno);
    return;
  }
  refuse_special_file(path_);
  open_partial();
  keep_mode();
}

// A file that is written again stays as open to others as it was.
void OutputFile::keep_mode() {
  struct stat status {};
  if (::stat(target_.c_str(), &status) == 0) ::fchmod(::fileno(file_.get()), status.st_mode & 07777U);
}

// A name of constant length, so that any name the folder takes can be written; "x" never opens a file of someone else.
void OutputFile::open_partial() {
  for (unsigned attempt = 0;; ++attempt) {
    const auto candidate = target_.parent_path() / fmt::format(".kqd-{}-{}.partial", ::getpid(), attempt);
    file_.reset(std::fopen(candidate.c_str(), "wbx"));
    if (file_) {
      partial_ = candidate;
      return;
    }
    if (errno != EEXIST) fail_to_write(path_, errno);
  }
}

OutputFile::~OutputFile() {
  file_.reset();
  std::error_code ignored;
  if (!partial_.empty()) std::filesystem::remove(partial_, ignored);
}

// In pieces, so that a stop is not waited for.
void OutputFile::write(std::string_view bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  while (!bytes.empty()) {
    stop_point();
    const std::string_view piece = bytes.substr(0, kPiece);
    if (std::fwrite(piece.data(), 1, piece.size(), file_.get()) != piece.size()) fail_to_write(path_, errno);
    bytes.remove_prefix(piece.size());
  }
}

void OutputFile::commit() {
  if (std::fclose(file_.release()) != 0) fail_to_write(path_, errno);
  if (partial_.empty()) return;  // the null device keeps nothing
  std::error_code error;
  std::filesystem::rename(partial_, target_, error);
  if (error) fail_to_write(path_, error);
  partial_.clear();
}

}  // namespace kqd
