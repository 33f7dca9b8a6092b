#include "dsp_cuda/cuda_frame_engine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cuda/stream.hpp"
#include "dsp/feature_tables.hpp"
#include "dsp/frame_grid.hpp"
#include "dsp_cuda/cufft.hpp"
#include "dsp_cuda/engine_tables.hpp"
#include "dsp_cuda/staging.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp_cuda {
namespace {

using formats::SoundColumn;

// The frames that go through the transform together, a multiple of kChunkStep: the usual clip of
// 6.5 s has 560, so it takes one chunk of 768.
constexpr std::uint32_t kChunkStep = 256;
constexpr std::uint32_t kChunkFramesMax = 1024;
// The flag for mels that are not finite lies before the samples. The host's side of it is always 0,
// as its memory is at first, so each copy to the GPU clears it.
constexpr std::size_t kFlagBytes = 256;
constexpr std::size_t kArrayAlignment = 256;

constexpr std::string_view kNamePrefix = "cuda: ";

// Memory that the kernels hand to each other: arrays of a chunk.
struct ChunkBytes {
  explicit ChunkBytes(const formats::FeatureConfig& config)
      : real(config.precision == formats::Precision::kDouble ? sizeof(double) : sizeof(float)),
        spectra(aligned(real * config.stft.n_fft)),
        means(aligned(real)),
        rows(aligned(sizeof(float) * config.bin_count())) {}
  static std::size_t aligned(std::size_t bytes_of_frame) {
    return align_up(kChunkFramesMax * bytes_of_frame, kArrayAlignment);
  }
  std::size_t real;
  std::size_t spectra;
  std::size_t means;
  std::size_t rows;
};

FrameTable table_of(const formats::FeatureConfig& config) {
  FrameTable table{};
  table.hop = config.stft.hop_samples;
  table.n_fft = config.stft.n_fft;
  table.bin_count = config.bin_count();
  table.channel_count = config.channel_count();
  table.window_start = static_cast<std::uint32_t>(formats::window_start(config.stft));
  table.window_count = config.stft.win_samples;
  table.removes_mean = config.stft.remove_dc ? 1 : 0;
  table.is_emphasized = config.stft.remove_dc || config.stft.preemphasis != 0.0 ? 1 : 0;
  table.is_unfiltered = config.mel.scale == formats::MelScale::kNone ? 1 : 0;
  table.is_power = config.spectrum == formats::SpectrumKind::kPower ? 1 : 0;
  table.preemphasis = config.stft.preemphasis;
  table.spectrum_op = dsp::spectrum_op(config);
  table.spectrum_floor = static_cast<float>(config.spectrum_floor);
  table.compression = dsp::make_compression(config);
  return table;
}

class CudaFrameEngine final : public dsp::FrameEngine {
 public:
  static Result<std::unique_ptr<dsp::FrameEngine>> make(
      const formats::FeatureConfig& config, std::shared_ptr<cuda::DevicePool> pool,
      std::shared_ptr<const FrameKernels> kernels) {
    const auto& context = pool->context();
    XTTS_ASSIGN(cuda::Stream stream, cuda::Stream::create(context));
    XTTS_ASSIGN(cuda::Event done, cuda::Event::create(context));
    std::unique_ptr<CudaFrameEngine> engine(new CudaFrameEngine(
        config, std::move(pool), std::move(kernels), std::move(stream), std::move(done)));
    XTTS_TRY(engine->prepare(config));
    return std::unique_ptr<dsp::FrameEngine>(std::move(engine));
  }

  ~CudaFrameEngine() override {
    if (!is_busy_ || stream_.wait().ok()) return;
    // The GPU may still use the memory, or this process is a forked child, which has none of it.
    in_.abandon();
    out_.abandon();
    tables_.abandon();
    work_.abandon();
    for (auto& plan : plans_) {
      if (plan) plan->abandon();
    }
  }

