#include "formats/reject.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/json_fields.hpp"
#include "formats/preamble.hpp"
#include "formats/rules.hpp"

namespace xtts::formats {
namespace {

// Ids, paths and libraries' messages are bounded when they enter. We never write a line near this
// limit.
constexpr std::size_t kLineBytesMax = std::size_t{16} << 20U;

constexpr std::array kClasses = {RejectClass::kPolicy, RejectClass::kInput, RejectClass::kCrash,
                                 RejectClass::kEnvironment};

RejectClass read_class(JsonFields& fields) {
  const std::string name = fields.text("class");
  for (const RejectClass kind : kClasses) {
    if (to_string(kind) == name) return kind;
  }
  fields.fail("class",
              formatted("'{}' is none of policy, input, crash, environment", name.substr(0, 40)));
  return RejectClass::kInput;
}

}  // namespace

std::string_view to_string(RejectClass kind) noexcept {
  switch (kind) {
    case RejectClass::kPolicy:
      return "policy";
    case RejectClass::kInput:
      return "input";
    case RejectClass::kCrash:
      return "crash";
    case RejectClass::kEnvironment:
      return "environment";
  }
  return "unknown";
}

std::string encode_reject(const Reject& reject) {
  nlohmann::json line = {{"class", std::string(to_string(reject.kind))},
                         {"id", reject.id},
                         {"path", reject.path},
                         {"stage", to_string(reject.stage())}};
  put_reason(reject.reason, line);
  if (reject.line) line["line"] = *reject.line;
  if (!reject.split.empty()) line["split"] = reject.split;
  return dump_canonical(line);
}

Result<Reject> decode_reject(std::string_view line) {
  if (line.size() > kLineBytesMax) return corrupt("reject: line is longer than 16 MiB");
  auto document = parse_json(line);
  if (!document) return document.status().with_context("reject");
  Status failure;
  JsonFields fields(*document, "", failure);
  Reject reject;
  reject.kind = read_class(fields);
  reject.id = fields.text("id");
  reject.path = fields.text("path");
  if (fields.find("line") != nullptr) reject.line = fields.integer<std::uint64_t>("line");
  if (fields.find("split") != nullptr) reject.split = fields.text("split");
  if (!failure.ok()) return failure.with_context("reject");
  for (const char* const ours : {"class", "id", "path", "line", "split"}) document->erase(ours);
  auto reason = read_reason(*document);
  if (!reason) return reason.status().with_context("reject");
  reject.reason = std::move(*reason);
  return reject;
}

Result<std::vector<Reject>> decode_rejects(std::string_view lines) {
  std::vector<Reject> rejects;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    XTTS_ASSIGN(Reject reject, decode_reject(lines.substr(0, end)));
    rejects.push_back(std::move(reject));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return rejects;
}

std::string place_of(const Reject& reject) {
  if (reject.path.empty()) return reject.id;
  return reject.path + (reject.line ? formatted(":{}", *reject.line) : std::string());
}

void sort_rejects(std::vector<Reject>& rejects) {
  std::ranges::sort(rejects, [](const Reject& a, const Reject& b) {
    const auto place = [](const Reject& one) { return std::tie(one.id, one.path, one.line); };
    const auto why = [](const Reject& one) {
      return std::tuple(name_of(one.reason), one.reason.numbers, one.reason.detail, one.kind);
    };
    return place(a) != place(b) ? place(a) < place(b) : why(a) < why(b);
  });
}

}  // namespace xtts::formats
