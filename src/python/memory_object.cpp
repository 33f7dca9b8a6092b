#include "python/memory_object.hpp"

#include <nanobind/stl/pair.h>

#include <cstdint>
#include <utility>

namespace xtts::python {
namespace {

namespace nb = nanobind;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (!nb::inst_ready(self)) {  // Memory.__new__(Memory)
    PyErr_SetString(PyExc_BufferError, "this Memory was made without memory");
    return -1;
  }
  const Memory& memory = *nb::inst_ptr<Memory>(self);
  if (!memory.device.is_host()) {
    PyErr_Format(PyExc_BufferError, "this memory lies on %s, where the host cannot read it",
                 to_string(memory.device).c_str());
    return -1;
  }
  // PyBuffer_FillInfo takes no const pointer, but refuses writers. It wants an address even for an
  // empty piece.
  static const std::byte nowhere{};
  const std::byte* const data = memory.bytes.empty() ? &nowhere : memory.bytes.data();
  return PyBuffer_FillInfo(view, self, const_cast<std::byte*>(data),
                           static_cast<Py_ssize_t>(memory.bytes.size()), 1, flags);
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

}  // namespace

void bind_memory(nb::module_& module) {
  nb::class_<Memory>(module, "Memory", nb::type_slots(memory_slots),
                     "Read-only memory of a batch or record, by the buffer protocol.")
      .def_prop_ro(
          "device",
          [](const Memory& self) {
            return std::pair(static_cast<std::int32_t>(self.device.kind), self.device.number);
          },
          "(kind in DLPack's numbers, number of the device).")
      .def_prop_ro(
          "address",
          [](const Memory& self) { return reinterpret_cast<std::uintptr_t>(self.bytes.data()); },
          "Where the memory begins, on its device.");
}

}  // namespace xtts::python
