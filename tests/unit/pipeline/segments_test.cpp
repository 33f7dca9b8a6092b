// Clips that are parts of a source: decoded once, equal to the sample to files of the same cuts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "build_support.hpp"
#include "formats/rules.hpp"
#include "report/reasons.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kSegments = 20;

struct Part {
  std::string id;
  double start_s = 0.0;
  double end_s = 0.0;
};

Part part(std::uint32_t number) {
  return {clip_name(number), 0.31 * number, 0.31 * number + 0.2 + 0.013 * (number % 7)};
}

// Interleaved frames of a recording of noise, louder from part to part.
std::vector<std::int16_t> recording(const WavShape& shape) {
  std::vector<std::int16_t> samples(shape.frame_count() * shape.channel_count);
  std::uint32_t state = 7;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    const double level = 0.1 + 0.8 * static_cast<double>(i) / static_cast<double>(samples.size());
    samples[i] = static_cast<std::int16_t>(level * (static_cast<double>(state >> 16U) - 32768.0));
  }
  return samples;
}

constexpr WavShape kShape{.seconds = 7.0, .rate_hz = 44100, .channel_count = 2};

// A Kaldi folder in `data`: one recording, its segments.
void add_segments(MemoryEnv& env, const std::string& data, std::uint32_t count = kSegments) {
  env.add_file(data + "/talk.wav", wav_file(kShape, recording(kShape)));
  env.add_file(data + "/wav.scp", "talk talk.wav\n");
  std::string segments;
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Part p = part(i);
    char line[80];
    std::snprintf(line, sizeof line, "%s talk %.3f %.3f\n", p.id.c_str(), p.start_s, p.end_s);
    segments += line;
    text += p.id + " Sentence " + std::to_string(i) + ".\n";
  }
  env.add_file(data + "/segments", segments);
  env.add_file(data + "/text", text);
}

// The same parts as files of their own.
void add_cuts(MemoryEnv& env, const std::string& data) {
  const auto samples = recording(kShape);
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    const Part p = part(i);
    const auto begin = static_cast<std::size_t>(std::llround(p.start_s * kShape.rate_hz));
    const auto end = static_cast<std::size_t>(std::llround(p.end_s * kShape.rate_hz));
    const auto cut = std::span(samples).subspan(begin * 2, (end - begin) * 2);
    env.add_file(sound_path(i, data), wav_file(kShape, cut));
  }
}

TEST(Segments, AreEqualToTheSampleToFilesOfTheSameCuts) {
  MemoryEnv env;
  add_segments(env, kData);
  add_cuts(env, "/cuts");
  auto request = request_for(recipe_of_small_shards({"corpus.layout=kaldi"}));
  must_build(env, request);
  request = request_for(recipe_of_small_shards());
  request.data.path = "/cuts";
  request.options.cache = "/cache-of-cuts";
  must_build(env, request);

  const auto parts = open_cache(env);
  const auto cuts = open_cache(env, "/cache-of-cuts");
  ASSERT_EQ(parts->size(), kSegments);
  ASSERT_EQ(stored_ids(env), stored_ids(env, "/cache-of-cuts"));
  for (std::uint64_t i = 0; i < kSegments; ++i) {
    const auto of_part = parts->read_record("mel", i);
    const auto of_cut = cuts->read_record("mel", i);
    ASSERT_TRUE(of_part.ok() && of_cut.ok());
    EXPECT_EQ(of_part->shape, of_cut->shape);
    EXPECT_TRUE(of_part->bytes == of_cut->bytes) << "clip " << i;
    const auto part_facts = parts->details(i);
    const auto cut_facts = cuts->details(i);
    ASSERT_TRUE(part_facts.ok() && cut_facts.ok());
    EXPECT_EQ(part_facts->pcm_digest, cut_facts->pcm_digest);
    EXPECT_EQ(part_facts->source_frame_count, cut_facts->source_frame_count);
    EXPECT_EQ(part_facts->segment_start_s.has_value(), true);
  }
  EXPECT_EQ(damage_in(env), "");
}

TEST(Segments, GiveTheSameBytesOnAnyNumberOfThreads) {
  Files expected;
  for (const std::uint32_t threads : {1U, 2U, 8U}) {
    MemoryEnv env;
    add_segments(env, kData);
    must_build(env, request_for(recipe_of_small_shards(), threads));
    if (threads == 1) expected = published_files(env);
    EXPECT_EQ(difference(expected, published_files(env)), "") << threads << " threads";
  }
}

TEST(Segments, OfAnUnchangedListAreNotDecodedAgain) {
  MemoryEnv env;
  add_segments(env, kData);
  const auto request = request_for(recipe_of_small_shards());
  must_build(env, request);
  OpenedSources opened(env);
  EXPECT_TRUE(must_build(env, request).unchanged);
  EXPECT_EQ(opened.take(), std::set<std::string>());
  // A new one needs its source; the others stay.
  add_segments(env, kData, kSegments + 1);
  const auto report = must_build(env, request);
  EXPECT_EQ(report.computed_count, 1U);
  EXPECT_EQ(report.reused_count, kSegments);
}

TEST(Segments, WhoseBoundsMovedAreComputedAgain) {
  MemoryEnv env;
  add_segments(env, kData, 3);
  const auto request = request_for(recipe_of_small_shards());
  must_build(env, request);
  env.add_file(kData + "/segments",
               "clip-0000 talk 0.0 0.2\nclip-0001 talk 0.32 0.55\nclip-0002 talk 0.62 -1\n");
  const auto report = must_build(env, request);
  EXPECT_EQ(report.computed_count, 2U);
  EXPECT_EQ(report.reused_count, 1U);
}

