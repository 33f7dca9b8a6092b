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
 * Ownership: the caller owns every object that a call gives. It frees the object by its close
 * function, or by its own `release`, which sets `release` to NULL; NULL there means that nothing is
 * held. Batches, records and statistics may outlive reader and cache. Copying such a struct moves
 * it: release one copy only. Strings are UTF-8 and end in 0; they live as long as their object.
 *
 * Failures: every call that can fail returns a code. If `error` is not NULL, the call writes there
 * what happened and what to do (UTF-8, cut between two characters where it is too long). A required
 * argument that is NULL gives XTTS_INVALID_ARGUMENT; calls without a code then give 0 or NULL. The
 * library never prints, exits or throws, and a damaged file does not crash it. One exception: a
 * view (is_view, xtts_cache_view) lies in the file. If that file is truncated while the view is
 * used, the user's own read raises SIGBUS.
 *
 * Threads: all threads may share a cache. A reader belongs to one thread at a time, but any thread
 * may call xtts_reader_interrupt and the two calls for its statistics meanwhile. Any thread may
 * read and release batches and records. A call defers the cancellation of its thread
 * (pthread_cancel) until it returns. After a fork() the child opens its own cache and reader.
 *
 * Values and functions of this header never change their meaning. Structs with struct_bytes may
 * grow at their end; struct_bytes tells the library their size. Fields that a library does not know
 * have to be 0, else it refuses the call. New fields fill multiples of 8 bytes: an int32_t comes
 * with a reserved one. All other structs are fixed for this version of the library's ABI, the
 * number in its file name. */
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

/* The caller's next step; as xtts::StatusCode. */
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

/* Element types, with the values used on disk. */
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
/* Opens several caches as one: the clips of the first, then those of the second, and so on.
 * XTTS_MISMATCH: they do not go together. */
XTTS_C_API xtts_code xtts_caches_open(const char* const* paths, size_t path_count, xtts_cache** out,
                                      xtts_error* error);
XTTS_C_API void xtts_cache_close(xtts_cache* cache); /* NULL is fine */
XTTS_C_API uint64_t xtts_cache_size(const xtts_cache* cache);
XTTS_C_API const char* xtts_cache_recipe(const xtts_cache* cache);
/* The number of times that the (first) cache has been published. */
XTTS_C_API uint64_t xtts_cache_generation(const xtts_cache* cache);
/* 32 hexadecimal digits: identifies the caches and their generations. */
XTTS_C_API const char* xtts_cache_digest(const xtts_cache* cache);

/* Names, indexed by the numbers in batches: 0 to count - 1. NULL: no such number. */
XTTS_C_API size_t xtts_cache_speaker_count(const xtts_cache* cache);
XTTS_C_API const char* xtts_cache_speaker(const xtts_cache* cache, size_t number);
XTTS_C_API size_t xtts_cache_language_count(const xtts_cache* cache);
XTTS_C_API const char* xtts_cache_language(const xtts_cache* cache, size_t number);

/* A column of a cache; as xtts::ColumnInfo. Its strings live as long as the cache. */
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
/* XTTS_NOT_FOUND: `index` is beyond the last column. */
XTTS_C_API xtts_code xtts_cache_column(const xtts_cache* cache, size_t index, xtts_column_info* out,
                                       xtts_error* error);

/* The facts about a clip, apart from its records. Unknown texts are empty, never NULL. */
typedef struct xtts_clip {
  const char* id;
  const char* dataset;
  const char* split;
  const char* speaker;
  const char* language;
  const char* text; /* as in the clip's list */
  const char* text_normalized;
  double duration_s; /* of the features */
  uint32_t frame_count;
  uint32_t token_count;
  void (*release)(struct xtts_clip* clip);
  void* private_data;
} xtts_clip;

XTTS_C_API xtts_code xtts_cache_clip(const xtts_cache* cache, uint64_t position, xtts_clip* out,
                                     xtts_error* error);
