#include "io/gzip_source.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kqd/core/error.hpp"
#include "kqd/io/read.hpp"
#include "support/scratch_folder.hpp"
#include "unit/io/compress.hpp"

namespace kqd {
namespace {

using test::gzip;

std::string inflate(const std::string& bytes) {
  GzipSource source(std::make_unique<MemorySource>("x.gz", bytes));
  return read_all(source);
}

std::string refusal_of_gzip(const std::string& bytes) {
  try {
    static_cast<void>(inflate(bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::string digits(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; text.size() < count; ++i) text += std::to_string(i * i) + ",";
  text.resize(count);
  return text;
}

TEST(GzipSource, gives_back_what_was_compressed_at_every_size) {
  for (const std::size_t size : {0U, 1U, 1000U, 131072U, 3000000U}) {
    EXPECT_EQ(inflate(gzip(digits(size))), digits(size)) << size;
  }
}

TEST(GzipSource, reads_members_one_after_another_and_the_zeros_behind_them) {
  EXPECT_EQ(inflate(gzip("one,") + gzip("") + gzip("two") + std::string(1000, '\0')), "one,two");
}

TEST(GzipSource, does_not_depend_on_how_much_is_asked_for_at_once) {
  const std::string bytes = gzip(digits(1000)) + gzip("end");
  GzipSource source(std::make_unique<MemorySource>("x.gz", bytes));
  std::string all;
  char c = 0;
  while (source.read({&c, 1}) == 1) all += c;
  EXPECT_EQ(all, digits(1000) + "end");
}

// Every prefix of the file, from the first byte to the last but one.
TEST(GzipSource, refuses_a_file_cut_anywhere) {
  const std::string bytes = gzip(digits(200));
  for (std::size_t size = 2; size < bytes.size(); ++size) {
    EXPECT_EQ(refusal_of_gzip(bytes.substr(0, size)),
              "x.gz: ends within its gzip data, expected the whole file (was it cut off?)")
        << size;
  }
}

TEST(GzipSource, refuses_what_is_no_gzip_file) {
  EXPECT_EQ(refusal_of_gzip(""), "x.gz: the file is empty, expected gzip data");
  EXPECT_EQ(refusal_of_gzip("1,2\n"),
            "x.gz: does not start like gzip data. If it is not compressed, drop .gz from its name");
  EXPECT_EQ(refusal_of_gzip(gzip("1,2\n") + "more"),
            "x.gz: other bytes follow the gzip data at byte 25, expected the end of the file");
}

// A flipped bit shows in the codes, the checksum or the length, or else is one of the header's that mean nothing.
TEST(GzipSource, never_gives_other_bytes_when_one_is_flipped) {
  const std::string text = digits(300);
  const std::string good = gzip(text);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int bit : {1, 16, 128}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ bit);
      try {
        EXPECT_EQ(inflate(bad), text) << i;
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find("x.gz: "), 0U);
      }
    }
  }
}

TEST(GzipSource, serves_every_format_that_is_read_in_one_pass) {
  const test::ScratchFolder folder;
  const std::string npy = test::npy_file("<f8", "(2, 1)", test::f8(1, 2));
  for (const auto& [name, bytes] : {std::pair<std::string, std::string>{"x.csv.gz", "1\n2\n"},
                                    {"x.TSV.GZ", "1\n2\n"},
                                    {"x.npy.gz", npy},
                                    {"x-idx1-ubyte.gz", std::string("\0\0\x08\x01\0\0\0\x02\x01\x02", 10)}}) {
    const Sample sample = read_sample(folder.write(name, gzip(bytes)));
    EXPECT_EQ(sample.points(0, 0), 1.0) << name;
    EXPECT_EQ(sample.points(1, 0), 2.0) << name;
  }
}

}  // namespace
}  // namespace kqd
