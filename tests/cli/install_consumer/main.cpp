// The three lines that a user of the installed reader writes; the test runs them where there is no
// cache.
#include <cstdio>
#include <xtts/reader.hpp>

int main(int argc, char** argv) {
  const auto cache = xtts::Cache::open(argc > 1 ? argv[1] : ".");
  std::printf("%s %llu\n", std::string(to_string(cache.status().code())).c_str(),
              cache.ok() ? static_cast<unsigned long long>(cache->size()) : 0ULL);
  return cache.ok() ? 0 : 6;
}
