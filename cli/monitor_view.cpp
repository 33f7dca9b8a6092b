#include "cli/monitor_view.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/cycle_search.hpp"
#include "base/formatted.hpp"
#include "probe/or_null.hpp"
#include "report/human.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;
using probe::GpuSample;
using probe::MonitorSample;
using probe::or_null;
using report::format_fixed;
using report::format_size;

// The users' own limits of a GPU's utilization, in percent.
constexpr double kGoodUtilization = 70.0;
constexpr double kAcceptableUtilization = 50.0;
// A utilization whose deviation is above this share of its mean swings.
constexpr double kSwings = 0.5;
constexpr std::size_t kSamplesForVerdict = 10;

// A column of the table. `has` decides by the first sample whether there is such a column.
struct Column {
  std::string title;  // of the text, "GPU 0 %"
  std::string name;   // of the CSV, "gpu0_percent"
  std::size_t width = 0;
  std::function<std::optional<double>(const MonitorSample&)> value;
  std::function<std::string(double)> text;
};

std::string percent(double share) {
  return format_fixed(1e2 * share, 0) + " %";
}

std::string rate(double bytes_per_s) {
  return format_size(static_cast<std::uint64_t>(bytes_per_s)) + "/s";
}

std::string size(double bytes) {
  return format_size(static_cast<std::uint64_t>(bytes));
}

void add_gpu_columns(std::size_t number, std::vector<Column>& columns) {
  const std::string gpu = formatted("GPU {}", number);
  const std::string name = formatted("gpu{}", number);
  const auto of = [number](const MonitorSample& sample) -> const GpuSample* {
    return number < sample.gpus.size() ? &sample.gpus[number] : nullptr;
  };
  columns.push_back({gpu, name + "_utilization_percent", 7,
                     [of](const MonitorSample& sample) -> std::optional<double> {
                       return of(sample) == nullptr ? std::nullopt : of(sample)->utilization;
                     },
                     [](double value) { return format_fixed(value, 0) + " %"; }});
  columns.push_back({gpu + " mem", name + "_memory_bytes", 10,
                     [of](const MonitorSample& sample) -> std::optional<double> {
                       if (of(sample) == nullptr || !of(sample)->memory_used_bytes)
                         return std::nullopt;
                       return static_cast<double>(*of(sample)->memory_used_bytes);
                     },
                     size});
}

void add_reader_columns(std::size_t number, const std::string& reader,
                        std::vector<Column>& columns) {
  const auto of = [reader](const MonitorSample& sample) {
    const auto found = std::ranges::find(sample.readers, reader, &probe::ReaderSample::name);
    return found == sample.readers.end() ? nullptr : &*found;
  };
  const std::string name = formatted("reader{}", number);
  columns.push_back({"clips/s", name + "_samples_per_s", 9,
                     [of](const MonitorSample& sample) -> std::optional<double> {
                       if (of(sample) == nullptr) return std::nullopt;
                       return of(sample)->samples_per_s;
                     },
                     [](double value) { return report::format_short(value); }});
  columns.push_back({"waits", name + "_wait_share", 7,
                     [of](const MonitorSample& sample) -> std::optional<double> {
                       if (of(sample) == nullptr) return std::nullopt;
                       return of(sample)->wait_share;
                     },
                     percent});
}

std::vector<Column> columns_of(const MonitorSample& first) {
  std::vector<Column> columns;
  columns.push_back({"time", "at_s", 8, [](const MonitorSample& sample) { return sample.at_s; },
                     [](double value) { return format_fixed(value, 1) + " s"; }});
  columns.push_back({"CPU", "cpu_share", 7,
                     [](const MonitorSample& sample) { return sample.cpu_share; }, percent});
  columns.push_back({"free mem", "memory_available_bytes", 10,
                     [](const MonitorSample& sample) {
                       return static_cast<double>(sample.memory_available_bytes);
                     },
                     size});
  if (first.disk_bytes_per_s) {
    columns.push_back({"disk", "disk_read_bytes_per_s", 12,
                       [](const MonitorSample& sample) { return sample.disk_bytes_per_s; }, rate});
    columns.push_back({"busy", "disk_busy_share", 7,
                       [](const MonitorSample& sample) { return sample.disk_busy_share; },
                       percent});
  }
  if (first.cache_in_memory_share)
    columns.push_back({"cache in mem", "cache_in_memory_share", 13,
                       [](const MonitorSample& sample) { return sample.cache_in_memory_share; },
                       percent});
  for (std::size_t i = 0; i < first.gpus.size(); ++i) add_gpu_columns(i, columns);
  for (std::size_t i = 0; i < first.readers.size(); ++i)
    add_reader_columns(i, first.readers[i].name, columns);
  return columns;
}

