#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kqd {

/// Bytes in one pass, from any source. Readers of formats depend on this interface, not on files.
class ByteSource {
 public:
  /// `name` starts every message about these bytes.
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// How many bytes there are in all, if that is known before they are read.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const = 0;

  /// Fills `into` as far as the bytes go; returns how many, fewer than asked for at the end only.
  [[nodiscard]] virtual std::size_t read(std::span<char> into) = 0;

  /// The bytes from `place` on as memory, without reading them; what is written there stays here. Nothing where that is
  /// not possible or not allowed.
  [[nodiscard]] virtual std::shared_ptr<void> map(std::uint64_t /*place*/, std::size_t /*bytes*/) const { return {}; }

 private:
  std::string name_;
};

/// A file or a pipe.
class FileSource final : public ByteSource {
 public:
  /// Throws Error{unreadable_input} for a path that is missing, a directory or cannot be opened.
  explicit FileSource(const std::string& path);
  /// The rest of a descriptor that is open already, and stays open.
  FileSource(std::string name, int descriptor);
  ~FileSource() override;

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }
  [[nodiscard]] std::size_t read(std::span<char> into) override;

  /// From now on map() maps the file. Until the memory is given back the file must not become shorter: the system would
  /// end the process by SIGBUS.
  void allow_mapping() { may_map_ = true; }
  [[nodiscard]] std::shared_ptr<void> map(std::uint64_t place, std::size_t bytes) const override;

  /// Bytes of a file from `place` on; read() goes on where it was.
  [[nodiscard]] std::size_t read_at(std::uint64_t place, std::span<char> into) const;

 private:
  void look_at_descriptor();

  int descriptor_ = -1;
  bool owned_ = true;
  bool may_map_ = false;
  std::optional<std::uint64_t> size_;
};

/// Bytes in memory, not owned.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::string_view bytes)
      : ByteSource(std::move(name)), left_(bytes), size_(bytes.size()) {}

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }
  [[nodiscard]] std::size_t read(std::span<char> into) override;

 private:
  std::string_view left_;
  std::size_t size_;
};

/// Another source, whose first bytes may be inspected before they are read.
class PeekedSource final : public ByteSource {
 public:
  static constexpr std::size_t kPeekedBytes = 8;

  explicit PeekedSource(std::unique_ptr<ByteSource> source);

  /// Up to kPeekedBytes, fewer when there are no more.
  [[nodiscard]] std::string_view beginning() const { return beginning_; }

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return source_->size(); }
  [[nodiscard]] std::size_t read(std::span<char> into) override;
  [[nodiscard]] std::shared_ptr<void> map(std::uint64_t place, std::size_t bytes) const override {
    return source_->map(place, bytes);
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string beginning_;
  std::size_t replayed_ = 0;  // bytes of the beginning that were read again
};

/// The bytes that are left, up to `limit` of them.
[[nodiscard]] std::string read_all(ByteSource& source, std::uint64_t limit = UINT64_MAX);

}  // namespace kqd
