// Forged caches: bytes changed and every check above them made again, up to the manifest, so that
// only the truth is missing. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/facts.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {

struct Forgery {
  std::string column = "mel";
  std::uint64_t position = 0;
  std::function<void(std::vector<std::byte>& rows)> change_rows = {};  // keeps their size
  std::function<void(formats::RecordFacts&)> change_facts = {};        // keeps their pages
};

// Changes the published cache in `env`; test failures where that is not possible.
void forge(MemoryEnv& env, const std::string& cache, const Forgery& forgery);

}  // namespace xtts::testing
