#include "io/row_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "kqd/io/write.hpp"
#include "kqd/two_sample/profile_files.hpp"
#include "support/errors.hpp"
#include "support/scratch_folder.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumRows = 40'000;  // more than a block has

Sample drawn(std::size_t count, std::uint64_t seed) {
  Sample sample;
  sample.points = Matrix<double>(count, 3);
  RandomStream stream(Seed{seed}, Purpose::synthetic_x);
  for (double& v : sample.points.values()) v = stream.normal();
  sample.column_names = {"a", "b", "c"};
  return sample;
}

// All rows of some files as blocks bring them.
std::vector<Matrix<double>> rows_in_blocks(RowFiles& files, ThreadCount threads) {
  files.count_rows(threads);
  std::vector<Matrix<double>> rows;
  for (const RowFiles::File& file : files.files()) rows.emplace_back(*file.num_rows, files.num_columns(), -1.0);
  std::mutex mutex;
  files.read(threads, nullptr, [&](const FileRows& block) {
    const std::scoped_lock lock(mutex);
    for (std::size_t i = 0; i < block.rows.rows(); ++i) {
      std::ranges::copy(block.rows.row(i), rows[block.file].row(block.first_row + i).begin());
    }
  });
  return rows;
}

RowFiles open(const std::vector<std::string>& paths) {
  Warnings notes;
  return std::move(open_row_files({paths}, {}, {}, notes).front());
}

TEST(RowFiles, blocks_have_the_rows_of_the_whole_file) {
  const test::ScratchFolder folder;
  const Sample sample = drawn(kNumRows, 1);
  const std::vector<std::string> paths = {folder.path("a.csv"), folder.path("b.npy"), folder.path("c.tsv")};
  for (const std::string& path : paths) write_sample(path, sample);
  for (const unsigned threads : {1U, 4U}) {
    RowFiles files = open(paths);
    for (const Matrix<double>& rows : rows_in_blocks(files, ThreadCount{threads})) {
      EXPECT_TRUE(std::ranges::equal(rows.values(), sample.points.values()));
    }
  }
}

TEST(RowFiles, a_file_that_changes_between_two_readings_is_refused) {
  const test::ScratchFolder folder;
  const std::string path = folder.path("a.csv");
  write_sample(path, drawn(100, 1));
  RowFiles files = open({path});
  files.count_rows({});
  std::ofstream(path, std::ios::app) << "1,2,3\n";
  test::expect_error(ErrorCode::unreadable_input,
                     path + ": changed while it was read, expected files that stay as they are",
                     [&] { files.read({}, nullptr, [](const FileRows&) {}); });
}

// The profile of files is the one that rows in memory give, counted by the same spec and numbers in any blocks.
TEST(ProfileOfFiles, equals_the_profile_of_the_same_rows_in_memory) {
  const test::ScratchFolder folder;
  const Sample first = drawn(3000, 2);
  const Sample second = drawn(2000, 3);
  write_sample(folder.path("1.csv"), first);
  write_sample(folder.path("2.npy"), second);
  const std::vector<std::string> paths = {folder.path("2.npy"), folder.path("1.csv")};
  const Profile like = make_profile(drawn(1000, 4));
  const FilesProfile made = make_profile_of_files(paths, {}, like);
  const SampleExtent extent = made.profile.samples().front();
  const std::vector<RowSource> sources = made.profile.sources(extent);
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_TRUE(sources[0].name.ends_with("/1.csv") && sources[1].name.ends_with("/2.npy"));
  Profile counted(like.spec());
  for (std::size_t row = 0; row < 2000; row += 700) {
    const std::size_t count = std::min<std::size_t>(700, 2000 - row);
    counted.update(extent, second.points.view().row_range(row, count), 3000 + row);
  }
  counted.update(extent, first.points, 0);
  counted.name_sources(SampleSources(sources));
  EXPECT_EQ(counted.serialize(), made.profile.serialize());
  EXPECT_EQ(Profile::deserialize(made.profile.serialize()).serialize(), made.profile.serialize());
}

}  // namespace
}  // namespace kqd
