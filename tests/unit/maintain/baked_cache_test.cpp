// The verdict of verify on a cache that `convert --bake corpus` has written: the sources made its
// records, but for one step that the manifest tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "../verify/forged_cache.hpp"
#include "grown_cache.hpp"
#include "maintain/rewrite.hpp"
#include "request/verify_words.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using verify::Level;
using verify::Report;

const std::string kBaked = "/baked";
constexpr std::uint32_t kClips = 10;

// The storage that it was built in, and the one that it is baked into.
struct Storages {
  DType built = DType::kFloat32;
  formats::StorageConfig baked;
};

void PrintTo(const Storages& storages, std::ostream* out) {
  *out << to_string(storages.built) << " to " << to_string(storages.baked.dtype);
}

void add_baked(MemoryEnv& env, const Storages& storages = {}) {
  add_listed_sounds(env, kClips);
  must_build(
      env,
      request_for(recipe_of_small_shards(
          {"storage.dtype=" + std::string(to_string(storages.built)), "features.max_frames=64"})));
  const auto report = maintain::convert(
      env, {.from = kCache, .to = kBaked, .storage = storages.baked, .bake_corpus = true});
  ASSERT_TRUE(report.ok()) << report.status().message();
}

Report verified(MemoryEnv& env, Level level, dsp::Isa isa = dsp::Isa::kBest, bool repair = false) {
  verify::Options options;
  options.level = level;
  options.thread_count = 2;
  options.repair = repair;
  options.sources.data.path = kData;
  options.sources.make_decoder = in_this_process();
  options.sources.isa = isa;
  options.sources.scratch_folder = "/";
  const auto report = verify::verify_cache(env, kBaked, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report ? *report : Report{};
}

class BakedCache : public ::testing::TestWithParam<Storages> {};

TEST_P(BakedCache, IsMadeAgainFromItsSourcesBitForBit) {
  MemoryEnv env;
  add_baked(env, GetParam());
  const Report report = verified(env, Level::kDeep);
  EXPECT_TRUE(report.ok);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.comparison.count(), kClips);
  EXPECT_EQ(request::words_of(report.comparison), "bit for bit");
}

TEST_P(BakedCache, IsWithinTheToleranceOfItsChannelsOnOtherNumerics) {
  if (dsp::best_isa() == dsp::Isa::kScalar) GTEST_SKIP() << "this machine has one instruction set";
  MemoryEnv env;
  add_baked(env, GetParam());
  const Report report = verified(env, Level::kDeep, dsp::Isa::kScalar);
  EXPECT_TRUE(report.ok);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.comparison.count(), kClips);
  EXPECT_THAT(request::words_of(report.comparison), HasSubstr("numerics differ"));
}

// A shard, then the index.
TEST_P(BakedCache, IsRepairedToTheByte) {
  MemoryEnv env;
  add_baked(env, GetParam());
  const Files whole = published_files(env, kBaked);
  for (const std::string prefix : {"shards/mel/", "index-"}) {
    const auto name = files_named(whole, prefix).begin()->first;
    std::string bytes = whole.at(name);
    const std::size_t header = bytes.find("XTTSBLK1");
    bytes[header == std::string::npos ? 100 : header + formats::kBlockHeaderBytes + 40] ^= 1;
    env.add_file(kBaked + "/" + name, bytes);
    EXPECT_FALSE(verified(env, Level::kFull).ok) << name;
    const Report mended = verified(env, Level::kFull, dsp::Isa::kBest, true);
    EXPECT_TRUE(mended.ok) << name;
    EXPECT_EQ(mended.repaired.size(), 1U);
    EXPECT_EQ(difference(whole, published_files(env, kBaked)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, BakedCache,
                         ::testing::Values(Storages{.built = DType::kFloat32,
                                                    .baked = {.layout = formats::Layout::kPadded}},
                                           Storages{.built = DType::kFloat32,
                                                    .baked = {.layout = formats::Layout::kPacked,
                                                              .dtype = DType::kFloat16}},
                                           Storages{.built = DType::kFloat16,
                                                    .baked = {.layout = formats::Layout::kPacked,
                                                              .dtype = DType::kFloat16}},
                                           Storages{.built = DType::kBFloat16,
                                                    .baked = {.store = formats::StoreKind::kHdf5,
                                                              .layout = formats::Layout::kPacked,
                                                              .dtype = DType::kBFloat16}}),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param.built)) + "To" +
                                  std::string(to_string(instance.param.baked.dtype));
                         });

TEST(BakedCacheForged, IsFoundOut) {
  if (dsp::best_isa() == dsp::Isa::kScalar) GTEST_SKIP() << "this machine has one instruction set";
  MemoryEnv env;
  add_baked(env);
  forge(env, kBaked, {.position = 3, .change_rows = [](auto& rows) {
                        float value = 0.0F;
                        std::memcpy(&value, rows.data() + 400, sizeof value);
                        value += 1e-2F;
                        std::memcpy(rows.data() + 400, &value, sizeof value);
                      }});
  EXPECT_TRUE(verified(env, Level::kFull).ok);
  for (const dsp::Isa isa : {dsp::Isa::kBest, dsp::Isa::kScalar}) {
    const Report report = verified(env, Level::kDeep, isa);
    EXPECT_FALSE(report.ok);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().clip, clip_name(3));
    EXPECT_EQ(request::what_of(report.findings.front()),
              isa == dsp::Isa::kBest ? "recomputed bytes" : "recomputed value");
  }
}

}  // namespace
}  // namespace xtts::testing
