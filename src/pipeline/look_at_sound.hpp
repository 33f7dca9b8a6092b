// The look into files whose names do not say whether they are audio, in the decoder that a run asks
// for. Its worker starts at the first such file, and most corpora have none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "corpus/corpus.hpp"
#include "pipeline/make_decoder.hpp"

namespace xtts::pipeline {

[[nodiscard]] inline corpus::LookAtSound make_look(const std::vector<std::string>& command,
                                                   std::function<bool()> cancelled = {}) {
  const std::shared_ptr<decode::AudioDecoder> decoder = make_decoder(command, std::move(cancelled));
  return [decoder](const RandomAccessFile& file,
                   std::string_view suffix) -> Result<corpus::SoundLook> {
    auto seen = decoder->recognise(file, suffix);
    if (!seen.ok()) return seen.status();
    using Kind = corpus::SoundLook::Kind;
    const Kind kind = seen->likeness == decode::Likeness::kSound      ? Kind::kSound
                      : seen->likeness == decode::Likeness::kNotSound ? Kind::kNotSound
                                                                      : Kind::kRefused;
    return corpus::SoundLook{kind, std::move(seen->reason)};
  };
}

}  // namespace xtts::pipeline
