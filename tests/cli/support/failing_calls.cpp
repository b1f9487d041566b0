/// Loaded before the C library (LD_PRELOAD): makes single calls of it fail.
///   FAIL_ALLOCATION=N  the N-th allocation gives no memory; N = 0: none, the number of all is written to the
///   file
///                      that FAIL_COUNT names
///   FAIL_REMOVAL=TEXT  files and folders whose names end in this text cannot be removed: EIO
#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

}  // extern "C"

namespace {

std::atomic<long> allocations = 0;
long failing = -1;  // -1: not yet asked

bool lies_in(const char* library, const void* place) {
  Dl_info info;
  return dladdr(place, &info) != 0 && std::strstr(info.dli_fname, library) != nullptr;
}

/// LLVM's OpenMP knows no way out but to abort, and toml++ allocates in functions that are noexcept.
bool dies_of_it(const void* caller) {
  void* callers[32];
  const int depth = backtrace(callers, 32);
  return lies_in("libomp", caller) || std::any_of(callers, callers + depth, [](const void* place) {
           return lies_in("libtomlplusplus", place);
         });
}

bool fails(const void* caller) {
  if (failing < 0) {
    const char* text = getenv("FAIL_ALLOCATION");
    failing = text != nullptr ? std::atol(text) : 0;
  }
  if (++allocations != failing || dies_of_it(caller)) return false;
  errno = ENOMEM;
  return true;
}

struct Count {
  ~Count() {
    const char* name = getenv("FAIL_COUNT");
    std::FILE* file = name != nullptr ? std::fopen(name, "w") : nullptr;
    if (file == nullptr) return;
    std::fprintf(file, "%ld", allocations.load());
    std::fclose(file);
  }
} count_at_the_end;

bool stays(const char* name) {
  const char* text = getenv("FAIL_REMOVAL");
  const size_t size = text != nullptr ? std::strlen(text) : 0;
  const size_t whole = std::strlen(name);
  if (size == 0 || size > whole || std::strcmp(name + whole - size, text) != 0) return false;
  errno = EIO;
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

void* malloc(size_t size) noexcept { return fails(CALLER) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) noexcept {
  return fails(CALLER) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) noexcept {
  return fails(CALLER) ? nullptr : __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) noexcept {
  return fails(CALLER) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails(CALLER) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  *memory = fails(CALLER) ? nullptr : __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

int unlink(const char* name) noexcept {
  return stays(name) ? -1 : next<int (*)(const char*)>("unlink")(name);
}
int rmdir(const char* name) noexcept { return stays(name) ? -1 : next<int (*)(const char*)>("rmdir")(name); }
int remove(const char* name) noexcept {
  return stays(name) ? -1 : next<int (*)(const char*)>("remove")(name);
}
int unlinkat(int folder, const char* name, int flags) noexcept {
  return stays(name) ? -1 : next<int (*)(int, const char*, int)>("unlinkat")(folder, name, flags);
}

}  // extern "C"
