#include <gtest/gtest.h>

#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

const std::vector<std::string> kNames = {"hop_samples", "win_samples", "n_mels", "n_fft", "layout"};

TEST(NearestName, ForgivesALetterAndASwap) {
  EXPECT_EQ(nearest_name("n_mel", kNames), "n_mels");
  EXPECT_EQ(nearest_name("n_msel", kNames), "n_mels");
  EXPECT_EQ(nearest_name("lauoyt", kNames), "layout");
}

TEST(NearestName, KnowsOtherToolsByTheFirstWord) {
  EXPECT_EQ(nearest_name("hop_length", kNames), "hop_samples");
  EXPECT_EQ(nearest_name("win_size", kNames), "win_samples");
}

TEST(NearestName, IsEmptyWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("colour", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'n'), kNames), "");
}

}  // namespace
}  // namespace xtts::recipe
