#include "io/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/array.hpp"
#include "io/npy_header.hpp"
#include "kqd/core/error.hpp"
#include "unit/io/npy_bytes.hpp"

namespace kqd {
namespace {

using test::f8;
using test::npy_bytes;
using test::npy_file;
using Values = std::vector<double>;

struct Content {
  std::size_t rows = 0;
  std::size_t cols = 0;
  Values values;
};

Content read(ByteSource& source) {
  Table table = read_npy(source);
  Content content{table.cells.rows(), table.cells.cols(), {}};
  table.cells.drain([&](std::size_t, MatrixView<const double> block) {
    content.values.insert(content.values.end(), block.data(), block.data() + block.rows() * block.cols());
  });
  return content;
}

Content read(std::string_view bytes) {
  MemorySource source("x.npy", bytes);
  return read(source);
}

// Bytes that come without a size, as from a pipe.
class PipeSource final : public ByteSource {
 public:
  explicit PipeSource(std::string_view bytes) : ByteSource("pipe.npy"), bytes_("pipe.npy", bytes) {}
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }
  [[nodiscard]] std::size_t read(std::span<char> into) override { return bytes_.read(into); }

 private:
  MemorySource bytes_;
};

TEST(ReadNpy, reads_rows_of_doubles) {
  const Content content = read(npy_file("<f8", "(2, 3)", f8(1, 2, 3, 4, 5, 6)));
  EXPECT_EQ(content.rows, 2U);
  EXPECT_EQ(content.cols, 3U);
  EXPECT_EQ(content.values, (Values{1, 2, 3, 4, 5, 6}));
}

TEST(ReadNpy, turns_fortran_order_into_rows) {
  const Content content = read(npy_file("<f8", "(2, 3)", f8(1, 4, 2, 5, 3, 6), true));
  EXPECT_EQ(content.values, (Values{1, 2, 3, 4, 5, 6}));
}

TEST(ReadNpy, takes_one_dimension_as_one_column) {
  for (const bool fortran_order : {false, true}) {
    const Content content = read(npy_file("<f8", "(3,)", f8(1, 2, 3), fortran_order));
    EXPECT_EQ(content.rows, 3U);
    EXPECT_EQ(content.cols, 1U);
    EXPECT_EQ(content.values, (Values{1, 2, 3}));
  }
}

// a[i, j, k] = 100 i + 10 j + k, so the flat row i must count 100 i + {0, 1, 10, 11, 20, 21} in either order.
TEST(ReadNpy, lays_further_dimensions_flat_with_the_last_running_fastest) {
  const Values expected = {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};
  EXPECT_EQ(read(npy_file("<f8", "(2, 3, 2)", f8(0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121))).values,
            expected);
  EXPECT_EQ(read(npy_file("<f8", "(2, 3, 2)", f8(0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121), true)).values,
            expected);
}

TEST(ReadNpy, reads_either_byte_order) {
  EXPECT_EQ(read(npy_file("<i2", "(2,)", std::string_view("\x01\x02\xff\xff", 4))).values, (Values{0x0201, -1}));
  EXPECT_EQ(read(npy_file(">i2", "(2,)", std::string_view("\x01\x02\xff\xfe", 4))).values, (Values{0x0102, -2}));
  EXPECT_EQ(read(npy_file(">f4", "(1,)", std::string_view("\x3f\xc0\x00\x00", 4))).values, (Values{1.5}));
}

TEST(ReadNpy, keeps_what_doubles_lack_of_whole_numbers) {
  const std::uint64_t odd = (std::uint64_t{1} << 60U) + 5;
  const std::string numbers = test::little_endian(7, 8) + test::little_endian(odd, 8) +
                              test::little_endian(0U - odd, 8) + test::little_endian(odd - 5, 8);
  for (const bool fortran_order : {false, true}) {
    for (const std::string_view type : {"<i8", "<u8"}) {
      const std::string bytes = npy_file(type, "(2, 2)", numbers, fortran_order);
      MemorySource source("x.npy", bytes);
      const Table table = read_npy(source);
      const Column& odd_column = table.columns[fortran_order ? 0 : 1];
      ASSERT_EQ(odd_column.remainders.size(), 1U);
      EXPECT_EQ(odd_column.remainders[0].row, fortran_order ? 1U : 0U);
      EXPECT_EQ(odd_column.remainders[0].value, 5);
      const Column& negative_column = table.columns[fortran_order ? 1 : 0];
      ASSERT_EQ(negative_column.remainders.size(), 1U);
      EXPECT_EQ(negative_column.remainders[0].row, fortran_order ? 0U : 1U);
      EXPECT_EQ(negative_column.remainders[0].value, -5);
    }
  }
}

TEST(ReadNpy, reads_half_floats_exactly) {
  // 1.0, -2.0, the largest, the smallest normal, the smallest of all [IEEE 754 binary16].
  const std::string_view bytes("\x00\x3c\x00\xc0\xff\x7b\x00\x04\x01\x00", 10);
  EXPECT_EQ(read(npy_file("<f2", "(5,)", bytes)).values, (Values{1, -2, 65504, 0x1p-14, 0x1p-24}));
}

TEST(ReadNpy, any_byte_but_zero_is_true) {
  EXPECT_EQ(read(npy_file("|b1", "(3,)", std::string_view("\x00\x01\x07", 3))).values, (Values{0, 1, 1}));
}

TEST(ReadNpy, rounds_large_integers_to_the_nearest_double) {
  // 2^53 + 1 is half way and goes to the even neighbour; 2^64 - 1 goes up to 2^64.
  EXPECT_EQ(read(npy_file("<u8", "(2,)", test::little_endian((1ULL << 53U) + 1, 8) + std::string(8, '\xff'))).values,
            (Values{0x1p53, 0x1p64}));
}

TEST(ReadNpy, reads_all_three_versions) {
  for (const int version : {1, 2, 3}) {
    const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }\n";
    EXPECT_EQ(read(npy_bytes(version, header, f8(1, 2))).values, (Values{1, 2})) << version;
  }
}

