// verify --level deep, on caches that the real pipeline built: what the checks cannot know.
#include "verify/deep.hpp"
#include "formats/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "build_support.hpp"
#include "forged_cache.hpp"
#include "request/verify_words.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using verify::Finding;
using verify::Level;
using verify::Report;
using verify::Weight;

constexpr std::uint32_t kClips = 6;

verify::Options deep_options(std::uint32_t threads = 2) {
  verify::Options options;
  options.level = Level::kDeep;
  options.thread_count = threads;
  options.sources.data.path = kData;
  options.sources.make_decoder = in_this_process();
  options.sources.scratch_folder = "/";
  return options;
}

Report verified(Env& env, const verify::Options& options) {
  const auto report = verify::verify_cache(env, kCache, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report ? *report : Report{};
}

Report verified_deeply(Env& env) {
  return verified(env, deep_options());
}

// Six clips with texts, packed, of one split: position = number.
void build_listed(MemoryEnv& env, const std::vector<std::string>& settings = {}) {
  add_listed_sounds(env, kClips);
  must_build(env, request_for(recipe_of_small_shards(settings)));
}

void add_to_value(std::vector<std::byte>& rows, std::size_t index, float amount) {
  float value = 0.0F;
  std::memcpy(&value, rows.data() + index * sizeof value, sizeof value);
  value += amount;
  std::memcpy(rows.data() + index * sizeof value, &value, sizeof value);
}

// A forged cache is one that full is happy with.
void expect_full_is_happy(MemoryEnv& env) {
  ASSERT_EQ(damage_in(env), "");
}

const Finding& only_finding(const Report& report) {
  EXPECT_EQ(report.findings.size(), 1U);
  static const Finding kNone;
  return report.findings.empty() ? kNone : report.findings.front();
}

TEST(VerifyDeep, FindsNothingWhereTheSourcesMakeTheSameRecords) {
  MemoryEnv env;
  build_listed(env);
  const Files before = files_below(env, "");
  const Report report = verified_deeply(env);
  EXPECT_TRUE(report.ok);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.comparison.count(), kClips);
  EXPECT_EQ(report.sampled_of, kClips);
  EXPECT_EQ(request::words_of(report.comparison), "bit for bit");
  EXPECT_EQ(difference(before, files_below(env, "")), "");
  EXPECT_EQ(env.scratch_count(), 0U);
}

TEST(VerifyDeep, FindsARecordWhoseChecksAreAllRight) {
  MemoryEnv env;
  build_listed(env);
  constexpr std::size_t kValue = 123;
  forge(env, kCache,
        {.position = 2, .change_rows = [](auto& rows) { add_to_value(rows, kValue, 0.5F); }});
  expect_full_is_happy(env);
  const Report report = verified_deeply(env);
  EXPECT_FALSE(report.ok);
  const Finding& finding = only_finding(report);
  EXPECT_EQ(finding.clip, clip_name(2));
  EXPECT_EQ(finding.column, "mel");
  EXPECT_EQ(request::what_of(finding), "recomputed bytes");
  EXPECT_TRUE(finding.file.starts_with("shards/mel/")) << finding.file;
  ASSERT_TRUE(finding.offset_bytes);
  EXPECT_NE(request::words_of(finding.expected), request::words_of(finding.found));
  EXPECT_EQ(request::command_of(*report.remedy), "xtts-precompute build /data /cache --overwrite");
  const std::string shard = env.contents(kCache + "/" + finding.file);
  const std::uint64_t payload_at = shard.find("XTTSBLK1") + formats::kBlockHeaderBytes;
  EXPECT_GT(*finding.offset_bytes, payload_at + kValue * sizeof(float));
  EXPECT_LT(*finding.offset_bytes, shard.size());
}

TEST(VerifyDeep, LooksAtEveryColumnOfSound) {
  MemoryEnv env;
  build_listed(env, {"columns.wave=int16", "columns.energy=true"});
  EXPECT_TRUE(verified_deeply(env).ok);
  forge(env, kCache, {.column = "wave", .position = 2, .change_rows = [](auto& rows) {
                        rows[10] ^= std::byte{1};
                      }});
  expect_full_is_happy(env);
  const Report report = verified_deeply(env);
  const Finding& finding = only_finding(report);
  EXPECT_EQ(finding.clip, clip_name(2));
  EXPECT_EQ(finding.column, "wave");
  EXPECT_EQ(request::what_of(finding), "recomputed bytes");
}

