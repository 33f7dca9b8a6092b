// parse(to_yaml(r)) is r, for random valid recipes. Comparison is by structured bindings over every
// field: a field that is added to a config but not to the table of keys stops this file from
// compiling or this test from passing.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "formats/corpus_config.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"
#include "formats/storage_config.hpp"
#include "formats/text_config.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/text_tables.hpp"

namespace xtts::recipe {
namespace {

using namespace formats;  // NOLINT: nearly every name below is one of its

auto fields(const TrimConfig& c) {
  const auto& [a, b, d, e] = c;
  return std::tuple(a, b, d, e);
}
auto fields(const LoudnessConfig& c) {
  const auto& [a, b, d, e, f, g, h] = c;
  return std::tuple(a, b, d, e, f, g, h);
}
auto fields(const ZerosConfig& c) {
  const auto& [a, b, d] = c;
  return std::tuple(a, b, d);
}
auto fields(const StftConfig& c) {
  const auto& [a, b, d, e, f, g, h, i, j, k, l] = c;
  return std::tuple(a, b, d, e, f, g, h, i, j, k, l);
}
auto fields(const MelConfig& c) {
  const auto& [a, b, d, e, f, g, h] = c;
  return std::tuple(a, b, d, e, f, g, h);
}
auto fields(const LogConfig& c) {
  const auto& [a, b, d, e] = c;
  return std::tuple(a, b, d, e);
}
auto fields(const NormalizeConfig& c) {
  const auto& [a, b, d, e, f] = c;
  return std::tuple(a, b, d, e, f);
}
// No recipe has any: it comes from manifests alone.
auto fields(const BakedConfig& c) {
  const auto& [a, b, d] = c;
  return std::tuple(a, b, d);
}
auto fields(const ColumnsConfig& c) {
  std::vector<bool> wanted;
  for (const SoundColumnInfo& info : all_sound_columns())
    if (info.wanted != nullptr) wanted.push_back(c.*info.wanted);
  return std::tuple(wanted, c.wave);
}
auto fields(const FeatureConfig& c) {
  const auto& [columns, rate, channels, resampler, trim, loudness, sample_scale, zeros, stft,
               spectrum, spectrum_floor, mel, log, normalize, frames, pad, pad_value, too_long,
               precision, baked] = c;
  return std::tuple(fields(columns), rate, channels, resampler, fields(trim), fields(loudness),
                    sample_scale, fields(zeros), fields(stft), spectrum, spectrum_floor,
                    fields(mel), fields(log), fields(normalize), frames, pad, pad_value, too_long,
                    precision, fields(baked));
}
auto fields(const TextConfig& c) {
  const auto& [a, b, d, e, f, g, h, i] = c;
  return std::tuple(a, b, d, e, f, g, h, i);
}
// A new member is one name more in both lines, and a value in RecipeMaker::fill().
auto fields(const CorpusConfig& c) {
  const auto& [a, b, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb,
               cc, dd, ee, ff] = c;
  const auto columns = std::tuple(q.audio, q.id, q.text, q.normalized, q.speaker, q.language,
                                  q.split, q.start, q.end);
  return std::tuple(a, b, d, e, f, g, h, i, j, k, l, m, n, o, p, columns, r, s, t, u, v, w, x, y, z,
                    aa, bb, cc, dd, ee, ff);
}
auto fields(const StorageConfig& c) {
  const auto& [a, b, d] = c;
  return std::tuple(a, b, d);
}

class RecipeMaker {
 public:
  explicit RecipeMaker(std::uint32_t seed) : random_(seed) {}

