// Binds Batch of include/xtts/batch.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "python/batch_handle.hpp"
#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "python/gil.hpp"
#include "python/memory_object.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

using ArrayParts = std::tuple<Memory, std::string, std::vector<std::uint32_t>>;

const BatchColumn* find(const BatchHandle& self, std::string_view name) {
  return self.batch->find(name);
}

std::optional<ArrayParts> column(const BatchHandle& self, const char* name) {
  const BatchColumn* const found = find(self, name);
  if (found == nullptr) return std::nullopt;
  return ArrayParts{memory_of(found->bytes, self.batch, found->device),
                    std::string(to_string(found->dtype)), found->shape};
}

std::optional<Memory> lengths(const BatchHandle& self, const char* name) {
  const BatchColumn* const found = find(self, name);
  if (found == nullptr) return std::nullopt;
  return memory_of(found->lengths, self.batch);
}

// Numbers of the batch that the host reads, as they lie on the columns' device.
Memory on_device(const BatchHandle& self, std::span<const std::int32_t> numbers) {
  const DeviceId device =
      self.batch->columns().empty() ? DeviceId() : self.batch->columns().front().device;
  const std::int32_t* const there = self.batch->on_device(numbers);
  if (there == nullptr) return memory_of(numbers, self.batch);
  return memory_of(std::span(there, numbers.size()), self.batch, device);
}

std::optional<Memory> lengths_on_device(const BatchHandle& self, const char* name) {
  const BatchColumn* const found = find(self, name);
  if (found == nullptr) return std::nullopt;
  return on_device(self, found->lengths);
}

void wait(const BatchHandle& self) {
  const std::shared_ptr<const Batch> batch = self.batch;
  Status status;
  {
    const GilRelease released;
    status = batch->wait();
  }
  must(std::move(status));
}

void let_wait(const BatchHandle& self, std::uintptr_t stream) {
  must(self.batch->let_wait(stream));
}

std::vector<std::string> column_names(const BatchHandle& self) {
  std::vector<std::string> names;
  for (const BatchColumn& shown : self.batch->columns()) names.emplace_back(shown.name);
  return names;
}

bool is_view(const BatchHandle& self, const char* name) {
  const BatchColumn* const found = find(self, name);
  return found != nullptr && found->is_view;
}

}  // namespace

void bind_batch(nb::module_& module) {
  nb::class_<BatchHandle>(module, "Batch", "A lease on one of a reader's slots.")
      .def("__len__", [](const BatchHandle& self) { return self.batch->size(); })
      .def_prop_ro("valid_count", [](const BatchHandle& self) { return self.batch->valid_count(); })
      .def_prop_ro("bucket", [](const BatchHandle& self) { return self.batch->bucket(); })
      .def_prop_ro("column_names", column_names)
      .def("column", column, nb::arg("name"), "(memory, dtype, shape), or None.")
      .def("lengths", lengths, nb::arg("name"), "The true lengths (int32), or None.")
      .def("is_view", is_view, nb::arg("name"))
      .def("speakers",
           [](const BatchHandle& self) { return memory_of(self.batch->speakers(), self.batch); })
      .def("languages",
           [](const BatchHandle& self) { return memory_of(self.batch->languages(), self.batch); })
      .def("lengths_on_device", lengths_on_device, nb::arg("name"),
           "lengths() where the columns lie.")
      .def("speakers_on_device",
           [](const BatchHandle& self) { return on_device(self, self.batch->speakers()); })
      .def("languages_on_device",
           [](const BatchHandle& self) { return on_device(self, self.batch->languages()); })
      .def("wait", wait, "Waits until the columns may be read.")
      .def("let_wait", let_wait, nb::arg("stream"),
           "Makes a stream of the device wait until the columns may be read.")
      .def("positions",
           [](const BatchHandle& self) { return memory_of(self.batch->positions(), self.batch); });
}

}  // namespace xtts::python
