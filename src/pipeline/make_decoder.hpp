// The decoder that a run asks for: contained where there is a command for its worker, else in this
// process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/audio_decoder.hpp"
#include "decode_worker/contained_decoder.hpp"

namespace xtts::pipeline {

[[nodiscard]] inline std::unique_ptr<decode::AudioDecoder> make_decoder(
    const std::vector<std::string>& command) {
  if (command.empty()) return decode::make_libav_decoder();
  return decode_worker::make_contained_decoder({.command = command});
}

}  // namespace xtts::pipeline
