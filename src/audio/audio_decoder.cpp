#include "audio/audio_decoder.hpp"

#include "audio/resampler.hpp"
#include "base/formatted.hpp"

namespace xtts::audio {

Status check(const DecodeRequest& request) {
  if (request.target_rate_hz > kSampleRateHzMax) {
    return {StatusCode::kInvalidArgument, formatted("a target rate of {} Hz: at most {}",
                                                    request.target_rate_hz, kSampleRateHzMax)};
  }
  if (!(request.source_seconds_max > 0.0))
    return {StatusCode::kInvalidArgument, "source_seconds_max must be above 0"};
  return method_of(request.resampler).status();
}

}  // namespace xtts::audio
