// ComputedTable: the clips of a ClipSource as a table. It has the numbers of all clips, the lengths
// of those that were computed, and facts while a selection is made by them.
//
// Only learn() and forget_facts() change it; no other call may run beside them. It takes 40 bytes a
// clip. Failures: those of ClipTable. learn() also fails as ClipSource::compute() and
// check_rejects() do, with kSourceIo, and with kCancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "loader/selection.hpp"
#include "reader/clip_table.hpp"
#include "xtts/clip_source.hpp"

namespace xtts::loader {

struct LearnOptions {
  std::uint32_t thread_count = 1;
  bool keeps_facts = false;
  std::function<bool()> cancelled = {};  // asked by the calling thread, before each of its clips
};

class ComputedTable final : public reader::ClipTable {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ComputedTable>> open(
      std::shared_ptr<const ClipSource> source);

  [[nodiscard]] const std::string& path() const override { return source_->path(); }
  [[nodiscard]] const formats::Manifest& manifest() const override { return manifest_; }
  [[nodiscard]] std::uint64_t size() const override { return rows_.size(); }
  [[nodiscard]] Result<formats::PlanRow> plan_row(std::uint64_t position) override;
  [[nodiscard]] Status plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) override;
  [[nodiscard]] Result<formats::RecordFacts> details(std::uint64_t position) override;
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(std::string_view full_id) override;

  // Computes these clips on several threads, the calling one among them. Then plan_rows() has their
  // lengths and, with `keeps_facts`, details() has all that is known of them. Rejected clips have
  // neither. Fails as soon as too many are rejected, and with kSourceIo where a clip has no record
  // and is not rejected.
  [[nodiscard]] Status learn(const Selection& clips, const LearnOptions& options);
  void forget_facts() { facts_.clear(); }

 private:
  struct LearnPass;
  ComputedTable(std::shared_ptr<const ClipSource> source, formats::Manifest manifest)
      : source_(std::move(source)), manifest_(std::move(manifest)) {}
  void learn_next_clips(LearnPass& pass);
  [[nodiscard]] Status learn_one(LearnPass& pass, std::uint64_t position, SourceRecord& record);
  [[nodiscard]] Status note_without_record(LearnPass& pass, std::uint64_t position,
                                           std::string why) const;
  [[nodiscard]] Status check_complete(const LearnPass& pass) const;

  const std::shared_ptr<const ClipSource> source_;
  const formats::Manifest manifest_;
  std::vector<formats::PlanRow> rows_;
  std::unordered_map<std::uint64_t, std::string> facts_;  // by position, encoded
};

}  // namespace xtts::loader
