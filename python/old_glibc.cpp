// A wheel runs with glibc 2.28 and later, although it is linked with a newer one. Functions that got a second version
// since are bound to the first one, which every glibc has; those that are new are written in terms of older ones.
//
// The linker replaces each call of NAME in the module and in the C++ runtime by __wrap_NAME (--wrap=NAME). CMake reads
// names and libraries from the lines below that begin with KQD_FIRST_VERSION, KQD_WRAPPED or KQD_REPLACED. All of it
// stays inside the module (module.map).
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include <cstddef>

#if defined(__x86_64__)

// A jump: arguments, result and the address of the caller, which dlopen looks at, stay as they are.
#define KQD_FIRST_VERSION(library, name)        \
  __asm__(".symver kqd_first_" #name ", " #name \
          "@GLIBC_2.2.5\n"                      \
          ".text\n"                             \
          ".globl __wrap_" #name                \
          "\n"                                  \
          ".hidden __wrap_" #name               \
          "\n"                                  \
          ".type __wrap_" #name                 \
          ", @function\n"                       \
          "__wrap_" #name ": jmp *kqd_first_" #name "@GOTPCREL(%rip)\n");

// New versions of 2.29 do not set errno as the first ones do; the values are the same.
KQD_FIRST_VERSION(m, exp)
KQD_FIRST_VERSION(m, log)
KQD_FIRST_VERSION(m, pow)
// They moved from libpthread and libdl to libc in 2.34. An older loader wants them in the library that the module
// names, so the module is linked with libraries of these names that have nothing else.
KQD_FIRST_VERSION(pthread, __pthread_key_create)
KQD_FIRST_VERSION(dl, dladdr)
KQD_FIRST_VERSION(dl, dlerror)
KQD_FIRST_VERSION(dl, dlopen)
KQD_FIRST_VERSION(dl, dlsym)
KQD_FIRST_VERSION(pthread, pthread_create)
KQD_FIRST_VERSION(pthread, pthread_detach)
KQD_FIRST_VERSION(pthread, pthread_getspecific)
KQD_FIRST_VERSION(pthread, pthread_join)
KQD_FIRST_VERSION(pthread, pthread_key_create)
KQD_FIRST_VERSION(pthread, pthread_key_delete)
KQD_FIRST_VERSION(pthread, pthread_mutex_trylock)
KQD_FIRST_VERSION(pthread, pthread_once)
KQD_FIRST_VERSION(pthread, pthread_rwlock_rdlock)
KQD_FIRST_VERSION(pthread, pthread_rwlock_unlock)
KQD_FIRST_VERSION(pthread, pthread_rwlock_wrlock)
KQD_FIRST_VERSION(pthread, pthread_setspecific)

// stat() and its like were not exported before 2.33, but these functions with the version of their structure.
#define KQD_WRAPPED(library, name, file, older)                           \
  extern "C" int kqd_first_##name(int version, file, struct stat* found); \
  __asm__(".symver kqd_first_" #name ", " #older "@GLIBC_2.2.5");         \
  extern "C" int __wrap_##name(file, struct stat* found);                 \
  extern "C" int __wrap_##name(file path, struct stat* found) {           \
    return kqd_first_##name(1, path, found);                              \
  }

using Path = const char*;
KQD_WRAPPED(c, stat, Path, __xstat)
KQD_WRAPPED(c, lstat, Path, __lxstat)
KQD_WRAPPED(c, fstat, int, __fxstat)
KQD_WRAPPED(c, fstat64, int, __fxstat)

// Since 2.30. Condition variables wait by the time of day, as those of libstdc++ did before.
#define KQD_REPLACED(library, name) extern "C" decltype(name) __wrap_##name;
KQD_REPLACED(pthread, pthread_cond_clockwait)
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const timespec* end) {
  timespec now{};
  timespec today{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &today);
  constexpr long kSecond = 1'000'000'000;
  const long nanoseconds = today.tv_nsec + end->tv_nsec - now.tv_nsec;  // between -1 and 2 seconds
  const long carry = nanoseconds < 0 ? -1 : nanoseconds / kSecond;
  const timespec until{today.tv_sec + end->tv_sec - now.tv_sec + carry, nanoseconds - carry * kSecond};
  return pthread_cond_timedwait(condition, mutex, &until);
}

// Since 2.32: whether the process has one thread. No is always right; a shared_ptr counts with atomic operations.
extern "C" {
extern char __libc_single_threaded;
char __libc_single_threaded = 0;
}
#endif

// The unwinder of g++ 12 calls _dl_find_object, which the C library has from version 2.35 on.
#if __GLIBC_PREREQ(2, 35)
namespace {

struct Search {
  ElfW(Addr) address;
  dl_find_object* found;
};

// Ends the search with 1 at the object that is loaded at the address, if it has a table for unwinding.
int look(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  const auto& search = *static_cast<const Search*>(data);
  void* frames = nullptr;
  bool is_here = false;
  for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const ElfW(Addr) first = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<void*>(first);
    if (part.p_type == PT_LOAD && search.address >= first && search.address - first < part.p_memsz) {
      is_here = true;
      search.found->dlfo_map_start = reinterpret_cast<void*>(first);
      search.found->dlfo_map_end = reinterpret_cast<void*>(first + part.p_memsz);
    }
  }
  search.found->dlfo_eh_frame = frames;
  return is_here && frames != nullptr ? 1 : 0;
}

}  // namespace

extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  *found = {};
  Search search{reinterpret_cast<ElfW(Addr)>(address), found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
#endif
