// Finds the demuxer for a file: by its content or, if it has no header, by its suffix.
#pragma once

#include <string_view>

#include "audio/audio_decoder.hpp"
#include "decode/detail/complaints.hpp"
#include "decode/detail/libav.hpp"
#include "decode/detail/source_reader.hpp"
#include "xtts/status.hpp"

namespace xtts::decode::detail {

// For decoding: reads as many bytes as libav asks for, and accepts a weak likeness too. kBadInput:
// the content is of no format that is read; the message says why.
[[nodiscard]] Result<const AVInputFormat*> recognise(const SourceReader& reader,
                                                     std::string_view suffix,
                                                     const Complaints& complaints);

// For discovery, for a file whose name does not say that it is sound. Reads 64 KiB at most.
struct FirstLook {
  audio::Recognition verdict;
  // A weak likeness to a format that is read: only decoding can decide.
  bool is_doubtful = false;
};
[[nodiscard]] Result<FirstLook> look_at(const RandomAccessFile& source, std::string_view suffix);

}  // namespace xtts::decode::detail
