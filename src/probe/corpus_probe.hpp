// CorpusProbe reads and computes a sample of DATA's clips: how fast features are made on the fly
// here, and what formats the clips have. It stores nothing. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/build_request.hpp"
#include "probe/storage_probe.hpp"

namespace xtts::pipeline {
class LiveClips;
struct LiveRecord;
}  // namespace xtts::pipeline

namespace xtts::probe {

// The sound of the clips that were decoded.
struct SampledSound {
  std::uint64_t corpus_clip_count = 0;  // of which these are a sample
  std::size_t clip_count = 0;
  std::map<std::pair<std::string, std::string>, std::size_t> formats;  // by container, codec
  std::size_t resampled_count = 0;  // clips at another rate than the recipe's
  double mean_frames = 0.0;
  std::size_t reject_count = 0;
  std::map<std::string, std::size_t> rejects;  // by the reason in words
};

// Clips a second in each round, by one thread and by all that the loader has.
struct ComputeRates {
  std::string way;  // "librosa 0.10.2"
  std::uint32_t worker_count = 1;
  std::vector<double> one;
  std::vector<double> all;
};

class CorpusProbe {
 public:
  // `request` is that of a build of DATA, without a cache. Failures: as a build's before it
  // computes.
  [[nodiscard]] static Result<std::unique_ptr<CorpusProbe>> open(Env& env,
                                                                 pipeline::BuildRequest request,
                                                                 const std::string& scratch_folder);
  ~CorpusProbe();
  CorpusProbe(const CorpusProbe&) = delete;
  CorpusProbe& operator=(const CorpusProbe&) = delete;

  [[nodiscard]] std::uint64_t clip_count() const noexcept;
  [[nodiscard]] std::uint64_t source_bytes() const noexcept { return source_bytes_; }
  [[nodiscard]] const std::string& layout() const noexcept;
  [[nodiscard]] const formats::Recipe& recipe() const noexcept;
  [[nodiscard]] std::uint64_t record_bytes() const noexcept;  // of all columns, padded
  // The sampled clips' bytes, in random order.
  [[nodiscard]] std::vector<Extent> extents() const;
  // Runs of clips that follow one another in the corpus, most often on the disk as well.
  [[nodiscard]] std::vector<Extent> neighbours() const;
  // Those of the clips that measure() has computed, and so read.
  [[nodiscard]] std::vector<Extent> read_extents() const;
  // Those of the sampled clips that are whole files.
  [[nodiscard]] std::vector<std::string> whole_files(std::size_t count_max) const;

  // Computes the sample again and again. The first round, which starts processes, is not counted.
  [[nodiscard]] Result<ComputeRates> measure(std::uint32_t worker_count, std::uint32_t round_count,
                                             std::chrono::milliseconds round,
                                             const std::function<bool()>& cancelled);
  // Clips at fault, found by the plan or by measure(), and what a build would tolerate.
  struct Faults {
    std::uint64_t count = 0;
    std::uint64_t allowed = 0;
    std::string first;  // "wavs/a.wav: " and why it cannot be used; empty: there is none
  };
  [[nodiscard]] Faults faults() const;
  // The sound of the clips that measure() has computed.
  [[nodiscard]] const SampledSound& sound() const noexcept { return sound_; }

 private:
  explicit CorpusProbe(std::unique_ptr<pipeline::LiveClips> clips);
  [[nodiscard]] Extent extent_of(std::uint64_t position) const;
  void note(const pipeline::LiveRecord& record);

  std::unique_ptr<pipeline::LiveClips> clips_;
  std::vector<std::uint64_t> sample_;  // positions, in random order
  std::vector<bool> is_noted_;         // parallel to sample_
  std::uint64_t source_bytes_ = 0;
  std::uint64_t frames_ = 0;
  SampledSound sound_;
};

}  // namespace xtts::probe
