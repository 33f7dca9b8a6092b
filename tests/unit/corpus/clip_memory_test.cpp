// The memory that clips of lists take, and the fate of those that take more than they may.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <string>
#include <vector>

#include "corpus/lists/places_by_id.hpp"
#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

constexpr int kRowCount = 10'000;

std::string text_of(int row) {
  std::string text = "What is said in row " + std::to_string(row) + ", and so on";
  text.resize(60, '.');
  return text;
}

// Rows that name one sound, as segments of a long recording do.
MemoryEnv rows_of_one_sound(int count) {
  std::string list = "audio,id,text,speaker\n";
  for (int i = 0; i < count; ++i) {
    list += "wavs/sound.wav,utterance-" + std::to_string(100'000 + i) + ",\"" + text_of(i) +
            "\",speaker-" + std::to_string(i % 50) + "\n";
  }
  MemoryEnv env;
  env.add_file("/data/train.csv", list);
  env.add_file("/data/wavs/sound.wav", "RIFF");
  return env;
}

Status refusal_with(MemoryEnv& env, std::uint64_t memory_bytes) {
  return discover({.env = env, .data = {"/data"}, .config = {}, .memory_bytes = memory_bytes})
      .status();
}

TEST(ClipMemory, AClipTakesSomeFourHundredBytes) {
  MemoryEnv env = rows_of_one_sound(kRowCount);
  const auto before = ::mallinfo2();
  const auto corpus = discover(env, "/data", {});
  const auto after = ::mallinfo2();
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  ASSERT_EQ(corpus->clips.size(), std::size_t{kRowCount});
  if (after.uordblks + after.hblkhd == 0)
    GTEST_SKIP() << "a sanitizer's heap says nothing of itself";
  const std::size_t bytes = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
  EXPECT_LT(bytes / kRowCount, 408U);  // it was 680, and twice that while clips were put in order
}

TEST(ClipMemory, ClipsShareTheLettersThatTheyHaveInCommon) {
  MemoryEnv env = rows_of_one_sound(100);
  const Corpus corpus = discover_data(env, {.language = "en"});
  ASSERT_EQ(corpus.clips.size(), 100U);
  const auto letters = [](const SharedText& text) { return text.view().data(); };
  const Clip first = clip_of(corpus, "utterance-100000");
  const Clip other = clip_of(corpus, "utterance-100050");  // of the same speaker
  EXPECT_EQ(letters(first.text_raw), letters(first.text_normalized));
  EXPECT_EQ(letters(first.source), letters(other.source));
  EXPECT_EQ(letters(first.speaker), letters(other.speaker));
  EXPECT_EQ(letters(first.language), letters(other.language));
}

TEST(ClipMemory, RefusesMoreThanHalfOfTheMemoryAndSaysWhatIsNeeded) {
  MemoryEnv env = rows_of_one_sound(kRowCount);
  const Status status = refusal_with(env, std::uint64_t{4} << 20U);
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_TRUE(
      says(status.message(), "need more than 2 MiB of memory, half of what --memory allows"))
      << status.message();
  EXPECT_TRUE(says(status.message(), "the last of train.csv")) << status.message();
  // All of them need some 5 MiB: what was read so far tells.
  const auto at = status.message().find("give --memory ");
  ASSERT_NE(at, std::string::npos) << status.message();
  const std::uint64_t needed_mib = std::stoull(status.message().substr(at + 14));
  EXPECT_GE(needed_mib, 8U) << status.message();
  EXPECT_LE(needed_mib, 16U) << status.message();
  EXPECT_TRUE(refusal_with(env, needed_mib << 20U).ok());
}

TEST(ClipMemory, CountsWhatSeveralCorporaHaveTogether) {
  MemoryEnv env = rows_of_one_sound(kRowCount);
  const std::array entries{formats::CorporaEntry{.name = "a", .folder = "/data"},
                           formats::CorporaEntry{.name = "b", .folder = "/data"}};
  const auto both_with = [&](std::uint64_t memory_bytes) {
    return discover({.env = env, .corpora = entries, .config = {}, .memory_bytes = memory_bytes})
        .status();
  };
  constexpr std::uint64_t kEnoughForOne = std::uint64_t{12} << 20U;
  EXPECT_TRUE(refusal_with(env, kEnoughForOne).ok());
  EXPECT_EQ(both_with(kEnoughForOne).code(), StatusCode::kResource);
  EXPECT_TRUE(both_with(2 * kEnoughForOne).ok());
}

// Each names its tables otherwise: what a layout keeps beside the clips counts as well.
TEST(ClipMemory, EveryListIsBounded) {
  const auto bounded = [](MemoryEnv& env, std::string_view layout) {
    const auto corpus = discover(env, "/data", {});
    ASSERT_TRUE(corpus.ok()) << corpus.status().message();
    EXPECT_EQ(corpus->layout, layout);
    EXPECT_EQ(refusal_with(env, std::uint64_t{1} << 20U).code(), StatusCode::kResource) << layout;
  };
  constexpr int kCount = 4000;
  MemoryEnv kaldi, list, ljspeech, nemo;
  std::string segments, texts, speakers, files, rows, manifest;
  for (int i = 0; i < kCount; ++i) {
    const std::string id = "u" + std::to_string(i);
    segments += id + " rec 0 1\n";
    texts += id + " " + text_of(i) + "\n";
    speakers += id + " someone\n";
    files += "wavs/" + id + ".wav|" + text_of(i) + "\n";
    rows += id + "|" + text_of(i) + "|" + text_of(i) + "\n";
    manifest += R"({"audio_filepath": "rec.wav", "offset": )" + std::to_string(i) +
                R"(, "duration": 1, "text": ")" + text_of(i) + "\"}\n";
    add_audio(list, {"wavs/" + id + ".wav"});
    add_audio(ljspeech, {"wavs/" + id + ".wav"});
  }
  kaldi.add_file("/data/wav.scp", "rec rec.wav\n");
  kaldi.add_file("/data/segments", segments);
  kaldi.add_file("/data/text", texts);
  kaldi.add_file("/data/utt2spk", speakers);
  add_audio(kaldi, {"rec.wav"});
  bounded(kaldi, "kaldi");
  list.add_file("/data/train.txt", files);
  bounded(list, "list");
  ljspeech.add_file("/data/metadata.csv", rows);
  bounded(ljspeech, "ljspeech");
  nemo.add_file("/data/train.json", manifest);
  add_audio(nemo, {"rec.wav"});
  bounded(nemo, "nemo");
}

TEST(PlacesById, FindsTheFirstOfEqualIdsWhileItGrows) {
  std::vector<Clip> clips;
  PlacesById places;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const std::string id = "id-" + std::to_string(i);
    ASSERT_FALSE(places.find_or_add(id, i, clips)) << id;
    clips.emplace_back().id = id;
    const std::uint32_t earlier = i / 2;
    EXPECT_EQ(places.find_or_add("id-" + std::to_string(earlier), i + 1, clips), earlier);
  }
}

}  // namespace
}  // namespace xtts::corpus
