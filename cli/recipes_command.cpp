// recipes: the shipped recipes, or one in full.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/normalization.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"
#include "recipe/recipe_file.hpp"
#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;
using report::Align;

// Counts the channels of the first column.
std::uint32_t channels_of(const formats::FeatureConfig& features) {
  const auto shape = formats::info_of(formats::sound_columns_of(features).front()).shape(features);
  return shape.size() > 1 ? shape[1] : 1;
}

json column_names(const formats::Recipe& recipe) {
  json names = json::array();
  for (const auto column : formats::sound_columns_of(*recipe.features))
    names.push_back(std::string(formats::info_of(column).name));
  return names;
}

json summary_to_json(const formats::Recipe& recipe) {
  return {{"name", recipe.name},
          {"about", recipe.about},
          {"fits", recipe.fits},
          {"sample_rate_hz", recipe.features->sample_rate_hz},
          {"channels", channels_of(*recipe.features)},
          {"columns", column_names(recipe)},
          {"hop_samples", recipe.features->stft.hop_samples},
          {"features_fingerprint", formats::fingerprint(*recipe.features).to_hex()}};
}

Status list_recipes(Context& context) {
  json list = json::array();
  report::Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.add_row({"name", "Hz", "channels", "about", "fits"});
  for (const std::string& name : recipe::shipped_names()) {
    XTTS_ASSIGN(const formats::Recipe recipe, recipe::load(context.env, name));
    list.push_back(summary_to_json(recipe));
    table.add_row({recipe.name, report::format_count(recipe.features->sample_rate_hz),
                   std::to_string(channels_of(*recipe.features)), recipe.about,
                   report::format_list(recipe.fits)});
  }
  context.print(context.out.is_terminal() ? table.render(0, context.out.width())
                                          : table.render_tabs());
  context.print_json({{"recipes", list}});
  return {};
}

Status print_recipe(Context& context, const std::string& name) {
  auto recipe = recipe::load(context.env, name);
  if (!recipe.ok()) return recipe.status();
  const std::string yaml = recipe::to_yaml(*recipe);
  context.print(yaml);
  json document = summary_to_json(*recipe);
  document["normalization"] = formats::to_json(formats::normalization_of(*recipe->features));
  document["features"] = formats::to_json(*recipe->features);
  document["text"] = formats::to_json(recipe->text);
  document["corpus"] = formats::to_json(recipe->corpus);
  document["storage"] = formats::to_json(recipe->storage);
  document["yaml"] = yaml;
  context.print_json(document);
  return {};
}

}  // namespace

void add_recipes_command(CLI::App& app, Context& context) {
  auto name = std::make_shared<std::string>();
  Command(app, context, "recipes", "List the recipes, or print one in full")
      .positional("NAME", *name, "A shipped recipe, or the path of a YAML file")
      .examples(
          "xtts-precompute recipes\n"
          "xtts-precompute recipes hifigan\n"
          "xtts-precompute recipes myxtts > my.yaml   # a start for your own")
      .runs([&context, name] {
        return name->empty() ? list_recipes(context) : print_recipe(context, *name);
      });
}

}  // namespace xtts::cli
