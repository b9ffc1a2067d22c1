/* LD_PRELOAD fault injector: the N-th matching disk call fails, or the process dies there.

   FAULT_AT=N         1-based; without it, nothing fails
   FAULT_KIND=        enospc | eio | kill | short (half the bytes are written) | tear (half the bytes, then SIGKILL)
   FAULT_PATH=TEXT    calls count when the file's path holds TEXT
   FAULT_STICKY=1     goes on failing after N

   A process that is running already is told by `fault_begin`; `fault_seen` gives the number of matching calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { NONE, ENOSPC_, EIO_, KILL, SHORT, TEAR };

static const char *const NAMES[] = {"none", "enospc", "eio", "kill", "short", "tear"};
static long at = -1, seen = 0;
static enum kind kind = NONE;
static int sticky = 0;
static const char *wanted = 0;

void fault_begin(const char *path, const char *name, long number, int stays) {
  seen = 0;
  at = number;
  sticky = stays;
  wanted = path ? strdup(path) : 0;
  kind = NONE;
  for (int k = NONE; name && k <= TEAR; k++)
    if (!strcmp(name, NAMES[k])) kind = (enum kind)k;
}

long fault_seen(void) { return seen; }

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("FAULT_AT");
  fault_begin(getenv("FAULT_PATH"), getenv("FAULT_KIND"), number ? atol(number) : -1, getenv("FAULT_STICKY") != 0);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  pause();
}

static int path_matches(const char *path) { return wanted && path && strstr(path, wanted) != 0; }

static int file_matches(int file) {
  char link[64], path[4096];
  if (!wanted) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return path_matches(path);
}

/* Whether this call is the one (or, sticky, a later one). Kills the process here when that is what was asked for. */
static int hit(void) {
  long number = __sync_add_and_fetch(&seen, 1);
  if (at < 0 || kind == NONE || (number != at && !(sticky && number > at))) return 0;
  if (kind == KILL) die();
  return 1;
}

static int failed(void) {
  errno = kind == ENOSPC_ ? ENOSPC : EIO;
  return -1;
}

#define REAL(type, name, ...)               \
  static type (*real)(__VA_ARGS__);         \
  if (!real) real = dlsym(RTLD_NEXT, #name)

/* A call that writes `size` bytes; `half` is the same call with half of them. */
#define WRITES(whole, half)                              \
  if (!file_matches(file) || !hit()) return whole;       \
  if (kind == SHORT) return half;                        \
  if (kind == TEAR) {                                    \
    (void)!half;                                         \
    die();                                               \
  }                                                      \
  return failed()

/* A call that happens or does not. */
#define HAPPENS(matches, whole)                          \
  if (!(matches) || !hit() || kind == SHORT) return whole; \
  if (kind == TEAR) die();                               \
  return failed()

ssize_t write(int file, const void *bytes, size_t size) {
  REAL(ssize_t, write, int, const void *, size_t);
  WRITES(real(file, bytes, size), real(file, bytes, size / 2));
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
  WRITES(real(file, bytes, size, offset), real(file, bytes, size / 2, offset));
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  WRITES(real(file, bytes, size, offset), real(file, bytes, size / 2, offset));
}

int fsync(int file) {
  REAL(int, fsync, int);
  HAPPENS(file_matches(file), real(file));
}

int fdatasync(int file) {
  REAL(int, fdatasync, int);
  HAPPENS(file_matches(file), real(file));
}

int ftruncate(int file, off_t size) {
  REAL(int, ftruncate, int, off_t);
  HAPPENS(file_matches(file), real(file, size));
}

int ftruncate64(int file, off64_t size) {
  REAL(int, ftruncate64, int, off64_t);
  HAPPENS(file_matches(file), real(file, size));
}

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  HAPPENS(path_matches(from) || path_matches(to), real(from, to));
}

int link(const char *from, const char *to) {
  REAL(int, link, const char *, const char *);
  HAPPENS(path_matches(to), real(from, to));
}

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  HAPPENS(path_matches(path), real(path));
}
