/* The C interface of libxtts_reader.so: caches, records, batches. Plain C99, nothing but the C
 * library.
 *
 *   xtts_error error;
 *   xtts_cache* cache = NULL;
 *   if (xtts_cache_open("./cache", &cache, &error) != XTTS_OK) return report(error.message);
 *   xtts_reader_options options;
 *   xtts_reader_options_init(&options, sizeof options);
 *   options.batch_size = 32;
 *   options.split = "train";
 *   xtts_reader* reader = NULL;
 *   if (xtts_reader_open(cache, &options, &reader, &error) != XTTS_OK) ...
 *   for (;;) {
 *     xtts_batch batch;
 *     if (xtts_reader_next(reader, &batch, &error) != XTTS_OK) ...
 *     if (batch.release == NULL) break;          // the epoch is at its end
 *     train(xtts_batch_find(&batch, "mel"));
 *     batch.release(&batch);                     // gives the slot back
 *   }
 *   xtts_reader_close(reader);
 *   xtts_cache_close(cache);
 *
 * Ownership: what a call gives is the caller's, and goes by its close function, or by its own
 * `release`, which sets `release` to NULL; NULL there means that nothing is held. Batches, records
 * and statistics may outlive reader and cache; whoever copies such a struct moves it. Strings are
 * UTF-8 and end in 0; those that a call gives live as long as the thing they came with.
 *
 * Failures: every call that can fail returns a code and, where `error` is not NULL, says in it what
 * happened and what to do (UTF-8, cut between two characters where it is too long). NULL for what
 * has to be there is XTTS_INVALID_ARGUMENT; calls that return no code give 0 or NULL for it.
 * Nothing prints, exits, throws, or dies of a damaged file, but for one case: a batch column that
 * is a view (is_view) lies in the file, and a file that is cut while it is used raises SIGBUS in
 * the user's own reading of it. Threads: a cache is shared freely; a reader belongs to one thread
 * at a time, but xtts_reader_interrupt and the two calls for its statistics, which any thread may
 * make beside it; batches and records may be read and released in any. A thread that is cancelled
 * (pthread_cancel) is not while it is in a call. After a fork() the child opens its own.
 *
 * Values and functions of this header never change their meaning. Structs with struct_bytes may
 * grow at their end, and it tells the library which one it was given: fields that a library does
 * not know have to be 0, else the call is refused. What is added fills multiples of 8 bytes: an
 * int32_t comes with a reserved one. All other structs are fixed for this version of the library's
 * ABI, the number in its file name. */
#ifndef XTTS_XTTS_H
#define XTTS_XTTS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define XTTS_C_API __attribute__((visibility("default")))
#else
#define XTTS_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What the caller does next; as xtts::StatusCode. */
typedef int32_t xtts_code;
enum {
  XTTS_OK = 0,
  XTTS_INVALID_ARGUMENT = 1, /* fix the call */
  XTTS_NOT_FOUND = 2,        /* ask for something that exists */
  XTTS_SOURCE_IO = 4,        /* the disk cannot read these bytes */
  XTTS_CORRUPT = 5,          /* the cache is damaged: xtts-precompute verify */
  XTTS_UNSUPPORTED = 6,      /* a newer format, or a part that this build lacks */
  XTTS_MISMATCH = 7,         /* another generation, or another selection */
  XTTS_BUSY = 8,             /* all batch slots are held */
  XTTS_RESOURCE = 9,         /* memory, threads or I/O */
  XTTS_CANCELLED = 11,       /* interrupted, or the time limit is over: call again */
  XTTS_INTERNAL = 12         /* a defect of ours */
};

typedef struct xtts_error {
  xtts_code code;
  char message[2044]; /* cut where it is longer */
} xtts_error;

