// Tells by a container's own structure whether the file's end is there. libav takes the end of a
// cut file for the end of its sound, and says nothing.
//
// Reads the headers of chunks, boxes and pages through the reader: a few bytes each, at most
// kPartsMax of them. Bytes may be hostile; what makes no sense is kUnknown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "decode/detail/source_reader.hpp"

namespace xtts::decode::detail {

struct ContainerEnd {
  enum class State : std::uint8_t {
    kUnknown,  // the container does not say where it ends, as one that was written to a pipe
    kWhole,    // everything is there
    kCut,
  };
  State state = State::kUnknown;
  // If cut: the sound that the header promises, divided by what is there; 2.0 for half a file. Or
  // 0, if only `reason` is known.
  double promised_share = 0.0;
  std::string reason = {};  // continues "its end is missing: "
};

// `container` is libav's name. Always kUnknown for containers without such a structure.
[[nodiscard]] ContainerEnd end_of_container(SourceReader& bytes, std::string_view container);

}  // namespace xtts::decode::detail
