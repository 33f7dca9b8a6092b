#include "doctor/gpu_presets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace xtts::doctor {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kGib = 1ULL << 30;

TEST(GpuPresets, AreTheFileOfTheProject) {
  std::ifstream file(XTTS_SOURCE_DIR "/configs/gpus.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(shipped_gpus_yaml(), text.str());
}

TEST(GpuPresets, AreSound) {
  const auto presets = read_gpu_presets(shipped_gpus_yaml(), "gpus.yaml");
  ASSERT_TRUE(presets.ok()) << presets.status().message();
  double memory_gb = 0;
  for (const GpuPreset& preset : presets->sizes) {
    EXPECT_GT(preset.memory_gb, memory_gb);
    memory_gb = preset.memory_gb;
  }
  for (const auto* const list : {&presets->gpus, &presets->sizes}) {
    for (const GpuPreset& preset : *list) {
      EXPECT_LE(preset.batch_size, preset.batch_size_max) << preset.name;
      EXPECT_GE(preset.num_workers, 8U) << preset.name;
      EXPECT_THAT(preset.source, HasSubstr(".md")) << preset.name;
    }
  }
  for (const TwoGpuPreset& preset : presets->two_gpus) {
    EXPECT_LE(preset.data_gpu_mb, preset.model_gpu_mb);
    EXPECT_LE(preset.model_gpu_mb, preset.memory_gb * 1024);
  }
}

TEST(GpuPresets, AreFoundByNameAndBySize) {
  for (const char* const text : {"RTX 4090", "rtx 4090", "4090", "NVIDIA GeForce RTX 4090"})
    EXPECT_EQ(gpu_named(text)->num_workers, 24U) << text;
  for (const char* const text : {"16", "16GB", "16 gb", "16GiB", "16g"})
    EXPECT_EQ(gpu_named(text)->name, "a GPU of 16 GB") << text;
  EXPECT_EQ(gpu_named("2GB")->batch_size, 8U);
  EXPECT_EQ(gpu_named("80GB")->batch_size_max, 48U);
  EXPECT_EQ(gpu_named("11.5")->name, "a GPU of 11.5 GB");
}

TEST(GpuPresets, RefuseWhatTheyDoNotKnow) {
  for (const char* const text : {"", "A100", "0", "-4GB", "1e9", "nan", "inf", "24 TB"})
    EXPECT_EQ(gpu_named(text).status().code(), StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(gpu_named("RTX 4080").status().message(), HasSubstr("did you mean 'RTX 4090'?"));
}

TEST(GpuPresets, AGpuWithTheNameOfALargerOneHasTheSettingsOfItsMemory) {
  EXPECT_EQ(gpu_of("NVIDIA GeForce RTX 4090", 25757220864)->num_workers, 24U);
  const auto laptop = gpu_of("NVIDIA GeForce RTX 4090", 16 * kGib);
  EXPECT_EQ(laptop->num_workers, 16U);
  EXPECT_EQ(laptop->name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(gpu_of("NVIDIA H100", 80 * kGib)->batch_size, 32U);
}

TEST(GpuPresets, AFileWithAFaultIsRefusedByLine) {
  const std::string row =
      "  - memory_gb: 4\n    batch_size: 8\n    batch_size_max: 8\n    num_workers: 8\n"
      "    prefetch: 8\n    source: x.md\n";
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
           {"sizes:\n" + row, "a section is empty"},
           {"sizes:\n" + row + "    colour: red\n", "key that does not exist"},
           {"sizes:\n  - memory_gb: 4\n", "lacks batch_size"},
           {"sizes:\n  - memory_gb: none\n", "not above 0"},
           {"others:\n" + row, "no section others"},
           {"[]", "expected"},
       })
    EXPECT_THAT(read_gpu_presets(text, "g.yaml").status().message(), HasSubstr(problem)) << text;
}

}  // namespace
}  // namespace xtts::doctor
