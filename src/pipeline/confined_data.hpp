// The Env that reads sources. It follows a link below DATA only if the link ends below a DATA or an
// audio root, whenever the link was made (Links::kInside). If there are `corpora`, their folders
// and audio roots count, and `data.path` is the file that names them. The result may not outlive
// `env`.
#pragma once

#include <memory>
#include <span>

#include "base/env.hpp"
#include "formats/corpora.hpp"

namespace xtts::pipeline {

[[nodiscard]] std::shared_ptr<Env> confined_to_data(Env& env, const formats::DataFolders& data,
                                                    std::span<const formats::CorporaEntry> corpora);

}  // namespace xtts::pipeline
