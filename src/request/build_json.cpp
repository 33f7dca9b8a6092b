#include "request/build_json.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "formats/rules.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_report.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/drop_rules.hpp"
#include "report/reasons.hpp"

namespace xtts::request {
namespace {

nlohmann::json times_to_json(const records::StageTimes& times) {
  return {{"read_s", times.read_s},         {"decode_s", times.decode_s},
          {"resample_s", times.resample_s}, {"condition_s", times.condition_s},
          {"features_s", times.features_s}, {"write_s", times.write_s}};
}

// Rejects of lists' rows are grouped by the detail that the list's reader gives. There may be as
// many details as rows, so only this many become groups.
constexpr std::size_t kDetailsToldApart = 8;

nlohmann::json warnings_to_json(const std::vector<pipeline::WarningKind>& kinds) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& kind : kinds) {
    list.push_back(
        {{"rule", formats::name_of(kind.example)},
         {"count", kind.count},
         {"example", {{"id", kind.example_id}, {"warning", report::words_of(kind.example)}}}});
    formats::put_reason(kind.example, list.back()["example"]);
  }
  return list;
}

nlohmann::json rejects_to_json(const std::vector<formats::Reject>& rejects) {
  nlohmann::json by_class = nlohmann::json::object();
  for (const auto& reject : rejects) {
    auto& count = by_class[std::string(formats::to_string(reject.kind))];
    count = (count.is_null() ? 0U : count.get<std::uint64_t>()) + 1;
  }
  nlohmann::json groups = nlohmann::json::array();
  for (const auto& group : group_rejects(rejects)) {
    const formats::Reject& example = *group.example;
    groups.push_back(
        {{"class", formats::to_string(example.kind)},
         {"stage", formats::to_string(example.stage())},
         {"rule", formats::name_of(example.reason)},
         {"count", group.count},
         {"example",
          {{"path", formats::place_of(example)}, {"reason", report::words_of(example)}}}});
    formats::put_reason(example.reason, groups.back()["example"]);
  }
  return {{"count", rejects.size()}, {"by_class", by_class}, {"kinds", groups}};
}

nlohmann::json choice_to_json(const std::optional<pipeline::DropRemedy::Choice>& choice) {
  if (!choice) return {};
  return {{"value", choice->value}, {"extra_bytes", choice->extra_bytes}};
}

nlohmann::json drop_to_json(const pipeline::DropRemedy& drop) {
  return {{"rule", formats::name_of(drop.rule)},
          {"setting", drop.setting()},
          {"count", drop.count},
          {"keeps_99_percent", choice_to_json(drop.keeps_most)},
          {"keeps_all", choice_to_json(drop.keeps_all)}};
}

nlohmann::json drops_to_json(const std::vector<pipeline::DropRemedy>& drops) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& drop : drops) list.push_back(drop_to_json(drop));
  return list;
}

nlohmann::json length_to_json(const pipeline::ChosenLength& length) {
  if (length.clip_count == 0) return {{"number", length.number}, {"looked_at", nullptr}};
  return {{"number", length.number},
          {"looked_at",
           {{"clips", length.clip_count},
            {"longer", length.longer_count},
            {"longest", length.longest},
            {"padding_share", length.padding_share}}}};
}

nlohmann::json lengths_to_json(const pipeline::ChosenLengths& lengths) {
  return {{"max_frames", length_to_json(lengths.frames)},
          {"max_tokens", length_to_json(lengths.tokens)}};
}

nlohmann::json accounting_to_json(const pipeline::Accounting& all) {
  return {{"found", all.found},       {"stored", all.stored},
          {"dropped", all.dropped},   {"dropped_by_rule", all.dropped_by_rule},
          {"rejected", all.rejected}, {"rejected_by_class", all.rejected_by_class},
          {"reused", all.reused},     {"changed", all.changed},
          {"renamed", all.renamed},   {"new", all.added},
          {"before", all.before},     {"lost", all.lost},
          {"gone", all.gone}};
}

}  // namespace

