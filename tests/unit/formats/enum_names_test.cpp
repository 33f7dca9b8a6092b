#include "formats/enum_names.hpp"

#include <gtest/gtest.h>

#include <set>

namespace xtts::formats {
namespace {

template <typename Enum>
class EnumNames : public testing::Test {};

using Enums = testing::Types<ChannelMix, TrimMethod, LoudnessMethod, WindowKind, WindowSymmetry,
                             Framing, PadMode, SpectrumKind, MelScale, MelNorm, LogBase, LogFloor,
                             NormalizeMethod, TooLong, Precision, TokenKind, LongText,
                             UnknownCharacter, SplitBy, Layout, StoreKind>;
TYPED_TEST_SUITE(EnumNames, Enums);

TYPED_TEST(EnumNames, EveryEnumeratorHasItsOwnNameAndComesBackFromIt) {
  std::set<std::string_view> names;
  for (const auto& [value, name] : enum_names(TypeParam{})) {
    EXPECT_EQ(name_of(value), name);
    EXPECT_EQ(parse_enum<TypeParam>(name), value);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(parse_enum<TypeParam>("no such name"), std::nullopt);
  EXPECT_EQ(parse_enum<TypeParam>(""), std::nullopt);
}

}  // namespace
}  // namespace xtts::formats
