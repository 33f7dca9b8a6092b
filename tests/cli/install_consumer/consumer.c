/* What a user of the installed C interface writes; the test runs it where there is no cache. */
#include <stdio.h>
#include <xtts/xtts.h>

int main(int argc, char** argv) {
  xtts_error error;
  xtts_cache* cache = NULL;
  if (xtts_cache_open(argc > 1 ? argv[1] : ".", &cache, &error) != XTTS_OK) {
    puts(error.code == XTTS_NOT_FOUND ? "not found" : error.message);
    return 6;
  }
  xtts_cache_close(cache);
  return 0;
}
