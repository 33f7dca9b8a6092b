// Which demuxer a file is for: by its content, else, where it has no header, by its suffix.
#pragma once

#include <string_view>

#include "audio/audio_decoder.hpp"
#include "decode/detail/complaints.hpp"
#include "decode/detail/libav.hpp"
#include "decode/detail/source_reader.hpp"
#include "xtts/status.hpp"

namespace xtts::decode::detail {

// For decoding: reads as much as libav asks for, and takes a weak likeness too. kBadInput: the
// content is nothing that is read, and why.
[[nodiscard]] Result<const AVInputFormat*> recognise(const SourceReader& reader,
                                                     std::string_view suffix,
                                                     const Complaints& complaints);

// For discovery, of a file whose name does not say that it is sound: reads 64 KiB at most.
struct FirstLook {
  audio::Recognition verdict;
  // A weak likeness to something that is read: only decoding tells.
  bool is_doubtful = false;
};
[[nodiscard]] Result<FirstLook> look_at(const RandomAccessFile& source, std::string_view suffix);

}  // namespace xtts::decode::detail
