#include "python/memory.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

namespace xtts::python {
namespace {

namespace nb = nanobind;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Memory& memory = *nb::inst_ptr<Memory>(self);
  // PyBuffer_FillInfo takes no const and refuses writers; an empty piece still needs an address.
  static const std::byte nowhere{};
  const std::byte* const data = memory.bytes.empty() ? &nowhere : memory.bytes.data();
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(data),
                           static_cast<Py_ssize_t>(memory.bytes.size()), 1, flags);
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

// What __dlpack__ is asked of. `owner` keeps the memory at `address`; strides count elements.
nb::object share(nb::handle owner, std::uintptr_t address, const std::vector<std::size_t>& shape,
                 const std::vector<std::int64_t>& strides, std::uint8_t kind, std::uint8_t bits,
                 bool is_read_only) {
  void* const data = reinterpret_cast<void*>(address);
  const nb::dlpack::dtype dtype{kind, bits, 1};
  if (is_read_only) {
    return nb::cast(nb::ndarray<nb::ro, nb::array_api>(
        data, shape.size(), shape.data(), owner, strides.data(), dtype, nb::device::cpu::value));
  }
  return nb::cast(nb::ndarray<nb::array_api>(data, shape.size(), shape.data(), owner,
                                             strides.data(), dtype, nb::device::cpu::value));
}

}  // namespace

void bind_memory(nb::module_& module) {
  nb::class_<Memory>(module, "Memory", nb::type_slots(memory_slots),
                     "Read-only memory of a batch or record, by the buffer protocol.");
  module.def("share", share, nb::arg("owner"), nb::arg("address"), nb::arg("shape"),
             nb::arg("strides"), nb::arg("kind"), nb::arg("bits"), nb::arg("is_read_only"),
             "An object with __dlpack__ for the memory at an address that `owner` keeps.");
}

}  // namespace xtts::python
