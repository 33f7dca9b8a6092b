#include "doctor/gpu_presets.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/nearest_name.hpp"
#include "base/try.hpp"
#include "device/gpu_monitor.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::doctor {
namespace {

using recipe::YamlEntry;
using recipe::YamlNode;

constexpr double kGb = 1024.0 * 1024.0 * 1024.0;
// The memory that NVML tells is a little less than that of the box.
constexpr double kMemoryTolerance = 0.1;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Reads one row, which has exactly the fields that it is asked for.
class Row {
 public:
  Row(const YamlNode& node, std::string_view origin) : node_(node), origin_(origin) {}

  Status text(std::string_view key, std::string& into) {
    XTTS_ASSIGN(const YamlNode* const value, find(key));
    into = value->text;
    return {};
  }
  Status number(std::string_view key, double& into) {
    XTTS_ASSIGN(const YamlNode* const value, find(key));
    const auto number = number_in(value->text);
    if (!number || *number <= 0) return fail(value->line, std::string(key) + ": not above 0");
    into = *number;
    return {};
  }
  Status count(std::string_view key, std::uint32_t& into) {
    double value = 0;
    XTTS_TRY(number(key, value));
    if (value != std::floor(value) || value > 1e6)
      return fail(node_.line, std::string(key) + ": not a whole number up to a million");
    into = static_cast<std::uint32_t>(value);
    return {};
  }
  [[nodiscard]] Status check_complete() const {
    if (node_.entries.size() == read_) return {};
    return fail(node_.line, "a row has a key that does not exist, or one twice");
  }

 private:
  Result<const YamlNode*> find(std::string_view key) {
    for (const YamlEntry& entry : node_.entries) {
      if (entry.key != key || entry.value.kind != YamlNode::Kind::kScalar) continue;
      ++read_;
      return &entry.value;
    }
    return fail(node_.line, "a row lacks " + std::string(key));
  }
  [[nodiscard]] Status fail(std::uint32_t line, const std::string& problem) const {
    return {StatusCode::kInvalidArgument,
            std::string(origin_) + ":" + std::to_string(line) + ": " + problem};
  }

  const YamlNode& node_;
  std::string_view origin_;
  std::size_t read_ = 0;
};

std::string size_name(double memory_gb) {
  std::string text = std::to_string(std::round(memory_gb * 10) / 10);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return "a GPU of " + text + " GB";
}

Result<GpuPreset> read_preset(const YamlNode& node, std::string_view origin, bool has_name) {
  GpuPreset preset;
  Row row(node, origin);
  if (has_name) XTTS_TRY(row.text("name", preset.name));
  XTTS_TRY(row.number("memory_gb", preset.memory_gb));
  XTTS_TRY(row.count("batch_size", preset.batch_size));
  XTTS_TRY(row.count("batch_size_max", preset.batch_size_max));
  XTTS_TRY(row.count("num_workers", preset.num_workers));
  XTTS_TRY(row.count("prefetch", preset.prefetch));
  XTTS_TRY(row.text("source", preset.source));
  XTTS_TRY(row.check_complete());
  if (!has_name) preset.name = size_name(preset.memory_gb);
  return preset;
}

Result<TwoGpuPreset> read_two(const YamlNode& node, std::string_view origin) {
  TwoGpuPreset preset;
  Row row(node, origin);
  XTTS_TRY(row.number("memory_gb", preset.memory_gb));
  XTTS_TRY(row.count("batch_size", preset.batch_size));
  XTTS_TRY(row.count("prefetch", preset.prefetch));
  XTTS_TRY(row.count("data_gpu_mb", preset.data_gpu_mb));
  XTTS_TRY(row.count("model_gpu_mb", preset.model_gpu_mb));
  XTTS_TRY(row.text("source", preset.source));
  XTTS_TRY(row.check_complete());
  return preset;
}

// The last row whose memory is there, else the first.
template <typename Preset>
const Preset& row_of_size(const std::vector<Preset>& rows, double memory_gb) {
  const Preset* best = &rows.front();
  for (const Preset& row : rows)
    if (row.memory_gb <= memory_gb * (1 + kMemoryTolerance)) best = &row;
  return *best;
}

GpuPreset preset_of_size(const GpuPresets& presets, double memory_gb) {
  GpuPreset preset = row_of_size(presets.sizes, memory_gb);
  preset.memory_gb = memory_gb;
  preset.name = size_name(memory_gb);
  return preset;
}

const GpuPreset* preset_of_name(const GpuPresets& presets, std::string_view text) {
  const std::string name = lower(text);
  for (const GpuPreset& preset : presets.gpus) {
    const std::string known = lower(preset.name);
    const std::string number = known.substr(known.rfind(' ') + 1);
    if (name == number || name == known || name == "nvidia geforce " + known) return &preset;
  }
  return nullptr;
}

Result<GpuPresets> shipped() {
  return read_gpu_presets(shipped_gpus_yaml(), "gpus.yaml");
}

// 1e-9 GB and 1e9 GB are no GPU.
bool is_memory(double memory_gb) {
  return memory_gb >= 1 && memory_gb <= 4096;
}

}  // namespace

