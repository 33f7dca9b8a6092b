// The Env that sources are read by: a link below DATA is followed as far as it ends below a DATA or
// an audio root, whenever it was put there (Links::kInside). Where there are `corpora`, their
// folders and audio roots count, and `data` is the file that names them. The result may not outlive
// `env`.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/env.hpp"
#include "formats/corpora.hpp"

namespace xtts::pipeline {

[[nodiscard]] std::shared_ptr<Env> confined_to_data(Env& env, const std::string& data,
                                                    std::span<const formats::CorporaEntry> corpora,
                                                    std::span<const std::string> audio_roots);

}  // namespace xtts::pipeline