/* As they lie on disk. */
enum {
  XTTS_FLOAT32 = 1,
  XTTS_FLOAT16 = 2,
  XTTS_BFLOAT16 = 3,
  XTTS_INT32 = 4,
  XTTS_INT16 = 5,
  XTTS_UINT8 = 6,
  XTTS_INT64 = 7
};

enum { XTTS_DIMENSIONS_MAX = 5 };

typedef struct xtts_cache xtts_cache;
typedef struct xtts_reader xtts_reader;

/* "0.1.0" */
XTTS_C_API const char* xtts_version(void);

/* ---- A cache: one published generation, kept readable while it is open. ---- */

XTTS_C_API xtts_code xtts_cache_open(const char* path, xtts_cache** out, xtts_error* error);
/* Several as one: the clips of the first, then those of the second, and so on. XTTS_MISMATCH where
 * they do not go together. */
XTTS_C_API xtts_code xtts_caches_open(const char* const* paths, size_t path_count, xtts_cache** out,
                                      xtts_error* error);
XTTS_C_API void xtts_cache_close(xtts_cache* cache); /* NULL is fine */
XTTS_C_API uint64_t xtts_cache_size(const xtts_cache* cache);
XTTS_C_API const char* xtts_cache_recipe(const xtts_cache* cache);
/* How often the (first) cache has been published. */
XTTS_C_API uint64_t xtts_cache_generation(const xtts_cache* cache);
/* 32 hexadecimal digits: which generation of which caches. */
XTTS_C_API const char* xtts_cache_digest(const xtts_cache* cache);

/* Names, by the numbers that batches carry: 0 to count - 1. NULL where there is no such number. */
XTTS_C_API size_t xtts_cache_speaker_count(const xtts_cache* cache);
XTTS_C_API const char* xtts_cache_speaker(const xtts_cache* cache, size_t number);
XTTS_C_API size_t xtts_cache_language_count(const xtts_cache* cache);
XTTS_C_API const char* xtts_cache_language(const xtts_cache* cache, size_t number);

/* What a cache holds of every clip; as xtts::ColumnInfo. Its strings live as long as the cache. */
typedef struct xtts_column_info {
  const char* name;
  int32_t dtype;
  int32_t dimension_count;
  int64_t shape[XTTS_DIMENSIONS_MAX]; /* of a padded record; axis 0 has the true length */
  const char* axis;                   /* frames, tokens, own, fixed */
  const char* version;                /* of a column that was added; else empty */
  uint64_t missing_count;             /* clips without a record in an added column */
  uint32_t rows_per_frame;            /* 0: another axis */
  int32_t is_added;
} xtts_column_info;

XTTS_C_API size_t xtts_cache_column_count(const xtts_cache* cache);
/* XTTS_NOT_FOUND beyond the last. */
XTTS_C_API xtts_code xtts_cache_column(const xtts_cache* cache, size_t index, xtts_column_info* out,
                                       xtts_error* error);

/* What is known of a clip beside its numbers. Empty where it is not known, never NULL. */
typedef struct xtts_clip {
  const char* id;
  const char* dataset;
  const char* split;
  const char* speaker;
  const char* language;
  const char* text; /* as its list has it */
  const char* text_normalized;
  double duration_s; /* of the features */
  uint32_t frame_count;
  uint32_t token_count;
  void (*release)(struct xtts_clip* clip);
  void* private_data;
} xtts_clip;

XTTS_C_API xtts_code xtts_cache_clip(const xtts_cache* cache, uint64_t position, xtts_clip* out,
                                     xtts_error* error);
/* The position of a clip by its id, "id" or "data set/id"; XTTS_NOT_FOUND. */
XTTS_C_API xtts_code xtts_cache_find(const xtts_cache* cache, const char* id, uint64_t* position,
                                     xtts_error* error);
/* The id of a position, into `out`, cut to `out_bytes` with its 0; the whole length into `length`,
 * which may be NULL. */
XTTS_C_API xtts_code xtts_cache_id(const xtts_cache* cache, uint64_t position, char* out,
                                   size_t out_bytes, size_t* length, xtts_error* error);