TEST(VerifyDeep, FindsTokensThatTheTextDoesNotMake) {
  MemoryEnv env;
  build_listed(env);
  forge(env, kCache, {.column = "tokens", .position = 4, .change_rows = [](auto& rows) {
                        rows[8] = std::byte{0x55};  // the third token
                      }});
  expect_full_is_happy(env);
  const Report report = verified_deeply(env);
  EXPECT_FALSE(report.ok);
  const Finding& finding = only_finding(report);
  EXPECT_EQ(finding.clip, clip_name(4));
  EXPECT_EQ(finding.column, "tokens");
  EXPECT_EQ(request::what_of(finding), "recomputed bytes");
}

TEST(VerifyDeep, FindsAFactThatTheSourceDoesNotBearOut) {
  MemoryEnv env;
  build_listed(env);
  forge(env, kCache,
        {.position = 1, .change_facts = [](auto& facts) { facts.source_rate_hz = 48000; }});
  expect_full_is_happy(env);
  const Report report = verified_deeply(env);
  EXPECT_FALSE(report.ok);
  const Finding& finding = only_finding(report);
  EXPECT_EQ(finding.clip, clip_name(1));
  EXPECT_EQ(request::what_of(finding), "recomputed source rate");
  EXPECT_EQ(request::words_of(finding.expected), "16000");
  EXPECT_EQ(request::words_of(finding.found), "48000");
}

TEST(VerifyDeep, FindsAWarningThatTheSourceDoesNotBearOut) {
  MemoryEnv env;
  build_listed(env);
  forge(env, kCache, {.position = 1, .change_facts = [](auto& facts) {
                        facts.warnings = {{formats::Rule::kEndsEarly, {0.5, 2.0}}};
                      }});
  expect_full_is_happy(env);
  const Report report = verified_deeply(env);
  EXPECT_FALSE(report.ok);
  const Finding& finding = only_finding(report);
  EXPECT_EQ(finding.clip, clip_name(1));
  EXPECT_EQ(request::what_of(finding), "recomputed warnings");
}

TEST(VerifyDeep, PassesOverWhatFullFoundDamaged) {
  MemoryEnv env;
  build_listed(env);
  const auto shards = files_named(files_below(env), "shards/mel/");
  std::string bytes = shards.begin()->second;
  bytes[bytes.find("XTTSBLK1") + formats::kBlockHeaderBytes + 40] ^= 1;
  env.add_file(kCache + "/" + shards.begin()->first, bytes);
  const Report report = verified_deeply(env);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(request::what_of(only_finding(report)), "record");
  EXPECT_EQ(report.comparison.count(), kClips - 1);
}

TEST(VerifyDeep, NotesSourcesThatAreNotThoseOfTheBuild) {
  MemoryEnv env;
  build_listed(env);
  env.add_file(sound_path(1, kData + "/wavs"), sound(17));            // changed
  ASSERT_TRUE(env.remove_file(sound_path(2, kData + "/wavs")).ok());  // vanished
  add_list(env, kClips, {{3, "Mended."}});                            // another text
  const Report report = verified_deeply(env);
  EXPECT_TRUE(report.ok);
  ASSERT_EQ(report.findings.size(), 3U);
  std::map<std::string, const Finding*> by_clip;
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.weight, Weight::kNote) << finding.clip;
    EXPECT_EQ(request::command_of(*report.remedy),
              "xtts-precompute build /data /cache --max-gone 16.7%");
    by_clip[finding.clip] = &finding;
  }
  EXPECT_EQ(by_clip.at(clip_name(1))->found.kind, "source_changed");
  EXPECT_EQ(by_clip.at(clip_name(2))->found.kind, "not_listed");
  EXPECT_THAT(by_clip.at(clip_name(3))->found.text, HasSubstr("Mended."));
  EXPECT_EQ(report.comparison.count(), kClips - 2);
}