std::string to_right(const std::string& text, std::size_t width) {
  const std::size_t taken = report::display_width(text);
  return (taken < width ? std::string(width - taken, ' ') : " ") + text;
}

// A whole number without ".0", so that every reader of CSV takes it.
std::string plain(double value) {
  constexpr double kExact = 9.007199254740992e15;  // 2^53
  if (std::abs(value) < kExact && value == std::floor(value))
    return std::to_string(static_cast<std::int64_t>(value));
  return json(value).dump();
}

// "NVIDIA GeForce RTX 4090" as a label's value: no quote, backslash or line end.
std::string label(std::string_view text) {
  std::string escaped;
  for (const char c : text)
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) escaped += c;
  return escaped;
}

}  // namespace

std::string monitor_header(const MonitorSample& first) {
  std::string line;
  for (const Column& column : columns_of(first)) line += to_right(column.title, column.width);
  return line + "\n";
}

std::string monitor_line(const MonitorSample& sample, const MonitorSample& first) {
  std::string line;
  for (const Column& column : columns_of(first)) {
    const auto value = column.value(sample);
    line += to_right(value ? column.text(*value) : "-", column.width);
  }
  return line + "\n";
}

std::string monitor_csv_header(const MonitorSample& first) {
  std::string line;
  for (const Column& column : columns_of(first)) line += (line.empty() ? "" : ",") + column.name;
  return line + "\n";
}

std::string monitor_csv_line(const MonitorSample& sample, const MonitorSample& first) {
  std::string line;
  bool is_first = true;
  for (const Column& column : columns_of(first)) {
    const auto value = column.value(sample);
    line += std::exchange(is_first, false) ? "" : ",";
    if (value) line += plain(*value);
  }
  return line + "\n";
}

json monitor_to_json(const MonitorSample& sample) {
  json gpus = json::array();
  for (const GpuSample& gpu : sample.gpus)
    gpus.push_back({{"name", gpu.name},
                    {"utilization", or_null(gpu.utilization)},
                    {"memory_used_bytes", or_null(gpu.memory_used_bytes)},
                    {"power_w", or_null(gpu.power_w)}});
  json readers = json::array();
  for (const probe::ReaderSample& reader : sample.readers)
    readers.push_back({{"name", reader.name},
                       {"batches_per_s", or_null(reader.batches_per_s)},
                       {"samples_per_s", or_null(reader.samples_per_s)},
                       {"wait_share", or_null(reader.wait_share)}});
  return {{"at_s", sample.at_s},
          {"cpu_share", sample.cpu_share},
          {"core_shares", sample.core_shares},
          {"memory_available_bytes", sample.memory_available_bytes},
          {"disk_read_bytes_per_s", or_null(sample.disk_bytes_per_s)},
          {"disk_busy_share", or_null(sample.disk_busy_share)},
          {"cache_in_memory_share", or_null(sample.cache_in_memory_share)},
          {"gpus", std::move(gpus)},
          {"readers", std::move(readers)}};
}

