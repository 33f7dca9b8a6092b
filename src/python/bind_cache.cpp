// Cache, as include/xtts/reader.hpp has it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings.hpp"
#include "errors.hpp"
#include "fork.hpp"
#include "memory.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

// name, dtype, shape
using ColumnFacts = std::tuple<std::string, std::string, std::vector<std::uint32_t>>;
// What an array is made of: memory, dtype, shape.
using ArrayParts = std::tuple<Memory, std::string, std::vector<std::uint32_t>>;

CacheHandle open_cache(const std::string& path) {
  auto cache = must(without_gil([&] { return Cache::open(path); }));
  return {make_process_bound(std::move(cache))};
}

std::vector<ColumnFacts> columns(const CacheHandle& self) {
  std::vector<ColumnFacts> facts;
  for (ColumnInfo& column : self.cache->columns()) {
    facts.emplace_back(std::move(column.name), to_string(column.dtype), std::move(column.shape));
  }
  return facts;
}

ArrayParts read(const CacheHandle& self, const std::string& column, std::uint64_t position) {
  auto record =
      make_process_bound(must(without_gil([&] { return self.cache->read(column, position); })));
  const std::span<const std::byte> bytes = record->bytes();
  return {Memory{bytes, record}, std::string(to_string(record->dtype())), record->shape()};
}

}  // namespace

void bind_cache(nb::module_& module) {
  nb::class_<CacheHandle>(module, "Cache", "One generation of a cache, opened.")
      .def_prop_ro("path", [](const CacheHandle& self) { return self.cache->path(); })
      .def_prop_ro("recipe", [](const CacheHandle& self) { return self.cache->recipe_name(); })
      .def_prop_ro("features_fingerprint",
                   [](const CacheHandle& self) { return self.cache->features_fingerprint(); })
      .def_prop_ro("text_fingerprint",
                   [](const CacheHandle& self) { return self.cache->text_fingerprint(); })
      .def_prop_ro("generation", [](const CacheHandle& self) { return self.cache->generation(); })
      .def_prop_ro("columns", columns)
      .def("__len__", [](const CacheHandle& self) { return self.cache->size(); })
      .def(
          "id",
          [](const CacheHandle& self, std::uint64_t position) {
            return must(without_gil([&] { return self.cache->id(position); }));
          },
          nb::arg("position"))
      .def(
          "find",
          [](const CacheHandle& self, const std::string& id) {
            return must(without_gil([&] { return self.cache->find(id); }));
          },
          nb::arg("id"))
      .def("read", read, nb::arg("column"), nb::arg("position"),
           "(memory, dtype, shape) of one record.");
  module.def("open", open_cache, nb::arg("path"));
}

}  // namespace xtts::python
