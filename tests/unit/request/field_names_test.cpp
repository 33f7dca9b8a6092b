// Names of options in messages to callers in code.
#include "request/field_names.hpp"

#include <gtest/gtest.h>

namespace xtts::testing {
namespace {

using request::field_of;
using request::with_fields;

TEST(FieldNames, TakeTheirValuesWithThem) {
  EXPECT_EQ(with_fields("The same command with --max-dropped 41.7% makes the cache"),
            "The same call with max_dropped=\"41.7%\" makes the cache");
  EXPECT_EQ(with_fields("more than the 10 % that --max-dropped allows. Nothing"),
            "more than the 10 % that max_dropped allows. Nothing");
  EXPECT_EQ(with_fields("--layout-of-data folder takes the sound alone), or give --no-text"),
            "layout_of_data=\"folder\" takes the sound alone), or give no_text=True");
  EXPECT_EQ(with_fields("out of memory: run the same command with a lower --memory, or fewer"),
            "out of memory: run the same call with a lower memory, or fewer");
  EXPECT_EQ(with_fields("say where the sources are: --data DATA"),
            "say where the sources are: data=DATA");
}

TEST(FieldNames, OfListsTakeAllTheirValues) {
  EXPECT_EQ(with_fields("give --audio-root '/mnt/my disk' --audio-root /b"),
            "give audio_roots=[\"/mnt/my disk\", \"/b\"]");
  EXPECT_EQ(with_fields("--set features.max_frames=1397 keeps all"),
            "settings=[\"features.max_frames=1397\"] keeps all");
  EXPECT_EQ(with_fields("--set max_frames=0: must be 1 or more"),
            "settings=[\"max_frames=0\"]: must be 1 or more");
}

TEST(FieldNames, AreNotPutIntoCommands) {
  for (const char* const text : {"'xtts-precompute verify 'my cache' --repair' brings it back",
                                 "'xtts-precompute verify c --repair --data 'my data'' mends it",
                                 "build it anew with 'build DATA CACHE --overwrite'",
                                 "what helps:\n  xtts-precompute build d c --overwrite\n",
                                 "see ls --help", "pack it without --sparse", "a--set x=y"})
    EXPECT_EQ(with_fields(text), text);
  EXPECT_EQ(with_fields("'xtts-precompute verify c --repair' or --overwrite"),
            "'xtts-precompute verify c --repair' or overwrite=True");
}

TEST(FieldNames, OfFailuresKeepTheirCode) {
  const Status status = with_fields(Status(StatusCode::kBusy, "give --overwrite"));
  EXPECT_EQ(status.code(), StatusCode::kBusy);
  EXPECT_EQ(status.message(), "give overwrite=True");
  EXPECT_TRUE(with_fields(Status()).ok());
}

TEST(FieldNames, OfAFlagAlone) {
  EXPECT_EQ(field_of("max-rejects"), "max_rejects");
  EXPECT_EQ(field_of("audio-root"), "audio_roots");
  EXPECT_EQ(field_of("new-option"), "new_option");
}

}  // namespace
}  // namespace xtts::testing
