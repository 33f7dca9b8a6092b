#include "frontend/json_text.hpp"

namespace xtts::frontend {

std::string dump_json(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace xtts::frontend