TEST(Segments, BeyondTheirSourceAreRejectedOrToldOf) {
  MemoryEnv env;
  add_segments(env, kData, 1);
  env.add_file(kData + "/segments",
               "in talk 6.0 6.5\nover talk 6.5 9.0\nafter talk 8.0 9.0\nopen talk 6.9 -1\n");
  env.add_file(kData + "/text", "in a\nover b\nafter c\nopen d\n");
  auto request = request_for(recipe_of_small_shards());
  request.max_rejects.share = 1.0;
  const auto report = must_build(env, request);
  EXPECT_EQ(report.record_count, 3U);
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects[0].id, "after");
  EXPECT_EQ(report::words_of(report.rejects[0]),
            "the segment begins at 8.00 s, its source ends at 7.00 s");
  const auto cache = open_cache(env);
  const auto position = cache->find("over");
  ASSERT_TRUE(position.ok() && *position);
  EXPECT_EQ(report::lines_of(cache->details(**position)->warnings),
            "the segment should end at 9.00 s, its source ends at 7.00 s");
}

TEST(Segments, OfABrokenSourceAreAllRejectedForItsReason) {
  for (const std::string broken : {"no sound", ""}) {
    MemoryEnv env;
    add_segments(env, kData, 3);
    env.add_file(kData + "/talk.wav", broken);
    env.add_file(kData + "/wav.scp", "talk talk.wav\nwhole whole.wav\n");
    env.add_file(kData + "/whole.wav", sound(1));
    env.add_file(kData + "/segments", "a talk 0 1\nb talk 1 2\nc talk 2 3\nd whole 0.0 0.2\n");
    auto request = request_for(recipe_of_small_shards());
    request.max_rejects.share = 1.0;
    const auto report = must_build(env, request);
    EXPECT_EQ(report.record_count, 1U);
    ASSERT_EQ(report.rejects.size(), 3U);
    for (const auto& reject : report.rejects) EXPECT_EQ(reject.reason, report.rejects[0].reason);
    EXPECT_EQ(report.rejects[0].reason.rule == formats::Rule::kSourceEmpty, broken.empty());
  }
}

std::string fixture(const std::string& name) {
  const std::string path = std::string(XTTS_SOURCE_DIR) + "/tests/unit/decode/data/" + name;
  const auto bytes = read_text_file(Env::real(), path, 1 << 20);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes ? *bytes : std::string();
}

// Two Ogg files one after the other, 0.4 s each, of two rates: the samples are at the first one's.
TEST(Segments, OfASourceThatChangesItsRateHalfWay) {
  const std::string slow = fixture("sweep_44100_2.ogg");
  const std::string fast = fixture("sweep_48000_1.ogg");
  for (const std::string& talk : {slow + fast, fast + slow}) {
    MemoryEnv env;
    env.add_file(kData + "/talk.ogg", talk);
    env.add_file(kData + "/wav.scp", "talk talk.ogg\n");
    env.add_file(kData + "/segments", "a talk 0.1 0.3\nb talk 0.77 0.79\nc talk 0.785 0.9\n");
    env.add_file(kData + "/text", "a One.\nb Two.\nc Three.\n");
    const auto report = must_build(env, request_for(recipe_of_small_shards()));
    EXPECT_EQ(report.record_count, 3U);
    const auto last = open_cache(env)->details(2);
    ASSERT_TRUE(last.ok());
    ASSERT_FALSE(last->warnings.empty());
    EXPECT_EQ(last->warnings.back().rule, formats::Rule::kSegmentCut);
    EXPECT_EQ(last->warnings.back().numbers[0], 0.9);
  }
}

// A part that ends before the cut of its file is whole; another one is as cut as the file.
TEST(Segments, BeforeTheCutOfTheirFileAreWhole) {
  MemoryEnv env;
  add_segments(env, kData);
  const std::string whole = wav_file(kShape, recording(kShape));
  const double seconds = 4.0;
  const auto bytes = static_cast<std::size_t>(seconds * kShape.rate_hz) * 2 * 2;
  env.add_file(kData + "/talk.wav",
               whole.substr(0, whole.size() - recording(kShape).size() * 2 + bytes));
  auto request = request_for(recipe_of_small_shards({}));
  request.max_rejects.share = 1.0;
  const auto report = must_build(env, request);
  const auto cache = open_cache(env);
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    const Part p = part(i);
    const auto reject = std::ranges::find(report.rejects, p.id, &formats::Reject::id);
    if (p.end_s < seconds) {
      ASSERT_EQ(reject, report.rejects.end()) << p.id;
      const auto position = cache->find(p.id);
      ASSERT_TRUE(position.ok() && *position) << p.id;
      EXPECT_TRUE(cache->details(**position)->warnings.empty()) << p.id;
    } else {
      ASSERT_NE(reject, report.rejects.end()) << p.id;
      EXPECT_EQ(reject->kind, formats::RejectClass::kInput);
      EXPECT_EQ(reject->reason.rule, p.start_s < seconds ? formats::Rule::kEndsEarly
                                                         : formats::Rule::kSegmentBeyondSource);
    }
  }
  EXPECT_EQ(damage_in(env), "");
}

}  // namespace
}  // namespace xtts::testing
