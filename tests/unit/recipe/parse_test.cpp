#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"
#include "support/temp_folder.hpp"

namespace xtts::recipe {
namespace {

using formats::Recipe;
using ::testing::HasSubstr;

Result<Recipe> read(std::string_view yaml, const std::string& folder = ".") {
  return parse(Env::real(), yaml, "my.yaml", folder);
}

// Returns the parser's words about a text that it must refuse.
std::string refusal(std::string_view yaml, const std::string& folder = ".") {
  const auto recipe = read(yaml, folder);
  EXPECT_EQ(recipe.status().code(), StatusCode::kInvalidArgument) << yaml;
  return recipe.status().message();
}

TEST(Parse, TakesTheNameFromTheFileWhereNoneIsGiven) {
  const auto recipe = read("features:\n  max_frames: 1024\n");
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->name, "my");
  EXPECT_EQ(recipe->features->max_frames, 1024U);
  EXPECT_EQ(recipe->features->mel.n_mels, 80U);
}

TEST(Parse, LeavesLengthsToTheCorpusUnlessTheyAreGiven) {
  const auto lengths = [](std::string_view yaml) {
    const auto recipe = read(yaml);
    EXPECT_TRUE(recipe.ok()) << recipe.status().message();
    return to_string(recipe->features->max_frames) + " " + to_string(recipe->text.max_tokens);
  };
  EXPECT_EQ(lengths("name: my\n"), "auto auto");
  EXPECT_EQ(lengths("features: {max_frames: auto}\ntext: {max_tokens: 200+}\n"), "auto 200+");
  EXPECT_EQ(lengths("features: {max_frames: 800}\ntext: {max_tokens: 200}\n"), "800 200");
  EXPECT_EQ(refusal("features: {max_frames: auto, pad: samples}\n"),
            "my.yaml:1: features.max_frames: pad=samples needs a number here, and not auto: the "
            "zeros up to this length are part of the features");
}

TEST(Parse, NamesLineKeyAndNearestKeyOfAnUnknownOne) {
  EXPECT_EQ(refusal("name: a\nfeatures:\n  mel:\n    n_mel: 80\n"),
            "my.yaml:4: features.mel.n_mel: unknown key; did you mean 'features.mel.n_mels'?");
  EXPECT_EQ(refusal("features:\n  stft: {hop_length: 256}\n"),
            "my.yaml:2: features.stft.hop_length: unknown key; did you mean "
            "'features.stft.hop_samples'?");
  EXPECT_EQ(refusal("features:\n  n_mels: 80\n"),
            "my.yaml:2: features.n_mels: unknown key; did you mean 'features.mel.n_mels'?");
  EXPECT_EQ(refusal("feature:\n  n_mels: 80\n"),
            "my.yaml:1: feature: unknown key; did you mean 'features'?");
  EXPECT_EQ(refusal("colour: red\n"), "my.yaml:1: colour: unknown key");
}

TEST(Parse, RefusesAKeyGivenTwice) {
  EXPECT_EQ(refusal("features:\n  max_frames: 1\n  pad_value: 0\n  max_frames: 1\n"),
            "my.yaml:4: features.max_frames: given twice, first on line 2");
  EXPECT_EQ(refusal("text:\n  max_tokens: 1\ntext:\n  tokens: none\n"),
            "my.yaml:3: text: given twice, first on line 1");
}

TEST(Parse, RefusesAKeyThatAnotherOneMakesMeaningless) {
  EXPECT_EQ(
      refusal("features:\n  loudness:\n    target: 0.1\n    method: none\n"),
      "my.yaml:3: features.loudness.target: ignored, because features.loudness.method is none");
  EXPECT_EQ(refusal("features:\n  trim: {top_db: 20}\n"),
            "my.yaml:2: features.trim.top_db: ignored, because features.trim.method is none");
  EXPECT_EQ(refusal("text: {tokens: bytes, vocabulary: abc}\n"),
            "my.yaml:1: text.vocabulary: ignored, because text.tokens is bytes");
  EXPECT_EQ(refusal("corpus: {layout: folder, metadata_train_file: a.csv}\n"),
            "my.yaml:1: corpus.metadata_train_file: ignored, because corpus.layout is \"folder\"");
}

TEST(Parse, RefusesValuesOfAnotherType) {
  const std::string kLengths = "a whole number | auto | N+: auto, but at least N";
  EXPECT_EQ(refusal("features: {max_frames: many}\n"),
            "my.yaml:1: features.max_frames: 'many' is none of " + kLengths);
  EXPECT_EQ(refusal("features: {max_frames: \"800\"}\n"),
            "my.yaml:1: features.max_frames: '800' is none of " + kLengths);
  EXPECT_EQ(refusal("features: {max_frames: 800.5}\n"),
            "my.yaml:1: features.max_frames: '800.5' is none of " + kLengths);
  EXPECT_EQ(refusal("features: {max_frames: -1}\n"),
            "my.yaml:1: features.max_frames: '-1' is none of " + kLengths);
  EXPECT_EQ(refusal("features: {max_frames: 99999999999}\n"),
            "my.yaml:1: features.max_frames: 99999999999 is too large");
  EXPECT_EQ(refusal("features: {max_frames: [800]}\n"),
            "my.yaml:1: features.max_frames: takes " + kLengths + ", found a list");
  EXPECT_EQ(refusal("features:\n  max_frames:\n"),
            "my.yaml:2: features.max_frames: takes " + kLengths + ", found nothing");
  EXPECT_EQ(refusal("features: {channels: both}\n"),
            "my.yaml:1: features.channels: 'both' is none of mean | first");
  EXPECT_EQ(refusal("text: {use_normalized: yes}\n"),
            "my.yaml:1: text.use_normalized: 'yes' is neither true nor false");
  EXPECT_EQ(refusal("fits: everything\n"),
            "my.yaml:1: fits: takes a list of texts, found a single value");
  EXPECT_EQ(refusal("features: 3\n"),
            "my.yaml:1: features: a section of keys, found a single value");
  EXPECT_EQ(refusal("storage: {dtype: int32}\n"),
            "my.yaml:1: storage.dtype: 'int32' is none of float32 | float16 | bfloat16");
}

TEST(Parse, RefusesWhatIsNotAFiniteNumber) {
  for (const char* bad :
       {".nan", "nan", "inf", "-.inf", "1e999", "0x10", "1_000", "+1", "1e-5x", "~"}) {
    EXPECT_THAT(refusal(std::string("features: {pad_value: ") + bad + "}\n"),
                HasSubstr("features.pad_value"));
  }
}

TEST(Parse, NamesTheLineOfAValueOutOfRange) {
  EXPECT_EQ(refusal("features:\n  mel:\n    n_mels: 0\n"),
            "my.yaml:3: features.mel.n_mels: 0 is outside 1 to 1024");
  EXPECT_EQ(refusal("features:\n  sample_rate_hz: 16000\n"),
            "my.yaml:2: features.mel.f_max_hz, sample_rate_hz: 11025 Hz is above half of 16000 Hz, "
            "the highest "
            "frequency there is");
}

TEST(Parse, TellsEveryProblemAtOnceInTheOrderOfLines) {
  EXPECT_EQ(refusal("features:\n  max_frame: 1\n  pad_value: x\nstorage:\n  stores: lmdb\n"),
            "my.yaml:2: features.max_frame: unknown key; did you mean 'features.max_frames'?\n"
            "my.yaml:3: features.pad_value: 'x' is not a number\n"
            "my.yaml:5: storage.stores: unknown key; did you mean 'storage.store'?");
}

TEST(Parse, RefusesWhatIsNotOneMap) {
  EXPECT_EQ(refusal(""), "my.yaml: holds nothing");
  EXPECT_EQ(refusal("# only a comment\n"), "my.yaml: holds nothing");
  EXPECT_EQ(refusal("- a\n"), "my.yaml:1: expected 'key: value' lines, found a list");
  EXPECT_EQ(refusal("name: a\n---\nname: b\n"),
            "my.yaml:3: a second document begins: keep one only");
  EXPECT_THAT(refusal("name: [a\n"), HasSubstr("my.yaml:2: not YAML: "));
  EXPECT_EQ(refusal("name: a\nabout: \xFF\n"), "my.yaml:2: not UTF-8");
  EXPECT_EQ(refusal("? [a, b]\n: c\n"), "my.yaml:1: a key must be a word");
  EXPECT_EQ(refusal(std::string_view("name: a\0b\n", 10)), "my.yaml:1: holds a NUL byte");
}

TEST(Parse, RefusesAnchorsAliasesAndTagsWithoutExpandingThem) {
  std::string bomb = "fits: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "k" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before +
            "]\n";
  }
  EXPECT_THAT(refusal(bomb), HasSubstr("my.yaml:2: k1: unknown key"));
  EXPECT_EQ(refusal("name: &n a\nabout: *n\n"), "my.yaml:2: about: takes a text, found an alias");
  EXPECT_EQ(refusal("name: !!binary a\n"), "my.yaml:1: name: takes a text, found a tagged value");
}

