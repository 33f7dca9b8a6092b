#include "doctor/config_rules.hpp"

#include <algorithm>
#include <cmath>

namespace xtts::doctor {
namespace {

using enum RuleNeeds;
using Facts = ConfigFacts;

constexpr CheckStatus kWarn = CheckStatus::kWarn;
constexpr CheckStatus kFail = CheckStatus::kFail;

bool is_on(const Facts& facts, std::string_view key) {
  return facts.flag(key).value_or(false);
}
// False where the value is not a switch: another finding tells of that.
bool is_off(const Facts& facts, std::string_view key) {
  return !facts.flag(key).value_or(true);
}
bool is_below(const Facts& facts, std::string_view key, double limit) {
  const auto value = facts.number(key);
  return value && *value < limit;
}
bool is_not(const Facts& facts, std::string_view key, double expected) {
  const auto value = facts.number(key);
  return value && *value != expected;
}
bool has_both_gpus(const Facts& facts) {
  return facts.number("data.data_gpu") && facts.number("data.model_gpu");
}
bool prefetches_to_gpu(const Facts& facts) {
  return is_on(facts, "data.prefetch_to_gpu") && is_on(facts, "data.enhanced_gpu_prefetch");
}

// The largest GPU of the trainer's documents.
constexpr double kDocumentedMemoryGb = 24;
// A buffer that takes more than this share of the GPU's memory is worth a warning.
constexpr double kBufferShareMax = 1.0 / 8.0;

bool buffer_is_large(const Facts& facts) {
  if (has_both_gpus(facts) || !prefetches_to_gpu(facts)) return false;
  const double memory_bytes = facts.situation().gpu->memory_gb * 1024 * 1024 * 1024;
  // The trainer keeps at least 8 batches there, whatever the key says.
  return facts.batches_on_gpu() > 8 &&
         facts.batches_on_gpu() * facts.bytes_of_batch() > kBufferShareMax * memory_bytes;
}

bool names_missing_gpu(const Facts& facts) {
  const double count = facts.situation().gpu_count.value_or(0);
  const double largest = std::max(facts.number("data.data_gpu").value_or(-1),
                                  facts.number("data.model_gpu").value_or(-1));
  return largest >= count;
}

constexpr std::string_view kGraphDocument =
    "Documented, not measured here: 15 % to 60 % GPU use on an RTX 4090 "
    "(docs/GPU_UTILIZATION_CRITICAL_FIX.md).";
constexpr std::string_view kNegativeGpu =
    "myxtts/utils/commons.py and xp.myxtts.open() refuse such a number.";
constexpr std::string_view kCode = "The trainer's code says so. The cost was not measured.";
constexpr std::string_view kConstant =
    "The trainer's data set has this value in its code (ljspeech.py), and the model would differ.";

constexpr auto kRules = std::to_array<ConfigRule>({
    {.name = "graph-mode",
     .key = "training.enable_graph_mode",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_off(f, "training.enable_graph_mode"); },
     .status = kFail,
     .text = "Each training step runs in eager mode, operation by operation. XLA has no effect "
             "then.",
     .source = kGraphDocument,
     .remedy = "Compile the step: enable_graph_mode: true.",
     .gain = {5.0, 5.0},
     .changes = {{{"training.enable_graph_mode", "true"}}}},
    {.name = "eager-debug",
     .key = "training.enable_eager_debug",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_on(f, "training.enable_eager_debug"); },
     .status = kFail,
     .text = "On a GPU, run_functions_eagerly(True) turns every compiled function off, whatever "
             "enable_graph_mode says.",
     .source = kGraphDocument,
     .remedy = "Use it for a search for errors alone: enable_eager_debug: false.",
     .gain = {5.0, 5.0},
     .changes = {{{"training.enable_eager_debug", "false"}}}},
    {.name = "static-shapes",
     .key = "data.pad_to_fixed_length",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return is_off(f, "data.pad_to_fixed_length") && !is_off(f, "training.enable_graph_mode");
         },
     .status = kFail,
     .text = "Each batch is as long as its longest clip, so the compiled step meets new shapes and "
             "is traced again.",
     .source = "Documented, not measured here: 27 to 30 s for each trace, every 5 or 6 steps "
               "(docs/RETRACING_FIX_GUIDE.md).",
     .remedy =
         "Pad to fixed lengths: pad_to_fixed_length: true. The compiled step then takes whole "
         "batches alone, so use a number of clips that batch_size divides.",
     .changes = {{{"data.pad_to_fixed_length", "true"}}}},
    {.name = "no-text-limit",
     .key = "data.max_text_length",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return is_on(f, "data.pad_to_fixed_length") && is_below(f, "data.max_text_length", 1);
         },
     .status = kFail,
     .text = "pad_to_fixed_length is on without a length of texts, so nothing is padded, and the "
             "compiled step refuses the batches.",
     .source = kCode,
     .remedy = "Set the trainer's default: max_text_length: 200.",
     .changes = {{{"data.max_text_length", "200"}}}},
    {.name = "no-mel-limit",
     .key = "data.max_mel_frames",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return is_on(f, "data.pad_to_fixed_length") && is_below(f, "data.max_mel_frames", 1);
         },
     .status = kFail,
     .text = "pad_to_fixed_length is on without a length of mels, so nothing is padded, and the "
             "compiled step refuses the batches.",
     .source = kCode,
     .remedy = "Set a length: max_mel_frames: 800.",
     .changes = {{{"data.max_mel_frames", "800"}}}},
    {.name = "long-text",
     .key = "data.max_text_tokens",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           const auto tokens = f.number("data.max_text_tokens");
           const auto length = f.number("data.max_text_length");
           return is_on(f, "data.pad_to_fixed_length") && tokens && length && *length >= 1 &&
                  (*tokens < 1 || *tokens > *length);
         },
     .status = kFail,
     .text = "Texts are cut at {data.max_text_tokens} tokens but padded to {data.max_text_length}. "
             "A longer text ends the training with a DataLossError.",
     .source = "Measured with TensorFlow 2.21: padded_batch does not shorten. train_main.py sets "
               "both limits alike, but a YAML file does not pass there.",
     .remedy = "Cut where the padding ends: max_text_tokens: {data.max_text_length}.",
     .changes = {{{"data.max_text_tokens", "{data.max_text_length}"}}}},
    {.name = "text-cut",
     .key = "model.max_attention_sequence_length",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           const auto attention = f.number("model.max_attention_sequence_length");
           const auto length = f.number("data.max_text_length");
           return is_on(f, "data.pad_to_fixed_length") && attention && length && *attention >= 1 &&
                  *attention < *length;
         },
     .status = kWarn,
     .text = "Texts are padded to {data.max_text_length} tokens, and the step cuts them at "
             "{model.max_attention_sequence_length}.",
     .source = kCode,
     .remedy = "Give both keys the same length."},
    {.name = "xla-off",
     .key = "training.enable_xla_compilation",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return is_off(f, "training.enable_xla_compilation") &&
                  !is_off(f, "training.enable_graph_mode");
         },
     .status = kWarn,
     .text = "The compiled step runs without XLA, so each operation is a kernel of its own.",
     .source = "Documented, not measured here: 10 to 50 % faster (myxtts/config/config.py).",
     .remedy = "Let XLA compile the step: enable_xla_compilation: true.",
     .gain = {1.1, 1.5},
     .changes = {{{"training.enable_xla_compilation", "true"}}}},
    {.name = "xla-differs",
     .key = "data.enable_xla",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return is_off(f, "data.enable_xla") && is_on(f, "training.enable_xla_compilation");
         },
     .status = kWarn,
     .text = "data.enable_xla is off and training.enable_xla_compilation is on. XLA then compiles "
             "the training step and nothing else.",
     .source = "Documented, not measured here: 10 to 30 % faster with it "
               "(DUAL_GPU_BOTTLENECK_SOLUTION.md).",
     .remedy = "Switch both on: data.enable_xla: true.",
     .gain = {1.1, 1.3},
     .changes = {{{"data.enable_xla", "true"}}}},
    {.name = "mixed-precision",
     .key = "data.mixed_precision",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_off(f, "data.mixed_precision"); },
     .status = kWarn,
     .text = "The model computes in float32, which takes more memory and time than float16.",
     .source = "Documented, not measured here: twice as fast with it (docs/ARCHITECTURE.md).",
     .remedy = "If your losses stay finite with it, set mixed_precision: true.",
     .gain = {1.0, 2.0}},
    {.name = "accumulation",
     .key = "training.gradient_accumulation_steps",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return f.number("training.gradient_accumulation_steps").value_or(1) > 1 &&
                  !is_off(f, "training.enable_graph_mode");
         },
     .status = kWarn,
     .text =
         "With gradient accumulation the trainer leaves its compiled step: each part of a batch "
         "runs in eager mode.",
     .source = "train_step_with_accumulation in trainer.py says so. The cost was not measured.",
     .remedy = "If a smaller batch fits into memory, use it with gradient_accumulation_steps: 1."},
    {.name = "accumulation-rest",
     .key = "training.gradient_accumulation_steps",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           const double steps = f.number("training.gradient_accumulation_steps").value_or(1);
           const double batch = f.number("data.batch_size").value_or(0);
           return steps > 1 && batch >= 1 && std::fmod(batch, steps) != 0;
         },
     .status = kWarn,
     .text = "A batch of {data.batch_size} does not divide into "
             "{training.gradient_accumulation_steps} equal parts, and the trainer drops the rest.",
     .source = kCode,
     .remedy = "Choose a batch_size that gradient_accumulation_steps divides."},
    {.name = "memory-cleanup",
     .key = "training.enable_memory_cleanup",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_on(f, "training.enable_memory_cleanup"); },
     .status = kWarn,
     .text = "On a GPU, every tenth step clears the Keras session and collects Python's garbage, "
             "while the GPU waits.",
     .source = "Measured with TensorFlow 2.21 on a CPU: 0.25 to 0.29 s each time, without a model.",
     .remedy = "If memory suffices without it, set enable_memory_cleanup: false.",
     .changes = {{{"training.enable_memory_cleanup", "false"}}}},
    {.name = "spectrogram-log",
     .key = "training.spectrogram_log_interval",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           const auto steps = f.number("training.spectrogram_log_interval");
           return steps && *steps >= 1 && *steps < 100;
         },
     .status = kWarn,
     .text = "Every {training.spectrogram_log_interval} steps the trainer runs the model once more "
             "outside of the compiled step and draws with matplotlib.",
     .source = kCode,
     .remedy = "Draw seldom: spectrogram_log_interval: 500.",
     .changes = {{{"training.spectrogram_log_interval", "500"}}}},
    {.name = "audio-samples",
     .key = "training.text2audio_interval_steps",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return is_on(f, "training.enable_text2audio_eval") &&
                  is_below(f, "training.text2audio_interval_steps", 200);
         },
     .status = kWarn,
     .text = "Training stops every {training.text2audio_interval_steps} steps to synthesize "
             "samples.",
     .source = kCode,
     .remedy = "Take the trainer's default: text2audio_interval_steps: 200.",
     .changes = {{{"training.text2audio_interval_steps", "200"}}}},

    {.name = "native-loading",
     .key = "data.use_tf_native_loading",
     .needs = kNoCache,
     .applies = [](const Facts& f) { return is_off(f, "data.use_tf_native_loading"); },
     .status = kFail,
     .text =
         "Python computes every clip behind tf.numpy_function, one at a time for Python's lock.",
     .source = "Documented, not measured here: 250 ms to 60 ms for a batch of 16 on an RTX 4090 "
               "(GPU_OSCILLATION_SOLUTION_SUMMARY.md).",
     .remedy = "Load natively: use_tf_native_loading: true. It reads WAV files alone, and its mels "
               "are others, so begin a new checkpoint. A cache spares the choice.",
     .gain = {4.0, 5.0},
     .changes = {{{"data.use_tf_native_loading", "true"}}}},
    {.name = "augmentation",
     .key = "data.use_tf_native_loading",
     .needs = kNoCache,
     .applies =
         [](const Facts& f) {
           return is_on(f, "data.use_tf_native_loading") &&
                  (is_on(f, "data.enable_pitch_shift") || is_on(f, "data.enable_noise_mixing"));
         },
     .status = kWarn,
     .text = "enable_pitch_shift and enable_noise_mixing have no effect with native loading.",
     .source = kCode,
     .remedy = "Switch them off, or accept the slow loading: use_tf_native_loading: false."},
    {.name = "no-workers",
     .key = "data.num_workers",
     .needs = kNoCache,
     .applies = [](const Facts& f) { return is_below(f, "data.num_workers", 1); },
     .status = kFail,
     .text = "num_workers is {data.num_workers}, and tf.data takes 1 or more.",
     .source = "Measured with TensorFlow 2.21: num_parallel_calls must be greater than zero.",
     .remedy = "Set num_workers: {gpu.num_workers}.",
     .changes = {{{"data.num_workers", "{gpu.num_workers}"}}}},
    {.name = "few-workers",
     .key = "data.num_workers",
     .needs = kNoCache,
     .applies =
         [](const Facts& f) {
           const auto workers = f.number("data.num_workers");
           const auto& gpu = f.situation().gpu;  // which knows how many processors there are
           const double enough = gpu ? std::min<double>(8, gpu->num_workers) : 8;
           return workers && *workers >= 1 && *workers < enough;
         },
     .status = kWarn,
     .text = "{data.num_workers} clips are loaded at a time.",
     .source = "Documented, not measured here: at least 8 (utilities/validate_gpu_pipeline.py). A "
               "cache needs none.",
     .remedy = "Set num_workers: {gpu.num_workers}, if the machine that trains has so many "
               "processors.",
     .changes = {{{"data.num_workers", "{gpu.num_workers}"}}}},
    {.name = "small-buffer",
     .key = "data.pipeline_buffer_size",
     .needs = kNoCache,
     .applies =
         [](const Facts& f) {
           return !has_both_gpus(f) && !prefetches_to_gpu(f) &&
                  is_below(f, "data.pipeline_buffer_size", 8);
         },
     .status = kWarn,
     .text = "Only {data.pipeline_buffer_size} batches wait for the GPU, so a slow clip makes it "
             "wait.",
     .source = "Documented, not measured here: at least 8 (utilities/validate_gpu_pipeline.py).",
     .remedy = "Set pipeline_buffer_size: {gpu.prefetch}.",
     .changes = {{{"data.pipeline_buffer_size", "{gpu.prefetch}"}}}},
    {.name = "prefetch-to-gpu",
     .key = "data.prefetch_to_gpu",
     .needs = kNoCache,
     .applies =
         [](const Facts& f) { return !has_both_gpus(f) && is_off(f, "data.prefetch_to_gpu"); },
     .status = kWarn,
     .text = "Batches wait in the memory of the host, so each step begins with a copy to the GPU.",
     .source = kCode,
     .remedy = "Copy ahead: prefetch_to_gpu: true.",
     .changes = {{{"data.prefetch_to_gpu", "true"}}}},
    {.name = "enhanced-prefetch",
     .key = "data.enhanced_gpu_prefetch",
     .needs = kNoCache,
     .applies =
         [](const Facts& f) {
           return !has_both_gpus(f) && is_off(f, "data.enhanced_gpu_prefetch");
         },
     .status = kWarn,
     .text = "prefetch_to_gpu has no effect while enhanced_gpu_prefetch is off.",
     .source = kCode,
     .remedy = "Copy ahead: enhanced_gpu_prefetch: true.",
     .changes = {{{"data.enhanced_gpu_prefetch", "true"}}}},
    {.name = "overlap",
     .key = "data.optimize_cpu_gpu_overlap",
     .needs = kNoCache,
     .applies = [](const Facts& f) { return is_off(f, "data.optimize_cpu_gpu_overlap"); },
     .status = kWarn,
     .text = "tf.data runs without its parallel batches and fused steps.",
     .source = kCode,
     .remedy = "Switch them on: optimize_cpu_gpu_overlap: true.",
     .changes = {{{"data.optimize_cpu_gpu_overlap", "true"}}}},
    {.name = "large-buffer",
     .key = "data.pipeline_buffer_size",
     .needs = kGpuAndNoCache,
     .applies = buffer_is_large,
     .status = kWarn,
     .text =
         "{batches_on_gpu} batches wait in the memory of {gpu}: {bytes_on_gpu} of {gpu.memory}.",
     .source = "Computed from batch_size, max_mel_frames and the buffer of ljspeech.py.",
     .remedy = "Keep fewer there: pipeline_buffer_size: 8.",
     .changes = {{{"data.pipeline_buffer_size", "8"}}}},

    {.name = "no-batch",
     .key = "data.batch_size",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_below(f, "data.batch_size", 1); },
     .status = kFail,
     .text = "A batch of {data.batch_size} clips is no batch.",
     .source = kCode,
     .remedy = "Set a batch_size of 1 or more."},
    {.name = "batch-memory",
     .key = "data.batch_size",
     .needs = kGpu,
     .applies =
         [](const Facts& f) {
           // Nothing is documented for larger GPUs, and more fits there.
           return f.situation().gpu->memory_gb <= kDocumentedMemoryGb &&
                  f.number("data.batch_size").value_or(0) > f.situation().gpu->batch_size_max;
         },
     .status = kWarn,
     .text =
         "A batch of {data.batch_size} may exhaust the memory of {gpu}: the documented settings "
         "end at {gpu.batch_size_max}.",
     .source = "Documented, not measured here: {gpu.source}. Other documents ask for 128 and more, "
               "and do not say what fits.",
     .remedy = "Set batch_size: {gpu.batch_size}. If that is too much: 8, mixed_precision: true, "
               "pipeline_buffer_size: 8, model.enable_gradient_checkpointing: true.",
     .changes = {{{"data.batch_size", "{gpu.batch_size}"}}}},

    {.name = "one-of-two-gpus",
     .key = "data.data_gpu",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return f.number("data.data_gpu").has_value() != f.number("data.model_gpu").has_value();
         },
     .status = kWarn,
     .text =
         "The trainer uses data_gpu and model_gpu together only. One of them alone has no effect "
         "on it.",
     .source =
         "myxtts/data/ljspeech.py asks for both. xp.myxtts.open() puts batches on the one that "
         "is given.",
     .remedy = "For the trainer: give both, or none."},
    {.name = "same-gpu",
     .key = "data.model_gpu",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return has_both_gpus(f) && f.number("data.data_gpu") == f.number("data.model_gpu");
         },
     .status = kFail,
     .text = "data_gpu and model_gpu are both {data.model_gpu}, and the keys are for two GPUs: the "
             "trainer prefetches to the first GPU then, whatever the number is.",
     .source = "myxtts/data/ljspeech.py does not compare them. The cost was not measured.",
     .remedy = "Name two GPUs, or leave both keys out."},
    {.name = "negative-data-gpu",
     .key = "data.data_gpu",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_below(f, "data.data_gpu", 0); },
     .status = kFail,
     .text = "data_gpu is {data.data_gpu}, and GPUs are numbered from 0.",
     .source = kNegativeGpu,
     .remedy = "Name a GPU by its number, or leave both keys out."},
    {.name = "negative-model-gpu",
     .key = "data.model_gpu",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_below(f, "data.model_gpu", 0); },
     .status = kFail,
     .text = "model_gpu is {data.model_gpu}, and GPUs are numbered from 0.",
     .source = kNegativeGpu,
     .remedy = "Name a GPU by its number, or leave both keys out."},
    {.name = "missing-gpu",
     .key = "data.model_gpu",
     .needs = kGpuCount,
     .applies = names_missing_gpu,
     .status = kFail,
     .text =
         "data_gpu is {data.data_gpu} and model_gpu is {data.model_gpu}, but the number of GPUs "
         "is {gpus}, and the first is GPU 0.",
     .source = "Known from --gpus, or from the driver.",
     .remedy = "Name GPUs that are there, or leave both keys out."},
    {.name = "two-gpus",
     .key = "data.model_gpu",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return has_both_gpus(f) && f.number("data.data_gpu") != f.number("data.model_gpu") &&
                  !is_below(f, "data.data_gpu", 0) && !is_below(f, "data.model_gpu", 0);
         },
     .status = kWarn,
     .text = "In a YAML file, data_gpu and model_gpu change the trainer's prefetching alone. Its "
             "model stays on the first GPU.",
     .source = "myxtts/cli.py gives the trainer no model_device. The cost was not measured. "
               "xp.myxtts.open() uses both with PyTorch.",
     .remedy = "Leave both keys out, or use train_main.py: --data-gpu {data.data_gpu} --model-gpu "
               "{data.model_gpu} --enable-memory-isolation --data-gpu-memory {two_gpus.data_mb} "
               "--model-gpu-memory {two_gpus.model_mb} --batch-size {two_gpus.batch_size} "
               "--prefetch-buffer-size {two_gpus.prefetch} (documented, not measured here)."},

    {.name = "sample-rates",
     .key = "model.sample_rate",
     .needs = kNothing,
     .applies =
         [](const Facts& f) {
           return f.number("data.sample_rate") && f.number("model.sample_rate") &&
                  f.number("data.sample_rate") != f.number("model.sample_rate");
         },
     .status = kFail,
     .text = "Mels are made at {data.sample_rate} Hz, and the model's sound is written at "
             "{model.sample_rate} Hz.",
     .source = "ljspeech.py and synthesizer.py read one of the keys each.",
     .remedy = "Use one rate: model.sample_rate: {data.sample_rate}.",
     .changes = {{{"model.sample_rate", "{data.sample_rate}"}}}},
    {.name = "mels",
     .key = "model.n_mels",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_not(f, "model.n_mels", 80); },
     .status = kFail,
     .text = "The model has {model.n_mels} mels, and the data have 80.",
     .source = kConstant,
     .remedy = "Set n_mels: 80.",
     .changes = {{{"model.n_mels", "80"}}}},
    {.name = "window",
     .key = "model.n_fft",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_not(f, "model.n_fft", 1024); },
     .status = kFail,
     .text = "The model has n_fft {model.n_fft}, and the data have 1024.",
     .source = kConstant,
     .remedy = "Set n_fft: 1024.",
     .changes = {{{"model.n_fft", "1024"}}}},
    {.name = "hop",
     .key = "model.hop_length",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_not(f, "model.hop_length", 256); },
     .status = kFail,
     .text = "The model has a hop of {model.hop_length}, and the data have 256.",
     .source = kConstant,
     .remedy = "Set hop_length: 256.",
     .changes = {{{"model.hop_length", "256"}}}},
    {.name = "window-length",
     .key = "model.win_length",
     .needs = kNothing,
     .applies = [](const Facts& f) { return is_not(f, "model.win_length", 1024); },
     .status = kFail,
     .text = "The model has a window of {model.win_length}, and the data have 1024.",
     .source = kConstant,
     .remedy = "Set win_length: 1024.",
     .changes = {{{"model.win_length", "1024"}}}},
});

}  // namespace

std::span<const ConfigRule> config_rules() {
  return kRules;
}

}  // namespace xtts::doctor
