// parse(to_yaml(r)) is r, for random valid recipes, and no two values of a key share a fingerprint.
// The recipes are made of the table of keys, so a new key is tried without a line here.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "recipe/key_table.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

using formats::Recipe;

// Values of a key as a person would write them. Some are refused, or fit no other key's value.
class ValueMaker {
 public:
  explicit ValueMaker(std::uint32_t seed) : random_(seed) {}

  std::uint32_t whole(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }

  std::vector<Scalar> values_of(const Key& key) {
    if (!key.is_list) return {value_of(key)};
    std::vector<Scalar> values(pick<std::size_t>({0, 1, 2, 40, 80}));
    for (Scalar& value : values) value = value_of(key);
    return values;
  }

 private:
  template <typename T>
  T pick(const std::vector<T>& list) {
    return list[whole(0, static_cast<std::uint32_t>(list.size()) - 1)];
  }
  // All bits of the mantissa, so that a printed number must be exact.
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  std::string number(bool is_whole) {
    if (is_whole) return std::to_string(pick<std::uint32_t>({0, 1, 2, 8, whole(0, 4096)}));
    return Codec<double>::print(pick<double>({0, 1, real(0, 1), real(-100, 100), real(0, 9000)}));
  }
  Scalar value_of(const Key& key) {
    if (key.name == "features.resampler") return {pick<std::string>({"soxr_vhq", "ffmpeg_swr"})};
    if (key.name == "corpus.layout") return {pick<std::string>({"ljspeech", "folder", "table"})};
    if (key.takes == "a whole number" || key.takes == "a number")
      return {number(key.takes != "a number")};
    if (key.takes.find("a whole number") != std::string::npos)
      return {pick<std::string>({"auto", number(true), number(true) + "+"})};
    if (key.takes.find("a number") != std::string::npos)
      return {pick<std::string>({"none", number(false)})};
    if (key.takes == "a list of texts" || key.takes == "a text") return {text(key), kQuoted};
    return {pick(words_of(key.takes))};
  }
  // Words that YAML would read as something else, and characters that would end a line or a
  // quotation.
  std::string text(const Key& key) {
    if (key.name == "name") return "random-1.x_Y";
    if (key.name == "corpus.speaker_pattern") return pick<std::string>({"^(p\\d+)_", "([^\"'#]+)"});
    if (key.name == "text.vocabulary")
      return pick<std::string>(
          {"a", "1", " ", "~", "ab c#:'\"\\", "اآبپ‌، 世😀", "\xC2\xA0\xE2\x80\x8F"});
    return pick<std::string>({"no", "null", "~", "1.0", "a: b # c", "- x", "'\"\\", "سلام 世界 😀",
                              "\xE2\x80\xA8\xEF\xBB\xBF", " lead and trail ", "%TAG !", "&a *b",
                              "{[,]}", "back\\slash"});
  }
  // Of "a list of nfc | digits", "true | false".
  static std::vector<std::string> words_of(std::string_view takes) {
    if (takes.starts_with("a list of ")) takes.remove_prefix(10);
    std::vector<std::string> words;
    while (true) {
      const std::size_t end = takes.find(" | ");
      words.emplace_back(takes.substr(0, end));
      if (end == std::string_view::npos) return words;
      takes.remove_prefix(end + 3);
    }
  }
  static constexpr ScalarForm kQuoted = ScalarForm::kQuoted;

  std::mt19937 random_;
};

// True where the recipe took a value for the key. Values that do not go with the others are left
// out.
bool try_to_set(const Key& key, const std::vector<Scalar>& values, Recipe& recipe) {
  if (!key.is_printed || !why_ignored(key, recipe).empty()) return false;
  const FileAccess files{Env::real(), "."};
  Recipe changed = recipe;
  if (!key.set(changed, values, files).empty()) return false;
  reset_ignored(changed);
  if (!check(changed).ok()) return false;
  recipe = std::move(changed);
  return true;
}

// Keys that only go together.
const std::vector<std::vector<std::pair<std::string, std::vector<Scalar>>>> kStarts = {
    {},
    {{"text.tokens", {{"characters"}}}, {"text.vocabulary", {{"ab"}}}},
    {{"features.spectrum_floor", {{"1e-9"}}},
     {"features.spectrum", {{"root_plus"}}},
     {"features.mel.n_mels", {{"2"}}},
     {"features.normalize.method", {{"channels"}}},
     {"features.normalize.channel_offsets", {{"0.5"}, {"-1"}}},
     {"features.normalize.channel_scales", {{"1"}, {"2"}}}},
};

