#pragma once
#include <memory>
#include <span>
#include <string>

namespace kqd {

/// zlib's inflate, a piece at a time, for gzip files and members of zip archives.
class Inflater {
 public:
  enum class Format { gzip, raw };
  enum class Status {
    more,     ///< `in` is used up or `out` is full
    ended,    ///< the compressed stream is over; the rest of `in` follows it
    damaged,  ///< no such stream, or its checksum is wrong
  };

  explicit Inflater(Format format);
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  /// Takes bytes from the front of `in` and puts the inflated bytes at the front of `out`; both shrink by that much.
  [[nodiscard]] Status run(std::span<const char>& in, std::span<char>& out);

  /// Ready for another stream.
  void restart();

  /// The message of zlib about damaged bytes.
  [[nodiscard]] std::string reason() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kqd
