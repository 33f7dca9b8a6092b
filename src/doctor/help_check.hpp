// Will precomputing help, and by how much? Predicts the time of a training step with features made
// on the fly, and from a cache, out of what was measured. Pure.
//
// The model: a batch on the fly takes its clips by the measured rate, and its bytes from the
// storage unless they stay in memory. A loader with workers prepares the next batch while the step
// runs, so a step lasts as long as the slower of the two. Without workers they add up. Where the
// step computes on the CPU, both share the processors: the truth is between these two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doctor/check.hpp"
#include "doctor/range.hpp"

namespace xtts::doctor {

// Why a GPU idles, as far as the measurements tell.
enum class Picture : std::uint8_t {
  kUnknown,
  kDataLate,     // the step waits for data: precomputing mends it
  kNotCompiled,  // the GPU is low and steady: eager mode; precomputing does not mend it
  kModel,        // the step is the model's own work
};

// Batches from one way of loading.
struct Supply {
  std::string way;  // "librosa 0.10.2, 8 workers"
  Range clips_per_s;
  // The storage was read meanwhile; else the files were in memory.
  bool rate_has_reads = false;
  std::optional<Range> disk_batch_ms = {};  // of a batch from the storage
  bool stays_in_memory = true;  // an epoch's bytes fit, so only the first epoch reads the storage
  bool is_overlapped = true;    // prepares batches while the step runs
  double cpu_ms_per_clip = 0.0;
};

struct HelpQuestion {
  std::uint32_t batch_size = 32;
  std::uint64_t clip_count = 0;
  std::optional<Range> step_ms = {};                          // of training with data for free
  std::string step_source = {};                               // how that is known
  std::string profile_source = "the profile that was given";  // of what was measured
  bool step_uses_cpu = false;
  double usable_cores = 1.0;
  Supply on_the_fly;
  std::optional<Supply> cache = {};  // unset: no cache could be measured
  std::optional<Range> build_s = {};
  bool has_cache = false;       // the user has built one already
  bool is_trainers_way = true;  // on_the_fly is how the trainer loads; else this program's own way
  // The configuration or code of the user's trainer, whose own loader nobody has timed; empty: none
  // was named.
  std::string trainer = {};
  // A measured profile of the user's own training.
  std::optional<Range> measured_step_ms = {};  // the step now; it needs no prediction then
  std::optional<double> measured_data_share = {};
  std::optional<double> gpu_utilization = {};  // percent, mean
  std::optional<double> gpu_utilization_std = {};
};

struct Prediction {
  Range step_ms_now;  // of training
  Range step_ms_cached;
  Range gain;                                 // times as fast
  Range utilization_now, utilization_cached;  // shares of the step in which the model computes
  std::optional<Range> saved_s_per_epoch;
  std::optional<Range> epochs_to_break_even;
};

// What loading a batch takes, in milliseconds.
[[nodiscard]] Range batch_ms_of(const Supply& supply, std::uint32_t batch_size);
// `question.cache` and `question.step_ms` are set.
[[nodiscard]] Prediction predict(const HelpQuestion& question, Range step_ms);
[[nodiscard]] Picture picture_of(const HelpQuestion& question);

[[nodiscard]] Check check_help(const HelpQuestion& question);

}  // namespace xtts::doctor
