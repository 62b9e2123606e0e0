#include "io/idx.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "kqd/core/error.hpp"

namespace kqd {
namespace {

std::string big_endian(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = count; i-- > 0;) bytes += static_cast<char>((value >> (8 * i)) & 0xffU);
  return bytes;
}

std::string idx(unsigned char type, const std::vector<std::uint64_t>& shape, const std::string& data) {
  std::string bytes = std::string(2, '\0') + static_cast<char>(type) + static_cast<char>(shape.size());
  for (const auto size : shape) bytes += big_endian(size, 4);
  return bytes + data;
}

struct Content {
  std::size_t rows = 0;
  std::vector<double> values;
};

Content read(const std::string& bytes) {
  MemorySource source("x.idx", bytes);
  Table table = read_idx(source);
  Content content{table.cells.rows(), {}};
  table.cells.drain([&](std::size_t, MatrixView<const double> block) {
    content.values.insert(content.values.end(), block.data(), block.data() + block.rows() * block.cols());
  });
  return content;
}

std::string refusal_of_idx(const std::string& bytes) {
  try {
    static_cast<void>(read(bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ReadIdx, lays_images_flat) {
  const Content content =
      read(idx(0x08, {2, 2, 3}, std::string("\x00\x01\x02\x03\x04\xff\x06\x07\x08\x09\x0a\x0b", 12)));
  EXPECT_EQ(content.rows, 2U);
  EXPECT_EQ(content.values, (std::vector<double>{0, 1, 2, 3, 4, 255, 6, 7, 8, 9, 10, 11}));
}

TEST(ReadIdx, reads_every_type_in_big_endian_order) {
  using Values = std::vector<double>;
  EXPECT_EQ(read(idx(0x09, {1}, "\xfe")).values, Values{-2});
  EXPECT_EQ(read(idx(0x0b, {1}, big_endian(0xfffe, 2))).values, Values{-2});
  EXPECT_EQ(read(idx(0x0c, {2}, big_endian(70000, 4) + big_endian(0xfffffffe, 4))).values, (Values{70000, -2}));
  EXPECT_EQ(read(idx(0x0d, {1}, big_endian(std::bit_cast<std::uint32_t>(1.5F), 4))).values, Values{1.5});
  EXPECT_EQ(read(idx(0x0e, {1}, big_endian(std::bit_cast<std::uint64_t>(0.1), 8))).values, Values{0.1});
}

TEST(ReadIdx, refuses_what_is_not_whole) {
  EXPECT_EQ(refusal_of_idx(""), "x.idx: the file is empty, expected an idx file");
  EXPECT_EQ(refusal_of_idx(std::string("\0\0", 2)), "x.idx: ends within its first bytes, expected a whole idx file");
  EXPECT_EQ(refusal_of_idx(std::string("\0\0\x08\x02\0\0\0\x01", 8)),
            "x.idx: ends within its sizes, expected a whole idx file");
  EXPECT_EQ(refusal_of_idx(idx(0x0a, {1}, "1")),
            "x.idx: does not start like an idx file (two zero bytes, then a type from 0x08 to 0x0e), expected one in "
            "the format of MNIST");
  EXPECT_EQ(refusal_of_idx(idx(0x08, {2, 2}, "123")),
            "x.idx: has 3 bytes of data, expected 4 for shape (2, 2) of type \"ubyte\"");
  EXPECT_EQ(refusal_of_idx(idx(0x08, {2, 2}, "12345")),
            "x.idx: has 5 bytes of data, expected 4 for shape (2, 2) of type \"ubyte\"");
  EXPECT_EQ(refusal_of_idx(idx(0x08, {0, 2}, "")), "x.idx: has shape (0, 2), expected at least one row and one column");
  EXPECT_EQ(refusal_of_idx(idx(0x08, {}, "1")), "x.idx: holds a single number of shape (), expected rows");
  EXPECT_EQ(refusal_of_idx(idx(0x0e, {0xffffffff, 0xffffffff, 0xffffffff}, "1")),
            "x.idx: has shape (4294967295, 4294967295, 4294967295), more values than memory can address");
}

TEST(IdxNames, are_those_of_mnist_and_the_suffix) {
  for (const char* name : {"a.idx", "A.IDX", "train-images-idx3-ubyte", "t10k-labels.idx1-ubyte", "x-idx2-double"}) {
    EXPECT_TRUE(is_named_like_idx(name)) << name;
  }
  for (const char* name : {"", "idx", "x-ubyte", "x-idx-ubyte", "idx3-ubyt", "x.idx.csv"}) {
    EXPECT_FALSE(is_named_like_idx(name)) << name;
  }
}

}  // namespace
}  // namespace kqd
