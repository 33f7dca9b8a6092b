#include "loader/column_norm.hpp"

#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

Status refuse_norm(const ColumnRequest& request, const std::string& why) {
  return {StatusCode::kInvalidArgument,
          formatted("column '{}' cannot be normalized: {}", request.name, why)};
}

// True where the recipe pads samples. The frames of padding are features then, which differ by
// channel, but a record has one fill value for all channels.
bool pads_samples(const reader::ClipSet& clips, const ColumnRequest& request) {
  const auto& features = clips.whole().features;
  return request.name == "mel" && features.value("pad", nlohmann::json()) == "samples";
}

Status check_request(const reader::ClipSet& clips, const formats::ColumnSpec& spec,
                     const ColumnRequest& request) {
  const bool has_numbers = !request.means.empty() || !request.deviations.empty();
  if (has_numbers && request.normalize != Normalize::kGiven) {
    return refuse_norm(request,
                       "means and deviations are given, but normalize does not ask for given ones");
  }
  if (request.normalize == Normalize::kNone) return {};
  const bool is_float = spec.dtype == DType::kFloat32 || spec.dtype == DType::kFloat16 ||
                        spec.dtype == DType::kBFloat16;
  if (!is_float) return refuse_norm(request, "it holds " + std::string(to_string(spec.dtype)));
  if (pads_samples(clips, request) && !request.pad_value) {
    return refuse_norm(request,
                       "its recipe pads samples, so normalized frames of padding would differ by "
                       "channel: give a pad_value (0 is the mean)");
  }
  return {};
}

Result<ColumnStatistics> numbers_of(const reader::ClipSet& clips,
                                    const reader::SharedColumn& column,
                                    const ColumnRequest& request) {
  if (request.normalize == Normalize::kCorpus) return clips.statistics(column);
  return ColumnStatistics{.mean = request.means, .deviation = request.deviations};
}

}  // namespace

Result<std::shared_ptr<const ChannelNorm>> find_norm(const reader::ClipSet& clips,
                                                     const reader::SharedColumn& column,
                                                     const ColumnRequest& request) {
  using Norm = std::shared_ptr<const ChannelNorm>;
  const formats::ColumnSpec& spec = column.entry->spec;
  XTTS_TRY(check_request(clips, spec, request));
  if (request.normalize == Normalize::kNone) return Norm();
  XTTS_ASSIGN(const ColumnStatistics numbers, numbers_of(clips, column, request));
  if (numbers.is_baked) return Norm();
  const std::uint64_t channel_count = spec.row_bytes() / size_bytes(spec.dtype);
  if (numbers.mean.size() != channel_count || numbers.deviation.size() != channel_count) {
    return refuse_norm(request,
                       formatted("it has {} channels, and there are {} means and {} deviations",
                                 channel_count, numbers.mean.size(), numbers.deviation.size()));
  }
  auto norm = ChannelNorm::create(numbers.mean, numbers.deviation);
  if (!norm.ok()) return refuse_norm(request, norm.status().message());
  return Norm(std::make_shared<const ChannelNorm>(std::move(*norm)));
}

}  // namespace xtts::loader
