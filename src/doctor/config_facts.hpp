// ConfigFacts: the trainer's config.yaml as the trainer reads it. A key that the file lacks has the
// trainer's default, a key that stands twice has its last value, and numbers and switches are those
// of YAML 1.1. Immutable; share freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/gpu_presets.hpp"
#include "recipe/yaml_tree.hpp"
#include "xtts/status.hpp"

namespace xtts::doctor {

// Where the configuration is to be used.
struct ConfigSituation {
  std::optional<GpuPreset> gpu = {};            // empty: no rule that needs a GPU is judged
  std::optional<std::uint32_t> gpu_count = {};  // empty: unknown
  std::string cache = {};  // a cache's folder; empty: the trainer's own loading
  // The trainer reads the file by itself. Else python -m xtts_precompute.myxtts starts it, which
  // takes the launcher's key out of what the trainer reads.
  bool is_for_trainer = false;
};

// A key as the file has it.
struct GivenKey {
  std::string name;  // "data.batch_size"; "batch_size" at the top of the file
  std::uint32_t line = 0;
  const recipe::YamlNode* value = nullptr;       // within the ConfigFacts
  std::optional<std::uint32_t> first_line = {};  // where it stands twice: the line of the first
};

class ConfigFacts {
 public:
  // kInvalidArgument: not YAML. kUnsupported: merge keys (`<<`), which are not read here.
  [[nodiscard]] static Result<ConfigFacts> read(std::string_view text, std::string_view origin,
                                                const ConfigSituation& situation);
  ConfigFacts(const ConfigFacts&) = delete;
  ConfigFacts(ConfigFacts&&) = default;
  ConfigFacts& operator=(const ConfigFacts&) = delete;
  ConfigFacts& operator=(ConfigFacts&&) = default;
  ~ConfigFacts() = default;

  [[nodiscard]] const ConfigSituation& situation() const { return situation_; }
  [[nodiscard]] const std::string& origin() const { return origin_; }
  // Keys of the three sections and of the top, in the file's order.
  [[nodiscard]] const std::vector<GivenKey>& given() const { return given_; }
  // Sections that the file has, but with nothing in them.
  [[nodiscard]] const std::vector<GivenKey>& empty_sections() const { return empty_sections_; }

  [[nodiscard]] const GivenKey* find(std::string_view key) const;
  [[nodiscard]] bool is_given(std::string_view key) const { return find(key) != nullptr; }
  // Empty: the value is null, an alias, or of another type.
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  // The value as the file has it, else the trainer's default.
  [[nodiscard]] std::string text(std::string_view key) const;
  // The key's line, else that of its section, else 1.
  [[nodiscard]] std::uint32_t line(std::string_view key) const;
  // "config.yaml:12": the file's name without its folder.
  [[nodiscard]] std::string place(std::string_view key) const;

  // The batches that wait on the GPU, as ljspeech.py computes them.
  [[nodiscard]] double batches_on_gpu() const;
  // The bytes of one batch of mels at its largest.
  [[nodiscard]] double bytes_of_batch() const;

  // Replaces "{data.batch_size}" by the key's value, "{gpu}" by the GPU's name and so on.
  [[nodiscard]] std::string filled(std::string_view text) const;

 private:
  ConfigFacts() = default;
  Status collect();
  [[nodiscard]] std::string value_of(std::string_view name) const;

  std::string origin_;
  recipe::YamlNode root_;
  ConfigSituation situation_;
  std::vector<GivenKey> given_;
  std::vector<GivenKey> empty_sections_;
  std::vector<std::pair<std::string, std::uint32_t>> section_lines_;
};

}  // namespace xtts::doctor
