// Looks into files whose names do not say whether they are audio, with the run's decoder. The
// decoder's worker starts at the first such file; most corpora have none.
#pragma once

#include <functional>
#include <memory>

#include "audio/audio_decoder.hpp"
#include "corpus/files/content_probe.hpp"

namespace xtts::records {

[[nodiscard]] inline corpus::ProbeContent make_content_probe(const audio::MakeDecoder& make_decoder,
                                                             std::function<bool()> cancelled = {}) {
  const std::shared_ptr<audio::AudioDecoder> decoder = make_decoder(std::move(cancelled));
  return [decoder](const RandomAccessFile& file,
                   std::string_view suffix) -> Result<corpus::ProbeResult> {
    auto seen = decoder->recognise(file, suffix);
    if (!seen.ok()) return seen.status();
    using Kind = corpus::ProbeResult::Kind;
    const Kind kind = seen->kind == audio::ContentKind::kSound      ? Kind::kSound
                      : seen->kind == audio::ContentKind::kNotSound ? Kind::kNotSound
                                                                    : Kind::kRefused;
    return corpus::ProbeResult{kind, std::move(seen->reason)};
  };
}

}  // namespace xtts::records
