// hdd_caches FOLDER COUNT: caches FOLDER/0, FOLDER/1, ... for hdd_window.py, which read as one:
// 4,096 clips each, [800, 80] float32 padded and tokens, 1.05 GB. What is there stays.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/test_cache.hpp"

namespace {

using namespace xtts;

void make_cache(const std::filesystem::path& folder, int number) {
  constexpr std::size_t kNumbers = std::size_t{800} * 80;
  testing::TestCacheOptions options{.clip_count = 4096,
                                    .frames_max = 800,
                                    .channel_count = 80,
                                    .tokens_max = 200,
                                    .clips_per_block = 32,
                                    .blocks_per_shard = 16,
                                    .dataset = "set-" + std::to_string(number)};
  options.edit_clip = [](testing::TestClip& clip) { clip.mel.resize(kNumbers, 0.5F); };
  for (const auto& [name, bytes] : testing::make_test_cache(options).files) {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
        std::fclose(file) != 0) {
      std::perror(path.c_str());
      std::exit(1);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: hdd_caches FOLDER COUNT\n");
    return 2;
  }
  for (int number = 0; number < std::atoi(argv[2]); ++number) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / std::to_string(number);
    if (!std::filesystem::exists(folder / "manifest.json")) make_cache(folder, number);
  }
  return 0;
}
