// The trainer's config.yaml: what each kind of key does to a recipe and what is said about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/feature_config.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/trainer_config.hpp"
#include "support/temp_folder.hpp"

namespace xtts::recipe {
namespace {

using formats::LoudnessMethod;
using formats::Recipe;
using formats::TrimMethod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class TrainerConfigFile : public ::testing::Test {
 protected:
  // `base` "": the trainer's choice.
  Result<TrainerConfig> apply(std::string_view yaml, const std::string& base = "myxtts") {
    std::optional<Recipe> named;
    if (!base.empty()) named = *load(Env::real(), base);
    return apply_trainer_config(Env::real(), folder_.write("config.yaml", yaml), std::move(named));
  }
  TrainerConfig config(std::string_view yaml, const std::string& base = "myxtts") {
    auto result = apply(yaml, base);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? std::move(result).value() : TrainerConfig();
  }
  // The message without the folder's name.
  std::string refusal(std::string_view yaml) {
    const auto result = apply(yaml);
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument) << yaml;
    std::string message = result.status().message();
    const std::string prefix = folder_.path() + "/";
    for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    return message;
  }
  // Without what the trainer takes for keys that the file does not have.
  static std::vector<TrainerKey> keys_of_file(const TrainerConfig& config) {
    std::vector<TrainerKey> keys;
    for (const TrainerKey& entry : config.keys) {
      if (!entry.is_default) keys.push_back(entry);
    }
    return keys;
  }
  // The shipped recipe with the trainer's limits, at which it cuts.
  static std::string shipped(const std::string& name, std::uint32_t frames_max,
                             std::uint32_t tokens_max) {
    Recipe recipe = *load(Env::real(), name);
    recipe.features->max_frames = frames_max;
    recipe.features->too_long = formats::TooLong::kTruncate;
    recipe.text.max_tokens = tokens_max;
    recipe.text.too_long = formats::LongText::kTruncate;
    return to_yaml(recipe);
  }
  static const TrainerKey& key(const TrainerConfig& config, std::string_view name) {
    static const TrainerKey kNone{"", KeyClass::kHonoured, "no such key"};
    for (const TrainerKey& entry : config.keys) {
      if (entry.key == name) return entry;
    }
    ADD_FAILURE() << "nothing is said about " << name;
    return kNone;
  }
  testing::TempFolder folder_;
};

TEST_F(TrainerConfigFile, SetsTheFeatures) {
  const TrainerConfig c = config(
      "data:\n  sample_rate: 24000\n  n_mels: 100\n  n_fft: 2048\n  hop_length: 300\n  win_length: "
      "1200\n"
      "  max_mel_frames: 1_024\n");
  const auto& f = *c.recipe.features;
  EXPECT_EQ(f.sample_rate_hz, 24000U);
  EXPECT_EQ(f.mel.n_mels, 100U);
  EXPECT_EQ(f.stft.n_fft, 2048U);
  EXPECT_EQ(f.stft.hop_samples, 300U);
  EXPECT_EQ(f.stft.win_samples, 1200U);
  EXPECT_EQ(f.max_frames, 1024U);
  EXPECT_EQ(key(c, "data.n_mels").kind, KeyClass::kHonoured);
  EXPECT_EQ(key(c, "data.n_mels").note, "features.mel.n_mels = 100");
}

TEST_F(TrainerConfigFile, LetsTheFilterbankAndTheTrimFollow) {
  const TrainerConfig c =
      config("data: {sample_rate: 24000, n_fft: 2048, hop_length: 300, win_length: 1200}\n");
  EXPECT_EQ(c.recipe.features->mel.f_max_hz, 12000.0);
  EXPECT_EQ(c.recipe.features->trim.frame_samples, 1200U);
  EXPECT_EQ(c.recipe.features->trim.hop_samples, 300U);
  EXPECT_EQ(key(c, "data.sample_rate").note,
            "features.sample_rate_hz = 24000, and features.mel.f_max_hz = 12000, half of it");
  // A recipe whose filters end elsewhere keeps its end.
  EXPECT_EQ(config("data: {sample_rate: 24000}\n", "tacotron2").recipe.features->mel.f_max_hz,
            8000.0);
}

TEST_F(TrainerConfigFile, ChangesNothingButTheLimitsWhenItSaysWhatTheRecipeSays) {
  const TrainerConfig c = config(
      "data: {sample_rate: 22050, n_mels: 80, trim_silence: true, normalize_audio: true, "
      "enable_loudness_normalization: true, max_mel_frames: 800, max_text_length: 200, "
      "pad_to_fixed_length: true, train_split: 0.9, val_split: 0.1}\n");
  EXPECT_EQ(to_yaml(c.recipe), shipped("myxtts", 800, 200));
}

TEST_F(TrainerConfigFile, IsLaidOverTheRecipeThatTheTrainerTrainsOn) {
  const TrainerConfig by_default = config("data: {batch_size: 1}\n", "");
  EXPECT_EQ(to_yaml(by_default.recipe), shipped("myxtts-tf", 1024, 1024));
  EXPECT_THAT(
      by_default.choices,
      ElementsAre(
          "recipe myxtts-tf: use_tf_native_loading is on, by the trainer's default (off, it "
          "trains on myxtts, which its inference uses)"));
  EXPECT_TRUE(key(by_default, "data.use_tf_native_loading").is_default);

  const TrainerConfig on = config("data: {use_tf_native_loading: true}\n", "");
  EXPECT_EQ(on.recipe.name, "myxtts-tf");
  EXPECT_THAT(on.choices,
              ElementsAre(StartsWith("recipe myxtts-tf: use_tf_native_loading is on (")));

  const TrainerConfig off = config("data: {use_tf_native_loading: false}\n", "");
  EXPECT_EQ(to_yaml(off.recipe), shipped("myxtts", 1024, 1024));
  EXPECT_THAT(off.choices, ElementsAre("recipe myxtts: use_tf_native_loading is off"));
  EXPECT_EQ(key(off, "data.use_tf_native_loading").note, "recipe myxtts");
  EXPECT_EQ(config("data: {use_tf_native_loading: null}\n", "").recipe.name, "myxtts");
}

TEST_F(TrainerConfigFile, SaysWhatANamedRecipeMakesOtherwise) {
  const TrainerConfig librosa = config("data: {batch_size: 1}\n", "myxtts");
  EXPECT_THAT(librosa.choices, IsEmpty());
  EXPECT_EQ(key(librosa, "data.use_tf_native_loading").kind, KeyClass::kNotReproduced);
  EXPECT_EQ(key(librosa, "data.use_tf_native_loading").note,
            "absent, so the trainer's default; the trainer then trains on the features of "
            "myxtts-tf; this cache holds those of myxtts, which was asked for");
  const TrainerConfig native = config("data: {use_tf_native_loading: false}\n", "myxtts-tf");
  EXPECT_EQ(key(native, "data.use_tf_native_loading").kind, KeyClass::kNotReproduced);
  const TrainerConfig other = config("data: {use_tf_native_loading: false}\n", "tacotron2");
  EXPECT_EQ(key(other, "data.use_tf_native_loading").kind, KeyClass::kNoEffect);
}

TEST_F(TrainerConfigFile, NamesARateAtWhichTheTrainersNativeLoadingResamples) {
  EXPECT_EQ(key(config("data: {sample_rate: 22050}\n", ""), "data.sample_rate").kind,
            KeyClass::kHonoured);
  const TrainerConfig c = config("data: {sample_rate: 24000}\n", "");
  EXPECT_EQ(key(c, "data.sample_rate").kind, KeyClass::kNotReproduced);
  EXPECT_EQ(key(c, "data.sample_rate").note,
            "the trainer's native loading resamples along straight lines; here it is soxr_hq");
}

TEST_F(TrainerConfigFile, LeavesAnotherModelsRecipeAsItIsWhereTheFileSaysNothing) {
  EXPECT_EQ(to_yaml(config("data: {batch_size: 1}\n", "tacotron2").recipe),
            to_yaml(*load(Env::real(), "tacotron2")));
}

TEST_F(TrainerConfigFile, CutsWhereTheTrainerCuts) {
  const auto limits = [&](const std::string& yaml, const std::string& base = "") {
    return config("data: {" + yaml + "}\n", base).recipe;
  };
  // Texts are cut at max_text_tokens; max_text_length only pads, to what is cut already.
  EXPECT_EQ(limits("max_text_length: 150, max_text_tokens: 300").text.max_tokens, 300U);
  EXPECT_EQ(limits("pad_to_fixed_length: true").text.max_tokens, 200U);
  EXPECT_EQ(limits("pad_to_fixed_length: true, max_text_tokens: 64").text.max_tokens, 64U);
  EXPECT_EQ(key(config("data: {max_text_length: 150}\n"), "data.max_text_length").note,
            "pads texts only where pad_to_fixed_length is on");
  const Recipe tacotron = limits("max_mel_frames: 500, max_text_tokens: 64", "tacotron2");
  EXPECT_EQ(tacotron.features->too_long, formats::TooLong::kTruncate);
  EXPECT_EQ(tacotron.text.too_long, formats::LongText::kTruncate);
}

TEST_F(TrainerConfigFile, TakesAnEmptySwitchForOff) {
  const auto sound = config(
                         "data: {trim_silence: , enable_loudness_normalization: null, "
                         "normalize_audio: true}\n")
                         .recipe.features;
  EXPECT_EQ(sound->trim.method, TrimMethod::kNone);
  EXPECT_EQ(sound->loudness.method, LoudnessMethod::kPeak);
  const TrainerConfig nothing = config("data: {normalize_audio: }\n");
  EXPECT_EQ(nothing.recipe.features->loudness.method, LoudnessMethod::kNone);
  EXPECT_EQ(key(nothing, "data.normalize_audio").kind, KeyClass::kHonoured);
}

TEST_F(TrainerConfigFile, CutsNoTextWhereTheTrainerCutsNone) {
  EXPECT_EQ(config("data: {max_text_tokens: 0}\n").recipe.text.max_tokens, 4096U);
  EXPECT_EQ(
      config("data: {max_text_tokens: 0, pad_to_fixed_length: true}\n").recipe.text.max_tokens,
      200U);
}

TEST_F(TrainerConfigFile, KeepsTheOneOfItsTwoListsThatDataHas) {
  const auto lists = [&](const std::string& data) {
    TrainerConfig c = config(
        "data: {metadata_train_file: train.csv, metadata_eval_file: eval.csv, wavs_train_dir: a, "
        "wavs_eval_dir: b}\n");
    keep_list_of_data(Env::real(), data, c);
    const auto& corpus = c.recipe.corpus;
    return std::vector<std::string>{corpus.metadata_train_file, corpus.wavs_train_folder,
                                    corpus.metadata_eval_file, corpus.wavs_eval_folder};
  };
  const testing::TempFolder data;
  EXPECT_THAT(lists(data.path()), ElementsAre("train.csv", "a", "eval.csv", "b"));
  data.write("eval.csv", "x|y\n");
  EXPECT_THAT(lists(data.path()), ElementsAre("eval.csv", "b", "", ""));
  data.write("train.csv", "x|y\n");
  EXPECT_THAT(lists(data.path()), ElementsAre("train.csv", "a", "eval.csv", "b"));
}

TEST_F(TrainerConfigFile, WithoutALimitNothingIsPaddedBeforeTheFeatures) {
  for (const char* value : {"0", "null", "~"}) {
    const TrainerConfig c = config(std::string("data: {max_mel_frames: ") + value + "}\n", "");
    EXPECT_EQ(c.recipe.features->pad, formats::PadWhat::kFrames) << value;
    EXPECT_EQ(c.recipe.features->too_long, std::nullopt) << value;
    EXPECT_EQ(c.recipe.features->max_frames, 2600U) << value;  // 30 s
    EXPECT_EQ(c.recipe.storage.layout, formats::Layout::kPacked) << value;
    EXPECT_EQ(key(c, "data.max_mel_frames").kind, KeyClass::kNoEffect) << value;
  }
}

TEST_F(TrainerConfigFile, SetsTextAndCorpus) {
  const TrainerConfig c = config(
      "data:\n  max_text_tokens: 1024\n  max_text_length: 150\n  pad_to_fixed_length: true\n  "
      "language: fa\n"
      "  train_split: 0.8\n  val_split: 0.15\n"
      "  speaker_id_pattern: '^(?P<who>p\\d+)_'\n  metadata_train_file: train.csv\n  "
      "metadata_eval_file: eval.csv\n"
      "  wavs_train_dir: wavs_t\n  wavs_eval_dir: wavs_e\n");
  EXPECT_EQ(c.recipe.text.max_tokens, 150U);
  EXPECT_EQ(c.recipe.corpus.language, "fa");
  EXPECT_EQ(c.recipe.corpus.train_split, 0.8);
  EXPECT_EQ(c.recipe.corpus.validation_split, 0.15);
  EXPECT_EQ(c.recipe.corpus.speaker_pattern, "^(p\\d+)_");
  EXPECT_EQ(c.recipe.corpus.metadata_train_file, "train.csv");
  EXPECT_EQ(c.recipe.corpus.metadata_eval_file, "eval.csv");
  EXPECT_EQ(c.recipe.corpus.wavs_train_folder, "wavs_t");
  EXPECT_EQ(c.recipe.corpus.wavs_eval_folder, "wavs_e");
  EXPECT_EQ(key(c, "data.max_text_tokens").note,
            "text.max_tokens = 150, the lower of max_text_length and max_text_tokens");
}

TEST_F(TrainerConfigFile, TurnsTheStepsOfTheSoundOnAndOffAsTheTrainerDoes) {
  const auto sound = [&](const std::string& yaml, const std::string& base = "myxtts") {
    return *config("data: {" + yaml + "}\n", base).recipe.features;
  };
  EXPECT_EQ(sound("trim_silence: false").trim.method, TrimMethod::kNone);
  EXPECT_EQ(sound("trim_silence: false").loudness.method, LoudnessMethod::kRms);

  const auto peak_only = sound("enable_loudness_normalization: false").loudness;
  EXPECT_EQ(peak_only.method, LoudnessMethod::kPeak);
  EXPECT_EQ(peak_only.target, 1.0);

  // Without normalize_audio the trainer skips all of its preprocessing, the trim too.
  const auto nothing = sound("normalize_audio: no, trim_silence: true");
  EXPECT_EQ(nothing.trim.method, TrimMethod::kNone);
  EXPECT_EQ(nothing.loudness.method, LoudnessMethod::kNone);

  const auto all = sound(
      "trim_silence: True, normalize_audio: on, enable_loudness_normalization: yes", "tacotron2");
  EXPECT_EQ(all.trim.method, TrimMethod::kTopDb);
  EXPECT_EQ(all.trim.frame_samples, 1024U);
  EXPECT_EQ(all.loudness.method, LoudnessMethod::kRms);
  EXPECT_EQ(all.loudness.target, 0.1);
  EXPECT_TRUE(all.loudness.then_peak_to_one);

  EXPECT_EQ(sound("normalize_audio: true", "hifigan").loudness.target, 0.95);
}

TEST_F(TrainerConfigFile, SaysWhenASwitchIsNotReached) {
  const TrainerConfig c = config("data: {trim_silence: true, normalize_audio: false}\n");
  EXPECT_EQ(key(c, "data.trim_silence").kind, KeyClass::kNoEffect);
  EXPECT_EQ(key(c, "data.trim_silence").note,
            "normalize_audio is false, so the trainer does not do it");
  EXPECT_EQ(key(c, "data.normalize_audio").note,
            "features.loudness.method = none and features.trim.method = none: without it the "
            "trainer neither trims nor "
            "scales");
}

TEST_F(TrainerConfigFile, NamesWhatItCannotReproduce) {
  const TrainerConfig c = config(
      "data:\n  sample_rate: 16000\n  enable_vad: true\n  enable_pitch_shift: true\n"
      "  enable_noise_mixing: true\n  use_tf_native_loading: true\n");
  for (const TrainerKey& entry : keys_of_file(c)) {
    if (entry.key == "data.sample_rate") continue;
    EXPECT_EQ(entry.kind, KeyClass::kNotReproduced) << entry.key;
    EXPECT_FALSE(entry.note.empty()) << entry.key;
    EXPECT_EQ(entry.note.find('\n'), std::string::npos) << entry.key;
  }
  EXPECT_EQ(keys_of_file(c).size(), 5U);
  EXPECT_EQ(key(c, "data.use_tf_native_loading").note,
            "the trainer then trains on the features of myxtts-tf; this cache holds those of "
            "myxtts, which was asked for");
}

TEST_F(TrainerConfigFile, LeavesTokensToTheTrainersTextProcessing) {
  const TrainerConfig c = config("data: {add_blank: true, text_cleaners: [a, b]}\n");
  for (const char* name : {"data.add_blank", "data.text_cleaners", "data.use_phonemes"}) {
    EXPECT_EQ(key(c, name).kind, KeyClass::kNoEffect) << name;
    EXPECT_THAT(key(c, name).note, HasSubstr("the trainer's text processing makes its tokens"));
  }
  EXPECT_EQ(key(c, "data.text_cleaners").items, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(key(c, "data.use_phonemes").is_default);
}

TEST_F(TrainerConfigFile, DoesNotWarnOfWhatIsSwitchedOff) {
  const TrainerConfig c = config(
      "data:\n  enable_vad: false\n  enable_pitch_shift: off\n  text_cleaners: []\n  add_blank: "
      "False\n"
      "  use_tf_native_loading: false\n  eval_subset_fraction: 1.0\n  pitch_shift_range: [-2.0, "
      "2.0]\n"
      "  enable_loudness_normalization: false\n  target_loudness_lufs: -23.0\n  "
      "metadata_train_file: null\n"
      "  speaker_id_pattern:\n");
  for (const TrainerKey& entry : keys_of_file(c)) {
    if (entry.key == "data.enable_loudness_normalization") continue;
    if (entry.key == "data.use_tf_native_loading") continue;
    EXPECT_EQ(entry.kind, KeyClass::kNoEffect) << entry.key;
  }
  EXPECT_EQ(key(c, "data.use_tf_native_loading").kind, KeyClass::kHonoured);
}

TEST_F(TrainerConfigFile, KnowsEveryKeyThatUsersList) {
  // The keys of the users' notes; the value matters for none of them here.
  const TrainerConfig c = config(
      "data: {batch_size: 16, num_workers: 8, prefetch_buffer_size: 8, pipeline_buffer_size: 8, "
      "prefetch_to_gpu: true, "
      "enhanced_gpu_prefetch: true, optimize_cpu_gpu_overlap: true, pin_memory: true, "
      "enable_memory_mapping: true, "
      "pad_to_fixed_length: true, enable_xla: true, mixed_precision: true, preprocessing_mode: "
      "precompute, "
      "cache_verification: true, auto_rebuild_mel_cache: true, data_gpu: 0, model_gpu: 1}\n"
      "training: {enable_graph_mode: true, enable_xla_compilation: true, enable_eager_debug: "
      "false, "
      "mixed_precision: true, gradient_accumulation_steps: 2, epochs: 1000}\n"
      "model: {decoder_dim: 1536}\nother: 1\n");
  const auto keys = keys_of_file(c);
  EXPECT_EQ(keys.size(), 22U);
  for (const TrainerKey& entry : keys) EXPECT_EQ(entry.kind, KeyClass::kNoEffect) << entry.key;
  EXPECT_EQ(to_yaml(c.recipe), shipped("myxtts", 1024, 200));
}

TEST_F(TrainerConfigFile, NamesUnknownKeysOfDataWithTheNearestAndNoOthers) {
  const TrainerConfig c = config(
      "data:\n  n_mel: 100\n  something_else: {a: [1]}\nmodel:\n  n_mel: 3\nunknown: {x: 1}\n");
  ASSERT_EQ(keys_of_file(c).size(), 2U);
  EXPECT_EQ(c.keys[0].kind, KeyClass::kNotReproduced);
  EXPECT_EQ(c.keys[0].note, "unknown here; the nearest known key is data.n_mels");
  EXPECT_EQ(c.keys[1].note, "unknown here");
  EXPECT_EQ(c.recipe.features->mel.n_mels, 80U);
}

TEST_F(TrainerConfigFile, SaysThatAKeyAtTheTopDoesNothing) {
  const TrainerConfig c = config("n_mels: 100\ndata: {batch_size: 1}\n");
  EXPECT_EQ(key(c, "n_mels").kind, KeyClass::kNoEffect);
  EXPECT_EQ(key(c, "n_mels").note,
            "the trainer reads this key under data: only, so it does nothing here either");
  EXPECT_EQ(c.recipe.features->mel.n_mels, 80U);
}

TEST_F(TrainerConfigFile, LeavesTheSoundAsItIsWhereTheTrainerDoesNotComeToIt) {
  const TrainerConfig c = config(
      "data: {use_tf_native_loading: true, trim_silence: true, normalize_audio: true, "
      "enable_loudness_normalization: true, enable_vad: true, enable_pitch_shift: true}\n",
      "myxtts-tf");
  EXPECT_EQ(to_yaml(c.recipe), shipped("myxtts-tf", 1024, 1024));
  EXPECT_EQ(key(c, "data.use_tf_native_loading").kind, KeyClass::kHonoured);
  for (const char* name : {"trim_silence", "normalize_audio", "enable_vad", "enable_pitch_shift"})
    EXPECT_EQ(key(c, std::string("data.") + name).note,
              "with use_tf_native_loading the trainer does not do it");
}

TEST_F(TrainerConfigFile, KnowsWhatTheTrainersDataCodeDoesNotRead) {
  const TrainerConfig c = config(
      "data: {train_subset_fraction: 0.5, eval_subset_fraction: 0.5, subset_seed: 42, "
      "max_audio_length: 11.0, min_audio_length: 1.0, target_loudness_lufs: -20, enable_vad: true, "
      "enable_multilingual: true, model_start_delay: 2.0, auto_download_ljspeech: false}\n"
      "model: {n_mels: 100, sample_rate: 24000, n_fft: 512, hop_length: 200, win_length: 800}\n");
  const auto keys = keys_of_file(c);
  EXPECT_EQ(keys.size(), 15U);
  for (const TrainerKey& entry : keys) EXPECT_EQ(entry.kind, KeyClass::kNoEffect) << entry.key;
  EXPECT_EQ(to_yaml(c.recipe), shipped("myxtts", 1024, 1024));
  EXPECT_EQ(key(c, "data.enable_vad").note, "the trainer turns it off at 22050 Hz");
}

TEST_F(TrainerConfigFile, NamesItsOwnKeyAndLineInEveryRefusal) {
  EXPECT_EQ(refusal("data:\n  n_mels: many\n"),
            "config.yaml:2: data.n_mels: 'many' is not a whole number");
  EXPECT_EQ(refusal("data:\n  batch_size: 1\n  n_mels: 0\n"),
            "config.yaml:3: data.n_mels: features.mel.n_mels: 0 is outside 1 to 1024");
  EXPECT_EQ(refusal("data:\n  hop_length: [1]\n"),
            "config.yaml:2: data.hop_length: takes a whole number, found a list");
  EXPECT_EQ(refusal("data:\n  trim_silence: maybe\n"),
            "config.yaml:2: data.trim_silence: 'maybe' is neither true nor false");
  EXPECT_EQ(refusal("data: {preprocessing_mode: precomputed}\n"),
            "config.yaml:1: data.preprocessing_mode: 'precomputed' is none of auto | precompute | "
            "runtime");
  EXPECT_EQ(refusal("data: {n_mels: 80}\nx: 1\ndata: {n_mels: 100}\n"),
            "config.yaml:3: data.n_mels: given twice, first on line 1");
  EXPECT_EQ(refusal("data: 3\n"), "config.yaml:1: data: a section of keys, found a single value");
  EXPECT_EQ(refusal("epochs: 3\n"),
            "config.yaml: holds neither 'data:' nor 'model:', so it is not the trainer's config");
  EXPECT_THAT(refusal("data: {speaker_id_pattern: 'p\\d+'}\n"),
              HasSubstr("config.yaml:1: data.speaker_id_pattern: "));
}

TEST_F(TrainerConfigFile, LeavesOutThePatternWhereThereIsOneSpeaker) {
  const TrainerConfig c = config("data: {enable_multispeaker: false, speaker_id_pattern: '(p)'}\n");
  EXPECT_EQ(c.recipe.corpus.speaker_pattern, "");
  EXPECT_EQ(key(c, "data.speaker_id_pattern").note, "enable_multispeaker is false");
  EXPECT_EQ(config("data: {enable_multispeaker: true, speaker_id_pattern: '(p)'}\n")
                .recipe.corpus.speaker_pattern,
            "(p)");
}

TEST_F(TrainerConfigFile, DoesNotSetWhatTheRecipeHasNoUseFor) {
  const TrainerConfig c = config("data: {max_text_tokens: 300}\n", "hifigan");
  EXPECT_EQ(to_string(c.recipe.text.max_tokens), "auto");
  EXPECT_EQ(key(c, "data.max_text_tokens").kind, KeyClass::kNoEffect);
  EXPECT_EQ(key(c, "data.max_text_tokens").note, "text.tokens is none");
}

TEST_F(TrainerConfigFile, ListsKeysInTheOrderOfTheFileAndDefaultsBehindThem) {
  const TrainerConfig c = config("model: {n_mels: 80}\ndata: {n_fft: 1024, batch_size: 1}\n");
  ASSERT_EQ(keys_of_file(c).size(), 3U);
  EXPECT_TRUE(c.keys[3].is_default);
  EXPECT_EQ(c.keys[0].key, "model.n_mels");
  EXPECT_EQ(c.keys[1].key, "data.n_fft");
  EXPECT_EQ(c.keys[2].key, "data.batch_size");
}

TEST_F(TrainerConfigFile, TellsWhatWasWrittenAndWhichKeyItHasSet) {
  const TrainerConfig c = config(
      "data: {max_text_tokens: 1_0, batch_size: '32', pin_memory: yes, cache_path: ~, "
      "text_cleaners: "
      "[english]}\n");
  EXPECT_EQ(key(c, "data.max_text_tokens").recipe_key, "text.max_tokens");
  EXPECT_EQ(key(c, "data.max_text_tokens").value, "1_0");
  EXPECT_EQ(key(c, "data.prefetch_buffer_size").value, "12");
  EXPECT_TRUE(key(c, "data.prefetch_buffer_size").is_default);
  EXPECT_EQ(key(c, "data.batch_size").recipe_key, "");
  EXPECT_EQ(key(c, "data.batch_size").value, "32");
  EXPECT_EQ(key(c, "data.pin_memory").value, "yes");
  EXPECT_EQ(key(c, "data.cache_path").value, std::nullopt);
  EXPECT_EQ(key(c, "data.cache_path").kind, KeyClass::kNoEffect);
  EXPECT_EQ(key(c, "data.text_cleaners").value, "a list");
}

}  // namespace
}  // namespace xtts::recipe
