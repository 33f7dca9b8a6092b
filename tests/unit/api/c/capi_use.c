#include "capi_use.h"

#include <stdio.h>
#include <string.h>

#include "xtts/xtts.h"

#define REQUIRE(condition)                                               \
  do {                                                                   \
    if (!(condition)) {                                                  \
      snprintf(message, 2048, "%s: %.1500s", #condition, error.message); \
      return __LINE__;                                                   \
    }                                                                    \
  } while (0)

static void add_batch(const xtts_batch* batch, struct capi_sums* sums) {
  const xtts_batch_column* mel = xtts_batch_find(batch, "mel");
  const xtts_batch_column* tokens = xtts_batch_find(batch, "tokens");
  const float* floats = mel->data;
  const int32_t* ints = tokens->data;
  const int64_t frames = mel->shape[1];
  const int64_t channels = mel->shape[2];
  for (uint32_t row = 0; row < batch->valid_count; ++row) {
    const float* record = floats + (int64_t)row * frames * channels;
    for (int64_t i = 0; i < mel->lengths[row] * channels; ++i) sums->mel_sum += (double)record[i];
    for (int32_t i = 0; i < tokens->lengths[row]; ++i) {
      sums->token_sum += ints[(int64_t)row * tokens->shape[1] + i];
    }
  }
  sums->sample_count += batch->valid_count;
}

int sum_from_c(const char* folder, struct capi_sums* sums, char message[2048]) {
  xtts_error error = {0, ""};
  xtts_cache* cache = NULL;
  xtts_reader* reader = NULL;
  xtts_reader_options options;
  xtts_batch batch;
  xtts_batch kept;
  memset(sums, 0, sizeof *sums);

  REQUIRE(xtts_cache_open(folder, &cache, &error) == XTTS_OK);
  xtts_reader_options_init(&options, sizeof options);
  options.batch_size = 4;
  options.last_batch = XTTS_LAST_PAD;
  REQUIRE(xtts_reader_open(cache, &options, &reader, &error) == XTTS_OK);
  REQUIRE(xtts_reader_sample_count(reader) == xtts_cache_size(cache));
  for (;;) {
    REQUIRE(xtts_reader_next(reader, &batch, &error) == XTTS_OK);
    if (batch.release == NULL) break;
    add_batch(&batch, sums);
    batch.release(&batch);
    REQUIRE(batch.release == NULL);
  }
  REQUIRE(xtts_reader_set_epoch(reader, 1, &error) == XTTS_OK);
  REQUIRE(xtts_reader_next(reader, &kept, &error) == XTTS_OK);
  xtts_reader_close(reader);
  xtts_cache_close(cache);
  sums->held_count = kept.valid_count;
  kept.release(&kept);
  return 0;
}