std::string monitor_to_prometheus(const MonitorSample& sample) {
  std::string text;
  const auto gauge = [&](const std::string& name, const std::string& help,
                         const std::vector<std::pair<std::string, std::optional<double>>>& values) {
    std::string rows;
    for (const auto& [labels, value] : values)
      if (value) rows += formatted("xtts_{}{} {}\n", name, labels, plain(*value));
    if (rows.empty()) return;
    text += "# HELP xtts_" + name + " " + help + "\n# TYPE xtts_" + name + " gauge\n" + rows;
  };
  gauge("cpu_busy_ratio", "Share of the processors' time that was used.", {{"", sample.cpu_share}});
  gauge("memory_available_bytes", "Memory that can be used without swapping.",
        {{"", static_cast<double>(sample.memory_available_bytes)}});
  gauge("disk_read_bytes_per_second", "Read from the watched disk.",
        {{"", sample.disk_bytes_per_s}});
  gauge("disk_busy_ratio", "Share of the time with a request in work.",
        {{"", sample.disk_busy_share}});
  gauge("cache_in_memory_ratio", "Share of the cache in the page cache.",
        {{"", sample.cache_in_memory_share}});
  std::vector<std::pair<std::string, std::optional<double>>> utilization;
  std::vector<std::pair<std::string, std::optional<double>>> memory;
  for (std::size_t i = 0; i < sample.gpus.size(); ++i) {
    const GpuSample& gpu = sample.gpus[i];
    const std::string labels =
        "{gpu=\"" + std::to_string(i) + "\",name=\"" + label(gpu.name) + "\"}";
    utilization.emplace_back(
        labels, gpu.utilization ? std::optional(*gpu.utilization / 1e2) : std::nullopt);
    memory.emplace_back(labels, gpu.memory_used_bytes
                                    ? std::optional(static_cast<double>(*gpu.memory_used_bytes))
                                    : std::nullopt);
  }
  gauge("gpu_utilization_ratio", "Share of the time in which a kernel ran.", utilization);
  gauge("gpu_memory_used_bytes", "Memory of the GPU in use.", memory);
  std::vector<std::pair<std::string, std::optional<double>>> waits;
  std::vector<std::pair<std::string, std::optional<double>>> rates;
  for (const probe::ReaderSample& reader : sample.readers) {
    waits.emplace_back("{reader=\"" + label(reader.name) + "\"}", reader.wait_share);
    rates.emplace_back("{reader=\"" + label(reader.name) + "\"}", reader.samples_per_s);
  }
  gauge("reader_wait_ratio", "Share of the time in which the consumer waited.", waits);
  gauge("reader_samples_per_second", "Clips that the reader gave out.", rates);
  return text;
}

MonitorVerdict judge_samples(const std::vector<MonitorSample>& samples, const std::string& no_gpu) {
  MonitorVerdict verdict;
  std::vector<double> values;
  for (const MonitorSample& sample : samples)
    if (!sample.gpus.empty() && sample.gpus.front().utilization)
      values.push_back(*sample.gpus.front().utilization);
  if (values.empty()) {
    verdict.text = formatted("No GPU was watched{}.", no_gpu.empty() ? "" : ": " + no_gpu);
    return verdict;
  }
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  verdict.mean = mean;
  verdict.std = std::sqrt(squares / count);
  verdict.level = "bad";
  if (mean >= kAcceptableUtilization) verdict.level = "acceptable";
  if (mean >= kGoodUtilization) verdict.level = "good";
  verdict.text = formatted("GPU 0 was busy {} % of the time ({}), with a deviation of {} %",
                           format_fixed(mean, 0), verdict.level, format_fixed(*verdict.std, 0));
  if (values.size() < kSamplesForVerdict) {
    verdict.text += ". For a verdict on swings, watch it longer.";
    return verdict;
  }
  if (mean > 0.0 && *verdict.std / mean > kSwings) {
    verdict.text += ": it swings";
    const auto cycle = search_cycle(values);
    const double span = samples.back().at_s - samples.front().at_s;
    if (cycle && samples.size() > 1) {
      verdict.period_s = cycle->period * span / static_cast<double>(samples.size() - 1);
      verdict.text += formatted(", every {} s", report::format_short(*verdict.period_s));
    }
    verdict.text += ". Data most likely comes late: `xtts-precompute doctor` finds out.";
    return verdict;
  }
  verdict.text += verdict.level == "bad"
                      ? ": it is low and steady, as with a step that is not compiled."
                      : ": it is steady.";
  return verdict;
}

}  // namespace xtts::cli
