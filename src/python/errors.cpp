#include "errors.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

void raise_status(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const StatusError& error) {
    const Status& status = error.status();
    // In an error's own path another may come up (no memory): then that one is raised.
    try {
      const std::string code(to_string(status.code()));
      const nb::object exception = nb::module_::import_("xtts_precompute._errors")
                                       .attr("make_error")(code.c_str(), status.message().c_str());
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    } catch (nb::python_error& other) {
      other.restore();
    }
  }
}

}  // namespace

void bind_errors() {
  nb::register_exception_translator(raise_status);
}

}  // namespace xtts::python
