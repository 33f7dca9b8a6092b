# cmake -D INPUT=gpus.yaml -D OUTPUT=file.cpp -P embed_gpus.cmake
# Writes the text of configs/gpus.yaml into a C++ source. It runs at build time, so that an edited
# file is compiled in again.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "// Made by embed_gpus.cmake from configs/gpus.yaml: edit that.
#include \"doctor/gpu_presets.hpp\"

namespace xtts::doctor {

std::string_view shipped_gpus_yaml() {
  return R\"xtts_gpus(${text})xtts_gpus\";
}

}  // namespace xtts::doctor
")
