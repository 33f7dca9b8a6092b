#include "recipe/trainer_keys.hpp"

#include <algorithm>
#include <array>

namespace xtts::recipe {
namespace {

constexpr KeyClass kHonoured = KeyClass::kHonoured;
constexpr KeyClass kNoEffect = KeyClass::kNoEffect;
constexpr KeyClass kNotReproduced = KeyClass::kNotReproduced;

constexpr std::string_view kLoading = "how batches are loaded";
constexpr std::string_view kDevices = "which device does what";
constexpr std::string_view kCompute = "how the model computes";
constexpr std::string_view kPaths = "DATA on the command line says where the clips are";
constexpr std::string_view kTokens =
    "the trainer's text processing makes its tokens, of the text that the cache keeps";
constexpr std::string_view kRandom =
    "changes clips at random while training; a cache holds them unchanged";
constexpr std::string_view kNeverRead =
    "the trainer's data code does not read it; to keep a tenth, give --set "
    "corpus.train_subset_fraction=0.1";
constexpr std::string_view kConstants =
    "of the model alone: the trainer's data set has 80 mels, n_fft 1024, hop 256, window 1024";
constexpr std::string_view kAugmentDetail = "used only where its enable_ switch is on";

constexpr auto kRules = std::to_array<TrainerRule>({
    {"data.sample_rate", kHonoured, "features.sample_rate_hz", ""},
    {"data.n_mels", kHonoured, "features.mel.n_mels", ""},
    {"data.n_fft", kHonoured, "features.stft.n_fft", ""},
    {"data.hop_length", kHonoured, "features.stft.hop_samples", ""},
    {"data.win_length", kHonoured, "features.stft.win_samples", ""},
    {"data.max_mel_frames", kHonoured, "features.max_frames", "", When::kAlways, "1024"},
    {"data.trim_silence", kHonoured, "", ""},
    {"data.normalize_audio", kHonoured, "", ""},
    {"data.enable_loudness_normalization", kHonoured, "", ""},
    {"data.max_text_length", kHonoured, "text.max_tokens", "", When::kAlways, "200"},
    {"data.max_text_tokens", kHonoured, "text.max_tokens", "", When::kAlways, "1024"},
    {"data.language", kHonoured, "corpus.language", ""},
    {"data.train_split", kHonoured, "corpus.train_split", ""},
    {"data.val_split", kHonoured, "corpus.validation_split", ""},
    {"data.speaker_id_pattern", kHonoured, "corpus.speaker_pattern", ""},
    {"data.metadata_train_file", kHonoured, "corpus.metadata_train_file", ""},
    {"data.metadata_eval_file", kHonoured, "corpus.metadata_eval_file", ""},
    {"data.wavs_train_dir", kHonoured, "corpus.wavs_train_folder", ""},
    {"data.wavs_eval_dir", kHonoured, "corpus.wavs_eval_folder", ""},

    {"data.use_tf_native_loading", kHonoured, "", "", When::kAlways, "true"},
    {"data.text_cleaners", kNoEffect, "", kTokens, When::kAlways, "[english_cleaners]"},
    {"data.add_blank", kNoEffect, "", kTokens, When::kAlways, "true"},
    {"data.use_phonemes", kNoEffect, "", kTokens, When::kAlways, "true"},
    {"data.phoneme_language", kNoEffect, "", kTokens},
    {"data.enable_phone_normalization", kNoEffect, "", kTokens},
    {"data.enable_vad", kNotReproduced, "",
     "voice activity detection (Silero) cuts pauses out of clips; only trim_silence is done here",
     When::kTrue, "true"},
    {"data.enable_pitch_shift", kNotReproduced, "", kRandom, When::kTrue},
    {"data.enable_noise_mixing", kNotReproduced, "", kRandom, When::kTrue},

    {"model.sample_rate", kNoEffect, "", "of the model alone: sound is read at data.sample_rate"},
    {"model.n_mels", kNoEffect, "", kConstants},
    {"model.n_fft", kNoEffect, "", kConstants},
    {"model.hop_length", kNoEffect, "", kConstants},
    {"model.win_length", kNoEffect, "", kConstants},
    {"data.target_loudness_lufs", kNoEffect, "",
     "the trainer sets the RMS to 0.1, whatever this key says; the recipe's keys "
     "loudness.method=lufs and loudness.target=-23 set LUFS"},
    {"data.max_audio_length", kNoEffect, "", "limits inference alone; max_mel_frames cuts clips"},
    {"data.min_audio_length", kNoEffect, "", "the trainer has no such key"},
    {"data.train_subset_fraction", kNoEffect, "", kNeverRead},
    {"data.eval_subset_fraction", kNoEffect, "", kNeverRead},
    {"data.subset_seed", kNoEffect, "", kNeverRead},
    {"data.enable_multilingual", kNoEffect, "",
     "changes the numbers of languages; features and tokens stay the same"},
    {"data.pitch_shift_range", kNoEffect, "", kAugmentDetail},
    {"data.noise_mixing_probability", kNoEffect, "", kAugmentDetail},
    {"data.noise_mixing_snr_range", kNoEffect, "", kAugmentDetail},
    {"data.language_detection_method", kNoEffect, "", kAugmentDetail},
    {"data.supported_languages", kNoEffect, "", kAugmentDetail},
    {"data.enable_multispeaker", kNoEffect, "", "speakers are kept wherever they are known"},
    {"data.max_speakers", kNoEffect, "", "speakers are kept wherever they are known"},
    {"data.reference_audio_length", kNoEffect, "",
     "cuts the sound that the model is conditioned on, while training"},
    {"data.dataset_path", kNoEffect, "", kPaths},
    {"data.dataset_name", kNoEffect, "", kPaths},
    {"data.auto_download_ljspeech", kNoEffect, "", kPaths},
    {"data.cache_path", kNoEffect, "", "CACHE on the command line says where the cache is"},
    {"data.batch_size", kNoEffect, "", kLoading, When::kAlways, "56"},
    {"data.num_workers", kNoEffect, "", kLoading},
    {"data.prefetch_buffer_size", kNoEffect, "", kLoading, When::kAlways, "12"},
    {"data.pipeline_buffer_size", kNoEffect, "", kLoading},
    {"data.shuffle_buffer_multiplier", kNoEffect, "", kLoading},
    {"data.prefetch_to_gpu", kNoEffect, "", kLoading, When::kAlways, "true"},
    {"data.enhanced_gpu_prefetch", kNoEffect, "", kLoading},
    {"data.optimize_cpu_gpu_overlap", kNoEffect, "", kLoading},
    {"data.auto_tune_performance", kNoEffect, "", kLoading},
    {"data.pin_memory", kNoEffect, "", kLoading, When::kAlways, "true"},
    {"data.persistent_workers", kNoEffect, "", kLoading},
    {"data.enable_memory_mapping", kNoEffect, "", kLoading},
    {"data.pad_to_fixed_length", kNoEffect, "",
     "the cache keeps true lengths; the reader pads either way", When::kAlways, "false"},
    {"data.enable_xla", kNoEffect, "", kCompute},
    {"data.enable_tensorrt", kNoEffect, "", kCompute},
    {"data.mixed_precision", kNoEffect, "", kCompute},
    {"data.preprocessing_mode", kNoEffect, "",
     "how the trainer reads; precompute reads this cache"},
    {"data.cache_verification", kNoEffect, "",
     "how the trainer reads; every cache can be verified"},
    {"data.auto_rebuild_mel_cache", kNoEffect, "", "a build computes what changed"},
    {"data.auto_rebuild_token_cache", kNoEffect, "", "a build computes what changed"},
    {"data.data_gpu", kNoEffect, "", kDevices},
    {"data.model_gpu", kNoEffect, "", kDevices},
    {"data.model_start_delay", kNoEffect, "", kDevices},
    {"training.checkpoint_dir", kNoEffect, "", "where the trainer keeps its models", When::kAlways,
     "./checkpoints"},
    {"training.enable_graph_mode", kNoEffect, "", kCompute},
    {"training.enable_xla_compilation", kNoEffect, "", kCompute},
    {"training.enable_eager_debug", kNoEffect, "", kCompute},
    {"training.mixed_precision", kNoEffect, "", kCompute},
    {"training.gradient_accumulation_steps", kNoEffect, "", kCompute},
});

}  // namespace

std::span<const TrainerRule> trainer_rules() {
  return kRules;
}

const TrainerRule* find_trainer_rule(std::string_view name) {
  const auto found = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const TrainerRule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : &*found;
}

}  // namespace xtts::recipe
