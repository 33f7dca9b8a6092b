#include "doctor/config_facts.hpp"

#include <algorithm>
#include <cmath>

#include "base/env.hpp"
#include "base/try.hpp"
#include "doctor/trainer_fields.hpp"
#include "doctor/yaml_scalar.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using recipe::YamlEntry;
using recipe::YamlNode;
using Kind = YamlNode::Kind;

constexpr double kMels = 80;  // of the trainer's data set, whatever the file says
constexpr double kBytesOfFloat = 4;

// A number without a tail of zeros.
std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15
             ? std::to_string(static_cast<std::int64_t>(value))
             : report::format_short(value);
}

bool is_section(std::string_view key) {
  const auto sections = trainer_sections();
  return std::ranges::find(sections, key) != sections.end();
}

}  // namespace

Result<ConfigFacts> ConfigFacts::read(std::string_view text, std::string_view origin,
                                      const ConfigSituation& situation) {
  ConfigFacts facts;
  facts.origin_ = origin;
  facts.situation_ = situation;
  XTTS_ASSIGN(facts.root_, recipe::read_yaml_map(text, origin));
  XTTS_TRY(facts.collect());
  return facts;
}

Status ConfigFacts::collect() {
  const auto refuse = [&](std::uint32_t line, const std::string& what) {
    return Status(StatusCode::kUnsupported, origin_ + ":" + std::to_string(line) + ": " + what);
  };
  const auto add = [&](const std::string& name, const YamlEntry& entry) {
    GivenKey key{.name = name, .line = entry.line, .value = &entry.value};
    if (const auto first = std::ranges::find(given_, name, &GivenKey::name);
        first != given_.end()) {
      key.first_line = first->line;
      given_.erase(first);  // PyYAML takes the last
    }
    given_.push_back(std::move(key));
  };
  constexpr const char* kMerge = "merge keys (<<) are not read here: write the keys out";
  for (const YamlEntry& section : root_.entries) {
    if (section.key == "<<") return refuse(section.line, kMerge);
    if (!is_section(section.key)) {
      add(section.key, section);
      continue;
    }
    const bool stands_twice = std::ranges::any_of(
        section_lines_, [&](const auto& one) { return one.first == section.key; });
    if (stands_twice)
      return refuse(section.line, "the section " + section.key +
                                      " stands twice, and the trainer reads the last alone: make "
                                      "one of them");
    section_lines_.emplace_back(section.key, section.line);
    if (section.value.kind == Kind::kNull ||
        (section.value.kind == Kind::kScalar && section.value.text.empty())) {
      empty_sections_.push_back(
          {.name = section.key, .line = section.line, .value = &section.value});
      continue;
    }
    if (section.value.kind != Kind::kMap)
      return refuse(section.line, section.key + " is " + std::string(describe(section.value)) +
                                      ", and a section of keys is needed");
    for (const YamlEntry& entry : section.value.entries) {
      if (entry.key == "<<") return refuse(entry.line, kMerge);
      add(section.key + "." + entry.key, entry);
    }
  }
  if (section_lines_.empty())
    return {StatusCode::kInvalidArgument,
            origin_ +
                ": there is no section model, data or training, so it is not the trainer's "
                "config.yaml"};
  return {};
}

const GivenKey* ConfigFacts::find(std::string_view key) const {
  const auto found = std::ranges::find(given_, key, &GivenKey::name);
  return found == given_.end() ? nullptr : &*found;
}

std::optional<double> ConfigFacts::number(std::string_view key) const {
  const GivenKey* given = find(key);
  if (given == nullptr) {
    const TrainerField* field = find_trainer_field(key);
    return field == nullptr ? std::nullopt : number_of_plain(field->trainer_default);
  }
  if (given->value->kind != Kind::kScalar || given->value->quoted) return std::nullopt;
  return number_of_plain(given->value->text);
}

std::optional<bool> ConfigFacts::flag(std::string_view key) const {
  const GivenKey* given = find(key);
  if (given == nullptr) {
    const TrainerField* field = find_trainer_field(key);
    return field == nullptr ? std::nullopt : bool_of_plain(field->trainer_default);
  }
  if (given->value->kind != Kind::kScalar || given->value->quoted) return std::nullopt;
  return bool_of_plain(given->value->text);
}

std::string ConfigFacts::text(std::string_view key) const {
  if (const GivenKey* given = find(key)) {
    const YamlNode& value = *given->value;
    return value.kind == Kind::kScalar ? value.text : std::string(describe(value));
  }
  const TrainerField* field = find_trainer_field(key);
  return field == nullptr ? std::string() : std::string(field->trainer_default);
}

std::uint32_t ConfigFacts::line(std::string_view key) const {
  if (const GivenKey* given = find(key)) return given->line;
  const std::string_view section = key.substr(0, key.find('.'));
  for (const auto& [name, line] : section_lines_)
    if (name == section) return line;
  return 1;
}

std::string ConfigFacts::place(std::string_view key) const {
  return std::string(file_name(origin_)) + ":" + std::to_string(line(key));
}

double ConfigFacts::batches_on_gpu() const {
  const double base = number("data.pipeline_buffer_size").value_or(0);
  if (!flag("data.auto_tune_performance").value_or(true))
    return std::max(8.0, std::min(base, 100.0));
  const double workers = number("data.num_workers").value_or(0);
  const double factor = std::max(1.0, std::floor(workers / 8.0));
  return std::max(8.0, std::min(base, base * factor));
}

double ConfigFacts::bytes_of_batch() const {
  return number("data.batch_size").value_or(0) * number("data.max_mel_frames").value_or(0) * kMels *
         kBytesOfFloat;
}

std::string ConfigFacts::value_of(std::string_view name) const {
  const auto& gpu = situation_.gpu;
  if (name == "gpus") return std::to_string(situation_.gpu_count.value_or(0));
  if (name == "batches_on_gpu") return number_text(batches_on_gpu());
  if (name == "bytes_on_gpu")
    return report::format_size(static_cast<std::uint64_t>(batches_on_gpu() * bytes_of_batch()));
  if (gpu) {
    if (name == "gpu") return gpu->name;
    if (name == "gpu.memory") return number_text(std::round(gpu->memory_gb)) + " GB";
    if (name == "gpu.batch_size") return std::to_string(gpu->batch_size);
    if (name == "gpu.batch_size_max") return std::to_string(gpu->batch_size_max);
    if (name == "gpu.num_workers") return std::to_string(gpu->num_workers);
    if (name == "gpu.prefetch") return std::to_string(gpu->prefetch);
    if (name == "gpu.source") return gpu->source;
  }
  // Without a GPU: the defaults of train_main.py.
  if (name.starts_with("two_gpus.")) {
    const auto two = two_gpus_of(gpu ? gpu->memory_gb : 24);
    if (!two.ok()) return two.status().message();
    if (name == "two_gpus.batch_size") return std::to_string(two->batch_size);
    if (name == "two_gpus.prefetch") return std::to_string(two->prefetch);
    return std::to_string(name == "two_gpus.data_mb" ? two->data_gpu_mb : two->model_gpu_mb);
  }
  // Without a GPU: what the trainer's checker asks for at least.
  if (name == "gpu.num_workers" || name == "gpu.prefetch") return "8";
  const std::string value = text(name);
  return value.empty() ? "nothing" : value;
}

std::string ConfigFacts::filled(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) break;
    out += value_of(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace xtts::doctor
