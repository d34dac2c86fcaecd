/*
 * inject: makes one call fail, to see what a program makes of it.
 *
 *   INJECT='KIND AT MODE' INJECT_REPORT=FILE LD_PRELOAD=inject.so PROGRAM...
 *
 * The AT-th call of a KIND that the program makes, from main() on, meets MODE: the name of an
 * error, "EINTR" included, "short", which lets read and write take one byte, or "TERM" or "KILL", a
 * signal in front of it, with the kind "any" too.  "AT+" means that call and all behind it.  FILE
 * gets a line with the name of the call, once there is one: where it stays empty, the program made
 * fewer calls than AT.  Only gpnn and programs whose names begin with "gpnn-" are meant, not what
 * runs them, nor what they run.
 *
 * Kinds, and who calls: memory, memstream (a stream into memory), new (C++), read, write, copy
 * (between files), open (whatever makes a descriptor), sync, rename, map, close, stat (whatever
 * asks about a file, or changes its mode or place), child, poll, thread.  Counted are calls from
 * the program itself; for memory also those from the libraries that it hands over to and that can
 * say no, libc and zlib; for threads those from libgomp, which is to start none.
 *
 * The streams of stdio call the system from within libc, out of reach of a library that is loaded
 * first; so those of the program are made anew, over functions of ours, standard output included.
 */
#define _GNU_SOURCE
/* As in the tools: functions that know offsets have other names then. */
#define _FILE_OFFSET_BITS 64
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
  NONE,
  MEMORY,
  MEMSTREAM,
  NEW,
  READ,
  WRITE,
  COPY,
  OPEN,
  SYNC,
  RENAME,
  MAP,
  CLOSE,
  STAT,
  CHILD,
  POLL,
  THREAD,
  ANY,
};

static const char *const kinds[] = {"none", "memory", "memstream", "new",    "read", "write",
                                    "copy", "open",   "sync",      "rename", "map",  "close",
                                    "stat", "child",  "poll",      "thread", "any"};

