// A program of a user of the installed builder; the test gives a folder with one sound in it.
#include <cstdio>
#include <xtts/builder.hpp>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto report = xtts::build_cache({.data = argv[1], .cache = argv[2]});
  std::printf("%s %llu\n", report.ok() ? "ok" : report.status().message().c_str(),
              report.ok() ? static_cast<unsigned long long>(report->record_count) : 0ULL);
  return report.ok() ? 0 : 6;
}
