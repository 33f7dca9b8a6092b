#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "formats/canonical_json.hpp"
#include "formats/corpus_config.hpp"
#include "formats/feature_members.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe_members.hpp"
#include "formats/storage_config.hpp"
#include "formats/text_config.hpp"

namespace xtts::formats {
namespace {

// The whole text, because every byte of it is in fingerprints: a change here makes all caches
// unknown to their recipes.
TEST(SectionJson, TheFeaturesInFull) {
  EXPECT_EQ(
      dump_canonical(to_json(FeatureConfig())),
      R"({"channels":"mean","log":{"base":"natural","floor":1e-05,"mode":"clamp"},)"
      R"("loudness":{"limit_peak":true,"method":"none","target":0.1,"then_peak_to_one":false},)"
      R"("max_frames":800,"mel":{"f_max_hz":11025.0,"f_min_hz":0.0,"n_mels":80,"norm":"slaney",)"
      R"("scale":"slaney"},"normalize":{"method":"none","offset":0.0,"scale":1.0},"pad_value":0.0,)"
      R"("precision":"double","resampler":"soxr_hq","sample_rate_hz":22050,"spectrum":"magnitude",)"
      R"("spectrum_floor":0.0,"stft":{"framing":"center","hop_samples":256,"n_fft":1024,)"
      R"("pad_mode":"reflect","symmetry":"periodic","win_samples":1024,"window":"hann"},)"
      R"("too_long":null,"trim":{"frame_samples":1024,"hop_samples":256,"method":"none","top_db":20.0}})");
}

TEST(SectionJson, TheTextInFull) {
  TextConfig config;
  config.tokens = TokenKind::kCharacters;
  config.vocabulary = "abc é";
  config.unknown = UnknownCharacter::kUnknownToken;
  EXPECT_EQ(dump_canonical(to_json(config)),
            R"({"max_tokens":200,"tokens":"characters","too_long":"drop","unknown":"unk",)"
            R"("use_normalized":true,"vocabulary":"abc é"})");
}

TEST(SectionJson, TheCorpusInFull) {
  EXPECT_EQ(
      dump_canonical(to_json(CorpusConfig())),
      R"({"clipped":"warn","clipped_share":0.001,"duplicates":"warn","language":"",)"
      R"("layout":"auto","low_rate":"warn","max_clip_seconds":null,"max_source_seconds":7200.0,)"
      R"("metadata_eval_file":"","metadata_train_file":"","no_text":"warn","not_finite":"warn",)"
      R"("silent":"warn","silent_dbfs":-80.0,"source_rate_below":4000,"speaker":"",)"
      R"("speaker_pattern":"","split_by":"id","split_seed":0,"subset_seed":0,)"
      R"("too_short":"warn","too_short_seconds":0.02,"train_split":0.9,)"
      R"("train_subset_fraction":1.0,"validation_clips_max":2000,"validation_split":0.1,)"
      R"("wavs_eval_folder":"","wavs_train_folder":""})");
}

TEST(SectionJson, TheStorageInFull) {
  EXPECT_EQ(dump_canonical(to_json(StorageConfig())),
            R"({"dtype":"float32","layout":"padded","store":"lmdb"})");
}

TEST(SectionJson, WhatIsSetIsNoLongerNull) {
  FeatureConfig features;
  features.too_long = TooLong::kTruncate;
  EXPECT_EQ(to_json(features)["too_long"], "truncate");
  CorpusConfig corpus;
  corpus.max_clip_seconds = 11.6;
  EXPECT_EQ(to_json(corpus)["max_clip_seconds"], 11.6);
}

// Known values of the fingerprints, so that neither text nor hash can change unseen.
TEST(Fingerprint, OfTheDefaultsIsKnown) {
  EXPECT_EQ(fingerprint(FeatureConfig()).to_hex(), "c6d673f1cd9ec473a52f578946f8b04d");
  EXPECT_EQ(fingerprint(TextConfig()).to_hex(), "17d2d17303e3daccd052674b57a217e1");
}

// Another value for each member of a section, one at a time.
struct Change {
  void operator()(bool& value) const { value = !value; }
  void operator()(double& value) const { value += 1; }
  void operator()(std::uint32_t& value) const { value += 1; }
  void operator()(RecordLength& value) const { value = value.number + 1; }
  void operator()(std::string& value) const { value += 'x'; }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum& value) const { value = value == Enum{} ? static_cast<Enum>(1) : Enum{}; }
  template <typename Value>
  void operator()(std::optional<Value>& value) const {
    value = Value{};
  }
  template <typename Value>
  void operator()(std::vector<Value>& value) const {
    value.emplace_back();
  }
};

template <typename Section>
struct ExpectEachMemberInFingerprint {
  Section whole = {};
  std::set<const void*> places = {};

  void member(const auto& /*row*/, const std::string& name, auto at) {
    EXPECT_TRUE(places.insert(&at(whole)).second) << name << " is another row's member";
    Section changed;
    Change()(at(changed));
    EXPECT_NE(fingerprint(changed), fingerprint(Section())) << name;
    if constexpr (std::is_same_v<Section, FeatureConfig>) {
      const auto read = feature_config_from_json(to_json(changed));
      ASSERT_TRUE(read.ok()) << name << ": " << read.status().message();
      EXPECT_EQ(to_json(*read), to_json(changed)) << name;
    }
  }
  bool enters(const auto& row, const std::string& /*name*/, auto /*at*/) {
    return row.is_there == nullptr;  // what is baked has a test of its own
  }
};

TEST(Fingerprint, EveryMemberIsInItAndIsReadBack) {
  ExpectEachMemberInFingerprint<FeatureConfig> features;
  visit_members(kFeatureMembers, "", kItself, features);
  ExpectEachMemberInFingerprint<TextConfig> text;
  visit_members(kTextMembers, "", kItself, text);
}

TEST(Fingerprint, EveryMemberOfWhatIsBakedIsInIt) {
  FeatureConfig baked;
  baked.baked = {.dtype = DType::kFloat32, .mean = {1}, .std_deviation = {2}};
  EXPECT_EQ(dump_canonical(to_json(baked)["baked"]),
            R"({"dtype":"float32","mean":[1.0],"std":[2.0]})");
  EXPECT_NE(fingerprint(baked), fingerprint(FeatureConfig()));
  for (const auto& change : std::initializer_list<std::function<void(BakedConfig&)>>{
           [](BakedConfig& b) { b.dtype = DType::kFloat16; }, [](BakedConfig& b) { b.mean = {3}; },
           [](BakedConfig& b) { b.std_deviation = {3}; }}) {
    FeatureConfig other = baked;
    change(other.baked);
    EXPECT_NE(fingerprint(other), fingerprint(baked));
  }
}

}  // namespace
}  // namespace xtts::formats
