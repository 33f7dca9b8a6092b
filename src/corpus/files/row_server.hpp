// Asks for rows of Parquet files and Arrow streams. A Python process that has pyarrow reads them
// (src/python/xtts_precompute/_build/row_server.py, compiled in), so foreign bytes are parsed
// outside of this process. It starts at the first request and serves all threads, one after the
// other. It is the Python that XTTS_PYTHON names, or else that of PATH or of the system.
//
// It ends when nothing was asked for a minute. If it has ended, or dies, another is started and
// asked once more. Rows that xp.build() has in memory are served by that caller, through the socket
// that lies beside their file. Synchronised inside. A forked child starts a process of its own.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::corpus {

// The name of the socket in the folder of a file whose rows a caller serves.
inline constexpr std::string_view kRowSocket = ".rows";

// Returns the answer to a request, whose words row_server.py describes. A failure's message
// continues a sentence that begins with the file. kBadInput: the file is at fault. kUnsupported:
// no Python here has pyarrow. kSourceIo: reading failed, or the process died twice.
// `served_in`: the folder of a caller's socket; empty: our own process is asked.
[[nodiscard]] Result<std::vector<std::byte>> ask_row_server(
    std::initializer_list<std::string_view> words, const std::string& served_in = {});

}  // namespace xtts::corpus
