#include "loader/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "reader/cache_set.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

class SelectionTest : public ::testing::Test {
 protected:
  SelectionTest() : made_(testing::make_test_cache({.clip_count = 60})) {
    made_.add_to(env_, "/cache");
    const std::string path = "/cache";
    auto opened = reader::CacheSet::open(env_, std::span(&path, 1));
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    cache_ = *opened;
  }

  [[nodiscard]] std::vector<std::uint64_t> chosen(const ReaderOptions& options) const {
    const auto selection = Selection::choose(*cache_, options);
    EXPECT_TRUE(selection.ok()) << selection.status().message();
    std::vector<std::uint64_t> positions;
    if (!selection.ok()) return positions;
    for (std::uint64_t i = 0; i < selection->size(); ++i) {
      positions.push_back(selection->position_of(i));
    }
    for (std::uint64_t i = 0; i < cache_->size() + 2; ++i)
      EXPECT_EQ(selection->contains(i), std::ranges::binary_search(positions, i)) << i;
    return positions;
  }
  // Finds the expected positions by looking at every clip.
  template <typename Takes>
  [[nodiscard]] std::vector<std::uint64_t> expected(Takes takes) const {
    std::vector<std::uint64_t> positions;
    for (std::uint64_t i = 0; i < cache_->size(); ++i) {
      const auto row = cache_->plan_row(i);
      EXPECT_TRUE(row.ok());
      if (takes(i, *row)) positions.push_back(i);
    }
    return positions;
  }
  [[nodiscard]] Status refused(const ReaderOptions& options) const {
    const auto selection = Selection::choose(*cache_, options);
    EXPECT_FALSE(selection.ok());
    return selection.status();
  }

  testing::MemoryEnv env_;
  testing::TestCache made_;
  std::shared_ptr<reader::CacheSet> cache_;
};

TEST_F(SelectionTest, EverythingWhereNothingIsAsked) {
  EXPECT_EQ(chosen({}), expected([](auto, const auto&) { return true; }));
}

TEST_F(SelectionTest, SplitsAreThoseOfThePlan) {
  std::size_t count = 0;
  for (const auto& [name, number] :
       {std::pair{"train", 0}, std::pair{"validation", 1}, std::pair{"test", 2}}) {
    const auto positions = chosen({.split = name});
    EXPECT_EQ(positions, expected([&](auto, const auto& row) { return row.split == number; }))
        << name;
    count += positions.size();
  }
  EXPECT_EQ(count, cache_->size());
}

TEST_F(SelectionTest, WhereAsksPlanRowsAndFacts) {
  EXPECT_EQ(chosen({.where = "mel_len > 10"}),
            expected([](auto, const auto& row) { return row.mel_len > 10; }));
  const std::string id = made_.clips[7].id;
  EXPECT_EQ(chosen({.where = "id == '" + id + "'"}), std::vector<std::uint64_t>{7});
}

TEST_F(SelectionTest, IdsAndExcludeAreSetsInCanonicalOrder) {
  const auto id = [&](std::size_t i) { return made_.clips[i].id; };
  EXPECT_EQ(chosen({.ids = {id(9), id(3), id(9), id(4)}}), (std::vector<std::uint64_t>{3, 4, 9}));
  EXPECT_EQ(chosen({.ids = {id(9), id(3)}, .exclude = {id(3)}}), std::vector<std::uint64_t>{9});
  EXPECT_EQ(chosen({.exclude = {id(0), id(59)}}),
            expected([](auto i, const auto&) { return i != 0 && i != 59; }));
}

TEST_F(SelectionTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refused({.split = "dev"}).message(),
            "there is no split 'dev'; there are: train, validation, test");
  EXPECT_EQ(refused({.where = "mel_len >"}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({.ids = {"nobody"}}).code(), StatusCode::kNotFound);
  EXPECT_EQ(refused({.exclude = {"nobody"}}).message(), "the cache has no clip 'nobody'");
}

TEST_F(SelectionTest, DigestTellsSelectionsApart) {
  const auto digest = [&](const ReaderOptions& options) {
    const auto selection = Selection::choose(*cache_, options);
    return selection.ok() ? selection->digest() : Digest{};
  };
  EXPECT_EQ(digest({}), digest({.where = "mel_len >= 0"}));
  EXPECT_NE(digest({}), digest({.exclude = {made_.clips[59].id}}));
  EXPECT_NE(digest({.exclude = {made_.clips[3].id}}), digest({.exclude = {made_.clips[4].id}}));
}

}  // namespace
}  // namespace xtts::loader
