// LD_PRELOAD: the call of malloc whose number XTTS_FAILING_MALLOC gives, counted from 1, finds no
// memory. 0: none; their number goes to stderr. Decoders, which are processes of their own, are
// left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* (*real_malloc)(size_t);
static atomic_long call_count;
static long failing = -1;

static int is_decoder(void) {
  char line[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, line, sizeof line);
  if (file >= 0) close(file);
  return size > 0 && memmem(line, (size_t)size, "xtts-decode", 11) != NULL;
}

__attribute__((constructor)) static void begin(void) {
  *(void**)&real_malloc = dlsym(RTLD_NEXT, "malloc");
  const char* const text = getenv("XTTS_FAILING_MALLOC");
  if (text != NULL && !is_decoder()) failing = atol(text);
}

__attribute__((destructor)) static void end(void) {
  if (failing == 0) fprintf(stderr, "%ld calls of malloc\n", (long)call_count);
}

void* malloc(size_t size) {
  if (real_malloc == NULL) *(void**)&real_malloc = dlsym(RTLD_NEXT, "malloc");
  if (failing >= 0 && atomic_fetch_add(&call_count, 1) + 1 == failing) {
    errno = ENOMEM;
    return NULL;
  }
  return real_malloc(size);
}
