#include "dsp_cuda/engine_tables.hpp"

#include <cstring>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "dsp/feature_tables.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp_cuda {
namespace {

constexpr std::size_t kTableAlignment = 256;

// Arrays that lie behind each other in one memory.
class Arrays {
 public:
  template <typename T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t offset = align_up(bytes_.size(), kTableAlignment);
    bytes_.resize(offset + values.size() * sizeof(T));
    if (!values.empty()) {
      std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T));
    }
    return offset;
  }
  std::size_t add_real(const std::vector<double>& values, bool is_double) {
    if (is_double) return add(values);
    return add(std::vector<float>(values.begin(), values.end()));
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::uint32_t> starts_of(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> starts;
  std::uint32_t start = 0;
  for (const std::uint32_t count : counts) {
    starts.push_back(start);
    start += count;
  }
  return starts;
}

}  // namespace

Status EngineTables::fill(const formats::FeatureConfig& config, const cuda::Stream& stream,
                          FrameTable& table) {
  const bool is_double = config.precision == formats::Precision::kDouble;
  const std::size_t half = config.stft.n_fft / 2;
  std::vector<double> sines;
  std::vector<double> cosines;
  for (std::size_t k = 1; k <= half / 2; ++k) {
    const dsp::Turn turn = dsp::turn_of(k, half);
    sines.push_back(turn.sine);
    cosines.push_back(turn.cosine);
  }
  const dsp::PackedFilters filters(config);
  Arrays arrays;
  const std::size_t window = arrays.add_real(dsp::make_scaled_window(config), is_double);
  const std::size_t sine = arrays.add_real(sines, is_double);
  const std::size_t cosine = arrays.add_real(cosines, is_double);
  const std::size_t first_bins = arrays.add(filters.first_bins());
  const std::size_t bin_counts = arrays.add(filters.bin_counts());
  const std::size_t weight_starts = arrays.add(starts_of(filters.bin_counts()));
  const std::size_t weights = arrays.add(filters.weights());

  XTTS_TRY(memory_.make_room(arrays.bytes().size()));
  std::memcpy(memory_.host(), arrays.bytes().data(), arrays.bytes().size());
  if (Status status = memory_.copy_in(arrays.bytes().size(), stream); !status.ok()) return status;
  if (Status status = stream.wait(); !status.ok()) {
    if (!stream.wait().ok()) abandon();  // the copy may still read it
    return status;
  }
  const cuda::DeviceAddress begin = memory_.device();
  table.window = begin + window;
  table.sines = begin + sine;
  table.cosines = begin + cosine;
  table.first_bins = begin + first_bins;
  table.bin_counts = begin + bin_counts;
  table.weight_starts = begin + weight_starts;
  table.weights = begin + weights;
  table.weight_count = static_cast<std::uint32_t>(filters.weights().size());
  return {};
}

}  // namespace xtts::dsp_cuda