TEST(VerifyDeep, NotesASourceThatCannotBeRead) {
  MemoryEnv env;
  build_listed(env);
  const std::string path = sound_path(5, kData + "/wavs");
  env.set_hook([&](EnvOperation& operation) {
    return operation.call == EnvCall::kRead && operation.path == path
               ? Status(StatusCode::kResource, "input/output error")
               : Status();
  });
  const Report report = verified_deeply(env);
  EXPECT_TRUE(report.ok);
  EXPECT_THAT(request::words_of(only_finding(report).found), HasSubstr("cannot be read"));
}

TEST(VerifyDeep, SaysWhereItComparesByTolerance) {
  if (dsp::best_isa() == dsp::Isa::kScalar) GTEST_SKIP() << "this machine has one instruction set";
  MemoryEnv env;
  build_listed(env);
  auto options = deep_options();
  options.sources.isa = dsp::Isa::kScalar;
  const Report report = verified(env, options);
  EXPECT_TRUE(report.ok) << report.findings.size();
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.comparison.count(), kClips);
  EXPECT_THAT(request::words_of(report.comparison), HasSubstr("within a tolerance of 2e-05"));
  EXPECT_THAT(request::words_of(report.comparison), HasSubstr("numerics differ: cache cpu "));
  EXPECT_THAT(request::words_of(report.comparison), HasSubstr("here cpu scalar"));
}

TEST(VerifyDeep, FindsWithOtherNumericsWhatIsBeyondTheTolerance) {
  if (dsp::best_isa() == dsp::Isa::kScalar) GTEST_SKIP() << "this machine has one instruction set";
  MemoryEnv env;
  build_listed(env);
  forge(env, kCache,
        {.position = 0, .change_rows = [](auto& rows) { add_to_value(rows, 50, 1e-3F); }});
  auto options = deep_options();
  options.sources.isa = dsp::Isa::kScalar;
  const Report report = verified(env, options);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(request::what_of(only_finding(report)), "recomputed value");
  EXPECT_EQ(only_finding(report).clip, clip_name(0));
}

TEST(VerifyDeep, ComparesHalfPrecisionAndPaddedRecords) {
  for (const std::string dtype : {"float16", "bfloat16"}) {
    MemoryEnv env;
    add_listed_sounds(env, kClips);
    must_build(env, request_for(recipe_with({"storage.dtype=" + dtype, "features.max_frames=64"})));
    auto options = deep_options();
    for (const auto isa : {dsp::Isa::kBest, dsp::Isa::kScalar}) {
      options.sources.isa = isa;
      const Report report = verified(env, options);
      EXPECT_TRUE(report.ok) << dtype;
      EXPECT_EQ(report.comparison.count(), kClips);
    }
  }
}

TEST(VerifyDeep, CutsSegmentsOutOfTheirSource) {
  MemoryEnv env;
  env.add_file(kData + "/talk.wav", noise_wav(3, {.seconds = 4.0, .rate_hz = 44100}));
  env.add_file(kData + "/wav.scp", "talk talk.wav\n");
  env.add_file(kData + "/segments", "a talk 0.1 0.6\nb talk 1.0 1.7\nc talk 2.5 3.9\n");
  env.add_file(kData + "/text", "a One.\nb Two.\nc Three.\n");
  must_build(env, request_for(recipe_of_small_shards({"corpus.layout=kaldi"})));
  const Report report = verified_deeply(env);
  EXPECT_TRUE(report.ok);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.comparison.count(), 3U);

  env.add_file(kData + "/segments", "a talk 0.1 0.6\nb talk 1.1 1.7\nc talk 2.5 3.9\n");
  const Report moved = verified_deeply(env);
  EXPECT_TRUE(moved.ok);
  EXPECT_THAT(request::words_of(only_finding(moved).found), HasSubstr("another place"));
  EXPECT_EQ(moved.comparison.count(), 2U);
}

