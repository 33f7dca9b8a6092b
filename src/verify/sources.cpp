#include "verify/sources.hpp"

#include <utility>

#include "base/try.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "pipeline/text_column.hpp"
#include "records/decoder_probe.hpp"
#include "records/too_long.hpp"

namespace xtts::verify {

Result<corpus::Corpus> listed_corpus(Env& env, const Sources& sources,
                                     const formats::Recipe& recipe,
                                     corpus::KnownSplits known_splits,
                                     const CancelCheck& cancelled) {
  XTTS_ASSIGN(
      auto listed,
      corpus::discover({.env = env,
                        .data = sources.data,
                        .corpora = sources.corpora,
                        .config = recipe.corpus,
                        .known_splits = std::move(known_splits),
                        .split_above_s = records::split_above_s(*recipe.features),
                        .probe = records::make_content_probe(sources.make_decoder, cancelled),
                        .cancelled = cancelled}));
  XTTS_TRY(pipeline::take_texts(recipe.text, listed));
  return listed;
}

}  // namespace xtts::verify
