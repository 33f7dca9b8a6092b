// The calls of xtts.h for caches, and its version.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/c/capi_entry.hpp"
#include "api/c/capi_views.hpp"
#include "base/formatted.hpp"

namespace {

using xtts::Status;
using xtts::StatusCode;
using xtts::capi::at_entry;
using xtts::capi::copy_text;
using xtts::capi::missing_argument;
using xtts::capi::show_clip;
using xtts::capi::show_record;
using xtts::capi::show_statistics;

const char* name_at(const std::vector<std::string>& names, size_t number) {
  return number < names.size() ? names[number].c_str() : nullptr;
}

}  // namespace

const char* xtts_version(void) {
  return XTTS_VERSION;
}

xtts_code xtts_cache_open(const char* path, xtts_cache** out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (path == nullptr || out == nullptr) return missing_argument("path or out");
    *out = nullptr;
    auto cache = xtts::Cache::open(path);
    if (!cache.ok()) return cache.status();
    *out = new xtts_cache(std::move(*cache));
    return {};
  });
}

xtts_code xtts_caches_open(const char* const* paths, size_t path_count, xtts_cache** out,
                           xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (paths == nullptr || out == nullptr) return missing_argument("paths or out");
    *out = nullptr;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < path_count; ++i) {
      if (paths[i] == nullptr) return missing_argument("a path");
      texts.emplace_back(paths[i]);
    }
    auto cache = xtts::Cache::open(texts);
    if (!cache.ok()) return cache.status();
    *out = new xtts_cache(std::move(*cache));
    return {};
  });
}

void xtts_cache_close(xtts_cache* cache) {
  const xtts::NoCancellation no_cancellation;
  delete cache;
}

uint64_t xtts_cache_size(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.size();
}

const char* xtts_cache_recipe(const xtts_cache* cache) {
  return cache == nullptr ? nullptr : cache->cache.recipe_name().c_str();
}

uint64_t xtts_cache_generation(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.generation();
}

const char* xtts_cache_digest(const xtts_cache* cache) {
  return cache == nullptr ? nullptr : cache->digest.c_str();
}

size_t xtts_cache_speaker_count(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.speakers().size();
}

const char* xtts_cache_speaker(const xtts_cache* cache, size_t number) {
  return cache == nullptr ? nullptr : name_at(cache->cache.speakers(), number);
}

size_t xtts_cache_language_count(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->cache.languages().size();
}

const char* xtts_cache_language(const xtts_cache* cache, size_t number) {
  return cache == nullptr ? nullptr : name_at(cache->cache.languages(), number);
}

size_t xtts_cache_column_count(const xtts_cache* cache) {
  return cache == nullptr ? 0 : cache->columns.size();
}

xtts_code xtts_cache_column(const xtts_cache* cache, size_t index, xtts_column_info* out,
                            xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || out == nullptr) return missing_argument("cache or out");
    if (index >= cache->columns.size()) {
      return {StatusCode::kNotFound, xtts::formatted("there is no column {}: the cache has {}",
                                                     index, cache->columns.size())};
    }
    const xtts::ColumnInfo& column = cache->columns[index];
    out->name = column.name.c_str();
    out->dtype = static_cast<std::int32_t>(column.dtype);
    out->dimension_count = static_cast<std::int32_t>(column.shape.size());
    std::ranges::copy(column.shape, out->shape);
    out->axis = column.axis.c_str();
    out->version = column.version.c_str();
    out->missing_count = column.missing_count;
    out->rows_per_frame = column.rows_per_frame;
    out->is_added = column.is_added ? 1 : 0;
    return {};
  });
}

xtts_code xtts_cache_clip(const xtts_cache* cache, uint64_t position, xtts_clip* out,
                          xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || out == nullptr) return missing_argument("cache or out");
    auto found = cache->cache.clip(position);
    if (!found.ok()) return found.status();
    show_clip(std::move(*found), *out);
    return {};
  });
}

xtts_code xtts_cache_find(const xtts_cache* cache, const char* id, uint64_t* position,
                          xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (cache == nullptr || id == nullptr || position == nullptr) {
      return missing_argument("cache, id or position");
    }
    const auto found = cache->cache.find(id);
    if (!found.ok()) return found.status();
    if (!*found) {
      return {StatusCode::kNotFound, xtts::formatted("the cache has no clip '{}'", id)};
    }
    *position = **found;
    return {};
  });
}

xtts_code xtts_cache_id(const xtts_cache* cache, uint64_t position, char* out, size_t out_bytes,
                        size_t* length, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (cache == nullptr || (out == nullptr && out_bytes > 0))
      return missing_argument("cache or out");
    const auto id = cache->cache.id(position);
    if (!id.ok()) return id.status();
    copy_text(*id, out, out_bytes);
    if (length != nullptr) *length = id->size();
    return {};
  });
}

xtts_code xtts_cache_statistics(const xtts_cache* cache, const char* column, xtts_statistics* out,
                                xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || column == nullptr || out == nullptr) {
      return missing_argument("cache, column or out");
    }
    auto found = cache->cache.statistics(column);
    if (!found.ok()) return found.status();
    show_statistics(std::move(*found), *out);
    return {};
  });
}

xtts_code xtts_cache_read(const xtts_cache* cache, const char* column, uint64_t position,
                          xtts_record* out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || column == nullptr || out == nullptr) {
      return missing_argument("cache, column or out");
    }
    return show_record(cache->cache.read(column, position), *out);
  });
}

xtts_code xtts_cache_view(const xtts_cache* cache, const char* column, uint64_t position,
                          xtts_record* out, xtts_error* error) {
  return at_entry(error, [&]() -> Status {
    if (out != nullptr) *out = {};
    if (cache == nullptr || column == nullptr || out == nullptr) {
      return missing_argument("cache, column or out");
    }
    return show_record(cache->cache.view(column, position), *out);
  });
}
