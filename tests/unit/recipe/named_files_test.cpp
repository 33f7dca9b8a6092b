#include "recipe/named_files.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe/recipe_file.hpp"
#include "support/temp_folder.hpp"

namespace xtts::recipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChannelsFile : public ::testing::Test {
 protected:
  Result<ChannelNumbers> read(const std::string& text) {
    folder_.write("norms.txt", text);
    return read_channels_file(Env::real(), folder_.path(), "norms.txt");
  }
  testing::TempFolder folder_;
};

TEST_F(ChannelsFile, HoldsScalesOrOffsetsAndScales) {
  const auto scales = read("# of XTTS\n2.5\n\n 3e-1\r\n");
  ASSERT_TRUE(scales.ok()) << scales.status().message();
  EXPECT_THAT(scales->scales, ElementsAre(2.5, 0.3));
  EXPECT_THAT(scales->offsets, IsEmpty());
  const auto both = read("-1 2.5\n0\t3");
  ASSERT_TRUE(both.ok());
  EXPECT_THAT(both->offsets, ElementsAre(-1, 0));
  EXPECT_THAT(both->scales, ElementsAre(2.5, 3));
}

TEST_F(ChannelsFile, NamesTheLineThatIsNone) {
  for (const char* text : {"1\n2 3\n", "1 2\n3\n", "1\nx\n", "1\n1 2 3\n", "1\nnan\n"}) {
    const auto refused = read(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.status().message(), HasSubstr("norms.txt:2: '")) << text;
  }
  EXPECT_EQ(read_channels_file(Env::real(), folder_.path(), "none.txt").status().code(),
            StatusCode::kNotFound);
}

TEST_F(ChannelsFile, MayHaveAMarkAndLinesOfAnySystem) {
  for (const char* text : {"\xEF\xBB\xBF"
                           "2\n4\n",
                           "2\r\n4\r\n", "2\r4\r"}) {
    const auto numbers = read(text);
    ASSERT_TRUE(numbers.ok()) << numbers.status().message();
    EXPECT_THAT(numbers->scales, ElementsAre(2, 4));
  }
}

TEST_F(ChannelsFile, ItsNumbersEnterTheRecipe) {
  folder_.write("norms.txt", "2\n4\n");
  auto recipe = parse(Env::real(),
                      "features:\n  mel:\n    n_mels: 2\n  normalize:\n    method: channels\n"
                      "    channels_file: norms.txt\n",
                      "my.yaml", folder_.path());
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_THAT(recipe->features->normalize.channel_scales, ElementsAre(2, 4));
  EXPECT_THAT(to_yaml(*recipe), HasSubstr("channel_scales: [2, 4]"));
}

class VocabularyFile : public ::testing::Test {
 protected:
  Result<std::string> read(const std::string& text) {
    folder_.write("letters.txt", text);
    return read_vocabulary_file(Env::real(), folder_.path(), "letters.txt");
  }
  testing::TempFolder folder_;
};

TEST_F(VocabularyFile, MayHaveAMarkAndLinesOfAnySystem) {
  for (const char* text : {"\xEF\xBB\xBF"
                           "a\n \nb\n",
                           "a\r\n \r\nb\r\n", "a\r \rb\r", "a b\r\n"}) {
    const auto letters = read(text);
    ASSERT_TRUE(letters.ok()) << letters.status().message();
    EXPECT_EQ(*letters, "a b");
  }
}

TEST_F(VocabularyFile, NamesWhatIsWrong) {
  EXPECT_THAT(read("a\nb\na\n").status().message(), HasSubstr("letters.txt: 'a' is given twice"));
  EXPECT_THAT(read("a\n\nb\n").status().message(), HasSubstr("letters.txt: line 2 is empty"));
  EXPECT_THAT(read("a\n\xFF\n").status().message(), HasSubstr("letters.txt:2: not UTF-8"));
}

}  // namespace
}  // namespace xtts::recipe
