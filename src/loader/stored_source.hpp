// StoredSource: the records of one cache or of several. Its feed maps, stages or reads windows, as
// the storage and the reader's options demand.
//
// Synchronised inside, as its caches are. Failures of open_feed(): kResource.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "loader/record_source.hpp"
#include "reader/cache_set.hpp"

namespace xtts::loader {

class StoredSource final : public RecordSource {
 public:
  explicit StoredSource(std::shared_ptr<reader::CacheSet> caches) : caches_(std::move(caches)) {}

  [[nodiscard]] const reader::ClipSet& clips() const override { return *caches_; }
  [[nodiscard]] Result<std::unique_ptr<RecordFeed>> open_feed(FeedJob job) override;
  [[nodiscard]] std::uint32_t default_thread_count() const override;

  [[nodiscard]] std::string remedy() const override;
  [[nodiscard]] std::string state_mismatch_message(const std::string& digest) const override;

 private:
  std::shared_ptr<reader::CacheSet> caches_;
};

}  // namespace xtts::loader
