// One pass of our features over raw float32 clips of equal length, in processor seconds, for
// features_vs_peers.py.
//   features_ours FILE CLIP_COUNT double|float32
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dsp/extract.hpp"
#include "formats/feature_config.hpp"

namespace {

std::vector<float> read_floats(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace xtts;
  if (argc != 4) return 2;
  const std::vector<float> samples = read_floats(argv[1]);
  const auto clip_count = static_cast<std::size_t>(std::strtoul(argv[2], nullptr, 10));
  if (clip_count == 0 || samples.empty()) return 2;
  formats::FeatureConfig config;
  config.stft.pad_mode = formats::PadMode::kZeros;
  if (std::strcmp(argv[3], "float32") == 0) config.precision = formats::Precision::kFloat32;
  Result<dsp::FeatureExtractor> extractor = dsp::FeatureExtractor::create(config);
  if (!extractor.ok()) return 1;
  const std::size_t length = samples.size() / clip_count;
  std::vector<float> mel(extractor->frame_count(length) * 80);
  // The first pass warms caches and clocks up, as the peers' first one does.
  double seconds = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    const double start = processor_seconds();
    for (std::size_t clip = 0; clip < clip_count; ++clip) {
      if (!extractor->extract({samples.data() + clip * length, length}, mel).ok()) return 1;
    }
    seconds = processor_seconds() - start;
  }
  std::printf("%.9f\n", seconds);
  return 0;
}
