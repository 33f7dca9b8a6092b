// Values that are not finite, and values that a dtype cannot hold, from the rule to the cache: each
// costs its clip, by name, and none is stored.
#include "records/value_rules.hpp"
#include "formats/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "base/float_range.hpp"
#include "base/half.hpp"
#include "build_support.hpp"
#include "dsp/channel_sums.hpp"
#include "pipeline/live_clips.hpp"
#include "pipeline/manifest_parts.hpp"
#include "recipe/recipe_file.hpp"
#include "report/reasons.hpp"
#include "support/wav_file.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {
namespace {

using formats::Rule;
using records::check_int16_wave;
using records::check_values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Rule rule_that_refuses(const records::ValueVerdict& verdict) {
  return verdict.refusal ? verdict.refusal->rule : Rule::kUnknown;
}

std::string path_of(const std::string& name) {
  return kData + "/" + name + ".wav";
}

// A tone with noise, so that each bin has something; half a second.
std::vector<float> loud_sound(float amplitude, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> samples(11025);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double tone = std::sin(2.0 * std::numbers::pi * 440.0 * static_cast<double>(i) / 22050.0);
    const double noise = static_cast<double>(random() % 2001U) / 1000.0 - 1.0;
    samples[i] = static_cast<float>(0.8 * tone + 0.2 * noise) * amplitude;
  }
  return samples;
}

void add_float_sound(MemoryEnv& env, const std::string& name, std::span<const float> samples) {
  env.add_file(path_of(name), float_wav_file({}, samples));
}

// Also of amplitudes that no clip has by mistake alone: float32 files of integers have 32,768 and
// 2^31, and what was written over has any.
void add_loud_sounds(MemoryEnv& env) {
  std::uint32_t seed = 0;
  const auto add = [&](const std::string& name, float amplitude) {
    add_float_sound(env, name, loud_sound(amplitude, ++seed));
  };
  add("a-plain", 0.5F);
  add("b-1e3", 1e3F);
  add("c-1e10", 1e10F);
  add("d-1e14", 1e14F);
  add("e-1e17", 1e17F);
  add("f-5e17", 5e17F);
  add("g-1e30", 1e30F);
  add("h-max", std::numeric_limits<float>::max());
  add("i-denormal", 1e-40F);
  add("j-tiny", 1e-30F);
  std::vector<float> burst = loud_sound(0.5F, ++seed);
  burst[6000] = 1e17F;
  add_float_sound(env, "k-burst", burst);
}