  [[nodiscard]] Status run(std::span<const float> samples, std::uint64_t frame_count,
                           const dsp::FrameRows& rows) override {
    if (is_busy_) XTTS_TRY(stream_.wait());  // an earlier clip failed
    is_busy_ = false;
    const Places places(rows, frame_count, table_);
    const std::size_t reached = static_cast<std::size_t>(
        std::min<std::uint64_t>(samples.size(), grid_.samples_of(frame_count)));
    XTTS_TRY(in_.make_room(kFlagBytes + reached * sizeof(float)));
    XTTS_TRY(out_.make_room(places.size_bytes));
    std::memcpy(in_.host() + kFlagBytes, samples.data(), reached * sizeof(float));

    is_busy_ = true;
    Status status = enqueue(samples.size(), reached, frame_count, places);
    if (status.ok()) status = done_.wait();
    is_busy_ = !status.ok() && !stream_.wait().ok();
    XTTS_TRY(status);
    return take(places, rows);
  }

 private:
  // Where the results of a clip lie in out_.
  struct Places {
    Places(const dsp::FrameRows& rows, std::uint64_t frame_count, const FrameTable& table) {
      widths[SoundColumn::kMel] = table.channel_count;
      widths[SoundColumn::kLinear] = table.bin_count;
      widths[SoundColumn::kEnergy] = 1;
      for (const SoundColumn column :
           {SoundColumn::kMel, SoundColumn::kLinear, SoundColumn::kEnergy}) {
        if (rows[column].empty()) continue;
        offsets[column] = size_bytes;
        counts[column] = static_cast<std::size_t>(frame_count) * widths[column];
        size_bytes += counts[column] * sizeof(float);
      }
    }
    formats::BySoundColumn<std::size_t> widths;
    formats::BySoundColumn<std::size_t> offsets;
    formats::BySoundColumn<std::size_t> counts;  // 0: not wanted
    std::size_t size_bytes = kFlagBytes;
  };

  CudaFrameEngine(const formats::FeatureConfig& config, std::shared_ptr<cuda::DevicePool> pool,
                  std::shared_ptr<const FrameKernels> kernels, cuda::Stream stream,
                  cuda::Event done)
      : pool_(std::move(pool)),
        kernels_(std::move(kernels)),
        grid_(config),
        is_double_(config.precision == formats::Precision::kDouble),
        table_(table_of(config)),
        stream_(std::move(stream)),
        done_(std::move(done)),
        in_(pool_),
        out_(pool_),
        tables_(pool_) {}

  [[nodiscard]] Status prepare(const formats::FeatureConfig& config) {
    is_busy_ = true;
    XTTS_TRY(tables_.fill(config, stream_, table_));
    is_busy_ = false;
    const ChunkBytes bytes(config);
    XTTS_ASSIGN(work_, pool_->allocate(bytes.spectra + bytes.means + bytes.rows));
    table_.spectra = work_.address();
    table_.means = table_.spectra + bytes.spectra;
    table_.rows = table_.means + bytes.means;
    return {};
  }

