#include "doctor/code_check.hpp"

#include <utility>
#include <vector>

#include "doctor/json_values.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using nlohmann::json;
using report::format_counted;

constexpr std::size_t kFindingsMax = 200;  // one check stays readable

std::uint64_t count_at(const json& object, const char* key) {
  const auto found = object.find(key);
  const bool is_count = found != object.end() && found->is_number_integer() && *found >= 0;
  return is_count ? found->get<std::uint64_t>() : 0;
}

// "data.py:12"; a file without a line is named alone.
std::string place_of(const json& object) {
  std::string place = text_at(object, "file");
  const std::uint64_t line = count_at(object, "line");
  return line == 0 ? place : place + ":" + std::to_string(line);
}

Finding finding_of(const json& find) {
  Finding finding;
  finding.status = status_named(text_at(find, "status")).value_or(CheckStatus::kWarn);
  finding.text = text_at(find, "text");
  if (const std::string why = text_at(find, "why"); !why.empty()) finding.text += " " + why;
  // What a comment names to hide the find.
  if (const std::string rule = text_at(find, "rule"); !rule.empty())
    finding.text += " [" + rule + "]";
  finding.remedy = text_at(find, "remedy");
  finding.place = place_of(find);
  return finding;
}

void add_loader(const json& scan, Check& check) {
  const auto loader = scan.find("loader");
  if (loader == scan.end() || !loader->is_object()) return;
  const std::string kind = text_at(*loader, "kind");
  if (kind.empty()) return;
  std::string source = place_of(*loader);
  if (const std::string why = text_at(*loader, "text"); !why.empty())
    source += (source.empty() ? "" : ": ") + why;
  check.evidence.push_back({.what = "the loader in use",
                            .value = kind == "cannot_tell" ? "cannot tell" : kind,
                            .source = source.empty() ? "the code's calls" : source});
}

}  // namespace

Result<json> scan_code(const PythonChild& python, const std::string& folder,
                       const std::string& config, const std::function<bool()>& cancelled) {
  PythonCall call{.module = "code_scan",
                  .arguments = {folder},
                  .time_limit = std::chrono::seconds(40),
                  .cancelled = cancelled};
  if (!config.empty()) {
    call.arguments.emplace_back("--config");
    call.arguments.push_back(config);
  }
  return python.run(call);
}

Check check_code(const Result<json>& scan, const std::string& folder) {
  Check check{.name = "code", .title = "Patterns in the code"};
  if (!scan.ok()) {
    check.summary = "The code in " + folder + " was not read: " + scan.status().message() + ".";
    return check;
  }
  const json finds = list_at(*scan, "finds");
  const json not_read = list_at(*scan, "not_read");
  const std::uint64_t read_count = count_at(*scan, "files_read");
  check.evidence.push_back({.what = "files",
                            .value = format_counted(read_count, "file", "files") + " read, " +
                                     report::format_count(not_read.size()) + " not",
                            .source = folder,
                            .number = static_cast<double>(read_count),
                            .unit = "files"});
  add_loader(*scan, check);
  for (const json& one : not_read)
    check.evidence.push_back({.what = "not read: " + text_at(one, "file"),
                              .value = text_at(one, "reason"),
                              .source = "the scan"});
  for (const json& find : finds) {
    if (check.findings.size() == kFindingsMax) break;
    check.findings.push_back(finding_of(find));
  }
  if (read_count == 0) {
    check.summary = "There is no Python file to read in " + folder + ".";
    return check;
  }
  check.status = worst_of(check.findings);
  const std::string unread =
      not_read.empty()
          ? std::string()
          : " " + format_counted(not_read.size(), "file was", "files were") + " not read.";
  check.summary = check.findings.empty()
                      ? "None of the known patterns that starve a GPU is in " +
                            format_counted(read_count, "file", "files") + "."
                      : format_counted(finds.size(), "place", "places") + " in " +
                            format_counted(read_count, "file", "files") + " may starve a GPU.";
  check.summary += unread;
  return check;
}

}  // namespace xtts::doctor
