// Recipes as people write them: YAML with a strict schema. An unknown, doubled, wrongly typed or
// ignored key is an error that names line, key and the nearest key that exists. `--set
// features.mel.n_mels=100` (or the short `mel.n_mels=100`) goes through the same table of keys, so
// a key exists in both or in neither. Free functions; share freely. All failures are
// kInvalidArgument (or kNotFound for a name or file), and a message lists every problem found, one
// a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::recipe {

// The shipped recipes (configs/recipes/*.yaml, compiled in), sorted by name.
[[nodiscard]] std::vector<std::string> shipped_names();

// Says where its features are not those of the shipped recipe of its name: "features.resampler:
// "soxr_hq" here, "torchaudio_sinc" in the shipped recipe". Empty if no recipe of the name is
// shipped. Not told are how many frames there are, what pads them, the precision, further columns,
// a channels_file, and what `convert --bake` has added.
[[nodiscard]] std::vector<std::string> differences_from_shipped(Env& env,
                                                                const formats::Recipe& recipe);
// True where the shipped recipe of its name has no differences: what that one fits, this one fits.
[[nodiscard]] bool has_features_of_its_name(Env& env, const formats::Recipe& recipe);

// `name_or_path`: a shipped name, or the path of a YAML file (anything with a '/' or ending in
// .yaml or .yml).
[[nodiscard]] Result<formats::Recipe> load(Env& env, const std::string& name_or_path);
// `folder`: what relative file names in the recipe (text.vocabulary_file) are relative to.
[[nodiscard]] Result<formats::Recipe> parse(Env& env, std::string_view yaml,
                                            std::string_view origin, const std::string& folder);
// Keys that lose their meaning by it (loudness.target after loudness.method=none) go back to their
// defaults. Two keys may contradict each other until the last setting is applied: call check()
// then. On failure the recipe is unchanged.
[[nodiscard]] Status apply_setting(Env& env, formats::Recipe& recipe,
                                   std::string_view key_equals_value);
// Several, in whatever order they were given: those that give others their meaning
// (loudness.method before loudness.target) come first. Stops at the first failure.
[[nodiscard]] Status apply_settings(Env& env, formats::Recipe& recipe,
                                    const std::vector<std::string>& settings);
// validate() of all four sections, each problem with its full key.
[[nodiscard]] Status check(const formats::Recipe& recipe);
// Every key with every default filled in, commented, and parse()able: parse(to_yaml(r)) is r for
// every r that parse, apply_setting or apply_trainer_config gave and check() accepts. Keys without
// meaning in r appear as comments.
[[nodiscard]] std::string to_yaml(const formats::Recipe& recipe);

// The nearest of `candidates` by edit distance; empty when none is near.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& candidates);

}  // namespace xtts::recipe