TEST(ReadNpy, reads_a_pipe) {
  const std::string bytes = npy_file("<f8", "(2, 2)", f8(1, 3, 2, 4), true);
  PipeSource source(bytes);
  EXPECT_EQ(read(source).values, (Values{1, 2, 3, 4}));
}

// Would take 8 TB if the header were believed.
TEST(ReadNpy, does_not_take_memory_for_a_claim) {
  const std::string bytes = npy_file("<f8", "(1000000, 1000000)", f8(1));
  PipeSource pipe(bytes);
  EXPECT_THROW(read(pipe), Error);
  EXPECT_THROW(read(bytes), Error);
}

// 700000 x 3 doubles are five blocks of storage and seventeen buffers.
TEST(ReadNpy, crosses_blocks_and_buffers_in_either_order) {
  constexpr std::size_t kRows = 700'000;
  constexpr std::size_t kCols = 3;
  const auto value = [](std::size_t i, std::size_t j) {
    return static_cast<double>(i) + 0.25 * static_cast<double>(j);
  };
  for (const bool fortran_order : {false, true}) {
    std::string data(kRows * kCols * sizeof(double), '\0');
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kCols; ++j) {
        const std::size_t place = fortran_order ? j * kRows + i : i * kCols + j;
        const double v = value(i, j);
        std::memcpy(data.data() + place * sizeof v, &v, sizeof v);
      }
    }
    const Content content = read(npy_file("<f8", "(700000, 3)", data, fortran_order));
    ASSERT_EQ(content.values.size(), kRows * kCols);
    std::size_t different = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kCols; ++j) different += content.values[i * kCols + j] != value(i, j) ? 1U : 0U;
    }
    EXPECT_EQ(different, 0U);
  }
}

TEST(ParseNpyHeader, accepts_any_order_of_keys_either_quote_and_old_integers) {
  const NpyHeader header =
      parse_npy_header("{ \"shape\" : (3L, 4L) , 'fortran_order':True,'descr':\"<f8\"}  \n", "x.npy");
  EXPECT_EQ(header.dtype, "<f8");
  EXPECT_TRUE(header.fortran_order);
  EXPECT_EQ(header.shape, (std::vector<std::uint64_t>{3, 4}));
}

TEST(ParseNpyHeader, writes_shapes_as_python_does) {
  EXPECT_EQ(to_string(std::vector<std::uint64_t>{}), "()");
  EXPECT_EQ(to_string(std::vector<std::uint64_t>{3}), "(3,)");
  EXPECT_EQ(to_string(std::vector<std::uint64_t>{3, 2}), "(3, 2)");
}

}  // namespace
}  // namespace kqd
