/* What capi_use.c does, for the test that calls it. */
#ifndef XTTS_TESTS_CAPI_USE_H
#define XTTS_TESTS_CAPI_USE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Goes once through the cache in the folder, from C. */
struct capi_sums {
  uint64_t sample_count;
  double mel_sum;      /* of true frames */
  int64_t token_sum;   /* of true tokens */
  uint64_t held_count; /* of the batch that was kept until cache and reader were closed */
};

/* 0, or the line of capi_use.c where something was not as it must be, with `message`. */
int sum_from_c(const char* folder, struct capi_sums* sums, char message[2048]);

#ifdef __cplusplus
}
#endif

#endif
