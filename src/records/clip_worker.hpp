// ClipWorker: turns the file of one clip into the rows of a record: read, hash, decode, condition,
// extract, convert.
//
// One thread at a time; a worker keeps all of its buffers. A fault of the clip is a Reject in the
// outcome and does not fail the run. A failure (kResource: memory; kInternal) ends the run. Cost:
// see README.md. Memory: what WorkerJob gives, and a record of each column.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "dsp/frame_engine.hpp"
#include "dsp/isa.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"
#include "records/shared_sources.hpp"
#include "records/stage_times.hpp"
#include "xtts/record_rows.hpp"
#include "xtts/status.hpp"

namespace xtts::records {

struct ClipOutcome {
  std::optional<formats::Reject> reject;  // if set, only source_bytes is valid below
  std::uint32_t frame_count = 0;
  std::vector<RecordRows> records;  // in the order of the sound columns, see records/columns.hpp
  std::vector<double> sums;  // the sum of each mel channel, then each channel's sum of squares
  formats::RecordFacts facts;
  std::uint64_t source_bytes = 0;  // read for this clip
  double source_seconds = 0.0;
  std::uint32_t frame_count_before_cut = 0;  // also set when the clip is rejected as too long
};

// The sound of which a record is made: decoded, cut, resampled, trimmed, scaled.
struct ConditionedClip {
  std::vector<float> samples;  // all of them, also those that a record cuts off
  formats::RecordFacts facts;
};

[[nodiscard]] formats::Reject reject_of(const corpus::Clip& clip, formats::RejectClass kind,
                                        formats::Reason reason);

// The inputs of workers. Recipe and corpus must outlive them.
struct WorkerJob {
  Env& env;
  const formats::Recipe& recipe;
  dsp::Isa isa = dsp::Isa::kBest;
  std::shared_ptr<const dsp::FrameEngines> engines = {};  // null: the CPU's
  const corpus::Corpus& corpus;
  audio::MakeDecoder make_decoder;       // as in RunConfig
  std::function<bool()> cancelled = {};  // as in RunConfig
  std::string scratch_folder = {};       // for sound that is too long for the memory, or shared
  // The disk's room for sources that segments share.
  std::uint64_t shared_bytes_max = SharedSources::kDiskBytesMax;
  // One worker's memory for a source's bytes and its sound. Larger sources are read twice; longer
  // sound goes into a scratch file.
  std::size_t memory_bytes = std::size_t{128} << 20U;
};

class ClipWorker {
 public:
  // `job` and the sources must outlive the worker. Without `shared_sources` a worker takes no
  // segments.
  [[nodiscard]] static Result<std::unique_ptr<ClipWorker>> create(
      const WorkerJob& job, SharedSources* shared_sources = nullptr);
  virtual ~ClipWorker() = default;
  // `buffers` may hold anything: they are reused, and returned in the outcome.
  [[nodiscard]] virtual Result<ClipOutcome> process(const corpus::Clip& clip,
                                                    std::vector<RecordRows> buffers) = 0;
  // Goes the way of process() up to the features. Only length and oddness are not judged, since the
  // clip has a record. A fault of the clip is a failure. Memory grows with the clip.
  [[nodiscard]] virtual Result<ConditionedClip> condition(const corpus::Clip& clip,
                                                          const corpus::SourcePlace& place) = 0;
  // Sums the times of all clips so far.
  [[nodiscard]] virtual StageTimes times() const = 0;
};

// Returns all that decides the numbers, for the manifest. `engines` is null for the CPU's. The call
// starts a decoder's process to ask it.
[[nodiscard]] Result<formats::Numerics> numerics_of(dsp::Isa isa,
                                                    const audio::MakeDecoder& make_decoder,
                                                    const std::function<bool()>& cancelled = {},
                                                    const dsp::FrameEngines* engines = nullptr);

}  // namespace xtts::records
