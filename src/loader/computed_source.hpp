// ComputedSource: a ClipSource computes each clip when a row of a batch asks for it. Nothing is
// stored, so nothing is damaged. A clip may be rejected.
//
// It belongs to one reader. Failures: kInvalidArgument (options of storage, shuffle kWindow),
// kUnsupported (statistics of the corpus), and those of the source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loader/computed_table.hpp"
#include "loader/record_source.hpp"
#include "xtts/clip_source.hpp"

namespace xtts::loader {

class ComputedSource final : public RecordSource {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ComputedSource>> open(
      std::shared_ptr<const ClipSource> source);

  [[nodiscard]] const reader::ClipSet& clips() const override { return *clips_; }
  [[nodiscard]] Status check_options(const ReaderOptions& options) const override;
  // Computes all clips that may be chosen once, where buckets or `where` ask for something that the
  // sound alone tells. Clips that are rejected then are in no order. Fails with kSourceIo where a
  // clip could not be computed now, but may be another time, and with kCancelled.
  [[nodiscard]] Status prepare(const ReaderOptions& options) override;
  [[nodiscard]] std::vector<std::uint64_t> unusable_positions() const override {
    return never_chosen_;
  }
  [[nodiscard]] Result<std::unique_ptr<RecordFeed>> open_feed(FeedJob job) override;
  [[nodiscard]] std::uint32_t default_thread_count() const override;

  [[nodiscard]] std::vector<std::uint64_t> rejected() const override { return source_->rejected(); }
  [[nodiscard]] Status check_rejects() const override { return source_->check_rejects(); }
  [[nodiscard]] std::string remedy() const override { return {}; }
  [[nodiscard]] std::string state_mismatch_message(const std::string& digest) const override;

 private:
  ComputedSource(std::shared_ptr<const ClipSource> source, std::shared_ptr<ComputedTable> table,
                 std::shared_ptr<reader::ClipSet> clips)
      : source_(std::move(source)), table_(std::move(table)), clips_(std::move(clips)) {}
  [[nodiscard]] Status learn(const ReaderOptions& options, bool keeps_facts);

  std::shared_ptr<const ClipSource> source_;
  std::shared_ptr<ComputedTable> table_;
  std::shared_ptr<reader::ClipSet> clips_;
  std::vector<std::uint64_t> never_chosen_;
};

}  // namespace xtts::loader