/* Mean and deviation of each channel of a column, as xtts::Cache::statistics(). */
typedef struct xtts_statistics {
  const double* means;
  const double* deviations;
  size_t channel_count;
  uint64_t frame_count;
  int32_t is_baked; /* the cache's numbers are normalized by them already */
  int32_t reserved;
  void (*release)(struct xtts_statistics* statistics);
  void* private_data;
} xtts_statistics;

/* XTTS_NOT_FOUND where the cache has none for this column, XTTS_MISMATCH where several caches have
 * each its own. */
XTTS_C_API xtts_code xtts_cache_statistics(const xtts_cache* cache, const char* column,
                                           xtts_statistics* out, xtts_error* error);

/* One column of one clip, verified: its true rows, C order, little-endian. */
typedef struct xtts_record {
  int32_t dtype;
  int32_t dimension_count;
  int64_t shape[XTTS_DIMENSIONS_MAX]; /* [true length, rest of the column's shape] */
  const void* data;
  size_t data_bytes;
  void (*release)(struct xtts_record* record);
  void* private_data;
} xtts_record;

XTTS_C_API xtts_code xtts_cache_read(const xtts_cache* cache, const char* column, uint64_t position,
                                     xtts_record* out, xtts_error* error);
/* The same without a copy, where the file can be mapped: `data` lies in the cache, which it keeps
 * open. A file that is cut meanwhile raises SIGBUS in the user's own reading of it. */
XTTS_C_API xtts_code xtts_cache_view(const xtts_cache* cache, const char* column, uint64_t position,
                                     xtts_record* out, xtts_error* error);

/* ---- A reader: batches of fixed shape, filled ahead by its threads. ---- */

enum { XTTS_SHUFFLE_NONE = 0, XTTS_SHUFFLE_GLOBAL = 1, XTTS_SHUFFLE_WINDOW = 2 };
enum { XTTS_LAST_DROP = 0, XTTS_LAST_PAD = 1 };
enum {
  XTTS_WEIGHT_NONE = 0,
  XTTS_WEIGHT_BY_LANGUAGE = 1,
  XTTS_WEIGHT_BY_SPEAKER = 2,
  XTTS_WEIGHT_BY_DATASET = 3
};
enum { XTTS_READING_AUTO = 0, XTTS_READING_MAPPED = 1, XTTS_READING_DIRECT = 2 };
enum { XTTS_DAMAGE_RAISE = 0, XTTS_DAMAGE_SKIP = 1, XTTS_DAMAGE_IGNORE = 2 };

typedef struct xtts_column_request {
  const char* name;
  int32_t dtype;         /* 0: as stored; else another float type than stored */
  int32_t has_pad_value; /* 0: each record's own fill value */
  double pad_value;
} xtts_column_request;

/* What becomes of the true rows of a float column, as xtts::Normalize in batch.hpp. */
enum { XTTS_NORMALIZE_NONE = 0, XTTS_NORMALIZE_CORPUS = 1, XTTS_NORMALIZE_GIVEN = 2 };

typedef struct xtts_normalize {
  const char* column; /* one of xtts_reader_options.columns */
  int32_t method;
  int32_t reserved;
  const double* means; /* XTTS_NORMALIZE_GIVEN: one a channel, else NULL */
  const double* deviations;
  size_t channel_count;
} xtts_normalize;

typedef struct xtts_bucket {
  uint32_t batch_size; /* of one rank */
  uint32_t frames_max; /* 0: as long as the cache has them */
  uint32_t tokens_max;
} xtts_bucket;

/* Called on the thread that is in xtts_reader_open or xtts_reader_next. `text` lives for the call.
 */
enum { XTTS_LOG_INFO = 0, XTTS_LOG_NOTICE = 1, XTTS_LOG_WARNING = 2 };
typedef void (*xtts_log)(void* context, int32_t level, const char* text);

