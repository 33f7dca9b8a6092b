// The rules for ReaderOptions: which values are allowed, and what their defaults mean. Pure.
// Failures: kInvalidArgument.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loader/batch_layout.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

[[nodiscard]] Status check_options(const ReaderOptions& options);
// The options that do nothing beside the others, in words; empty: none. `is_on_gpu`: the batches
// are.
[[nodiscard]] std::string idle_options(const ReaderOptions& options, bool is_on_gpu);
// The columns that were asked for, or all.
[[nodiscard]] std::vector<ColumnRequest> chosen_columns(const ReaderOptions& options,
                                                        const reader::ClipSet& clips);
// The number of threads that thread_count 0 stands for on this machine.
[[nodiscard]] std::uint32_t default_thread_count();

// How windows are made: as asked for, or of enough stretches to mix well, each long enough for a
// rotating disk.
struct Stretches {
  std::uint64_t samples = 1;
  std::uint64_t per_window = 1;
};
[[nodiscard]] Stretches chosen_stretches(const ReaderOptions& options, const BatchLayout& layout);

// True where a reader can have written these numbers. States come from files, so anything may be in
// them.
[[nodiscard]] bool is_possible(const ReaderState& state, std::uint64_t sample_count,
                               std::size_t bucket_count) noexcept;

}  // namespace xtts::loader
