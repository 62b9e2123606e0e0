#include "kqd/io/write.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "io/output_file.hpp"
#include "kqd/core/error.hpp"
#include "kqd/io/read.hpp"
#include "support/scratch_folder.hpp"

namespace kqd {
namespace {

using test::ScratchFolder;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> files_in(const ScratchFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

template <class Call>
std::string refusal(const ScratchFolder& folder, ErrorCode code, Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return folder.without_folder(error.what());
  }
  return "no error";
}

// Numbers whose shortest texts are short, long, tiny, huge, subnormal and signed.
Sample awkward_sample() {
  using Limits = std::numeric_limits<double>;
  return {Matrix<double>(4, 2,
                         {0.1, -0.0, 1.0 / 3.0, Limits::max(), Limits::denorm_min(), -Limits::min(), std::numbers::pi,
                          123456789012345680.0}),
          {},
          {}};
}

// strtod of the C library rounds correctly and shares no code with the writer.
std::vector<std::uint64_t> bits_of_cells(const std::string& text, char delimiter) {
  std::vector<std::uint64_t> bits;
  std::size_t at = text.find('\n') + 1;
  while (at < text.size()) {
    char* end = nullptr;
    bits.push_back(std::bit_cast<std::uint64_t>(std::strtod(text.c_str() + at, &end)));
    EXPECT_TRUE(*end == delimiter || *end == '\n') << *end;
    at = static_cast<std::size_t>(end - text.c_str()) + 1;
  }
  return bits;
}

std::vector<std::uint64_t> bits_of(std::span<const double> values) {
  std::vector<std::uint64_t> bits;
  for (const double v : values) bits.push_back(std::bit_cast<std::uint64_t>(v));
  return bits;
}

TEST(WriteCsv, shows_names_and_short_numbers) {
  const ScratchFolder folder;
  write_sample(folder.path("a.csv"), {Matrix<double>(2, 2, {1.0, -0.5, 0.1, 1e300}), {}, {}});
  EXPECT_EQ(bytes_of(folder.path("a.csv")), "x1,x2\n1,-0.5\n0.1,1e+300\n");
  write_sample(folder.path("b.TSV"), {Matrix<double>(1, 2, {1.0, 2.0}), {}, {"age", "income, net"}});
  EXPECT_EQ(bytes_of(folder.path("b.TSV")), "age\tincome, net\n1\t2\n");
}

TEST(WriteCsv, numbers_read_back_bit_for_bit) {
  const ScratchFolder folder;
  const Sample sample = awkward_sample();
  write_sample(folder.path("a.csv"), sample);
  EXPECT_EQ(bits_of_cells(bytes_of(folder.path("a.csv")), ','), bits_of(sample.points.values()));
  write_sample(folder.path("a.tsv"), sample);
  EXPECT_EQ(bits_of_cells(bytes_of(folder.path("a.tsv")), '\t'), bits_of(sample.points.values()));
}

TEST(WriteCsv, long_files_are_whole) {
  const ScratchFolder folder;
  Sample sample{Matrix<double>(20'000, 3), {}, {}};
  for (std::size_t i = 0; i < sample.points.values().size(); ++i) {
    sample.points.values()[i] = std::sqrt(static_cast<double>(i));
  }
  write_sample(folder.path("a.csv"), sample);
  EXPECT_EQ(bits_of_cells(bytes_of(folder.path("a.csv")), ','), bits_of(sample.points.values()));
}

TEST(WriteCsv, quotes_names_that_a_reader_would_misread) {
  const ScratchFolder folder;
  write_sample(
      folder.path("a.csv"),
      {Matrix<double>(1, 6, {1, 2, 3, 4, 5, 6}), {}, {"#id", "a,b", "say \"hi\"", "two\nlines", "", " blank"}});
  EXPECT_EQ(bytes_of(folder.path("a.csv")),
            "\"#id\",\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"\",\" blank\"\n1,2,3,4,5,6\n");
}

TEST(WriteNpy, has_the_header_of_version_one_and_the_bytes_of_the_numbers) {
  const ScratchFolder folder;
  const Sample sample = awkward_sample();
  write_sample(folder.path("a.npy"), sample);
  const std::string bytes = bytes_of(folder.path("a.npy"));
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
  const std::size_t header_end = 10 + byte(8) + 256 * byte(9);
  EXPECT_EQ(header_end % 64, 0U);
  const std::string header = bytes.substr(10, header_end - 10);
  const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }";
  EXPECT_EQ(header, dictionary + std::string(header.size() - dictionary.size() - 1, ' ') + "\n");
  ASSERT_EQ(bytes.size(), header_end + 64);
  std::vector<std::uint64_t> words(8, 0);
  for (std::size_t k = 0; k < 64; ++k) words[k / 8] |= std::uint64_t{byte(header_end + k)} << (8 * (k % 8));
  EXPECT_EQ(words, bits_of(sample.points.values()));
}

TEST(WriteSample, is_read_back_equal_by_our_readers) {
  const ScratchFolder folder;
  Sample sample = awkward_sample();
  sample.column_names = {"#id, \"quoted\"", "two\nlines"};
  for (const std::string name : {"a.csv", "a.tsv", "a.npy"}) {
    write_sample(folder.path(name), sample);
    const Sample back = read_sample(folder.path(name));
    EXPECT_EQ(bits_of(back.points.values()), bits_of(sample.points.values())) << name;
    EXPECT_EQ(back.points.rows(), sample.points.rows()) << name;
    const auto kept_names = name == "a.npy" ? std::vector<std::string>{} : sample.column_names;
    EXPECT_EQ(back.column_names, kept_names) << name;
  }
}

TEST(WriteSample, replaces_an_older_file_and_leaves_no_other) {
  const ScratchFolder folder;
  folder.write("a.csv", "old");
  write_sample(folder.path("a.csv"), {Matrix<double>(1, 1, {1.0}), {}, {}});
  EXPECT_EQ(bytes_of(folder.path("a.csv")), "x1\n1\n");
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"a.csv"});
}

TEST(WriteSample, takes_the_longest_names_a_folder_takes) {
  const ScratchFolder folder;
  const std::string name = std::string(251, 'n') + ".csv";
  write_sample(folder.path(name), {Matrix<double>(1, 1, {1.0}), {}, {}});
  EXPECT_EQ(files_in(folder), std::vector<std::string>{name});
}

TEST(WriteSample, refuses_before_anything_is_written) {
  const ScratchFolder folder;
  const Sample one{Matrix<double>(1, 1, {1.0}), {}, {}};
  const auto refused = [&](const std::string& name, const Sample& sample, ErrorCode code) {
    return refusal(folder, code, [&] { write_sample(folder.path(name), sample); });
  };
  EXPECT_EQ(refused("a.txt", one, ErrorCode::unwritable_output),
            "cannot write a.txt: its suffix names no format, expected one of .csv, .tsv, .npy");
  EXPECT_EQ(refused("a.csv", {Matrix<double>(1, 1, {1.0}), {2.0}, {}}, ErrorCode::invalid_option),
            "a.csv: the sample has weights, which this format does not keep");
  EXPECT_EQ(refused("a.csv", {Matrix<double>(1, 2, {1.0, 2.0}), {}, {"one"}}, ErrorCode::shape_mismatch),
            "a.csv: 1 column names for 2 columns, expected one per column");
  EXPECT_EQ(refused("a.npy", {Matrix<double>(0, 2), {}, {}}, ErrorCode::empty_sample),
            "a.npy: no rows, expected at least one");
  EXPECT_EQ(refused("a.csv", {Matrix<double>(2, 1, {1.0, std::nan("")}), {}, {}}, ErrorCode::non_finite_value),
            "a.csv: row 2, column 1 is nan, expected a finite number");
  EXPECT_EQ(files_in(folder), std::vector<std::string>{});
}

TEST(WriteSample, reports_why_a_path_cannot_be_written) {
  const ScratchFolder folder;
  const Sample one{Matrix<double>(1, 1, {1.0}), {}, {}};
  const auto refused = [&](const std::string& name) {
    return refusal(folder, ErrorCode::unwritable_output, [&] { write_sample(folder.path(name), one); });
  };
  EXPECT_EQ(refused("missing/a.csv"), "cannot write missing/a.csv: No such file or directory");
  std::filesystem::create_directory(folder.path("folder.csv"));
  EXPECT_EQ(refused("folder.csv"), "cannot write folder.csv: Is a directory");
  std::filesystem::create_symlink("/dev/null", folder.path("null.csv"));
  EXPECT_EQ(refused("null.csv"), "cannot write null.csv: it is not a regular file");
}

// A limit on the size of files simulates a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(WriteSample, without_room_leaves_the_older_file_and_nothing_else) {
  const ScratchFolder folder;
  for (const std::string name : {"a.csv", "a.npy"}) {
    folder.write(name, "old");
    const Sample large{Matrix<double>(100'000, 1, 0.1), {}, {}};
    const FileSizeLimit limit(10'000);
    EXPECT_EQ(refusal(folder, ErrorCode::unwritable_output, [&] { write_sample(folder.path(name), large); }),
              "cannot write " + name + ": File too large");
    EXPECT_EQ(bytes_of(folder.path(name)), "old");
  }
  EXPECT_EQ(files_in(folder).size(), 2U);
}

// Bytes still in the buffer meet the lack of room at the very end.
TEST(OutputFile, a_failure_at_the_last_moment_is_reported_too) {
  const ScratchFolder folder;
  {
    OutputFile file(folder.path("a.csv"));
    file.write("some bytes");
    const FileSizeLimit limit(4);
    EXPECT_EQ(refusal(folder, ErrorCode::unwritable_output, [&] { file.commit(); }),
              "cannot write a.csv: File too large");
  }
  EXPECT_EQ(files_in(folder), std::vector<std::string>{});
}

TEST(OutputFile, two_at_once_do_not_meet) {
  const ScratchFolder folder;
  OutputFile first(folder.path("a.csv"));
  OutputFile second(folder.path("a.csv"));
  first.write("first");
  second.write("second");
  second.commit();
  EXPECT_EQ(bytes_of(folder.path("a.csv")), "second");
  first.commit();
  EXPECT_EQ(bytes_of(folder.path("a.csv")), "first");
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"a.csv"});
}

}  // namespace
}  // namespace kqd
