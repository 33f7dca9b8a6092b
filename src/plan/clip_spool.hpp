// ClipSpool: clips by data set and id go in, clips in canonical order come out: data set, split,
// id. A scratch file for each split, of which each data set has a range. Memory: three windows. One
// thread at a time. Failures: kResource, kCorrupt (a file was cut meanwhile).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "corpus/clips/clip.hpp"
#include "pipeline/part_row.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

class ClipSpool {
 public:
  // `paths`: of the files, by split.
  ClipSpool(Env& env, std::array<std::string, 3> paths) : env_(env) {
    for (std::size_t i = 0; i < files_.size(); ++i) files_[i].path = std::move(paths[i]);
  }

  [[nodiscard]] Status add(const corpus::Clip& clip, const pipeline::RowNumbers& numbers);
  [[nodiscard]] Status finish();

  using Use = std::function<Status(const corpus::Clip& clip)>;
  // `names`: those of the numbers. May be called several times.
  [[nodiscard]] Status for_each(const pipeline::RowNames& names, std::size_t folder_count,
                                const Use& use) const;

 private:
  struct SplitFile {
    std::string path;
    std::unique_ptr<WritableFile> file;  // null: no clip has the split so far
    std::string waiting;
    std::uint64_t bytes = 0;            // written, and waiting
    std::vector<std::uint64_t> begins;  // of the data sets' ranges
    pipeline::PartRowWriter rows;
  };

  [[nodiscard]] Status write(SplitFile& split);
  void begin_dataset();

  Env& env_;
  std::array<SplitFile, 3> files_;
  std::size_t dataset_count_ = 0;
  std::uint64_t last_dataset_ = 0;
};

}  // namespace xtts::plan