std::vector<RejectGroup> group_rejects(const std::vector<formats::Reject>& rejects) {
  using Kind = std::pair<formats::RejectClass, std::string>;
  std::map<std::pair<Kind, std::string>, RejectGroup> groups;
  std::map<Kind, std::size_t> detail_counts;
  for (const auto& reject : rejects) {
    const Kind kind(reject.kind, formats::name_of(reject.reason));
    std::string detail = reject.stage() == formats::Stage::kList ? reject.reason.detail : "";
    const bool is_known = groups.contains({kind, detail});
    if (!is_known && ++detail_counts[kind] > kDetailsToldApart) detail.clear();
    RejectGroup& group = groups[{kind, std::move(detail)}];
    if (group.count++ == 0) group.example = &reject;
  }
  std::vector<RejectGroup> sorted;
  for (const auto& [key, group] : groups) sorted.push_back(group);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RejectGroup& a, const RejectGroup& b) { return a.count > b.count; });
  return sorted;
}

nlohmann::json preview_to_json(const pipeline::BuildRequest& request,
                               const pipeline::BuildPreview& preview) {
  nlohmann::json storage = nlohmann::json::array();
  for (const auto& choice : preview.storage) {
    storage.push_back(
        {{"name", choice.name}, {"bytes", choice.size_bytes}, {"chosen", choice.chosen}});
  }
  nlohmann::json json = {{"data", request.data.path},
                         {"cache", request.options.cache},
                         {"recipe", request.recipe.name},
                         {"layout", preview.layout},
                         {"clips", preview.clip_count},
                         {"to_compute", preview.to_compute_count},
                         {"reused", preview.reused_count},
                         {"sealed", preview.sealed_count},
                         {"gone", preview.gone_count},
                         {"renamed", preview.renamed_count},
                         {"drops", drops_to_json(preview.drops)},
                         {"passes_max_dropped", preview.would_pass_max_dropped},
                         {"passes_max_rejects", preview.would_pass_max_rejects},
                         {"passes_max_gone", preview.would_pass_max_gone},
                         {"source_bytes", preview.source_bytes},
                         {"splits", preview.clips_by_split},
                         {"has_text", preview.has_text},
                         {"lengths", lengths_to_json(preview.lengths)},
                         {"notes", preview.notes},
                         {"not_audio", preview.not_audio},
                         {"unknown_characters", preview.unknown_characters},
                         {"storage", storage},
                         {"free_bytes", preview.free_bytes},
                         {"rejects", rejects_to_json(preview.rejects)}};
  json["sound_seconds"] =
      preview.sound_seconds ? nlohmann::json(*preview.sound_seconds) : nlohmann::json();
  json["build_seconds"] =
      preview.build_seconds ? nlohmann::json(*preview.build_seconds) : nlohmann::json();
  const auto& range = preview.build_seconds_range;
  json["build_seconds_range"] =
      range ? nlohmann::json({range->first, range->second}) : nlohmann::json();
  json["most_saved_share"] =
      preview.most_saved_share ? nlohmann::json(*preview.most_saved_share) : nlohmann::json();
  const auto& drops = preview.expected_drops;
  json["expected_drops"] = drops.count == 0 ? nlohmann::json() : drop_to_json(drops);
  json["expected_cuts"] = preview.expected_cut_count;
  return json;
}

nlohmann::json report_to_json(const pipeline::BuildRequest& request,
                              const pipeline::BuildReport& report, double elapsed_s) {
  nlohmann::json json = {
      {"data", request.data.path},
      {"cache", request.options.cache},
      {"unchanged", report.unchanged},
      {"generation", report.generation},
      {"clips", report.clip_count},
      {"records", report.record_count},
      {"computed", report.computed_count},
      {"reused", report.reused_count},
      {"gone", report.gone_count},
      {"renamed", report.accounting.renamed},
      {"accounting", report.unchanged ? nlohmann::json() : accounting_to_json(report.accounting)},
      {"drops", drops_to_json(report.drops)},
      {"lengths", lengths_to_json(report.lengths)},
      {"sound_seconds", report.sound_seconds},
      {"bytes", report.cache_bytes},
      {"splits", report.records_by_split},
      {"speakers", report.speaker_count},
      {"cut", report.cut_count},
      {"cut_texts", report.cut_text_count},
      {"warned", report.warned_count},
      {"warnings", warnings_to_json(report.warnings)},
      {"elapsed_s", elapsed_s},
      {"times", times_to_json(report.times)},
      {"rejects", rejects_to_json(report.rejects)}};
  json["max_frames_needed"] =
      report.frames_needed > 0 ? nlohmann::json(report.frames_needed) : nlohmann::json();
  return json;
}

}  // namespace xtts::request
