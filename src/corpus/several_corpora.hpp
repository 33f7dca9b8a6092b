// Finds the corpora in a folder that holds several, and writes the corpora.yaml that names them.
// It looks only at lists, as detection does, on the calling thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "corpus/layouts/layout.hpp"
#include "formats/corpora.hpp"

namespace xtts::corpus {

// The folders in DATA that are corpora themselves, each with its name, layout, and its split if
// the name means one. Empty where DATA is one corpus, for which `layout` was detected: some
// layouts have their lists in DATA itself, others consist of many folders of one kind.
[[nodiscard]] Result<std::vector<formats::CorporaEntry>> corpora_in(const LayoutInput& input,
                                                                    const Layout& layout);
// The folder in DATA that is a corpus, where it is the only one. Unset otherwise.
[[nodiscard]] std::optional<formats::CorporaEntry> only_corpus_in(const LayoutInput& input);
// The corpora in a folder that has not been scanned yet.
[[nodiscard]] Result<std::vector<formats::CorporaEntry>> find_corpora(
    Env& env, const formats::DataFolders& data, const formats::CorpusConfig& config);

// The YAML text that recipe/corpora_file.hpp reads.
[[nodiscard]] std::string corpora_yaml(std::span<const formats::CorporaEntry> entries);

// The message that DATA holds several corpora: all names, the file, and other ways to read DATA.
[[nodiscard]] Status refusal_of_several(const std::string& data,
                                        std::span<const formats::CorporaEntry> entries);

}  // namespace xtts::corpus