  // `reached`: how many of the clip's first samples are copied.
  [[nodiscard]] Status enqueue(std::size_t sample_count, std::size_t reached,
                               std::uint64_t frame_count, const Places& places) {
    XTTS_TRY(in_.copy_in(kFlagBytes + reached * sizeof(float), stream_));
    FrameTable table = table_;
    table.not_finite = in_.device();
    table.samples = in_.device() + kFlagBytes;
    table.sample_count = reached;
    table.clip = grid_.shape_of(sample_count);
    for (std::uint64_t first = 0; first < frame_count; first += kChunkFramesMax) {
      table.begin = static_cast<std::int64_t>(first) * table.hop - grid_.lead();
      table.frame_count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunkFramesMax, frame_count - first));
      table.frame_room = align_up(table.frame_count, kChunkStep);
      if (places.counts[SoundColumn::kLinear] != 0)
        table.rows = place_of(SoundColumn::kLinear, first, places);
      table.energies = place_of(SoundColumn::kEnergy, first, places);
      table.mels = place_of(SoundColumn::kMel, first, places);
      XTTS_TRY(enqueue_chunk(table, places));
    }
    XTTS_TRY(out_.copy_out(0, table.not_finite, sizeof(std::uint32_t), stream_));
    XTTS_TRY(out_.copy_out(kFlagBytes, out_.device() + kFlagBytes, places.size_bytes - kFlagBytes,
                           stream_));
    return done_.record(stream_.handle());
  }

  [[nodiscard]] Status enqueue_chunk(const FrameTable& table, const Places& places) {
    const cuda::StreamHandle stream = stream_.handle();
    if (table.removes_mean != 0) XTTS_TRY(kernels_->write_means(table, is_double_, stream));
    XTTS_TRY(kernels_->write_windows(table, is_double_, stream));
    XTTS_ASSIGN(const FftPlan* plan, plan_for(table.frame_room));
    XTTS_TRY(plan->run(table.spectra));
    XTTS_TRY(kernels_->write_spectra(table, is_double_, stream));
    if (places.counts[SoundColumn::kEnergy] != 0) XTTS_TRY(kernels_->write_energies(table, stream));
    if (places.counts[SoundColumn::kMel] != 0) XTTS_TRY(kernels_->write_mels(table, stream));
    return {};
  }

  // Plans are made when first needed: most corpora take one or two.
  [[nodiscard]] Result<const FftPlan*> plan_for(std::uint32_t frame_room) {
    std::optional<FftPlan>& plan = plans_.at(frame_room / kChunkStep - 1);
    if (!plan) {
      XTTS_ASSIGN(
          plan,
          FftPlan::create(pool_->context(),
                          {.size = table_.n_fft / 2, .batch = frame_room, .is_double = is_double_},
                          stream_.handle()));
    }
    return &*plan;
  }

  // Where the GPU writes the frame `first` of a column.
  [[nodiscard]] cuda::DeviceAddress place_of(SoundColumn column, std::uint64_t first,
                                             const Places& places) const {
    return out_.device() + places.offsets[column] + first * places.widths[column] * sizeof(float);
  }

  [[nodiscard]] Status take(const Places& places, const dsp::FrameRows& rows) const {
    std::uint32_t not_finite = 0;
    std::memcpy(&not_finite, out_.host(), sizeof not_finite);
    if (not_finite != 0) return dsp::mels_are_not_finite();
    for (const SoundColumn column :
         {SoundColumn::kMel, SoundColumn::kLinear, SoundColumn::kEnergy}) {
      const std::size_t bytes = places.counts[column] * sizeof(float);
      if (bytes != 0) std::memcpy(rows[column].data(), out_.host() + places.offsets[column], bytes);
    }
    return {};
  }

  std::shared_ptr<cuda::DevicePool> pool_;
  std::shared_ptr<const FrameKernels> kernels_;
  dsp::FrameGrid grid_;
  bool is_double_;
  FrameTable table_;  // its part that is the same for all clips
  cuda::Stream stream_;
  cuda::Event done_;
  std::array<std::optional<FftPlan>, kChunkFramesMax / kChunkStep> plans_;  // by their batch
  Staging in_;   // the flag, then the samples
  Staging out_;  // the flag (of the host alone), then the rows of each column
  EngineTables tables_;
  cuda::DeviceMemory work_;
  bool is_busy_ = false;  // work was given to the stream, and nobody has seen its end
};

}  // namespace

Result<std::shared_ptr<const CudaFrameEngines>> CudaFrameEngines::open(int number) {
  XTTS_ASSIGN(const auto context, cuda::Context::open(number));
  XTTS_ASSIGN(const Cufft* cufft, Cufft::open());
  XTTS_ASSIGN(std::shared_ptr<const FrameKernels> kernels, FrameKernels::load(context));
  std::string device = formatted("{}{}, sm_{}, {}", kNamePrefix, context->gpu_name(),
                                 context->architecture(), cufft->version_text());
  return std::shared_ptr<const CudaFrameEngines>(
      new CudaFrameEngines(cuda::DevicePool::of(context), std::move(kernels), std::move(device)));
}

std::shared_ptr<const CudaFrameEngines> CudaFrameEngines::find(std::string_view device) {
  if (!device.starts_with(kNamePrefix)) return nullptr;
  const auto driver = cuda::Driver::open();
  if (!driver.ok()) return nullptr;
  for (int number = 0; number < (*driver)->device_count(); ++number) {
    auto opened = open(number);
    if (opened.ok() && (*opened)->device() == device) return *opened;
  }
  return nullptr;
}

Result<std::unique_ptr<dsp::FrameEngine>> CudaFrameEngines::make(
    const formats::FeatureConfig& config) const {
  return CudaFrameEngine::make(config, pool_, kernels_);
}

}  // namespace xtts::dsp_cuda
