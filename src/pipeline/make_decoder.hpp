// The decoder that a run asks for: contained where there is a command for its worker, else in this
// process. A contained one ends its clip with kCancelled once `cancelled` says so.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decode/audio_decoder.hpp"
#include "decode_worker/contained_decoder.hpp"

namespace xtts::pipeline {

[[nodiscard]] inline std::unique_ptr<decode::AudioDecoder> make_decoder(
    const std::vector<std::string>& command, std::function<bool()> cancelled = {}) {
  if (command.empty()) return decode::make_libav_decoder();
  return decode_worker::make_contained_decoder(
      {.command = command, .cancelled = std::move(cancelled)});
}

}  // namespace xtts::pipeline
