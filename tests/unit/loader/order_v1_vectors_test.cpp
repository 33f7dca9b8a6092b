// Compares Order v1 with vectors that an independent implementation made.
// tests/golden/order-v1/order_v1.py explains their lines.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "loader/bijection.hpp"
#include "loader/bucket_steps.hpp"
#include "loader/epoch_order.hpp"
#include "loader/epoch_sequence.hpp"
#include "loader/steps.hpp"
#include "loader/weighted_draws.hpp"

namespace xtts::loader {
namespace {

using Numbers = std::vector<std::uint64_t>;

const std::map<std::string, Shuffle> kShuffles = {
    {"none", Shuffle::kNone}, {"global", Shuffle::kGlobal}, {"window", Shuffle::kWindow}};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::uint64_t number(const std::string& text) {
  return std::stoull(text);
}
std::uint64_t hexadecimal(const std::string& text) {
  return std::stoull(text, nullptr, 16);
}

Numbers numbers(const std::string& text) {
  Numbers list;
  for (const std::string& part : split(text, ',')) list.push_back(number(part));
  return list;
}

std::vector<double> weights(const std::string& text) {
  std::vector<double> list;
  // std::stod would refuse numbers below the smallest normal one.
  for (const std::string& part : split(text, ','))
    list.push_back(std::strtod(part.c_str(), nullptr));
  return list;
}

void append_pair(std::uint64_t first, std::uint64_t second, std::string& list) {
  if (!list.empty()) list += ',';
  list += std::to_string(first) + ":" + std::to_string(second);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(std::string(XTTS_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A line of vectors.tsv; a list at its end may be empty.
struct Vector {
  std::string line;
  std::vector<std::string> columns;

  const std::string& operator[](std::size_t i) const {
    static const std::string kNothing;
    return i < columns.size() ? columns[i] : kNothing;
  }
};

std::vector<Vector> vectors() {
  std::vector<Vector> list;
  for (const std::string& line : lines_of("tests/golden/order-v1/vectors.tsv"))
    list.push_back({line, split(line, '\t')});
  return list;
}

void for_each(std::string_view kind, std::size_t expected_count,
              const std::function<void(const Vector&)>& check_vector) {
  std::size_t count = 0;
  for (const Vector& vector : vectors()) {
    if (vector[0] != kind) continue;
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, vector.line);
    check_vector(vector);
    ++count;
  }
  EXPECT_EQ(count, expected_count) << kind;
}

EpochOrderOptions order_options(const Vector& vector, std::size_t column) {
  return {.sample_count = number(vector[column]),
          .shuffle = Shuffle::kWindow,
          .seed = number(vector[column + 1]),
          .epoch = number(vector[column + 2]),
          .stretch_samples = number(vector[column + 3]),
          .stretches_per_window = number(vector[column + 4])};
}

TEST(OrderV1, MixesAsTheVectorsSay) {
  for_each("mix", 5, [](const Vector& v) { EXPECT_EQ(mix(hexadecimal(v[1])), hexadecimal(v[2])); });
}

TEST(OrderV1, MakesTheKeysOfTheVectors) {
  for_each("key", 6, [](const Vector& v) {
    EXPECT_EQ(extend_key(epoch_key(number(v[1]), number(v[2])), number(v[3])), hexadecimal(v[4]));
  });
}

TEST(OrderV1, PermutesAsTheVectorsSay) {
  for_each("bijection", 34, [](const Vector& v) {
    const Bijection bijection(number(v[1]), hexadecimal(v[2]));
    Numbers after;
    for (const std::uint64_t x : numbers(v[3])) after.push_back(bijection.forward(x));
    EXPECT_EQ(after, numbers(v[4]));
    for (std::uint64_t& x : after) x = bijection.inverse(x);
    EXPECT_EQ(after, numbers(v[3]));
  });
}

TEST(OrderV1, OrdersAsTheVectorsSay) {
  for_each("order", 18, [](const Vector& v) {
    EpochOrderOptions options = order_options(v, 2);
    options.shuffle = kShuffles.at(v[1]);
    const EpochOrder order(options);
    Numbers samples;
    for (const std::uint64_t place : numbers(v[7])) samples.push_back(order.sample_at(place));
    EXPECT_EQ(samples, numbers(v[8]));
  });
}

TEST(OrderV1, CutsTheWindowsOfTheVectors) {
  for_each("window", 14, [](const Vector& v) {
    const EpochOrder order(order_options(v, 1));
    const std::uint64_t w = number(v[6]);
    EXPECT_EQ(order.window(w), (Window{number(v[7]), number(v[8])}));
    std::string stretches;
    for (const SampleRange& range : order.stretches_of(w))
      append_pair(range.first_sample, range.sample_count, stretches);
    EXPECT_EQ(stretches, v[9]);
  });
}

TEST(OrderV1, CutsTheStepsOfTheVectors) {
  for_each("steps", 16, [](const Vector& v) {
    const Steps steps{.sample_count = number(v[1]),
                      .first_place = number(v[2]),
                      .batch_size = static_cast<std::uint32_t>(number(v[3])),
                      .world_size = static_cast<std::uint32_t>(number(v[4])),
                      .last = v[5] == "pad" ? LastBatch::kPad : LastBatch::kDrop};
    ASSERT_EQ(steps.step_count(), number(v[6]));
    std::string places;
    for (std::uint64_t step = 0; step < steps.step_count(); ++step) {
      for (std::uint32_t rank = 0; rank < steps.world_size; ++rank) {
        const PlaceRange range = steps.places_of(step, rank);
        append_pair(range.first, range.count, places);
      }
    }
    EXPECT_EQ(places, v[7]);
  });
}

TEST(OrderV1, SharesDrawsAsTheVectorsSay) {
  for_each("shares", 9, [](const Vector& v) {
    const auto shares = share_draws(numbers(v[1]), weights(v[2]), number(v[3]));
    ASSERT_TRUE(shares.ok()) << shares.status().message();
    EXPECT_EQ(*shares, numbers(v[4]));
  });
}

TEST(OrderV1, DrawsAsTheVectorsSay) {
  for_each("draws", 5, [](const Vector& v) {
    const Numbers counts = numbers(v[1]);
    const std::vector<double> group_weights = weights(v[2]);
    const std::uint64_t seed = number(v[4]);
    const std::uint64_t epoch = number(v[5]);
    const auto draws = WeightedDraws::make({.sample_counts = counts,
                                            .weights = group_weights,
                                            .draw_count = number(v[3]),
                                            .seed = seed,
                                            .epoch = epoch});
    ASSERT_TRUE(draws.ok()) << draws.status().message();
    const EpochOrder order({.sample_count = draws->draw_count(),
                            .shuffle = Shuffle::kGlobal,
                            .seed = seed,
                            .epoch = epoch});
    std::string sequence;
    for (std::uint64_t place = 0; place < draws->draw_count(); ++place) {
      const Draw draw = draws->draw(order.sample_at(place));
      append_pair(draw.group, draw.index, sequence);
    }
    EXPECT_EQ(sequence, v[6]);
  });
}

TEST(OrderV1, CutsTheStepsOfBucketsAsTheVectorsSay) {
  const Selection all;
  for_each("buckets", 7, [&](const Vector& v) {
    std::vector<std::uint8_t> bucket_of_sample;
    for (const std::uint64_t bucket : numbers(v[6])) {
      bucket_of_sample.push_back(static_cast<std::uint8_t>(bucket));
    }
    const EpochSequence sequence(all, nullptr,
                                 {.sample_count = bucket_of_sample.size(),
                                  .shuffle = kShuffles.at(v[1]),
                                  .seed = number(v[2]),
                                  .epoch = number(v[3]),
                                  .stretch_samples = number(v[4]),
                                  .stretches_per_window = number(v[5])});
    BucketStepsOptions options{.batch_sizes = {},
                               .consumed = numbers(v[8]),
                               .world_size = static_cast<std::uint32_t>(number(v[9])),
                               .last = v[10] == "pad" ? LastBatch::kPad : LastBatch::kDrop};
    for (const std::uint64_t size : numbers(v[7])) {
      options.batch_sizes.push_back(static_cast<std::uint32_t>(size));
    }
    const BucketSteps steps(sequence, bucket_of_sample, options);
    std::string sizes;
    Numbers places;
    for (std::uint64_t step = 0; step < steps.step_count(); ++step) {
      for (std::uint32_t rank = 0; rank < options.world_size; ++rank) {
        const auto part = steps.places_of(step, rank);
        append_pair(steps.bucket_of(step), part.size(), sizes);
        places.insert(places.end(), part.begin(), part.end());
      }
    }
    EXPECT_EQ(sizes, v[11]);
    EXPECT_EQ(places, numbers(v[12]));
  });
}

TEST(OrderV1, ChoosesCropsAsTheVectorsSay) {
  for_each("crop", 6, [](const Vector& v) {
    EXPECT_EQ(crop_choice(number(v[1]), number(v[2]), number(v[3]),
                          static_cast<std::uint32_t>(number(v[4]))),
              number(v[5]));
  });
}

// The note shows lines of the file with two spaces for a tab.
TEST(OrderV1, ShowsInItsNoteWhatTheVectorsSay) {
  std::set<std::string> known;
  for (const Vector& vector : vectors()) {
    std::string shown = "   ";
    for (const std::string& column : vector.columns)
      shown += (shown == "   " ? " " : "  ") + column;
    known.insert(shown);
  }
  std::size_t count = 0;
  bool in_vectors = false;
  for (const std::string& line : lines_of("formats/order-v1.md")) {
    if (line.starts_with("## ")) in_vectors = line.find("Test vectors") != std::string::npos;
    if (!in_vectors || !line.starts_with("    ")) continue;
    EXPECT_TRUE(known.contains(line)) << line;
    ++count;
  }
  EXPECT_GE(count, 15U);
}

}  // namespace
}  // namespace xtts::loader