  Recipe make() {
    Recipe recipe;
    recipe.name = "random-1.x_Y";
    recipe.about = text();
    for (std::uint32_t i = whole(0, 3); i > 0; --i) recipe.fits.push_back(text());
    fill(*recipe.features);
    fill(recipe.text);
    fill(recipe.corpus);
    recipe.storage.store = pick({StoreKind::kLmdb, StoreKind::kHdf5});
    recipe.storage.layout = pick({Layout::kPadded, Layout::kPacked});
    recipe.storage.dtype = pick({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
    return recipe;
  }

 private:
  std::uint32_t whole(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  // All bits of the mantissa, so that a printed number must be exact.
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  bool coin() { return whole(0, 1) == 1; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return *(list.begin() + whole(0, static_cast<std::uint32_t>(list.size()) - 1));
  }
  // Words that YAML would read as something else, and characters that would end a line or a
  // quotation.
  std::string text() {
    return pick<std::string>({"", "no", "null", "~", "1.0", "a: b # c", "- x", "'\"\\",
                              "سلام 世界 😀", "\xE2\x80\xA8\xEF\xBB\xBF", " lead and trail ",
                              "%TAG !", "&a *b", "{[,]}", "back\\slash"});
  }

  void fill(FeatureConfig& f) {
    for (const SoundColumnInfo& info : all_sound_columns())
      if (info.wanted != nullptr) f.columns.*info.wanted = coin();
    f.columns.wave = pick({WaveColumn::kNone, WaveColumn::kInt16, WaveColumn::kFloat32});
    if (formats::sound_columns_of(f).empty()) f.columns.mel = true;
    f.sample_rate_hz = whole(8000, 48000);
    f.channels = pick({ChannelMix::kMean, ChannelMix::kFirst});
    f.resampler = pick<std::string>({"soxr_hq", "soxr_vhq", "soxr_mq"});
    if (coin()) f.trim = {TrimMethod::kTopDb, real(1, 90), whole(2, 4096), whole(1, 2048)};
    fill(f.loudness);
    f.sample_scale = real(1e-3, 40000);
    f.stft.n_fft = 2 * whole(256, 2048);
    f.stft.win_samples = whole(300, f.stft.n_fft);
    f.stft.hop_samples = whole(1, 300);
    f.stft.window = pick({WindowKind::kHann, WindowKind::kHamming, WindowKind::kPovey});
    if (f.stft.window != WindowKind::kPovey)
      f.stft.symmetry = pick({WindowSymmetry::kPeriodic, WindowSymmetry::kSymmetric});
    f.stft.framing = pick({Framing::kCenter, Framing::kSame, Framing::kNone, Framing::kEnd,
                           Framing::kSnipEdges, Framing::kKeepEdges});
    const bool pads = f.stft.framing == Framing::kCenter || f.stft.framing == Framing::kSame;
    if (pads) {
      f.stft.pad_mode =
          pick({PadMode::kZeros, PadMode::kReflect, PadMode::kReflectAgain, PadMode::kSymmetric});
    }
    f.stft.remove_dc = coin();
    f.stft.preemphasis = real(0, 1);
    f.stft.drop_last = coin();
    f.stft.multiple_frames = whole(1, 8);
    f.spectrum = pick({SpectrumKind::kMagnitude, SpectrumKind::kPower, SpectrumKind::kRootPlus});
    if (f.spectrum == SpectrumKind::kRootPlus) f.spectrum_floor = real(1e-12, 1e-3);
    if (coin() || coin()) {
      f.mel = {whole(1, 256),
               real(0, 100),
               real(200, 4000),
               pick({MelScale::kSlaney, MelScale::kHtk}),
               pick({MelNorm::kNone, MelNorm::kSlaney}),
               pick({MelTriangles::kHz, MelTriangles::kMel}),
               pick({0U, 8000U, 48000U})};
    } else {
      f.mel.scale = MelScale::kNone;
    }
    f.log.base = pick({LogBase::kNone, LogBase::kNatural, LogBase::kTen});
    if (f.log.base != LogBase::kNone) {
      f.log.mode = pick({LogFloor::kClamp, LogFloor::kAdd});
      f.log.floor = real(1e-12, 1e-2);
      f.log.range = coin() ? 0 : real(0, 100);
    }
    f.max_frames = whole(1, 4000);
    const bool has_whole_frames =
        f.stft.framing == Framing::kNone || f.stft.framing == Framing::kSnipEdges;
    if (!has_whole_frames && coin()) {
      f.pad = PadWhat::kSamples;
    } else {
      if (coin()) f.max_frames = formats::RecordLength::of_corpus(coin() ? 0 : whole(1, 4000));
      f.pad_value = real(-20, 20);
      f.zeros = {whole(0, 10000), whole(0, 10000), whole(1, 1000)};
    }
    fill_normalization(f);
    f.too_long = pick<std::optional<TooLong>>(
        {std::nullopt, TooLong::kDrop, TooLong::kTruncate, TooLong::kSplit});
    f.precision = pick({Precision::kDouble, Precision::kFloat32});
    if (f.columns.mel) return;
    f.mel = {};
    f.log = {};
    f.normalize = {};
  }

  void fill(LoudnessConfig& l) {
    l.method = pick({LoudnessMethod::kNone, LoudnessMethod::kRms, LoudnessMethod::kPeak,
                     LoudnessMethod::kLimit, LoudnessMethod::kLufs});
    l.clip = coin();
    if (l.method == LoudnessMethod::kNone) return;
    const bool is_lufs = l.method == LoudnessMethod::kLufs;
    l.target = is_lufs ? real(-70, 0) : real(1e-3, 1);
    if (is_lufs || l.method == LoudnessMethod::kRms) l.limit_peak = coin();
    if (!is_lufs) l.rounding = pick({Rounding::kEachStep, Rounding::kOnce});
    if (l.method != LoudnessMethod::kRms) return;
    l.then_peak_to_one = coin();
    l.rms_plus = real(0, 1);
  }

  void fill_normalization(FeatureConfig& f) {
    f.normalize.method =
        pick({NormalizeMethod::kNone, NormalizeMethod::kAffine, NormalizeMethod::kMinMax});
    if (f.pad == PadWhat::kFrames && f.channel_count() < 64)
      f.normalize.method = pick({NormalizeMethod::kMeanVariance, NormalizeMethod::kChannels});
    if (f.normalize.method == NormalizeMethod::kAffine) {
      f.normalize.offset = real(-20, 20);
      f.normalize.scale = real(1e-3, 10);
    }
    if (f.normalize.method != NormalizeMethod::kChannels) return;
    const bool has_offsets = coin();
    for (std::uint32_t i = 0; i < f.channel_count(); ++i) {
      f.normalize.channel_scales.push_back(real(1e-3, 10));
      if (has_offsets) f.normalize.channel_offsets.push_back(real(-20, 20));
    }
  }

  void fill(TextConfig& t) {
    t.store = coin();
    for (const std::string name : {"nfc", "digits", "zwnj"})
      if (t.store && coin()) t.normalize.push_back(*text_table(name));
    t.tokens = pick({TokenKind::kNone, TokenKind::kBytes, TokenKind::kCharacters});
    t.max_tokens = formats::RecordLength::of_corpus();
    if (t.tokens == TokenKind::kNone) return;
    if (coin()) t.max_tokens = whole(1, 65536);
    t.too_long = pick({LongText::kDrop, LongText::kTruncate});
    t.use_normalized = coin();
    if (t.tokens != TokenKind::kCharacters) return;
    t.vocabulary = pick<std::string>(
        {"a", "1", " ", "~", "ab c#:'\"\\", "اآبپ‌، 世😀", "\xC2\xA0\xE2\x80\x8F"});
    t.unknown =
        pick({UnknownCharacter::kDrop, UnknownCharacter::kUnknownToken, UnknownCharacter::kError});
  }

  void fill(CorpusConfig& c) {
    c.layout = pick<std::string>({"auto", "ljspeech", "folder"});
    c.language = text();
    if (coin()) {
      c.speaker = text();
    } else {
      c.speaker_pattern = pick<std::string>({"", "^(p\\d+)_", "([^\"'#]+)"});
    }
    c.train_split = real(0, 0.8);
    c.validation_split = real(0, 0.2);
    c.validation_clips_max = whole(0, 4000000000);
    c.split_seed = std::uint64_t{whole(0, 4000000000)} << 32 | whole(0, 4000000000);
    c.split_by = pick({SplitBy::kId, SplitBy::kSource, SplitBy::kSpeaker, SplitBy::kText});
    c.train_subset_fraction = real(1e-6, 1);
    c.subset_seed = whole(0, 100);
    if (c.layout != "folder") {
      c.metadata_train_file = text();
      c.metadata_eval_file = text();
      c.wavs_train_folder = text();
      c.wavs_eval_folder = text();
    }
    if (c.layout == "auto" && coin()) {
      c.columns = {.audio = text(),
                   .id = text(),
                   .text = text(),
                   .normalized = text(),
                   .speaker = text(),
                   .language = text(),
                   .split = text(),
                   .start = text(),
                   .end = text()};
    }
    c.encoding = text();
    c.max_source_seconds = real(1, 10000);
    if (coin()) c.max_clip_seconds = real(1e-3, 100);
    for (auto rule : {&CorpusConfig::too_short, &CorpusConfig::silent, &CorpusConfig::clipped,
                      &CorpusConfig::not_finite, &CorpusConfig::low_rate, &CorpusConfig::duplicates,
                      &CorpusConfig::no_text}) {
      c.*rule = pick({OddClip::kKeep, OddClip::kWarn, OddClip::kDrop});
    }
    c.truncated =
        pick({CutClip::kAuto, CutClip::kKeep, CutClip::kWarn, CutClip::kDrop, CutClip::kReject});
    c.too_short_seconds = real(0, 10);
    c.silent_dbfs = real(-200, 0);
    c.clipped_share = real(0, 1);
    c.source_rate_below = whole(0, 768000);
  }

  std::mt19937 random_;
};

TEST(RoundTrip, GivesTheSameRecipeBack) {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Recipe recipe = RecipeMaker(seed).make();
    ASSERT_TRUE(check(recipe).ok()) << check(recipe).message();
    const std::string yaml = to_yaml(recipe);
    const auto again = parse(Env::real(), yaml, "again.yaml", ".");
    ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << yaml;
    EXPECT_EQ(again->name, recipe.name);
    EXPECT_EQ(again->about, recipe.about);
    EXPECT_EQ(again->fits, recipe.fits);
    EXPECT_EQ(fields(*again->features), fields(*recipe.features)) << yaml;
    EXPECT_EQ(fields(again->text), fields(recipe.text)) << yaml;
    EXPECT_EQ(fields(again->corpus), fields(recipe.corpus)) << yaml;
    EXPECT_EQ(fields(again->storage), fields(recipe.storage)) << yaml;
  }
}

TEST(RoundTrip, HoldsForEveryShippedRecipe) {
  for (const std::string& name : shipped_names()) {
    const auto recipe = load(Env::real(), name);
    ASSERT_TRUE(recipe.ok());
    const auto again = parse(Env::real(), to_yaml(*recipe), name, ".");
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(to_yaml(*again), to_yaml(*recipe));
    EXPECT_EQ(fields(*again->features), fields(*recipe->features));
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
  recipe.text.tokens = TokenKind::kCharacters;
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
