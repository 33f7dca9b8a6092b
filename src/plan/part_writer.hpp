// PartWriter writes one part file of a plan (plan-v1.md, section 2), row by row. Nothing of the
// file counts before finish(); a writer that is let go leaves a file that no plan names. One thread
// at a time. Memory: one chunk. Failures: kResource.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "corpus/clips/clip.hpp"
#include "formats/part_file.hpp"
#include "formats/plan.hpp"
#include "pipeline/part_row.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

class PartWriter {
 public:
  // Creates the file PLAN/0007, or replaces what a dead planner left there.
  [[nodiscard]] static Result<std::unique_ptr<PartWriter>> create(Env& env,
                                                                  const std::string& folder,
                                                                  const formats::PartHead& head);

  // Clips first, in canonical order; as many of both as the head says.
  [[nodiscard]] Status add(const corpus::Clip& clip, const pipeline::RowNumbers& numbers);
  [[nodiscard]] Status add(const formats::Reject& reject);

  // Syncs the file; its name is not durable yet. Returns file, bytes, digest, clips and rejects.
  [[nodiscard]] Result<formats::PlanPart> finish();

 private:
  PartWriter(std::unique_ptr<WritableFile> file, const formats::PartHead& head)
      : file_(std::move(file)), head_(head) {}
  [[nodiscard]] Status append(std::string_view bytes);
  [[nodiscard]] Status write_whole_chunks();

  std::unique_ptr<WritableFile> file_;
  const formats::PartHead head_;
  pipeline::PartRowWriter rows_;
  std::string waiting_;  // bytes of rows that no chunk holds yet
  std::uint64_t chunk_count_ = 0;
  std::uint64_t file_bytes_ = 0;
  Hasher128 hasher_;
};

}  // namespace xtts::plan
