// ColumnWriter of include/xtts/add_column.hpp on maintain::ColumnAddition.
#include <new>
#include <utility>

#include "base/current_exception.hpp"
#include "base/try.hpp"
#include "maintain/add_column.hpp"
#include "xtts/add_column.hpp"

namespace xtts {
namespace {

formats::Axis axis_of(ColumnAxis axis) {
  switch (axis) {
    case ColumnAxis::kFrames:
      return formats::Axis::kFrames;
    case ColumnAxis::kTokens:
      return formats::Axis::kTokens;
    case ColumnAxis::kOwn:
      return formats::Axis::kOwn;
    case ColumnAxis::kFixed:
      break;
  }
  return formats::Axis::kFixed;
}

}  // namespace

struct ColumnWriter::Impl {
  std::unique_ptr<maintain::ColumnAddition> addition;
};

ColumnWriter::ColumnWriter(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ColumnWriter::ColumnWriter(ColumnWriter&&) noexcept = default;
ColumnWriter& ColumnWriter::operator=(ColumnWriter&&) noexcept = default;
ColumnWriter::~ColumnWriter() = default;

Result<ColumnWriter> ColumnWriter::open(const NewColumnOptions& options) {
  try {
    XTTS_ASSIGN(auto addition,
                maintain::ColumnAddition::open(Env::real(), options.cache,
                                               {.name = options.name,
                                                .version = options.version,
                                                .axis = axis_of(options.axis),
                                                .dtype = options.dtype,
                                                .row_shape = options.row_shape,
                                                .rows_per_frame = options.rows_per_frame},
                                               {.notice = options.notice}));
    return ColumnWriter(std::make_unique<Impl>(Impl{std::move(addition)}));
  } catch (...) {
    return status_of_current_exception();
  }
}

std::uint64_t ColumnWriter::clip_count() const noexcept {
  return impl_->addition->to_make().size();
}

std::uint64_t ColumnWriter::done_count() const noexcept {
  return impl_->addition->done_count();
}

Result<ColumnWriter::Clip> ColumnWriter::next(std::uint64_t ahead) const {
  const auto& clips = impl_->addition->to_make();
  const std::uint64_t number = impl_->addition->done_count() + ahead;
  if (number >= clips.size())
    return Status(StatusCode::kInvalidArgument, "add_column: there is no clip left");
  XTTS_ASSIGN(const std::uint32_t rows, impl_->addition->length_of(clips[number]));
  return Clip{.position = clips[number], .row_count = rows};
}

Status ColumnWriter::put(std::span<const std::byte> rows) {
  try {
    return impl_->addition->put(rows);
  } catch (...) {
    return status_of_current_exception();
  }
}

Result<ColumnReport> ColumnWriter::finish() {
  try {
    XTTS_ASSIGN(const auto report, impl_->addition->finish());
    return ColumnReport{.unchanged = report.unchanged,
                        .generation = report.generation,
                        .added_count = report.added_count,
                        .record_count = report.record_count,
                        .size_bytes = report.bytes};
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace xtts