/* What each means stands in batch.hpp, ReaderOptions, under the same name. A list is NULL or has
 * entries. Strings and lists are
 * read during xtts_reader_open and may go after it; NULL is empty. */
typedef struct xtts_reader_options {
  size_t struct_bytes;
  uint32_t batch_size;
  int32_t shuffle;
  const char* split;
  const char* where;
  const char* const* ids;
  size_t id_count;
  const char* const* exclude;
  size_t exclude_count;
  const xtts_column_request* columns; /* none: all, as stored */
  size_t column_count;
  uint64_t seed;
  uint32_t rank;
  uint32_t world_size;
  int32_t last_batch;
  int32_t verify_records;
  int32_t on_damage;
  uint32_t slot_count;
  uint32_t thread_count;
  int32_t lock_memory;
  const char* device;
  uint64_t stretch_samples;
  uint64_t stretches_per_window;
  int32_t weight_by; /* XTTS_WEIGHT_NONE: every clip once */
  int32_t reserved;
  double temperature;
  uint64_t draw_count;
  const xtts_bucket* buckets; /* NULL: batches of batch_size; at most 32 */
  size_t bucket_count;
  uint32_t crop_frames;            /* 0: whole clips */
  int32_t reading;                 /* XTTS_READING_AUTO */
  const xtts_normalize* normalize; /* NULL: all columns as stored */
  size_t normalize_count;
  double max_damage; /* XTTS_DAMAGE_SKIP: the share of an epoch that may be left out, 0 to 1 */
  xtts_log log;      /* NULL: nothing is told */
  void* log_context; /* handed to it */
} xtts_reader_options;

/* The defaults. `struct_bytes`: sizeof(xtts_reader_options). NULL is left alone. */
XTTS_C_API void xtts_reader_options_init(xtts_reader_options* options, size_t struct_bytes);

enum { XTTS_DEVICE_CPU = 1, XTTS_DEVICE_CUDA = 2 };

typedef struct xtts_batch_column {
  const char* name;
  int32_t dtype;
  int32_t dimension_count;
  int64_t shape[XTTS_DIMENSIONS_MAX]; /* [batch, frames, mels] */
  const void* data;
  size_t data_bytes;
  const int32_t* lengths; /* [batch]: true length of axis 1; 0 for rows without a clip */
  int32_t is_view;        /* the cache's own memory, not a copy */
  int32_t device_kind;    /* whose memory `data` is, in DLPack's numbers: XTTS_DEVICE_CPU */
  int32_t device_number;
  int32_t reserved;
} xtts_batch_column;

typedef struct xtts_batch {
  uint32_t size;
  uint32_t valid_count; /* rows that hold a clip; they come first */
  uint32_t bucket;      /* which of xtts_reader_options.buckets */
  uint32_t reserved;
  size_t column_count;
  const xtts_batch_column* columns;
  const int32_t* speakers; /* [size]; -1: unknown, or no clip */
  const int32_t* languages;
  const uint64_t* positions; /* [valid_count], in the cache */
  void (*release)(struct xtts_batch* batch);
  void* private_data;
} xtts_batch;

/* Returns when `data` of all columns may be read; at once on the CPU. What is no `data` may be read
 * in any case, by the host. */
XTTS_C_API xtts_code xtts_batch_wait(const xtts_batch* batch, xtts_error* error);
/* Returns at once: what this stream of the device is given from now on runs when the columns may be
 * read, and the batch's memory is not written again before all is done that the stream was given
 * until `release`. `stream` is its handle as DLPack has it; the CPU has none and waits for nothing.
 */
XTTS_C_API xtts_code xtts_batch_let_wait(const xtts_batch* batch, uintptr_t stream,
                                         xtts_error* error);

/* NULL where there is no such column. */
XTTS_C_API const xtts_batch_column* xtts_batch_find(const xtts_batch* batch, const char* name);

