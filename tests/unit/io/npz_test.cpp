#include "io/npz.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/zip_archive.hpp"
#include "kqd/core/error.hpp"
#include "kqd/io/read.hpp"
#include "support/scratch_folder.hpp"
#include "unit/io/compress.hpp"

namespace kqd {
namespace {

using test::f8;
using test::npy_file;
using test::zip;
using test::ZipPart;

const std::string kArray = npy_file("<f8", "(2, 2)", f8(1, 2, 3, 4));

class Npz : public testing::Test {
 protected:
  Sample read(const std::vector<ZipPart>& parts, const std::string& key = "") {
    const std::string path = folder_.write("a.npz", zip(parts));
    return read_sample(key.empty() ? path : path + ":" + key);
  }
  std::string refusal_of_bytes(const std::string& bytes, const std::string& key = "") {
    const std::string path = folder_.write("a.npz", bytes);
    try {
      static_cast<void>(read_sample(key.empty() ? path : path + ":" + key));
    } catch (const Error& error) {
      return folder_.without_folder(error.what());
    }
    return "accepted";
  }
  std::string refusal(const std::vector<ZipPart>& parts, const std::string& key = "") {
    return refusal_of_bytes(zip(parts), key);
  }

 private:
  test::ScratchFolder folder_;
};

std::vector<double> values(const Sample& sample) {
  return {sample.points.values().begin(), sample.points.values().end()};
}

TEST_F(Npz, reads_stored_and_deflated_arrays_with_32_and_64_bit_sizes) {
  for (const bool deflated : {false, true}) {
    for (const bool wide : {false, true}) {
      const ZipPart part{.name = "x.npy", .content = kArray, .deflated = deflated, .wide = wide};
      EXPECT_EQ(values(read({part})), (std::vector<double>{1, 2, 3, 4})) << deflated << wide;
    }
  }
}

TEST_F(Npz, a_key_chooses_among_arrays) {
  const std::vector<ZipPart> parts = {{.name = "notes.txt", .content = "hello"},
                                      {.name = "x.npy", .content = kArray},
                                      {.name = "y.npy", .content = npy_file("<f8", "(1,)", f8(7))}};
  EXPECT_EQ(values(read(parts, "y")), std::vector<double>{7});
  EXPECT_EQ(values(read(parts, "x")).size(), 4U);
  EXPECT_EQ(refusal(parts), "a.npz: holds 2 arrays (x, y). Name one as in a.npz:x");
  EXPECT_EQ(refusal(parts, "z"), "a.npz: holds no array \"z\", expected one of x, y");
  EXPECT_EQ(refusal({{.name = "notes.txt", .content = "hello"}}),
            "a.npz: the archive holds no array, expected one written by numpy.savez");
}

TEST_F(Npz, an_array_whose_suffix_is_in_capitals_is_one) {
  EXPECT_EQ(values(read({{.name = "x.Npy", .content = kArray}})), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(values(read({{.name = "X.NPY", .content = kArray}}, "X")).size(), 4U);
}

TEST_F(Npz, refuses_archives_with_false_claims) {
  EXPECT_EQ(refusal({{.name = "x.npy", .content = kArray, .checksum_error = 1}}),
            "a.npz:x: is damaged, its checksum is wrong. Make the file again");
  EXPECT_EQ(refusal({{.name = "x.npy", .content = kArray, .deflated = true, .claimed_bytes = kArray.size() + 8}}),
            "a.npz:x: has 40 bytes of data, expected 32 for shape (2, 2) of type \"<f8\"");
  const std::string size = std::to_string(kArray.size());
  EXPECT_EQ(refusal({{.name = "x.npy", .content = kArray, .claimed_bytes = 1000000}}),
            "a.npz:x: claims 1000000 bytes, more than its " + size + " compressed bytes can hold");
  EXPECT_EQ(refusal({{.name = "x.npy", .content = kArray, .flags = 1}}),
            "a.npz:x: is encrypted, expected an archive without a password");
  EXPECT_EQ(refusal({{.name = "x.npy", .content = kArray, .method = 12}}),
            "a.npz:x: is compressed by method 12, expected stored or deflated data");
}

TEST_F(Npz, a_claim_that_deflate_cannot_keep_takes_no_memory) {
  const std::string array = npy_file("<f8", "(1000000, 100000)", f8(1));
  EXPECT_EQ(refusal({{.name = "x.npy", .content = array, .deflated = true, .wide = true, .claimed_bytes = 1ULL << 40U}})
                .substr(0, 37),
            "a.npz:x: claims 1099511627776 bytes, ");
}

// A shape that needs less than the member holds ends the reading after the header.
TEST_F(Npz, inflates_no_more_than_the_shape_needs) {
  const std::string bomb = npy_file("<f8", "(2, 2)", std::string(std::size_t{50} << 20U, '\0'));
  EXPECT_EQ(refusal({{.name = "x.npy", .content = bomb, .deflated = true}}),
            "a.npz:x: has 52428800 bytes of data, expected 32 for shape (2, 2) of type \"<f8\"");
}

TEST_F(Npz, refuses_an_archive_cut_anywhere_or_with_any_byte_changed_or_reads_it_as_it_was) {
  const std::string good = zip({{.name = "x.npy", .content = kArray, .deflated = true, .wide = true}});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(refusal_of_bytes(good.substr(0, size)), "accepted") << size;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    const std::string sentence = refusal_of_bytes(bad);
    EXPECT_TRUE(sentence == "accepted" || sentence.starts_with("a.npz")) << sentence;
  }
}

TEST(NpzName, is_cut_at_the_last_suffix_with_a_colon) {
  EXPECT_EQ(parse_npz_name("a.npz:x")->key, "x");
  EXPECT_EQ(parse_npz_name("a.npz:x")->path, "a.npz");
  EXPECT_EQ(parse_npz_name("d.npz:e/a.NPZ:k:l")->path, "d.npz:e/a.NPZ");
  EXPECT_EQ(parse_npz_name("d.npz:e/a.NPZ:k:l")->key, "k:l");
  EXPECT_EQ(parse_npz_name("a.npz")->key, "");
  EXPECT_FALSE(parse_npz_name("a.npy"));
  EXPECT_FALSE(parse_npz_name(""));
}

}  // namespace
}  // namespace kqd
