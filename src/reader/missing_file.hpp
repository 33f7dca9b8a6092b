// fetch_missing() has a file fetched that a copy of a published cache does not have yet
// (src/python/README.md, Buckets). Such a copy has a file CACHE/filler with two lines: the socket
// of the process that fetches, and what stands before the names of this cache's files there.
//
// Over the socket go the file's name with a line feed, and then `.` each second while the process
// fetches. `o` says that the file is there, `e` and a text why it is not; then the connection ends.
//
// Waits as long as the process shows that it works. Any thread. Failures: kNotFound (nobody fetches
// files of this cache), kResource (the process could not get the file, or has ended).
#pragma once

#include <chrono>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// `name` is relative to the cache. `patience`: for the next sign of the process.
[[nodiscard]] Status fetch_missing(Env& env, const std::string& cache, const std::string& name,
                                   std::chrono::seconds patience = std::chrono::seconds(30));

}  // namespace xtts::reader