XTTS_C_API xtts_code xtts_reader_open(const xtts_cache* cache, const xtts_reader_options* options,
                                      xtts_reader** out, xtts_error* error);
XTTS_C_API void xtts_reader_close(xtts_reader* reader); /* NULL is fine */
XTTS_C_API uint64_t xtts_reader_sample_count(const xtts_reader* reader);
XTTS_C_API uint64_t xtts_reader_batches_per_epoch(const xtts_reader* reader);
XTTS_C_API uint64_t xtts_reader_epoch(const xtts_reader* reader);
XTTS_C_API xtts_code xtts_reader_set_epoch(xtts_reader* reader, uint64_t epoch, xtts_error* error);
/* `release` is NULL in a batch at the epoch's end. */
XTTS_C_API xtts_code xtts_reader_next(xtts_reader* reader, xtts_batch* out, xtts_error* error);
/* XTTS_CANCELLED where the batch is not there within so many milliseconds: it comes with a later
 * call. */
XTTS_C_API xtts_code xtts_reader_next_within(xtts_reader* reader, uint32_t limit_ms,
                                             xtts_batch* out, xtts_error* error);
/* From any thread: the call for a batch that runs, or else the next one, ends with XTTS_CANCELLED,
 * and the reader stays where it is. */
XTTS_C_API void xtts_reader_interrupt(xtts_reader* reader);

enum { XTTS_BUCKETS_MAX = 32 };

/* Where a reader stands, to be kept as these bytes with a model's checkpoint. */
typedef struct xtts_reader_state {
  uint32_t order_version;
  uint32_t bucket_count;
  uint64_t seed;
  uint64_t epoch;
  uint64_t samples_consumed;
  uint64_t bucket_samples_consumed[XTTS_BUCKETS_MAX];
  char cache[40];
  char selection[40];
} xtts_reader_state;

XTTS_C_API xtts_code xtts_reader_get_state(const xtts_reader* reader, xtts_reader_state* out,
                                           xtts_error* error);
/* Goes on behind what the state's reader had consumed. The state's seed takes the place of the
 * reader's. */
XTTS_C_API xtts_code xtts_reader_load_state(xtts_reader* reader, const xtts_reader_state* state,
                                            xtts_error* error);

typedef struct xtts_reader_stats {
  size_t struct_bytes; /* set by the caller */
  uint64_t batch_count;
  uint64_t sample_count;
  uint64_t bytes;
  uint64_t batches_in_place;
  double ms_mean;
  double ms_std;
  double ms_p50;
  double ms_p95;
  double ms_p99;
  double consumer_wait_s;
  double filler_wait_s;
  uint64_t check_failures;
  uint64_t cache_hits;           /* samples that were in memory when they were needed */
  uint64_t left_out_count;       /* clips that XTTS_DAMAGE_SKIP left out of batches */
  uint64_t epoch_left_out_count; /* of them, in the running epoch */
  uint64_t epoch_sample_count;   /* this rank's samples of an epoch */
} xtts_reader_stats;

XTTS_C_API xtts_code xtts_reader_get_stats(const xtts_reader* reader, xtts_reader_stats* out,
                                           xtts_error* error);

/* The same in words; never NULL. */
typedef struct xtts_reader_texts {
  const char* notice;  /* what the system did not grant, and what would suit the storage better */
  const char* storage; /* what the cache lies on */
  const char* reading; /* how it is read, and why */
  const char* const* failures; /* the first damaged clips */
  size_t failure_count;
  void (*release)(struct xtts_reader_texts* texts);
  void* private_data;
} xtts_reader_texts;

XTTS_C_API xtts_code xtts_reader_get_texts(const xtts_reader* reader, xtts_reader_texts* out,
                                           xtts_error* error);

#ifdef __cplusplus
}
#endif

#endif /* XTTS_XTTS_H */
