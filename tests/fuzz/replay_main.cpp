// Runs a fuzzer's entry point over files instead of invented input, so that its seeds and findings
// are tests in every build. Arguments are folders (not searched below) or files. Fails when there
// was nothing to run.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& argument) {
  if (!std::filesystem::is_directory(argument)) return {argument};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argument)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

bool replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in),
                                std::istreambuf_iterator<char>()};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::size_t run_count = 0;
  for (int i = 1; i < argument_count; ++i) {
    for (const auto& path : files_of(arguments[i])) {
      if (!replay(path)) return 1;
      ++run_count;
    }
  }
  std::printf("ran %zu files\n", run_count);
  return run_count == 0 ? 1 : 0;
}
