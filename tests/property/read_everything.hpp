// All answers of a reader about a cache, as comparable texts. For damage tests: whatever was done
// to the files, each answer is the right one or a typed refusal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::testing {

// By question ("mel of 3"): the answer, or why there is none.
using Answers = std::map<std::string, Result<std::string>>;

// Opens `cache` and asks for every row, record and text of `clip_ids`, in their order of position.
// Where it cannot be opened, "open" is the only question.
[[nodiscard]] Answers read_everything(Env& env, const std::string& cache,
                                      const std::vector<std::string>& clip_ids);

// The first answer that is neither the one in `truth` nor a refusal as damage (kCorrupt) or as a
// newer format (kUnsupported); empty where there is none.
[[nodiscard]] std::string first_falsehood(const Answers& truth, const Answers& answers);
[[nodiscard]] std::size_t refusal_count(const Answers& answers);

}  // namespace xtts::testing
