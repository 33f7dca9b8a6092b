#include "corpus/clips/splits.hpp"
#include "formats/corpus_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace xtts::corpus {
namespace {

using formats::CorpusConfig;
using formats::SplitBy;

std::vector<Clip> numbered(int first, int end) {
  std::vector<Clip> clips;
  for (int i = first; i < end; ++i) {
    Clip& found = clips.emplace_back();
    found.id = "clip" + std::to_string(i);
    found.speaker = "speaker" + std::to_string(i % 50);
  }
  return clips;
}

using SplitMap = std::map<std::string, Split>;

SplitMap split(const CorpusConfig& config, std::vector<Clip> clips, const KnownSplits& known = {}) {
  std::vector<std::string> notes;
  assign_splits(config, known, clips, notes);
  SplitMap splits;
  for (const Clip& found : clips) splits[found.id] = found.split;
  return splits;
}

std::int64_t count(const SplitMap& splits, Split wanted) {
  return std::count_if(splits.begin(), splits.end(),
                       [&](const auto& item) { return item.second == wanted; });
}

KnownSplits lookup(const SplitMap& splits) {
  return [&splits](std::string_view id) -> std::optional<Split> {
    const auto place = splits.find(std::string(id));
    return place == splits.end() ? std::nullopt : std::optional(place->second);
  };
}

TEST(Splits, SharesAreAsAsked) {
  const SplitMap splits = split({}, numbered(0, 10'000));
  // Binomial, p = 0.1: the standard deviation is 30, five of them are never seen.
  EXPECT_NEAR(static_cast<double>(count(splits, Split::kValidation)), 1000, 150);
  EXPECT_EQ(count(splits, Split::kTest), 0);
  const SplitMap with_test =
      split({.train_split = 0.8, .validation_split = 0.1}, numbered(0, 10'000));
  EXPECT_NEAR(static_cast<double>(count(with_test, Split::kTest)), 1000, 150);
  EXPECT_EQ(
      count(split({.train_split = 1, .validation_split = 0}, numbered(0, 1000)), Split::kTrain),
      1000);
}

TEST(Splits, NeverChangeBetweenReleases) {
  // Clips of an old cache must fall where they fell. From the definition in splits.hpp with
  // python-xxhash:
  //   seed = xxh3_64_intdigest(b"xtts split 1", seed=0)
  //   (xxh3_64_intdigest(id, seed=seed) >> 11) * 2.0**-53 < 0.1
  std::string validation;
  for (const auto& [id, where] : split({}, numbered(0, 60))) {
    if (where == Split::kValidation) validation += id + " ";
  }
  EXPECT_EQ(validation, "clip16 clip21 clip33 clip36 clip44 clip49 clip52 clip53 clip57 ");
}

TEST(Splits, NeitherOrderNorNeighboursMatter) {
  auto shuffled = numbered(0, 2000);
  std::mt19937 random(7);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const SplitMap all = split({}, numbered(0, 2000));
  EXPECT_EQ(split({}, shuffled), all);
  for (const auto& [id, where] : split({}, numbered(500, 700))) EXPECT_EQ(where, all.at(id)) << id;
}

TEST(Splits, AnotherSeedGivesOthers) {
  EXPECT_NE(split({}, numbered(0, 1000)), split({.split_seed = 1}, numbered(0, 1000)));
}

TEST(Splits, ClipsOfOneKeyStayTogether) {
  auto clips = numbered(0, 5000);
  std::vector<std::string> notes;
  assign_splits({.split_by = SplitBy::kSpeaker}, {}, clips, notes);
  std::map<std::string, Split> of_speaker;
  for (const Clip& found : clips) {
    const auto [place, is_new] = of_speaker.try_emplace(found.speaker, found.split);
    EXPECT_EQ(place->second, found.split) << found.id;
  }
  EXPECT_GT(count(split({.split_by = SplitBy::kSpeaker}, numbered(0, 5000)), Split::kValidation),
            0);
}

TEST(Splits, ClipsWithoutAKeyGoByTheirId) {
  EXPECT_EQ(split({.split_by = SplitBy::kText}, numbered(0, 1000)), split({}, numbered(0, 1000)));
}

TEST(Splits, TheBoundTakesTheLowestNumbers) {
  const SplitMap free = split({}, numbered(0, 5000));
  const SplitMap bounded = split({.validation_clips_max = 100}, numbered(0, 5000));
  EXPECT_EQ(count(bounded, Split::kValidation), 100);
  for (const auto& [id, where] : bounded) {
    EXPECT_TRUE(where == Split::kTrain || free.at(id) == where) << id;
  }
}

TEST(Splits, AddingClipsMovesNoOtherEvenAtTheBound) {
  const CorpusConfig config{.validation_clips_max = 100};
  SplitMap published = split(config, numbered(0, 500));
  ASSERT_LT(count(published, Split::kValidation), 100);
  for (int end = 1000; end <= 5000; end += 500) {
    const SplitMap grown = split(config, numbered(0, end), lookup(published));
    for (const auto& [id, where] : published) ASSERT_EQ(grown.at(id), where) << id << " of " << end;
    EXPECT_LE(count(grown, Split::kValidation), 100);
    published = grown;
  }
  EXPECT_EQ(count(published, Split::kValidation), 100);
}

TEST(Splits, ANewClipFollowsItsSpeakerBeyondTheBound) {
  const CorpusConfig config{.validation_clips_max = 200, .split_by = SplitBy::kSpeaker};
  const SplitMap published = split(config, numbered(0, 1000));
  std::map<std::string, Split> of_speaker;
  for (const Clip& found : numbered(0, 1000)) of_speaker[found.speaker] = published.at(found.id);
  const SplitMap grown = split(config, numbered(0, 9000), lookup(published));
  for (const Clip& found : numbered(0, 9000)) {
    ASSERT_EQ(grown.at(found.id), of_speaker.at(found.speaker)) << found.id;
  }
}

TEST(Splits, TheCorpusKnowsBest) {
  auto clips = numbered(0, 100);
  for (Clip& clip : clips) {
    clip.split = Split::kTest;
    clip.has_own_split = true;
  }
  const SplitMap known = split({}, numbered(0, 100));
  EXPECT_EQ(count(split({}, clips, lookup(known)), Split::kTest), 100);
}

TEST(Splits, ASmallerSubsetLiesInsideALargerOne) {
  const auto subset = [](double fraction) {
    auto clips = numbered(0, 10'000);
    std::vector<std::string> notes;
    assign_splits({}, {}, clips, notes);
    keep_training_subset({.train_subset_fraction = fraction}, clips, notes);
    std::map<std::string, Split> left;
    for (const Clip& found : clips) left[found.id] = found.split;
    return left;
  };
  const SplitMap all = subset(1.0);
  const SplitMap half = subset(0.5);
  const SplitMap little = subset(0.05);
  EXPECT_EQ(all.size(), 10'000U);
  EXPECT_EQ(count(little, Split::kValidation), count(all, Split::kValidation))
      << "only training clips are thinned";
  EXPECT_NEAR(static_cast<double>(count(half, Split::kTrain)), 4500, 250);
  // With one number for split and subset this would be none at all.
  EXPECT_NEAR(static_cast<double>(count(little, Split::kTrain)), 450, 105);
  for (const auto& item : little) EXPECT_TRUE(half.contains(item.first)) << item.first;
}

TEST(Splits, SaysHowManyAreLeftOut) {
  auto clips = numbered(0, 10);
  std::vector<std::string> notes;
  assign_splits({.train_split = 1, .validation_split = 0}, {}, clips, notes);
  keep_training_subset({.train_subset_fraction = 0}, clips, notes);
  EXPECT_TRUE(clips.empty());
  EXPECT_EQ(notes, std::vector<std::string>{"train_subset_fraction keeps 0 of 10 training clips"});
}

}  // namespace
}  // namespace xtts::corpus