TEST(VerifyDeep, TellsTheSameForAnyNumberOfThreads) {
  MemoryEnv env;
  build_listed(env);
  for (const std::uint64_t position : {0U, 3U, 5U}) {
    forge(env, kCache,
          {.position = position, .change_rows = [](auto& rows) { rows[7] ^= std::byte{1}; }});
  }
  const Report one = verified(env, deep_options(1));
  const Report many = verified(env, deep_options(4));
  ASSERT_EQ(one.findings.size(), 3U);
  ASSERT_EQ(many.findings.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(one.findings[i].clip, many.findings[i].clip);
    EXPECT_EQ(one.findings[i].offset_bytes, many.findings[i].offset_bytes);
  }
}

TEST(VerifyDeep, ComputesASampleAlone) {
  MemoryEnv env;
  build_listed(env);
  OpenedSources opened(env);
  auto options = deep_options();
  options.sample = {.share = 1e-9, .seed = 5};  // at least one
  const Report report = verified(env, options);
  EXPECT_EQ(report.comparison.count(), 1U);
  EXPECT_EQ(report.sampled_of, kClips);
  const auto first = opened.take();
  EXPECT_EQ(first.size(), 1U);
  verified(env, options);
  EXPECT_EQ(opened.take(), first);
}

TEST(VerifyDeep, TellsProgressAndStopsWhenAsked) {
  MemoryEnv env;
  build_listed(env);
  auto options = deep_options(1);
  std::atomic<std::uint64_t> done = 0;
  options.recompute_progress = [&](std::uint64_t clips, std::uint64_t total) {
    done = clips;
    EXPECT_EQ(total, kClips);
  };
  options.cancelled = [&] { return done >= 2; };
  const auto report = verify::verify_cache(env, kCache, options);
  EXPECT_EQ(report.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(done, 2U);
}

TEST(VerifyDeep, AsksWhereTheSourcesAre) {
  MemoryEnv env;
  build_listed(env);
  auto options = deep_options();
  options.sources.data.path.clear();
  const auto nowhere = verify::verify_cache(env, kCache, options);
  EXPECT_EQ(nowhere.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(nowhere.status().message(), HasSubstr("--data DATA"));
  add_sounds(env, 2, "/other");
  ASSERT_TRUE(env.rename("/other/clip-0000.wav", "/other/x.wav").ok());
  ASSERT_TRUE(env.rename("/other/clip-0001.wav", "/other/y.wav").ok());
  options.sources.data.path = "/other";
  const auto other = verify::verify_cache(env, kCache, options);
  EXPECT_EQ(other.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(other.status().message(), HasSubstr("another corpus"));
}

std::vector<verify::ClipPlan> thousand_clips() {
  std::vector<verify::ClipPlan> clips(1000);
  for (std::uint32_t i = 0; i < clips.size(); ++i) clips[i].id_hash = digest128(clip_name(i));
  return clips;
}

TEST(VerifySample, IsSeededAndOfAboutTheShare) {
  const auto clips = thousand_clips();
  const auto sample = verify::sampled_positions(clips, {.share = 0.1, .seed = 1});
  // Binomial: 100 with a standard deviation of 9.5.
  EXPECT_GT(sample.size(), 60U);
  EXPECT_LT(sample.size(), 140U);
  EXPECT_EQ(verify::sampled_positions(clips, {.share = 0.1, .seed = 1}), sample);
  EXPECT_NE(verify::sampled_positions(clips, {.share = 0.1, .seed = 2}), sample);
  EXPECT_EQ(verify::sampled_positions(clips, {.share = 1.0, .seed = 9}).size(), clips.size());
  EXPECT_EQ(verify::sampled_positions({}, {.share = 0.5}).size(), 0U);
}

TEST(VerifySample, OfAGreaterShareHoldsTheSmallerOne) {
  const auto clips = thousand_clips();
  const auto few = verify::sampled_positions(clips, {.share = 0.05, .seed = 3});
  const auto more = verify::sampled_positions(clips, {.share = 0.2, .seed = 3});
  EXPECT_TRUE(std::includes(more.begin(), more.end(), few.begin(), few.end()));
}

}  // namespace
}  // namespace xtts::testing