// Widened to float32, whatever the column holds.
std::vector<float> stored_values(reader::CacheView& cache, const std::string& column,
                                 std::uint64_t position) {
  const auto record = cache.read_record(column, position);
  EXPECT_TRUE(record.ok()) << record.status().message();
  if (!record) return {kInfinity};
  std::vector<float> values(record->bytes.size() / size_bytes(record->dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (record->dtype == DType::kFloat32) {
      std::memcpy(&values[i], record->bytes.data() + 4 * i, 4);
      continue;
    }
    std::uint16_t half = 0;
    std::memcpy(&half, record->bytes.data() + 2 * i, 2);
    values[i] = record->dtype == DType::kFloat16 ? from_float16(half)
                : record->dtype == DType::kBFloat16
                    ? from_bfloat16(half)
                    : static_cast<float>(std::bit_cast<std::int16_t>(half));
  }
  return values;
}

// Of each stored clip and column of sound.
void expect_finite(Env& env, const std::string& what) {
  const auto cache = open_cache(env);
  ASSERT_NE(cache, nullptr) << what;
  for (std::uint64_t position = 0; position < cache->size(); ++position) {
    for (const auto& column : cache->manifest().columns) {
      if (column.spec.dtype == DType::kInt32) continue;  // tokens
      EXPECT_TRUE(range_of(stored_values(*cache, column.spec.name, position)).is_finite())
          << what << ", " << column.spec.name << " of clip " << position;
    }
  }
}

std::vector<std::string> reasons_of(const pipeline::BuildReport& report) {
  std::vector<std::string> reasons;
  for (const auto& reject : report.rejects)
    reasons.push_back(reject.id + ", " + std::string(to_string(reject.stage())) + ": " +
                      report::words_of(reject));
  return reasons;
}

verify::Report verified_deeply(Env& env) {
  verify::Options options;
  options.level = verify::Level::kDeep;
  options.sources.data.path = kData;
  options.sources.make_decoder = in_this_process();
  options.sources.scratch_folder = "/";
  const auto report = verify::verify_cache(env, kCache, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report ? *report : verify::Report{};
}

TEST(ValueRules, RefuseWhatIsNotFinite) {
  for (const float odd : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> values = {0.5F, odd};
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      EXPECT_EQ(rule_that_refuses(check_values("mel", values, dtype)), Rule::kValuesNotFinite);
    }
    EXPECT_EQ(rule_that_refuses(check_int16_wave(values)), Rule::kValuesNotFinite);
  }
}

TEST(ValueRules, RefuseWhatTheDtypeMakesInfiniteAndNameTheOneThatHoldsIt) {
  const std::vector<float> values = {-70000.0F};
  const auto half = check_values("linear", values, DType::kFloat16);
  ASSERT_EQ(rule_that_refuses(half), Rule::kBeyondFloat16);
  EXPECT_EQ(report::words_of(*half.refusal),
            "column linear reaches 7e+04, beyond float16: --dtype bfloat16 or float32 holds it");
  EXPECT_FALSE(check_values("linear", values, DType::kBFloat16).refusal);
  const std::vector<float> largest = {std::numeric_limits<float>::max()};
  const auto brain = check_values("linear", largest, DType::kBFloat16);
  ASSERT_EQ(rule_that_refuses(brain), Rule::kBeyondBfloat16);
  EXPECT_THAT(report::words_of(*brain.refusal), HasSubstr("--dtype float32 holds it"));
  EXPECT_FALSE(check_values("linear", largest, DType::kFloat32).refusal);
}

TEST(ValueRules, TellWhatBecomesZeroFromAShareOn) {
  std::vector<float> values(1000, 1.0F);
  std::fill_n(values.begin(), 9, 1e-9F);
  EXPECT_FALSE(check_values("mel", values, DType::kFloat16).warning);
  values[9] = 1e-9F;
  const auto many = check_values("mel", values, DType::kFloat16);
  ASSERT_TRUE(many.warning);
  EXPECT_EQ(many.warning->rule, Rule::kVanishedInFloat16);
  EXPECT_EQ(report::words_of(*many.warning),
            "column mel: 1.0 % of its values are too small for float16 and became 0");
  // Zeros themselves are what they were.
  EXPECT_FALSE(check_values("mel", std::vector<float>(100), DType::kFloat16).warning);
}

TEST(ValueRules, CutWhatOvershootsInSixteenBitsAndRefuseAnotherScale) {
  std::vector<float> samples(1000, 0.5F);
  EXPECT_FALSE(check_int16_wave(samples).warning);
  samples[3] = -1.2F;
  const auto cut = check_int16_wave(samples);
  ASSERT_TRUE(cut.warning);
  EXPECT_EQ(report::words_of(*cut.warning),
            "column wave: 0.1 % of its samples are beyond full scale and were cut there");
  samples[4] = 2.5F;
  const auto refused = check_int16_wave(samples);
  ASSERT_EQ(rule_that_refuses(refused), Rule::kBeyondInt16);
  EXPECT_THAT(report::words_of(*refused.refusal), HasSubstr("columns.wave=float32"));
}

// Rows of each dtype into each that convert knows, against the same in NumPy's order: widen, less
// the mean, divided, rounded once.
TEST(ValueRules, ChangeRowsOnceAndCheckWhatComesOfIt) {
  const auto norm =
      ChannelNorm::create(std::vector<double>{1.0, 0.0}, std::vector<double>{2.0, 1e-9});
  ASSERT_TRUE(norm.ok());
  const std::vector<float> values = {3.0F, 0.5F, -1.0F, -0.5F};
  std::vector<std::byte> changed;
  const auto verdict = records::change_rows("mel", std::as_bytes(std::span(values)),
                                            DType::kFloat32, &*norm, DType::kFloat32, changed);
  ASSERT_FALSE(verdict.refusal);
  std::vector<float> normalized(4);
  ASSERT_EQ(changed.size(), 16U);
  std::memcpy(normalized.data(), changed.data(), 16);
  EXPECT_THAT(normalized, ElementsAre(1.0F, 0.5F / 1e-5F, -1.0F, -0.5F / 1e-5F));
  // A channel that hardly moved in training may be far off in another clip.
  const std::vector<float> far = {3.0F, 0.7F};
  EXPECT_EQ(
      rule_that_refuses(records::change_rows("mel", std::as_bytes(std::span(far)), DType::kFloat32,
                                             &*norm, DType::kFloat16, changed)),
      Rule::kBeyondFloat16);
  const std::vector<float> farther = {3.0F, 1e35F};
  EXPECT_EQ(
      rule_that_refuses(records::change_rows("mel", std::as_bytes(std::span(farther)),
                                             DType::kFloat32, &*norm, DType::kFloat32, changed)),
      Rule::kValuesNotFinite);
}

TEST(Statistics, AreLeftOutWhereASumIsNotFinite) {
  const auto sums = [](double sum, double square) {
    dsp::TotalSums totals;
    totals.add(formats::BlockFacts{.summed_frame_count = 2, .sums = {sum, square}});
    return totals;
  };
  EXPECT_TRUE(dsp::statistics_of(sums(2.0, 4.0)).has_value());
  // The largest sums that finite values have.
  const double largest = static_cast<double>(std::numeric_limits<float>::max());
  const auto of_largest = dsp::statistics_of(sums(2 * largest, 2 * largest * largest));
  ASSERT_TRUE(of_largest.has_value());
  EXPECT_TRUE(std::isfinite(of_largest->mean[0]) && std::isfinite(of_largest->std_deviation[0]));
  for (const double odd : {static_cast<double>(kInfinity), std::nan("")}) {
    EXPECT_FALSE(dsp::statistics_of(sums(odd, 4.0)).has_value());
    EXPECT_FALSE(dsp::statistics_of(sums(2.0, odd)).has_value());
  }
}

class LoudCorpus : public ::testing::TestWithParam<std::string> {};

// With every column of sound that there is, so that each is looked at.
TEST_P(LoudCorpus, IsStoredFiniteAndMadeAgain) {
  MemoryEnv env;
  add_loud_sounds(env);
  auto recipe = recipe::load(Env::real(), GetParam());
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  for (const char* setting :
       {"columns.linear=true", "columns.energy=true", "columns.wave=float32",
        "corpus.train_split=1", "corpus.validation_split=0", "storage.layout=packed"}) {
    // Some recipes cannot have some columns.
    auto with = *recipe;
    if (recipe::apply_setting(Env::real(), with, setting).ok() && recipe::check(with).ok())
      *recipe = with;
  }
  auto request = request_for(*recipe);
  request.max_rejects.share = 1.0;
  const auto report = must_build(env, request);
  EXPECT_EQ(report.record_count + report.rejects.size(), 11U);
  for (const auto& reject : report.rejects) {
    EXPECT_FALSE(reject.id.empty());
    EXPECT_NE(reject.id, "a-plain") << report::words_of(reject);
  }
  expect_finite(env, GetParam());
  const auto verified = verified_deeply(env);
  EXPECT_TRUE(verified.ok);
  EXPECT_THAT(verified.findings, ::testing::IsEmpty());

  // The runtime gives the same records, and refuses the same clips for the same reason.
  auto live = pipeline::LiveClips::open(env, request, "/");
  ASSERT_TRUE(live.ok()) << live.status().message();
  std::vector<formats::Reject> rejects;
  for (std::uint64_t position = 0; position < (*live)->size(); ++position) {
    auto record = (*live)->record(position);
    ASSERT_TRUE(record.ok()) << record.status().message();
    if (record->reject) rejects.push_back(*record->reject);
  }
  formats::sort_rejects(rejects);
  EXPECT_EQ(rejects, report.rejects);
}

INSTANTIATE_TEST_SUITE_P(ShippedRecipes, LoudCorpus, ::testing::ValuesIn(recipe::shipped_names()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Their power is beyond float32. Features were infinite: of training clips that ended the run, of
// others they were stored.
TEST(LoudClip, IsARejectThatSaysWhatItsSamplesReach) {
  MemoryEnv env;
  add_float_sound(env, "fair", loud_sound(0.5F, 1));
  add_float_sound(env, "loud", loud_sound(2e17F, 2));
  for (const std::string columns : {"columns.mel=true", "columns.linear=true"}) {
    auto request = request_for(recipe_with(
        {columns, "loudness.method=none", "features.spectrum=power", "trim.method=none"}));
    request.max_rejects.count = 1;
    request.options.overwrite = true;
    const auto report = must_build(env, request);
    ASSERT_EQ(report.rejects.size(), 1U) << columns;
    EXPECT_EQ(report.rejects[0].id, "loud");
    EXPECT_EQ(report.rejects[0].stage(), formats::Stage::kFeatures);
    EXPECT_EQ(report.rejects[0].kind, formats::RejectClass::kInput);
    EXPECT_THAT(report::words_of(report.rejects[0]), HasSubstr("; its samples reach 1.9"));
    expect_finite(env, columns);
    EXPECT_TRUE(open_cache(env)->manifest().mel_statistics.has_value());
  }
}

// A clip of loud bins among fair ones: what float16 cannot hold is a reject, what bfloat16 can is
// stored.
TEST(Float16, RefusesTheClipThatItCannotHold) {
  MemoryEnv env;
  add_float_sound(env, "fair", loud_sound(0.2F, 1));
  add_float_sound(env, "loud", loud_sound(900.0F, 2));
  const auto request_in = [](const std::string& dtype) {
    auto request =
        request_for(recipe_with({"columns.linear=true", "loudness.method=none",
                                 "features.spectrum=magnitude", "storage.dtype=" + dtype}));
    request.max_rejects.count = 1;
    request.options.overwrite = true;
    return request;
  };
  const auto report = must_build(env, request_in("float16"));
  ASSERT_EQ(reasons_of(report).size(), 1U);
  EXPECT_THAT(reasons_of(report)[0], HasSubstr("loud, features: column linear reaches 1."));
  EXPECT_THAT(reasons_of(report)[0], HasSubstr("--dtype bfloat16 or float32 holds it"));
  expect_finite(env, "float16");
  EXPECT_TRUE(verified_deeply(env).ok);
  EXPECT_TRUE(must_build(env, request_in("bfloat16")).rejects.empty());
  expect_finite(env, "bfloat16");
}

// A power spectrum of 1,024 points reaches 65,536 for a tone at full scale.
TEST(Float16, IsRefusedBeforeAnyWorkWhereTheRecipeCannotFit) {
  MemoryEnv env;
  add_sounds(env, 3);
  const auto request_of = [](const std::vector<std::string>& settings) {
    return request_for(recipe_with(settings));
  };
  const std::vector<std::string> settings = {"columns.linear=true", "features.spectrum=power",
                                             "loudness.method=none", "storage.dtype=float16"};
  OpenedSources opened(env);
  for (const bool is_dry : {true, false}) {
    auto request = request_of(settings);
    request.options.dry_run = is_dry;
    const auto refused = run_build(env, request);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.status().message(), HasSubstr("of a tone at full scale, column linear"));
    EXPECT_THAT(refused.status().message(), HasSubstr("--dtype bfloat16 or float32 holds it"));
  }
  EXPECT_EQ(pipeline::LiveClips::open(env, request_of(settings), "/").status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(opened.take(), std::set<std::string>());
  EXPECT_FALSE(env.exists(kCache + "/manifest.json"));
  // A loudness that keeps tones low makes room.
  auto quiet = settings;
  quiet[2] = "loudness.method=peak";
  quiet.push_back("loudness.target=0.5");
  must_build(env, request_of(quiet));
}

TEST(Float16, TellsHowMuchOfAClipBecameZero) {
  MemoryEnv env;
  add_float_sound(env, "fair", loud_sound(0.5F, 1));
  add_float_sound(env, "faint", loud_sound(1e-9F, 2));
  const auto report = must_build(
      env,
      request_for(recipe_with({"columns.linear=true", "columns.mel=false", "loudness.method=none",
                               "corpus.silent=keep", "storage.dtype=float16"})));
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].count, 1U);
  EXPECT_EQ(report.warnings[0].example_id, "faint");
  EXPECT_EQ(report.warnings[0].example.rule, Rule::kVanishedInFloat16);
  EXPECT_TRUE(verified_deeply(env).ok);
}

TEST(Int16Wave, RefusesAClipOfAnotherScale) {
  MemoryEnv env;
  add_float_sound(env, "fair", loud_sound(0.9F, 1));
  add_float_sound(env, "over", loud_sound(1.5F, 2));
  add_float_sound(env, "loud", loud_sound(1e10F, 3));
  auto request =
      request_for(recipe_with({"columns.wave=int16", "columns.mel=false", "loudness.method=none"}));
  request.max_rejects.count = 1;
  const auto report = must_build(env, request);
  ASSERT_EQ(reasons_of(report).size(), 1U);
  EXPECT_THAT(reasons_of(report)[0], HasSubstr("loud, features: column wave reaches 9.9"));
  const auto warning = std::ranges::find_if(
      report.warnings, [](const auto& kind) { return kind.example.rule == Rule::kCutAtFullScale; });
  ASSERT_NE(warning, report.warnings.end());
  EXPECT_EQ(warning->count, 1U);
  EXPECT_EQ(warning->example_id, "over");
}

}  // namespace
}  // namespace xtts::testing
