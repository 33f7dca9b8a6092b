#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "formats/canonical_json.hpp"
#include "formats/corpus_config.hpp"
#include "formats/feature_config.hpp"
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

template <typename Section, typename Change>
void expect_new_fingerprint(Change change) {
  Section section;
  change(section);
  EXPECT_NE(fingerprint(section), fingerprint(Section()));
}

// One change of each member; a member that to_json forgets fails here.
TEST(Fingerprint, EveryMemberOfTheFeaturesIsInIt) {
  using F = FeatureConfig;
  expect_new_fingerprint<F>([](F& f) { f.sample_rate_hz = 1; });
  expect_new_fingerprint<F>([](F& f) { f.channels = ChannelMix::kFirst; });
  expect_new_fingerprint<F>([](F& f) { f.resampler = "x"; });
  expect_new_fingerprint<F>([](F& f) { f.trim.method = TrimMethod::kTopDb; });
  expect_new_fingerprint<F>([](F& f) { f.trim.top_db = 1; });
  expect_new_fingerprint<F>([](F& f) { f.trim.frame_samples = 1; });
  expect_new_fingerprint<F>([](F& f) { f.trim.hop_samples = 1; });
  expect_new_fingerprint<F>([](F& f) { f.loudness.method = LoudnessMethod::kRms; });
  expect_new_fingerprint<F>([](F& f) { f.loudness.target = 1; });
  expect_new_fingerprint<F>([](F& f) { f.loudness.limit_peak = false; });
  expect_new_fingerprint<F>([](F& f) { f.loudness.then_peak_to_one = true; });
  expect_new_fingerprint<F>([](F& f) { f.stft.n_fft = 1; });
  expect_new_fingerprint<F>([](F& f) { f.stft.win_samples = 1; });
  expect_new_fingerprint<F>([](F& f) { f.stft.hop_samples = 1; });
  expect_new_fingerprint<F>([](F& f) { f.stft.symmetry = WindowSymmetry::kSymmetric; });
  expect_new_fingerprint<F>([](F& f) { f.stft.framing = Framing::kEnd; });
  expect_new_fingerprint<F>([](F& f) { f.stft.pad_mode = PadMode::kZeros; });
  expect_new_fingerprint<F>([](F& f) { f.spectrum = SpectrumKind::kPower; });
  expect_new_fingerprint<F>([](F& f) { f.spectrum_floor = 1; });
  expect_new_fingerprint<F>([](F& f) { f.mel.n_mels = 1; });
  expect_new_fingerprint<F>([](F& f) { f.mel.f_min_hz = 1; });
  expect_new_fingerprint<F>([](F& f) { f.mel.f_max_hz = 1; });
  expect_new_fingerprint<F>([](F& f) { f.mel.scale = MelScale::kHtk; });
  expect_new_fingerprint<F>([](F& f) { f.mel.norm = MelNorm::kNone; });
  expect_new_fingerprint<F>([](F& f) { f.log.base = LogBase::kTen; });
  expect_new_fingerprint<F>([](F& f) { f.log.mode = LogFloor::kAdd; });
  expect_new_fingerprint<F>([](F& f) { f.log.floor = 1; });
  expect_new_fingerprint<F>([](F& f) { f.normalize.method = NormalizeMethod::kAffine; });
  expect_new_fingerprint<F>([](F& f) { f.normalize.offset = 1; });
  expect_new_fingerprint<F>([](F& f) { f.normalize.scale = 2; });
  expect_new_fingerprint<F>([](F& f) { f.max_frames = 1; });
  expect_new_fingerprint<F>([](F& f) { f.pad_value = 1; });
  expect_new_fingerprint<F>([](F& f) { f.too_long = TooLong::kDrop; });
  expect_new_fingerprint<F>([](F& f) { f.precision = Precision::kFloat32; });
  expect_new_fingerprint<F>([](F& f) { f.loudness.rms_plus = 1; });
  expect_new_fingerprint<F>([](F& f) { f.loudness.clip = true; });
  expect_new_fingerprint<F>([](F& f) { f.loudness.rounding = Rounding::kOnce; });
  expect_new_fingerprint<F>([](F& f) { f.sample_scale = 2; });
  expect_new_fingerprint<F>([](F& f) { f.zeros.front_samples = 1; });
  expect_new_fingerprint<F>([](F& f) { f.zeros.back_samples = 1; });
  expect_new_fingerprint<F>([](F& f) { f.zeros.multiple_samples = 2; });
  expect_new_fingerprint<F>([](F& f) { f.stft.window = WindowKind::kPovey; });
  expect_new_fingerprint<F>([](F& f) { f.stft.remove_dc = true; });
  expect_new_fingerprint<F>([](F& f) { f.stft.preemphasis = 1; });
  expect_new_fingerprint<F>([](F& f) { f.stft.drop_last = true; });
  expect_new_fingerprint<F>([](F& f) { f.stft.multiple_frames = 2; });
  expect_new_fingerprint<F>([](F& f) { f.mel.triangles = MelTriangles::kMel; });
  expect_new_fingerprint<F>([](F& f) { f.mel.bins_rate_hz = 1; });
  expect_new_fingerprint<F>([](F& f) { f.log.range = 1; });
  expect_new_fingerprint<F>([](F& f) { f.normalize.channel_offsets = {1}; });
  expect_new_fingerprint<F>([](F& f) { f.normalize.channel_scales = {1}; });
  expect_new_fingerprint<F>([](F& f) { f.pad = PadWhat::kSamples; });
  expect_new_fingerprint<F>([](F& f) { f.columns.mel = false; });
  expect_new_fingerprint<F>([](F& f) { f.columns.linear = true; });
  expect_new_fingerprint<F>([](F& f) { f.columns.wave = WaveColumn::kInt16; });
  expect_new_fingerprint<F>([](F& f) { f.columns.energy = true; });
  expect_new_fingerprint<F>([](F& f) { f.baked.mean = {1}; });
}

TEST(Fingerprint, EveryMemberOfWhatIsBakedIsInIt) {
  FeatureConfig baked;
  baked.baked = {.dtype = DType::kFloat32, .mean = {1}, .std_deviation = {2}};
  EXPECT_EQ(dump_canonical(to_json(baked)["baked"]),
            R"({"dtype":"float32","mean":[1.0],"std":[2.0]})");
  for (const auto& change : std::initializer_list<std::function<void(BakedConfig&)>>{
           [](BakedConfig& b) { b.dtype = DType::kFloat16; }, [](BakedConfig& b) { b.mean = {3}; },
           [](BakedConfig& b) { b.std_deviation = {3}; }}) {
    FeatureConfig other = baked;
    change(other.baked);
    EXPECT_NE(fingerprint(other), fingerprint(baked));
  }
}

TEST(Fingerprint, EveryMemberOfTheTextIsInIt) {
  using T = TextConfig;
  expect_new_fingerprint<T>([](T& t) { t.tokens = TokenKind::kNone; });
  expect_new_fingerprint<T>([](T& t) { t.vocabulary = "a"; });
  expect_new_fingerprint<T>([](T& t) { t.max_tokens = 1; });
  expect_new_fingerprint<T>([](T& t) { t.too_long = LongText::kTruncate; });
  expect_new_fingerprint<T>([](T& t) { t.unknown = UnknownCharacter::kError; });
  expect_new_fingerprint<T>([](T& t) { t.use_normalized = false; });
}

}  // namespace
}  // namespace xtts::formats
