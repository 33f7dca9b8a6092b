#include "pipeline/oddities.hpp"

#include <gtest/gtest.h>

namespace xtts::pipeline {
namespace {

using Lines = std::vector<std::string>;

formats::RecordFacts plain() {
  formats::RecordFacts facts;
  facts.source_rate_hz = 22050;
  facts.source_channel_count = std::uint16_t{2};
  facts.source_frame_count = 44100;
  facts.clipped_sample_count = 0;
  facts.peak = 0.5F;
  return facts;
}

TEST(Oddities, OfOrdinarySpeechAreNone) {
  EXPECT_EQ(oddities_of(plain()), Lines());
}

TEST(Oddities, NameWhatIsStrange) {
  auto facts = plain();
  facts.source_frame_count = 220;
  EXPECT_EQ(oddities_of(facts), Lines{"very short: 9.98 ms"});
  facts = plain();
  facts.peak = 0.00009F;
  EXPECT_EQ(oddities_of(facts), Lines{"silent"});
  facts = plain();
  facts.clipped_sample_count = 882;
  EXPECT_EQ(oddities_of(facts), Lines{"clipped: 1.00 % of its samples"});
  facts = plain();
  facts.source_rate_hz = 1234;
  EXPECT_EQ(oddities_of(facts), Lines{"low sample rate: 1234 Hz"});
}

TEST(Oddities, AFewFullScaleSamplesAreNotClipping) {
  auto facts = plain();
  facts.clipped_sample_count = 88;
  EXPECT_EQ(oddities_of(facts), Lines());
}

// A part of a source does not state clipped samples.
TEST(Oddities, WhatIsNotKnownIsNotOdd) {
  EXPECT_EQ(oddities_of({}), Lines());
}

}  // namespace
}  // namespace xtts::pipeline
