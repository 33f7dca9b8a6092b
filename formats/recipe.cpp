#include "formats/recipe.hpp"

#include "formats/feature_config.hpp"

namespace xtts::formats {

HeldFeatures::HeldFeatures() : config_(std::make_unique<FeatureConfig>()) {}

HeldFeatures::HeldFeatures(const HeldFeatures& other)
    : config_(std::make_unique<FeatureConfig>(*other)) {}

HeldFeatures& HeldFeatures::operator=(const HeldFeatures& other) {
  if (this != &other) *config_ = *other;
  return *this;
}

HeldFeatures::~HeldFeatures() = default;

}  // namespace xtts::formats
