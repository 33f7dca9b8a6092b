// recipe_features RECIPE IN.f32 OUT.f32 [--set KEY=VALUE]... [--repeats N]: the features of one
// clip, for compare.py and speed.py. IN.f32 holds mono float32 samples at the recipe's rate,
// OUT.f32 takes frames x channels float32, with pad: samples the whole record; prints both numbers,
// and with
// --repeats the seconds of the quickest. Ends with 1 and the reason where there are no features.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"
#include "tests/golden/recipes/clip_features.hpp"

namespace {

using namespace xtts;

template <typename T>
T must(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

formats::Recipe recipe_of(int argc, char** argv) {
  auto recipe = must(recipe::load(Env::real(), argv[1]));
  for (int i = 4; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--repeats") continue;
    if (std::string(argv[i]) != "--set") std::exit(2);
    const Status status = recipe::apply_setting(Env::real(), recipe, argv[i + 1]);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      std::exit(1);
    }
  }
  return recipe;
}

std::vector<float> read_samples(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<float> samples(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), samples.size() * sizeof(float),
              reinterpret_cast<char*>(samples.data()));
  return samples;
}

double quickest(testing::ClipFeatures& maker, const std::vector<float>& samples, int repeats) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const Clock::time_point begin = Clock::now();
    must(maker.of(samples));
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: recipe_features RECIPE IN.f32 OUT.f32 [--set KEY=VALUE]...\n");
    return 2;
  }
  const formats::FeatureConfig features = *recipe_of(argc, argv).features;
  auto maker = must(testing::ClipFeatures::create(features));
  const std::vector<float> samples = read_samples(argv[2]);
  const std::vector<float> values = must(maker.of(samples));
  std::ofstream(argv[3], std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  std::printf("%zu %zu\n", values.size() / maker.width(), maker.width());
  if (argc > 5 && std::string(argv[argc - 2]) == "--repeats")
    std::printf("%.9f\n", quickest(maker, samples, std::atoi(argv[argc - 1])));
  return 0;
}
