// What ReaderOptions may be, and what they are where they say nothing. Pure. Failures:
// kInvalidArgument.
#pragma once

#include <cstdint>
#include <vector>

#include "loader/batch_layout.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

[[nodiscard]] Status check_options(const ReaderOptions& options);
// Those asked for, or all.
[[nodiscard]] std::vector<ColumnRequest> chosen_columns(const ReaderOptions& options,
                                                        const reader::ClipSet& clips);
// What thread_count 0 means on this machine.
[[nodiscard]] std::uint32_t default_thread_count();

// How windows are made: as asked for, or in runs that are long enough for a rotating disk, as many
// as mix well.
struct Stretches {
  std::uint64_t samples = 1;
  std::uint64_t per_window = 1;
};
[[nodiscard]] Stretches chosen_stretches(const ReaderOptions& options, const BatchLayout& layout);

// Whether a reader can have written these numbers: states are bytes from a file.
[[nodiscard]] bool is_possible(const ReaderState& state, std::uint64_t sample_count,
                               std::size_t bucket_count) noexcept;

}  // namespace xtts::loader