/* Finds a clip's position by its id, "id" or "data set/id". XTTS_NOT_FOUND: no such clip. */
XTTS_C_API xtts_code xtts_cache_find(const xtts_cache* cache, const char* id, uint64_t* position,
                                     xtts_error* error);
/* Writes a clip's id into `out`, cut to `out_bytes` including its final 0, and the full length into
 * `length`, which may be NULL. */
XTTS_C_API xtts_code xtts_cache_id(const xtts_cache* cache, uint64_t position, char* out,
                                   size_t out_bytes, size_t* length, xtts_error* error);

/* Mean and deviation per channel of a column, as from xtts::Cache::statistics(). */
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

/* XTTS_NOT_FOUND: the cache has none for this column. XTTS_MISMATCH: several caches differ in
 * theirs. */
XTTS_C_API xtts_code xtts_cache_statistics(const xtts_cache* cache, const char* column,
                                           xtts_statistics* out, xtts_error* error);

/* One column of one clip, verified: its true rows, C order, little-endian. */
typedef struct xtts_record {
  int32_t dtype;
  int32_t dimension_count;
  int64_t shape[XTTS_DIMENSIONS_MAX]; /* [true length, rest of the column's shape] */
  const void* data;
  size_t data_bytes;
  double padding; /* the number behind the true rows in a batch: each record has its own */
  void (*release)(struct xtts_record* record);
  void* private_data;
} xtts_record;

XTTS_C_API xtts_code xtts_cache_read(const xtts_cache* cache, const char* column, uint64_t position,
                                     xtts_record* out, xtts_error* error);
/* xtts_cache_read without a copy, where the file can be mapped: `data` lies in the cache and keeps
 * it open. If the file is truncated meanwhile, the user's own read raises SIGBUS. */
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
  int32_t dtype;         /* 0: as stored; else another float type */
  int32_t has_pad_value; /* 0: each record's own fill value */
  double pad_value;
} xtts_column_request;

/* Normalization of a float column's true rows, as xtts::Normalize in batch.hpp. */
enum { XTTS_NORMALIZE_NONE = 0, XTTS_NORMALIZE_CORPUS = 1, XTTS_NORMALIZE_GIVEN = 2 };

typedef struct xtts_normalize {
  const char* column; /* one of xtts_reader_options.columns */
  int32_t method;
  int32_t reserved;
  const double* means; /* XTTS_NORMALIZE_GIVEN: one per channel, else NULL */
  const double* deviations;
  size_t channel_count;
} xtts_normalize;

typedef struct xtts_bucket {
  uint32_t batch_size; /* of one rank */
  uint32_t frames_max; /* 0: the cache's own length */
  uint32_t tokens_max;
} xtts_bucket;

/* As xtts::OnRange in batch.hpp. */
enum { XTTS_RANGE_RAISE = 0, XTTS_RANGE_CLIP = 1 };

/* Called on the thread that runs xtts_reader_open or xtts_reader_next. `text` lives for the call.
 */
enum { XTTS_LOG_INFO = 0, XTTS_LOG_NOTICE = 1, XTTS_LOG_WARNING = 2 };
typedef void (*xtts_log)(void* context, int32_t level, const char* text);

/* ReaderOptions in batch.hpp explains each field under the same name. A list is NULL or has
 * entries. The library reads strings and lists only during xtts_reader_open; NULL is empty. */
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
  xtts_log log;      /* NULL: no log */
  void* log_context; /* passed to `log` */
  uint64_t device_memory_bytes; /* 0: no limit */
  const char* data_device;      /* NULL: `device` itself */
  uint64_t data_device_memory_bytes;
  int32_t on_range; /* XTTS_RANGE_RAISE */
  int32_t reserved_2;
} xtts_reader_options;

/* Sets the defaults. `struct_bytes`: sizeof(xtts_reader_options). NULL is ignored. */
XTTS_C_API void xtts_reader_options_init(xtts_reader_options* options, size_t struct_bytes);

enum { XTTS_DEVICE_CPU = 1, XTTS_DEVICE_CUDA = 2 };

