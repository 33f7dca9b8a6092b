// A folder with several corpora in it: which they are, and the corpora.yaml that names them. Only
// lists are looked at, as detection does; the calling thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "corpus/layouts/layout.hpp"
#include "formats/corpora.hpp"

namespace xtts::corpus {

// The folders in DATA that are corpora by themselves: each with its name, layout, and split where
// that is what it is called. None where DATA is one corpus, which `layout` was detected for: the
// lists of some layouts lie in DATA itself, and others are made of many folders of one kind.
[[nodiscard]] Result<std::vector<formats::CorporaEntry>> corpora_in(const LayoutInput& input,
                                                                    const Layout& layout);
// The same for a folder that nobody has looked at yet.
[[nodiscard]] Result<std::vector<formats::CorporaEntry>> find_corpora(
    Env& env, const std::string& data_folder, const formats::CorpusConfig& config,
    std::span<const std::string> audio_roots);

// As recipe/corpora_file.hpp reads it.
[[nodiscard]] std::string corpora_yaml(std::span<const formats::CorporaEntry> entries);

// What a person is told of them: all names, the file, and how else DATA can be read.
[[nodiscard]] Status refusal_of_several(const std::string& data,
                                        std::span<const formats::CorporaEntry> entries);

}  // namespace xtts::corpus