static const struct {
  const char *name;
  int errnum;
} errors[] = {{"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"ECHILD", ECHILD}, {"EINTR", EINTR},
              {"EINVAL", EINVAL}, {"EIO", EIO},       {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},
              {"ENOSPC", ENOSPC}, {"EPIPE", EPIPE},   {"EROFS", EROFS}};

/* What is to be done.  Until it is known, before the program starts, nothing is. */
static struct {
  enum kind kind;
  long at;
  bool onwards, is_short;
  int errnum, signal;
  const char *report;
} plan;

static atomic_long n_calls;

/* The function behind ours of the same name; behind one that knows offsets. */
#define REAL(name) REAL_NAMED(name, #name)
#define REAL64(name) REAL_NAMED(name, #name "64")
#define REAL_NAMED(name, symbol)            \
  static __typeof__(name) *real;            \
  if (real == NULL) {                       \
    void *found = dlsym(RTLD_NEXT, symbol); \
    memcpy(&real, &found, sizeof real);     \
  }

#define CALLER __builtin_return_address(0)

/* ---- whose calls count -------------------------------------------------------------------- */

enum { RANGES = 64 };
enum owner { PROGRAM, MEMORY_USER, THREAD_USER, OTHER };
static struct range {
  uintptr_t begin, end;
  enum owner owner;
} ranges[RANGES];
static size_t n_ranges;

static enum owner owner_of(const char *path)
{
  if (strstr(path, "/libc.so") != NULL || strstr(path, "/libz.so") != NULL) return MEMORY_USER;
  return strstr(path, "/libgomp.so") != NULL ? THREAD_USER : OTHER;
}

/* The program itself comes first. */
static int note_ranges(struct dl_phdr_info *object, size_t size, void *context)
{
  (void)size;
  bool *first = context;
  enum owner owner = *first ? PROGRAM : owner_of(object->dlpi_name);
  *first = false;
  if (owner == OTHER) return 0;
  for (size_t i = 0; i < object->dlpi_phnum && n_ranges < RANGES; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    ranges[n_ranges++] = (struct range){begin, begin + part->p_memsz, owner};
  }
  return 0;
}

/* NULL is the program too, through one of our streams. */
static bool is_counted(const void *caller)
{
  uintptr_t at = (uintptr_t)caller;
  enum owner also = plan.kind == MEMORY ? MEMORY_USER : plan.kind == THREAD ? THREAD_USER : PROGRAM;
  if (caller == NULL) return true;
  for (size_t i = 0; i < n_ranges; i++)
    if (at >= ranges[i].begin && at < ranges[i].end)
      return ranges[i].owner == PROGRAM || ranges[i].owner == also;
  return false;
}

/* Not through open() and write(), which are ours. */
static void report(const char *name)
{
  if (plan.report == NULL) return;
  long fd = syscall(SYS_openat, AT_FDCWD, plan.report, O_WRONLY | O_APPEND | O_CREAT, 0666);
  if (fd < 0) return;
  syscall(SYS_write, fd, name, strlen(name));
  syscall(SYS_write, fd, "\n", (size_t)1);
  syscall(SYS_close, fd);
}

/* Whether this call is one that fails; then errno says how. */
static bool strikes(enum kind kind, const char *name, const void *caller)
{
  if ((plan.kind != kind && plan.kind != ANY) || !is_counted(caller)) return false;
  long call = atomic_fetch_add(&n_calls, 1) + 1;
  if (call < plan.at || (call > plan.at && !plan.onwards)) return false;
  report(name);
  if (plan.signal != 0) raise(plan.signal);
  if (plan.signal != 0) return false;
  errno = plan.errnum;
  return true;
}

/* ---- memory ------------------------------------------------------------------------------- */

void *malloc(size_t bytes)
{
  REAL(malloc)
  return strikes(MEMORY, "malloc", CALLER) ? NULL : real(bytes);
}

void *calloc(size_t n, size_t bytes)
{
  REAL(calloc)
  return strikes(MEMORY, "calloc", CALLER) ? NULL : real(n, bytes);
}

void *realloc(void *block, size_t bytes)
{
  REAL(realloc)
  return strikes(MEMORY, "realloc", CALLER) ? NULL : real(block, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
  REAL(posix_memalign)
  return strikes(MEMORY, "posix_memalign", CALLER) ? plan.errnum : real(block, alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
  REAL(aligned_alloc)
  return strikes(MEMORY, "aligned_alloc", CALLER) ? NULL : real(alignment, bytes);
}

/* operator new(size_t) and operator new[](size_t), which throw. */
void *_Znwm(size_t bytes);
void *_Znam(size_t bytes);

static void throw_bad_alloc(void)
{
  void (*throw)(void) = NULL;
  void *found = dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv");
  memcpy(&throw, &found, sizeof throw);
  throw();
}

void *_Znwm(size_t bytes)
{
  REAL(_Znwm)
  if (strikes(NEW, "new", CALLER)) throw_bad_alloc();
  return real(bytes);
}

void *_Znam(size_t bytes)
{
  REAL(_Znam)
  if (strikes(NEW, "new[]", CALLER)) throw_bad_alloc();
  return real(bytes);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
  REAL64(mmap)
  if (strikes(MAP, "mmap", CALLER)) return MAP_FAILED;
  return real(address, length, protection, flags, fd, offset);
}

int madvise(void *address, size_t length, int advice)
{
  REAL(madvise)
  return strikes(MAP, "madvise", CALLER) ? -1 : real(address, length, advice);
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* Bytes that a call which strikes lets through of 'length', or -1. */
static ssize_t allowed(size_t length)
{
  if (!plan.is_short) return -1;
  return length < 1 ? 0 : 1;
}

static ssize_t do_read(int fd, void *bytes, size_t room, const void *caller)
{
  REAL(read)
  if (!strikes(READ, caller == NULL ? "stream read" : "read", caller)) return real(fd, bytes, room);
  ssize_t n = allowed(room);
  return n < 0 ? n : real(fd, bytes, (size_t)n);
}

static ssize_t do_pread(int fd, void *bytes, size_t room, off_t at, const void *caller)
{
  REAL64(pread)
  if (!strikes(READ, "pread", caller)) return real(fd, bytes, room, at);
  ssize_t n = allowed(room);
  return n < 0 ? n : real(fd, bytes, (size_t)n, at);
}

static ssize_t do_write(int fd, const void *bytes, size_t length, const void *caller)
{
  REAL(write)
  if (!strikes(WRITE, caller == NULL ? "stream write" : "write", caller))
    return real(fd, bytes, length);
  ssize_t n = allowed(length);
  return n < 0 ? n : real(fd, bytes, (size_t)n);
}

ssize_t read(int fd, void *bytes, size_t room)
{
  return do_read(fd, bytes, room, CALLER);
}

ssize_t pread(int fd, void *bytes, size_t room, off_t at)
{
  return do_pread(fd, bytes, room, at, CALLER);
}

/* What read() and its like become where the room is known to the compiler. */
ssize_t __read_chk(int fd, void *bytes, size_t room, size_t known);
ssize_t __pread_chk(int fd, void *bytes, size_t room, off_t at, size_t known);

ssize_t __read_chk(int fd, void *bytes, size_t room, size_t known)
{
  return room > known ? -1 : do_read(fd, bytes, room, CALLER);
}

ssize_t __pread_chk(int fd, void *bytes, size_t room, off_t at, size_t known)
{
  return room > known ? -1 : do_pread(fd, bytes, room, at, CALLER);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
  return do_write(fd, bytes, length, CALLER);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
  REAL64(pwrite)
  if (!strikes(WRITE, "pwrite", CALLER)) return real(fd, bytes, length, at);
  ssize_t n = allowed(length);
  return n < 0 ? n : real(fd, bytes, (size_t)n, at);
}

ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t length,
                        unsigned flags)
{
  REAL(copy_file_range)
  if (!strikes(COPY, "copy_file_range", CALLER))
    return real(from, from_at, to, to_at, length, flags);
  ssize_t n = allowed(length);
  return n < 0 ? n : real(from, from_at, to, to_at, (size_t)n, flags);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
  REAL(send)
  if (!strikes(WRITE, "send", CALLER)) return real(fd, bytes, length, flags);
  ssize_t n = allowed(length);
  return n < 0 ? n : real(fd, bytes, (size_t)n, flags);
}

/* ---- descriptors -------------------------------------------------------------------------- */

static int do_open(const char *path, int flags, mode_t mode, const void *caller)
{
  REAL64(open)
  return strikes(OPEN, caller == NULL ? "stream open" : "open", caller) ? -1
                                                                        : real(path, flags, mode);
}

/* Whether a call that makes a descriptor and waits for nothing fails. */
static bool refuses(const char *name, const void *caller)
{
  return plan.errnum != EINTR && strikes(OPEN, name, caller);
}

/* As Linux does it, an interrupted close() has closed. */
static int do_close(int fd, const void *caller)
{
  REAL(close)
  bool fails = strikes(CLOSE, caller == NULL ? "stream close" : "close", caller);
  int result = real(fd);
  if (!fails) return result;
  errno = plan.errnum;
  return -1;
}

int open(const char *path, int flags, ...)
{
  va_list more;
  va_start(more, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return do_open(path, flags, mode, CALLER);
}

int __open64_2(const char *path, int flags);

int __open64_2(const char *path, int flags)
{
  return do_open(path, flags, 0, CALLER);
}

int close(int fd)
{
  return do_close(fd, CALLER);
}

int mkstemp(char *path)
{
  REAL64(mkstemp)
  return refuses("mkstemp", CALLER) ? -1 : real(path);
}

int pipe(int ends[2])
{
  REAL(pipe)
  return refuses("pipe", CALLER) ? -1 : real(ends);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
  REAL(socketpair)
  return refuses("socketpair", CALLER) ? -1 : real(domain, type, protocol, ends);
}

/* All that the third argument may be fits a pointer. */
int fcntl(int fd, int command, ...)
{
  REAL64(fcntl)
  va_list more;
  va_start(more, command);
  void *value = va_arg(more, void *);
  va_end(more);
  bool makes = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  bool fails = makes ? refuses("fcntl", CALLER) : strikes(STAT, "fcntl", CALLER);
  return fails ? -1 : real(fd, command, value);
}

/* ---- files -------------------------------------------------------------------------------- */

int fsync(int fd)
{
  REAL(fsync)
  return strikes(SYNC, "fsync", CALLER) ? -1 : real(fd);
}

int fdatasync(int fd)
{
  REAL(fdatasync)
  return strikes(SYNC, "fdatasync", CALLER) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
  REAL(rename)
  return strikes(RENAME, "rename", CALLER) ? -1 : real(from, to);
}

int stat(const char *path, struct stat *st)
{
  REAL64(stat)
  return strikes(STAT, "stat", CALLER) ? -1 : real(path, st);
}

int fstat(int fd, struct stat *st)
{
  REAL64(fstat)
  return strikes(STAT, "fstat", CALLER) ? -1 : real(fd, st);
}

int lstat(const char *path, struct stat *st)
{
  REAL64(lstat)
  return strikes(STAT, "lstat", CALLER) ? -1 : real(path, st);
}

int fchown(int fd, uid_t owner, gid_t group)
{
  REAL(fchown)
  return strikes(STAT, "fchown", CALLER) ? -1 : real(fd, owner, group);
}

int fchmod(int fd, mode_t mode)
{
  REAL(fchmod)
  return strikes(STAT, "fchmod", CALLER) ? -1 : real(fd, mode);
}

char *realpath(const char *path, char *resolved)
{
  REAL(realpath)
  return strikes(STAT, "realpath", CALLER) ? NULL : real(path, resolved);
}

/* ---- streams ------------------------------------------------------------------------------ */

/* Streams over descriptors; the program asks for those of some. */
static struct stream {
  FILE *file;
  int fd;
} streams[16];
static pthread_mutex_t streams_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct stream *find_stream(const FILE *file)
{
  struct stream *found = NULL;
  pthread_mutex_lock(&streams_mutex);
  for (size_t i = 0; i < sizeof streams / sizeof *streams && found == NULL; i++)
    if (streams[i].file == file) found = &streams[i];
  pthread_mutex_unlock(&streams_mutex);
  return found;
}

static ssize_t stream_read(void *stream, char *bytes, size_t room)
{
  return do_read(((struct stream *)stream)->fd, bytes, room, NULL);
}

/* As the streams of libc it goes on after a short write, but not after an interrupted one. */
static ssize_t stream_write(void *stream, const char *bytes, size_t length)
{
  size_t done = 0;
  while (done < length) {
    ssize_t n = do_write(((struct stream *)stream)->fd, bytes + done, length - done, NULL);
    if (n < 0) break;
    done += (size_t)n;
  }
  return (ssize_t)done;
}

static int stream_seek(void *stream, off64_t *to, int whence)
{
  if (strikes(STAT, "stream seek", NULL)) return -1;
  off64_t at = lseek64(((struct stream *)stream)->fd, *to, whence);
  if (at < 0) return -1;
  *to = at;
  return 0;
}

static int stream_close(void *stream)
{
  return do_close(((struct stream *)stream)->fd, NULL);
}

/* A stream over 'fd' whose calls we see; NULL: there are too many. */
static FILE *open_stream(int fd, const char *mode)
{
  static const cookie_io_functions_t calls = {stream_read, stream_write, stream_seek, stream_close};
  struct stream *stream = find_stream(NULL);
  if (stream == NULL) return NULL;
  stream->fd = fd;
  FILE *file = fopencookie(stream, mode, calls);
  stream->file = file;
  return file;
}

static bool is_of_streams(const void *caller)
{
  return plan.kind != NONE && plan.kind != MEMORY && plan.kind != NEW && is_counted(caller);
}

FILE *fdopen(int fd, const char *mode)
{
  REAL(fdopen)
  return is_of_streams(CALLER) ? open_stream(fd, mode) : real(fd, mode);
}

FILE *fopen(const char *path, const char *mode)
{
  REAL64(fopen)
  if (!is_of_streams(CALLER) || strcmp(mode, "rb") != 0) return real(path, mode);
  int fd = do_open(path, O_RDONLY, 0, NULL);
  return fd < 0 ? NULL : open_stream(fd, mode);
}

FILE *open_memstream(char **text, size_t *length)
{
  REAL(open_memstream)
  return strikes(MEMSTREAM, "open_memstream", CALLER) ? NULL : real(text, length);
}

int fileno(FILE *file)
{
  REAL(fileno)
  const struct stream *stream = find_stream(file);
  return stream != NULL ? stream->fd : real(file);
}

int fclose(FILE *file)
{
  REAL(fclose)
  struct stream *stream = find_stream(file);
  int result = real(file);
  if (stream != NULL) stream->file = NULL;
  return result;
}

/* ---- other programs, threads -------------------------------------------------------------- */

int poll(struct pollfd *waits, nfds_t n, int timeout)
{
  REAL(poll)
  return strikes(POLL, "poll", CALLER) ? -1 : real(waits, n, timeout);
}

int __poll_chk(struct pollfd *waits, nfds_t n, int timeout, size_t known);

int __poll_chk(struct pollfd *waits, nfds_t n, int timeout, size_t known)
{
  REAL(__poll_chk)
  return strikes(POLL, "poll", CALLER) ? -1 : real(waits, n, timeout, known);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int as)
{
  REAL(posix_spawn_file_actions_adddup2)
  return strikes(CHILD, "adddup2", CALLER) ? plan.errnum : real(actions, fd, as);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[])
{
  REAL(posix_spawnp)
  if (strikes(CHILD, "posix_spawnp", CALLER)) return plan.errnum;
  return real(pid, file, actions, attributes, arguments, environment);
}

pid_t waitpid(pid_t pid, int *how, int options)
{
  REAL(waitpid)
  return strikes(CHILD, "waitpid", CALLER) ? -1 : real(pid, how, options);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
  REAL(pthread_create)
  if (strikes(THREAD, "pthread_create", CALLER)) return plan.errnum;
  return real(thread, attributes, run, context);
}

/* ---- the plan ----------------------------------------------------------------------------- */

static void refuse(const char *what)
{
  fprintf(stderr, "inject: %s\n", what);
  _exit(125);
}

static void take_mode(const char *mode)
{
  plan.is_short = strcmp(mode, "short") == 0;
  if (strcmp(mode, "TERM") == 0) plan.signal = SIGTERM;
  if (strcmp(mode, "KILL") == 0) plan.signal = SIGKILL;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (strcmp(mode, errors[i].name) == 0) plan.errnum = errors[i].errnum;
  if (!plan.is_short && plan.errnum == 0 && plan.signal == 0) refuse("no such mode");
}

static void take_plan(void)
{
  char kind[16], at[16], mode[16], *end;
  const char *text = getenv("INJECT");
  const char *name = program_invocation_short_name;
  if (text == NULL || (strncmp(name, "gpnn-", 5) != 0 && strcmp(name, "gpnn") != 0)) return;
  if (sscanf(text, "%15s %15s %15s", kind, at, mode) != 3) refuse("INJECT is not 'KIND AT MODE'");
  plan.at = strtol(at, &end, 10);
  plan.onwards = *end == '+';
  take_mode(mode);
  plan.report = getenv("INJECT_REPORT");
  bool first = true;
  dl_iterate_phdr(note_ranges, &first);
  enum kind wanted = NONE;
  for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kind, kinds[i]) == 0) wanted = (enum kind)i;
  if (wanted == NONE) refuse("no such kind");
  unsetenv("INJECT");
  unsetenv("LD_PRELOAD");
  plan.kind = wanted;
  if (wanted == MEMORY || wanted == NEW) return; /* not of streams */
  FILE *output = open_stream(STDOUT_FILENO, "w");
  if (output != NULL) stdout = output;
}

/* ---- the start of the program ------------------------------------------------------------- */

typedef int main_function(int, char **, char **);
static main_function *real_main;

static int plan_and_run(int argc, char **argv, char **environment)
{
  take_plan();
  return real_main(argc, argv, environment);
}

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*unload)(void), void *stack_end);

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*unload)(void), void *stack_end)
{
  REAL(__libc_start_main)
  real_main = program;
  return real(plan_and_run, argc, argv, init, fini, unload, stack_end);
}
