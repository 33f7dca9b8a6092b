#include "dsp/mel_filters.hpp"

#include "formats/frame_config.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace xtts::dsp {
namespace {

// Slaney's Auditory Toolbox, as in librosa.
constexpr double kHzPerLinearMel = 200.0 / 3.0;
constexpr double kBreakHz = 1000.0;
constexpr double kBreakMel = kBreakHz / kHzPerLinearMel;
const double kLogStep = std::log(6.4) / 27.0;

// Zero at the triangle's edges and negative outside, so the caller clips.
double triangle(double x, double low, double centre, double high) {
  return std::min((x - low) / (centre - low), (high - x) / (high - centre));
}

std::vector<double> band_edges_mel(const formats::MelConfig& config) {
  const double low = hz_to_mel(config.f_min_hz, config.scale);
  const double high = hz_to_mel(config.f_max_hz, config.scale);
  std::vector<double> edges(config.n_mels + 2);
  const double step = (high - low) / static_cast<double>(edges.size() - 1);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] = low + step * static_cast<double>(i);
  }
  return edges;
}

}  // namespace

double hz_to_mel(double hz, formats::MelScale scale) {
  if (scale == formats::MelScale::kHtk) return 2595.0 * std::log10(1.0 + hz / 700.0);
  if (hz < kBreakHz) return hz / kHzPerLinearMel;
  return kBreakMel + std::log(hz / kBreakHz) / kLogStep;
}

double mel_to_hz(double mel, formats::MelScale scale) {
  if (scale == formats::MelScale::kHtk) return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
  if (mel < kBreakMel) return kHzPerLinearMel * mel;
  return kBreakHz * std::exp(kLogStep * (mel - kBreakMel));
}

std::vector<MelFilter> make_mel_filters(const formats::MelConfig& config,
                                        std::uint32_t sample_rate_hz, std::uint32_t n_fft) {
  const std::vector<double> mels = band_edges_mel(config);
  std::vector<double> edges(mels.size());  // Hz
  std::transform(mels.begin(), mels.end(), edges.begin(),
                 [&](double mel) { return mel_to_hz(mel, config.scale); });
  const bool is_over_mels = config.triangles == formats::MelTriangles::kMel;
  const double bins_rate_hz = config.bins_rate_hz == 0 ? sample_rate_hz : config.bins_rate_hz;
  std::vector<MelFilter> filters(config.n_mels);
  for (std::size_t m = 0; m < filters.size(); ++m) {
    const double area =
        config.norm == formats::MelNorm::kSlaney ? 2.0 / (edges[m + 2] - edges[m]) : 1.0;
    for (std::uint32_t bin = 0; bin <= n_fft / 2; ++bin) {
      const double hz = static_cast<double>(bin) * bins_rate_hz / n_fft;
      const double weight =
          area * (is_over_mels
                      ? triangle(hz_to_mel(hz, config.scale), mels[m], mels[m + 1], mels[m + 2])
                      : triangle(hz, edges[m], edges[m + 1], edges[m + 2]));
      if (!(weight > 0.0)) continue;
      if (filters[m].weights.empty()) filters[m].first_bin = bin;
      filters[m].weights.push_back(weight);
    }
  }
  return filters;
}

MelFilterBank pack(std::span<const MelFilter> filters) {
  MelFilterBank bank;
  for (const MelFilter& filter : filters) {
    bank.spans.push_back({filter.first_bin, static_cast<std::uint32_t>(filter.weights.size())});
    for (const double weight : filter.weights) bank.weights.push_back(static_cast<float>(weight));
  }
  return bank;
}

}  // namespace xtts::dsp