Result<GpuPresets> read_gpu_presets(std::string_view yaml, std::string_view origin) {
  XTTS_ASSIGN(const YamlNode root, recipe::read_yaml_map(yaml, origin));
  GpuPresets presets;
  for (const YamlEntry& section : root.entries) {
    for (const YamlNode& row : section.value.items) {
      if (section.key == "gpus") {
        XTTS_ASSIGN(GpuPreset preset, read_preset(row, origin, true));
        presets.gpus.push_back(std::move(preset));
      } else if (section.key == "sizes") {
        XTTS_ASSIGN(GpuPreset preset, read_preset(row, origin, false));
        presets.sizes.push_back(std::move(preset));
      } else if (section.key == "two_gpus") {
        XTTS_ASSIGN(TwoGpuPreset preset, read_two(row, origin));
        presets.two_gpus.push_back(std::move(preset));
      } else {
        return Status(StatusCode::kInvalidArgument,
                      std::string(origin) + ": there is no section " + section.key);
      }
    }
  }
  if (presets.gpus.empty() || presets.sizes.empty() || presets.two_gpus.empty())
    return Status(StatusCode::kInvalidArgument, std::string(origin) + ": a section is empty");
  return presets;
}

Result<GpuPreset> gpu_named(std::string_view text) {
  XTTS_ASSIGN(const GpuPresets presets, shipped());
  if (const GpuPreset* preset = preset_of_name(presets, text)) return *preset;
  std::string size = lower(text);
  for (const std::string_view unit : {"gib", "gb", "g"}) {
    if (!size.ends_with(unit)) continue;
    size.erase(size.size() - unit.size());
    break;
  }
  while (size.ends_with(' ')) size.pop_back();
  const auto memory_gb = number_in(size);
  if (memory_gb && is_memory(*memory_gb)) return preset_of_size(presets, *memory_gb);
  std::vector<std::string> names;
  std::string known;
  for (const GpuPreset& preset : presets.gpus) {
    names.push_back(preset.name);
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  const std::string nearest = nearest_of(text, names);
  const std::string meant = nearest.empty() ? "" : " (did you mean '" + nearest + "'?)";
  return Status(StatusCode::kInvalidArgument,
                "no settings are known for the GPU '" + std::string(text) + "'" + meant +
                    ": give its memory, as --gpu 24GB, or one of " + known);
}

Result<GpuPreset> gpu_of(std::string_view name, std::uint64_t memory_bytes) {
  XTTS_ASSIGN(const GpuPresets presets, shipped());
  const double memory_gb = static_cast<double>(memory_bytes) / kGb;
  const GpuPreset* named = preset_of_name(presets, name);
  const bool agrees = named != nullptr &&
                      std::abs(named->memory_gb - memory_gb) <= kMemoryTolerance * named->memory_gb;
  GpuPreset preset = agrees ? *named : preset_of_size(presets, memory_gb);
  if (!name.empty()) preset.name = name;
  preset.memory_gb = memory_gb;
  return preset;
}

Result<TwoGpuPreset> two_gpus_of(double memory_gb) {
  XTTS_ASSIGN(const GpuPresets presets, shipped());
  return row_of_size(presets.two_gpus, memory_gb);
}

std::optional<FoundGpus> find_gpus() {
  const auto monitor = device::GpuMonitor::open();
  if (!monitor.ok()) return std::nullopt;
  const auto gpus = (*monitor)->gpus();
  if (!gpus.ok() || gpus->empty()) return std::nullopt;
  const device::GpuFacts& first = gpus->front();
  if (!first.memory_total_bytes) return std::nullopt;
  auto preset = gpu_of(first.name, *first.memory_total_bytes);
  if (!preset.ok()) return std::nullopt;
  return FoundGpus{.first = std::move(*preset), .count = static_cast<std::uint32_t>(gpus->size())};
}

}  // namespace xtts::doctor