TEST(Parse, BoundsSizeAndDepth) {
  EXPECT_EQ(refusal(std::string(70000, '#')), "my.yaml: 70000 bytes, at most 65536");
  EXPECT_THAT(refusal("name: " + std::string(30000, '[')), HasSubstr("not YAML"));
  EXPECT_THAT(refusal(std::string(30000, '{')), HasSubstr("not YAML"));
}

TEST(Parse, ReadsAVocabularyFileIntoTheRecipe) {
  const testing::TempFolder folder;
  folder.write("letters.txt",
               "\xEF\xBB\xBF"
               "a\r\n \r\nß\r\n");
  const auto recipe =
      read("text: {tokens: characters, vocabulary_file: letters.txt}\n", folder.path());
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->text.vocabulary, "a ß");
}

TEST(Parse, ReadsAVocabularyInEitherSpellingAsTheSame) {
  const auto line = read("text: {tokens: characters, vocabulary: \"a ß\"}\n");
  const auto lines = read("text:\n  tokens: characters\n  vocabulary: |\n    a\n    ß\n");
  ASSERT_TRUE(line.ok() && lines.ok());
  EXPECT_EQ(line->text.vocabulary, "a ß");
  EXPECT_EQ(lines->text.vocabulary, "aß");
}

TEST(Parse, RefusesAVocabularyThatIsMissingDoubledOrWrong) {
  const testing::TempFolder folder;
  folder.write("twice.txt", "aba\n");
  folder.write("good.txt", "ab\n");
  EXPECT_EQ(refusal("text:\n  tokens: characters\n"),
            "my.yaml:2: text.vocabulary, tokens: tokens=characters needs a vocabulary or a "
            "vocabulary_file");
  EXPECT_THAT(refusal("text: {tokens: characters, vocabulary_file: none.txt}\n", folder.path()),
              HasSubstr("my.yaml:1: text.vocabulary_file: "));
  EXPECT_THAT(refusal("text: {tokens: characters, vocabulary_file: twice.txt}\n", folder.path()),
              HasSubstr("twice.txt: 'a' is given twice"));
  EXPECT_EQ(refusal("text:\n  tokens: characters\n  vocabulary: ab\n  vocabulary_file: good.txt\n",
                    folder.path()),
            "my.yaml:4: text.vocabulary_file: text.vocabulary is given too, on line 3");
}

