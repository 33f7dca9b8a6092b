// GatheredClips receives the clips of a corpus as discovery finds them, and gives them back by data
// set and id: of clips with one id the first, and the problem of each other. Memory: that of its
// sorter, names and lists. One thread at a time. Failures: kResource.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "corpus/lists/layout_input.hpp"
#include "pipeline/part_row.hpp"
#include "plan/name_interner.hpp"
#include "plan/row_sorter.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

class GatheredClips final : public corpus::FoundClips {
 public:
  // `progress`: called now and then with the number of clips so far; may be null.
  using Progress = std::function<void(std::uint64_t count)>;
  GatheredClips(Env& env, const std::string& scratch_path, std::uint64_t memory_bytes,
                Progress progress)
      : sorter_(env, scratch_path, memory_bytes), progress_(std::move(progress)) {}

  void take(corpus::Clip clip, const corpus::ClipPlace& place) override;
  [[nodiscard]] Status status() const override { return failure_; }

  // No clip comes after this. `folder_count`: of the corpus.
  [[nodiscard]] Status finish(std::size_t folder_count);
  [[nodiscard]] std::uint64_t count() const { return sorter_.row_count(); }  // equal ids included
  [[nodiscard]] const pipeline::RowNames& names() const { return interner_.names(); }

  using Use = std::function<Status(corpus::Clip& clip)>;
  using Refuse = std::function<Status(const formats::Reject& reject)>;
  // Times and inodes of the clips are unset. `refuse` may be null. May be called several times.
  [[nodiscard]] Status for_each(const Use& use, const Refuse& refuse) const;

 private:
  struct List {
    std::string path;
    std::optional<corpus::Split> split;
  };
  struct Place {
    std::optional<std::uint32_t> list;  // in lists_
    std::uint64_t line = 0;
    std::string file;
  };

  [[nodiscard]] std::uint32_t number_of_list(const corpus::ClipPlace& place);
  [[nodiscard]] static Place take_place(std::string_view& row);
  [[nodiscard]] corpus::ClipPlace place_in_lists(const Place& place) const;
  [[nodiscard]] formats::Reject reject_of_second(const corpus::Clip& clip, const Place& place,
                                                 std::string_view source_of_first,
                                                 const Place& place_of_first) const;

  RowSorter sorter_;
  Progress progress_;
  NameInterner interner_;
  std::vector<List> lists_;
  std::map<std::string, std::uint32_t, std::less<>> number_of_list_;
  std::size_t folder_count_ = 1;
  std::string row_;  // kept between calls: its memory serves all rows
  Status failure_;
};

}  // namespace xtts::plan