typedef struct xtts_batch_column {
  const char* name;
  int32_t dtype;
  int32_t dimension_count;
  int64_t shape[XTTS_DIMENSIONS_MAX]; /* [batch, frames, mels] */
  const void* data;
  size_t data_bytes;
  const int32_t* lengths; /* [batch]: true lengths of axis 1; 0 for rows without a clip */
  int32_t is_view;        /* the cache's own memory, not a copy */
  int32_t device_kind;    /* the device of `data`, in DLPack's numbers: XTTS_DEVICE_CPU */
  int32_t device_number;
  int32_t reserved;
} xtts_batch_column;

typedef struct xtts_batch {
  uint32_t size;
  uint32_t valid_count; /* rows that hold a clip; they come first */
  uint32_t bucket;      /* index in xtts_reader_options.buckets */
  uint32_t reserved;
  size_t column_count;
  const xtts_batch_column* columns;
  const int32_t* speakers; /* [size]; -1: unknown, or no clip */
  const int32_t* languages;
  const uint64_t* positions; /* [valid_count], in the cache */
  void (*release)(struct xtts_batch* batch);
  void* private_data;
} xtts_batch;

/* Waits until `data` of all columns may be read; on the CPU it returns at once. The host may read
 * all other fields at any time. */
XTTS_C_API xtts_code xtts_batch_wait(const xtts_batch* batch, xtts_error* error);
/* Makes a device stream wait for the columns, and returns at once: later work on the stream runs
 * when the columns may be read. The batch's memory is not written again before all work is done
 * that the stream received until `release`. `stream` is its handle, as in DLPack; the CPU has no
 * streams and waits for nothing. */
XTTS_C_API xtts_code xtts_batch_let_wait(const xtts_batch* batch, uintptr_t stream,
                                         xtts_error* error);

/* NULL: no such column. */
XTTS_C_API const xtts_batch_column* xtts_batch_find(const xtts_batch* batch, const char* name);

XTTS_C_API xtts_code xtts_reader_open(const xtts_cache* cache, const xtts_reader_options* options,
                                      xtts_reader** out, xtts_error* error);
XTTS_C_API void xtts_reader_close(xtts_reader* reader); /* NULL is fine */
XTTS_C_API uint64_t xtts_reader_sample_count(const xtts_reader* reader);
XTTS_C_API uint64_t xtts_reader_batches_per_epoch(const xtts_reader* reader);
XTTS_C_API uint64_t xtts_reader_epoch(const xtts_reader* reader);
XTTS_C_API xtts_code xtts_reader_set_epoch(xtts_reader* reader, uint64_t epoch, xtts_error* error);
/* At the epoch's end the batch has a NULL `release`. */
XTTS_C_API xtts_code xtts_reader_next(xtts_reader* reader, xtts_batch* out, xtts_error* error);
/* XTTS_CANCELLED: the batch is not ready within `limit_ms`; a later call gives it. */
XTTS_C_API xtts_code xtts_reader_next_within(xtts_reader* reader, uint32_t limit_ms,
                                             xtts_batch* out, xtts_error* error);
/* Ends the running call for a batch, or else the next one, with XTTS_CANCELLED; the reader stays
 * where it is. Any thread may call this. */
XTTS_C_API void xtts_reader_interrupt(xtts_reader* reader);

enum { XTTS_BUCKETS_MAX = 32 };

/* A reader's position, to be saved as these bytes with a model's checkpoint. */
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
/* Continues after the samples that the state's reader had consumed. The state's seed replaces the
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
  uint64_t saturated_count;      /* values that XTTS_RANGE_CLIP has changed */
} xtts_reader_stats;

XTTS_C_API xtts_code xtts_reader_get_stats(const xtts_reader* reader, xtts_reader_stats* out,
                                           xtts_error* error);

/* The reader's facts in words; never NULL. */
typedef struct xtts_reader_texts {
  const char* notice;  /* refused requests, and settings that would suit the storage better */
  const char* storage; /* the cache's storage */
  const char* reading; /* how the cache is read, and why */
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