// Bytes of a good recipe replaced, removed and doubled: whatever comes out is a recipe that
// validates or a refusal.
TEST(Parse, AnswersEveryDamagedFile) {
  const auto text =
      read_text_file(Env::real(), XTTS_SOURCE_DIR "/configs/recipes/myxtts.yaml", 65536);
  ASSERT_TRUE(text.ok());
  constexpr std::string_view kBytes = "{}[]:,&*!|>-#\"'\n 09.e\xFF%@`~";
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::string damaged = *text;
    for (int count = 0; count < 4; ++count) {
      const std::size_t at = random() % damaged.size();
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          damaged[at] = byte;
          break;
        case 1:
          damaged.insert(at, 1 + random() % 3, byte);
          break;
        default:
          damaged.erase(at, 1 + random() % 40);
      }
    }
    const auto recipe = read(damaged);
    if (recipe.ok()) {
      EXPECT_TRUE(check(*recipe).ok()) << damaged;
    } else {
      EXPECT_EQ(recipe.status().code(), StatusCode::kInvalidArgument);
      EXPECT_TRUE(recipe.status().message().starts_with("my.yaml")) << recipe.status().message();
    }
  }
}

TEST(Load, NamesTheNearestShippedRecipe) {
  const auto recipe = load(Env::real(), "myxts");
  EXPECT_EQ(recipe.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(recipe.status().message(),
            "no recipe 'myxts'; did you mean 'myxtts'? 'xtts-precompute recipes' lists the shipped "
            "ones; the path of a file holds a '/' or ends in .yaml");
  EXPECT_THAT(load(Env::real(), "whisper").status().message(),
              ::testing::HasSubstr("did you mean 'whisper-128' or 'whisper-80'?"));
}

TEST(Load, ReadsAFileAndWhatLiesBesideIt) {
  const testing::TempFolder folder;
  folder.write("letters.txt", "ab");
  const std::string path =
      folder.write("mine.yaml", "text: {tokens: characters, vocabulary_file: letters.txt}\n");
  const auto recipe = load(Env::real(), path);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(recipe->name, "mine");
  EXPECT_EQ(recipe->text.vocabulary, "ab");
  EXPECT_EQ(load(Env::real(), folder.path() + "/none.yaml").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace xtts::recipe