Recipe random_recipe(std::uint32_t seed) {
  ValueMaker values(seed);
  Recipe recipe = default_recipe();
  for (const auto& [name, value] : kStarts[seed % kStarts.size()])
    EXPECT_EQ(find_key(name)->set(recipe, value, {Env::real(), "."}), "");
  EXPECT_TRUE(check(recipe).ok()) << check(recipe).message();
  for (int i = 0; i < 150; ++i) {
    const Key& key = key_table()[values.whole(0, std::uint32_t(key_table().size()) - 1)];
    try_to_set(key, values.values_of(key), recipe);
  }
  return recipe;
}

std::vector<std::string> printed(const Recipe& recipe) {
  std::vector<std::string> all;
  for (const Key& key : key_table()) {
    for (const std::string& value : key.print(recipe)) all.push_back(key.name + ": " + value);
  }
  return all;
}

TEST(RoundTrip, GivesTheSameRecipeBack) {
  std::set<std::string> varied;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Recipe recipe = random_recipe(seed);
    const std::string yaml = to_yaml(recipe);
    const auto again = parse(Env::real(), yaml, "again.yaml", ".");
    ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << yaml;
    EXPECT_EQ(printed(*again), printed(recipe)) << yaml;
    EXPECT_EQ(to_json(*again->features), to_json(*recipe.features)) << yaml;
    for (const Key& key : key_table())
      if (key.print(recipe) != key.print(default_recipe())) varied.insert(key.name);
  }
  for (const Key& key : key_table()) {
    if (key.is_printed && key.name != "name") {
      EXPECT_TRUE(varied.contains(key.name)) << key.name << " was never another value";
    }
  }
}

// A value that JSON does not tell would leave old records in a cache after an update.
TEST(Fingerprints, TellEachValueOfEachKeyApart) {
  const auto told = [](const Recipe& recipe) {
    return to_json(*recipe.features).dump() + to_json(recipe.text).dump() +
           to_json(recipe.corpus).dump() + to_json(recipe.storage).dump();
  };
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    ValueMaker values(seed);
    const Recipe recipe = random_recipe(seed);
    for (const Key& key : key_table()) {
      const bool is_of_a_section = key.name.find('.') != std::string::npos;
      Recipe other = recipe;
      if (!is_of_a_section || !try_to_set(key, values.values_of(key), other)) continue;
      EXPECT_EQ(told(other) == told(recipe), printed(other) == printed(recipe)) << key.name;
    }
  }
}

TEST(RoundTrip, HoldsForEveryShippedRecipe) {
  for (const std::string& name : shipped_names()) {
    const auto recipe = load(Env::real(), name);
    ASSERT_TRUE(recipe.ok());
    const auto again = parse(Env::real(), to_yaml(*recipe), name, ".");
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(to_yaml(*again), to_yaml(*recipe));
    EXPECT_EQ(printed(*again), printed(*recipe));
  }
}

TEST(ToYaml, ShowsKeysWithoutMeaningAsComments) {
  const std::string yaml = to_yaml(Recipe());
  EXPECT_NE(yaml.find("    # target: not used while features.loudness.method is none\n"),
            std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("    n_mels: 80                      # mel channels\n"), std::string::npos)
      << yaml;
}

TEST(ToYaml, KeepsTheLargestVocabularyWithinTheSizeOfAFile) {
  Recipe recipe;
  recipe.text.tokens = formats::TokenKind::kCharacters;
  for (int code = 0x4E00; recipe.text.vocabulary.size() < 39990; ++code) {
    recipe.text.vocabulary += static_cast<char>(0xE0 | (code >> 12));
    recipe.text.vocabulary += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    recipe.text.vocabulary += static_cast<char>(0x80 | (code & 0x3F));
  }
  const auto again = parse(Env::real(), to_yaml(recipe), "again.yaml", ".");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->text.vocabulary, recipe.text.vocabulary);
}

}  // namespace
}  // namespace xtts::recipe
