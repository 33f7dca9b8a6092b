// ColumnWriter of include/xtts/add_column.hpp on maintain::ColumnAddition.
#include <utility>

#include "api/builder/check_options.hpp"
#include "api/builder/guarded.hpp"
#include "base/try.hpp"
#include "maintain/column_addition.hpp"
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
  bool is_finished = false;  // finish() has published or failed
};

namespace {

template <typename Impl>
Status check_usable(const std::unique_ptr<Impl>& impl) {
  if (impl == nullptr) return builder::is_empty("ColumnWriter");
  if (!impl->is_finished) return {};
  return {StatusCode::kInvalidArgument,
          "add_column: finish() has been called: open another ColumnWriter"};
}

}  // namespace

ColumnWriter::ColumnWriter(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ColumnWriter::ColumnWriter(ColumnWriter&&) noexcept = default;
ColumnWriter& ColumnWriter::operator=(ColumnWriter&&) noexcept = default;
ColumnWriter::~ColumnWriter() = default;

Result<ColumnWriter> ColumnWriter::open(const NewColumnOptions& options,
                                        std::size_t options_bytes) {
  return builder::guarded([&]() -> Result<ColumnWriter> {
    XTTS_TRY(builder::check_size("NewColumnOptions", options_bytes, sizeof options));
    XTTS_TRY(builder::check_texts(options));
    // The writer keeps this callback for its life. It drops the callback's exceptions, because a
    // notice only informs.
    const auto notice = [tell = options.notice](const std::string& text) {
      try {
        if (tell) tell(text);
      } catch (...) {
      }
    };
    auto addition = maintain::ColumnAddition::open(Env::real(), options.cache,
                                                   {.name = options.name,
                                                    .version = options.version,
                                                    .axis = axis_of(options.axis),
                                                    .dtype = options.dtype,
                                                    .row_shape = options.row_shape,
                                                    .rows_per_frame = options.rows_per_frame,
                                                    .allow_nonfinite = options.allow_nonfinite},
                                                   {.notice = notice});
    if (!addition.ok()) return addition.status();
    return ColumnWriter(std::make_unique<Impl>(Impl{.addition = std::move(*addition)}));
  });
}

std::uint64_t ColumnWriter::clip_count() const noexcept {
  return impl_ == nullptr ? 0 : impl_->addition->to_make().size();
}

std::uint64_t ColumnWriter::done_count() const noexcept {
  return impl_ == nullptr ? 0 : impl_->addition->done_count();
}

Result<ColumnWriter::Clip> ColumnWriter::next(std::uint64_t ahead) const {
  return builder::guarded([&]() -> Result<Clip> {
    XTTS_TRY(check_usable(impl_));
    const auto& clips = impl_->addition->to_make();
    const std::uint64_t done = impl_->addition->done_count();
    if (ahead >= clips.size() - done)
      return Status(StatusCode::kInvalidArgument, "add_column: there is no clip left");
    XTTS_ASSIGN(const std::uint32_t rows, impl_->addition->length_of(clips[done + ahead]));
    return Clip{.position = clips[done + ahead], .row_count = rows};
  });
}

Status ColumnWriter::put(std::span<const std::byte> rows) {
  return builder::guarded([&]() -> Status {
    XTTS_TRY(check_usable(impl_));
    return impl_->addition->put(rows);
  });
}

Result<ColumnReport> ColumnWriter::finish() {
  return builder::guarded([&]() -> Result<ColumnReport> {
    XTTS_TRY(check_usable(impl_));
    // After a call that comes too early, finish() may be called again. Any other call uses the
    // writer up, whatever its result.
    impl_->is_finished = done_count() == clip_count();
    XTTS_ASSIGN(const auto report, impl_->addition->finish());
    return ColumnReport{.unchanged = report.unchanged,
                        .generation = report.generation,
                        .added_count = report.added_count,
                        .record_count = report.record_count,
                        .size_bytes = report.bytes};
  });
}

}  // namespace xtts
