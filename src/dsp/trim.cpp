#include "dsp/trim.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/try.hpp"
#include "formats/condition_config.hpp"

namespace xtts::dsp {
namespace {

constexpr std::size_t kPairwiseBlock = 128;  // PW_BLOCKSIZE of NumPy
constexpr float kLowestPower = 1e-10F;       // the square of librosa's amin for amplitudes
constexpr float kSilenceDb = -40.0F;

typedef float Floats4 __attribute__((vector_size(16)));

Floats4 load4(const float* p) {
  Floats4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

float block_energy(const float* x, std::size_t sample_count) {
  const auto count = static_cast<std::uint32_t>(std::min(sample_count, kPairwiseBlock));
  float sum = 0.0F;
  std::uint32_t i = 0;
  if (count >= 8) {
    Floats4 low{};
    Floats4 high{};
    for (; i + 8 <= count; i += 8) {
      const Floats4 a = load4(x + i);
      const Floats4 b = load4(x + i + 4);
      low = low + a * a;
      high = high + b * b;
    }
    sum = ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
  }
  for (; i < count; ++i) sum += x[i] * x[i];
  return sum;
}

// The pairwise sum of a frame, from the blocks' own sums. At every level its halves must be whole
// blocks.
float sum_of_blocks(std::span<const float> blocks, std::int64_t first, std::int64_t count) {
  if (count == 1) {
    const bool inside = first >= 0 && first < static_cast<std::int64_t>(blocks.size());
    return inside ? blocks[static_cast<std::size_t>(first)] : 0.0F;
  }
  const std::int64_t half = count / 2;
  return sum_of_blocks(blocks, first, half) + sum_of_blocks(blocks, first + half, half);
}

bool shares_blocks(const formats::TrimConfig& config) {
  const std::uint32_t blocks = config.frame_samples / kPairwiseBlock;
  const bool power_of_two = blocks >= 2 && (blocks & (blocks - 1)) == 0;
  return power_of_two && config.frame_samples % kPairwiseBlock == 0 &&
         config.hop_samples % kPairwiseBlock == 0;
}

// Overlapping frames add the same blocks again and again. If the hop allows it, each block is
// summed only once, with the same bits.
Status energies_by_blocks(SampleReader& samples, const formats::TrimConfig& config,
                          std::span<float> energies) {
  static_assert(SampleReader::kPieceSamplesMax % kPairwiseBlock == 0);
  std::vector<float> blocks;
  blocks.reserve(samples.size() / kPairwiseBlock + 1);
  for (std::uint64_t start = 0; start < samples.size(); start += SampleReader::kPieceSamplesMax) {
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(SampleReader::kPieceSamplesMax, samples.size() - start));
    XTTS_ASSIGN(auto piece, samples.piece(start, count));
    for (; piece.size() >= kPairwiseBlock; piece = piece.subspan(kPairwiseBlock))
      blocks.push_back(block_energy(piece.data(), kPairwiseBlock));
    if (piece.empty()) continue;
    float padded[kPairwiseBlock] = {};
    std::copy(piece.begin(), piece.end(), padded);
    blocks.push_back(block_energy(padded, kPairwiseBlock));
  }
  const std::int64_t frame = config.frame_samples / kPairwiseBlock;
  const std::int64_t hop = config.hop_samples / kPairwiseBlock;
  for (std::size_t f = 0; f < energies.size(); ++f) {
    energies[f] = sum_of_blocks(blocks, static_cast<std::int64_t>(f) * hop - frame / 2, frame);
  }
  return {};
}

Status energies_by_frames(SampleReader& samples, const formats::TrimConfig& config,
                          std::span<float> energies) {
  std::vector<float> frame(config.frame_samples);
  const auto size = static_cast<std::int64_t>(samples.size());
  for (std::size_t f = 0; f < energies.size(); ++f) {
    const std::int64_t start =
        static_cast<std::int64_t>(f) * config.hop_samples - config.frame_samples / 2;
    const std::int64_t begin = std::clamp<std::int64_t>(start, 0, size);
    const std::int64_t end = std::clamp<std::int64_t>(start + config.frame_samples, 0, size);
    XTTS_ASSIGN(const auto inside, samples.piece(static_cast<std::uint64_t>(begin),
                                                 static_cast<std::size_t>(end - begin)));
    std::fill(frame.begin(), frame.end(), 0.0F);
    std::copy(inside.begin(), inside.end(), frame.begin() + (begin - start));
    energies[f] = pairwise_energy(frame);
  }
  return {};
}

float power_db(float power) {
  return 10.0F * std::log10(std::max(kLowestPower, power));
}

}  // namespace

float pairwise_energy(std::span<const float> samples) {
  if (samples.size() <= kPairwiseBlock) return block_energy(samples.data(), samples.size());
  const std::size_t half = samples.size() / 2 - samples.size() / 2 % 8;
  return pairwise_energy(samples.first(half)) + pairwise_energy(samples.subspan(half));
}

Result<float> pairwise_energy(SampleReader& samples, std::uint64_t first, std::uint64_t count) {
  if (count <= SampleReader::kPieceSamplesMax) {
    XTTS_ASSIGN(const auto piece, samples.piece(first, static_cast<std::size_t>(count)));
    return pairwise_energy(piece);
  }
  const std::uint64_t half = count / 2 - count / 2 % 8;
  XTTS_ASSIGN(const float front, pairwise_energy(samples, first, half));
  XTTS_ASSIGN(const float back, pairwise_energy(samples, first + half, count - half));
  return front + back;
}

Status frame_levels_db(SampleReader& samples, const formats::TrimConfig& config,
                       std::vector<float>& levels_db) {
  levels_db.clear();
  const std::uint64_t padded = samples.size() + std::uint64_t{config.frame_samples / 2} * 2;
  if (samples.size() == 0 || padded < config.frame_samples) return {};
  levels_db.resize(1 + (padded - config.frame_samples) / config.hop_samples);
  if (shares_blocks(config)) {
    XTTS_TRY(energies_by_blocks(samples, config, levels_db));
  } else {
    XTTS_TRY(energies_by_frames(samples, config, levels_db));
  }
  // librosa takes the root and squares it again. Both roundings are part of its result.
  float loudest = 0.0F;
  for (float& level : levels_db) {
    const auto mean = static_cast<float>(static_cast<double>(level) / config.frame_samples);
    const float rms = std::sqrt(mean);
    loudest = std::max(loudest, rms);
    level = rms * rms;
  }
  const float reference_db = power_db(loudest * loudest);
  for (float& level : levels_db) level = power_db(level) - reference_db;
  return {};
}

SampleRange trim_range(std::span<const float> levels_db, std::uint64_t sample_count,
                       const formats::TrimConfig& config) {
  const auto threshold = static_cast<float>(-config.top_db);
  const auto is_loud = [threshold](float level) { return level > threshold; };
  const auto first = std::find_if(levels_db.begin(), levels_db.end(), is_loud);
  if (first == levels_db.end()) return {};
  const auto past_last = std::find_if(levels_db.rbegin(), levels_db.rend(), is_loud).base();
  const std::uint64_t hop = config.hop_samples;
  const auto begin_frame = static_cast<std::uint64_t>(first - levels_db.begin());
  const auto end_frame = static_cast<std::uint64_t>(past_last - levels_db.begin());
  return {std::min(sample_count, begin_frame * hop), std::min(sample_count, end_frame * hop)};
}

float silence_share(std::span<const float> levels_db) {
  if (levels_db.empty()) return 0.0F;
  const auto quiet = std::count_if(levels_db.begin(), levels_db.end(),
                                   [](float level) { return level < kSilenceDb; });
  return static_cast<float>(quiet) / static_cast<float>(levels_db.size());
}

}  // namespace xtts::dsp
