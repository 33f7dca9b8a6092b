#include "tests/golden/recipes/recipe_goldens.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "tests/support/npy.hpp"

namespace xtts::testing {
namespace {

using Row = std::vector<std::string>;

const std::string kTests = std::string(XTTS_SOURCE_DIR) + "/tests/";
const std::string kFolder = kTests + "golden/recipes/";

std::vector<Row> read_table(const std::string& path) {
  std::ifstream file(path);
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    Row row;
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    rows.push_back(row);
  }
  if (rows.empty()) ADD_FAILURE() << "nothing in " << path;
  return rows;
}

std::optional<std::uint64_t> frames_of(const std::string& cell) {
  if (cell == "refused") return std::nullopt;
  return std::stoull(cell);
}

struct Inputs {
  std::vector<std::int16_t> steps = read_npy<std::int16_t>(kFolder + "inputs.npy");
  std::vector<Row> rows = read_table(kFolder + "inputs.tsv");

  [[nodiscard]] std::vector<float> samples(const std::string& name, std::uint32_t rate_hz) const {
    for (const Row& row : rows) {
      const auto own_rate = static_cast<std::uint32_t>(std::stoul(row[1]));
      if (row[0] != name || (own_rate != 0 && own_rate != rate_hz)) continue;
      const auto first = steps.begin() + std::stol(row[2]);
      const float gain = std::stof(row[4]);
      std::vector<float> samples;
      std::transform(
          first, first + std::stol(row[3]), std::back_inserter(samples),
          [gain](std::int16_t step) { return static_cast<float>(step) / 32768.0F * gain; });
      return samples;
    }
    ADD_FAILURE() << "no input " << name << " at " << rate_hz << " Hz";
    return {};
  }
};

// The rows of one case after another.
class Rows {
 public:
  Rows(const std::string& path, std::uint64_t row_count)
      : values_(read_npy<float>(path)), bins_(row_count == 0 ? 0 : values_.size() / row_count) {}

  [[nodiscard]] std::uint32_t bins() const { return static_cast<std::uint32_t>(bins_); }
  std::vector<float> take(std::uint64_t row_count) {
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ += row_count * bins_;
    return {first, values_.begin() + static_cast<std::ptrdiff_t>(taken_)};
  }

 private:
  std::vector<float> values_;
  std::size_t bins_;
  std::size_t taken_ = 0;
};

}  // namespace

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const Row& row : read_table(kFolder + "recipes.tsv")) names.push_back(row[0]);
  return names;
}

GoldenRecipe golden_recipe(const std::string& name) {
  GoldenRecipe recipe{.name = name, .recipe = name, .settings = {}};
  for (const Row& row : read_table(kTests + "parity/variants.tsv")) {
    if (row[0] != name) continue;
    recipe.recipe = row[1];
    std::istringstream settings(row[2]);
    for (std::string setting; settings >> setting;) {
      const std::size_t norms = setting.find("{norms}");
      if (norms != std::string::npos) setting.replace(norms, 7, kFolder + "xtts_norms.txt");
      recipe.settings.push_back(setting);
    }
  }
  for (const Row& row : read_table(kFolder + "recipes.tsv")) {
    if (row[0] != name) continue;
    recipe.rate_hz = static_cast<std::uint32_t>(std::stoul(row[1]));
    recipe.natural_log_units = std::stod(row[2]);
  }
  if (recipe.rate_hz == 0) ADD_FAILURE() << "no golden recipe " << name;
  return recipe;
}

std::vector<GoldenCase> golden_cases(const GoldenRecipe& recipe) {
  std::vector<Row> rows = read_table(kFolder + "cases.tsv");
  std::erase_if(rows, [&recipe](const Row& row) { return row[0] != recipe.name; });
  std::uint64_t truth_rows = 0;
  std::uint64_t reference_rows = 0;
  for (const Row& row : rows) {
    truth_rows += std::stoull(row[3]);
    reference_rows += std::stoull(row[4]);
  }
  Rows truth(kFolder + recipe.name + ".truth.npy", truth_rows);
  Rows reference(kFolder + recipe.name + ".reference.npy", reference_rows);
  const Inputs inputs;
  std::vector<GoldenCase> cases;
  for (const Row& row : rows) {
    cases.push_back({.input = row[1],
                     .samples = inputs.samples(row[1], recipe.rate_hz),
                     .frames = frames_of(row[2]),
                     .truth = truth.take(std::stoull(row[3])),
                     .reference = reference.take(std::stoull(row[4])),
                     .bins = truth.bins()});
  }
  if (cases.empty()) ADD_FAILURE() << "no golden case of " << recipe.name;
  return cases;
}

std::vector<GoldenFrames> golden_frames(const std::string& name) {
  std::vector<GoldenFrames> ranges;
  for (const Row& row : read_table(kFolder + "frames.tsv")) {
    if (row[0] == name)
      ranges.push_back({std::stoull(row[1]), std::stoull(row[2]), frames_of(row[3])});
  }
  if (ranges.empty()) ADD_FAILURE() << "no frame counts of " << name;
  return ranges;
}

double worst_difference(std::span<const float> features, std::span<const float> expected,
                        const GoldenRecipe& recipe, const GoldenCase& golden) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!golden.frames || features.size() != *golden.frames * golden.bins ||
      expected.size() > features.size())
    return kInfinite;
  if (expected.empty()) return features.empty() ? 0.0 : kInfinite;
  const std::size_t last_row = expected.size() - golden.bins;
  double worst = 0.0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::size_t at = i < expected.size() ? i : last_row + i % golden.bins;
    const double value = static_cast<double>(expected[at]);
    const double apart = std::abs(static_cast<double>(features[i]) - value);
    const double unit = recipe.natural_log_units;
    const double judged = unit > 0.0 ? apart * unit : apart / std::max(1.0, std::abs(value));
    if (!(judged <= worst)) worst = judged;  // a NaN stays one
  }
  return worst;
}

}  // namespace xtts::testing
