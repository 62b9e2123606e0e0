// The unwinder of g++ 12 calls _dl_find_object, which the C library has from version 2.35 on. This one does the same
// with functions that older ones have, so that a wheel runs with them, too. It stays inside the module (module.map).
#include <dlfcn.h>
#include <link.h>

#include <cstddef>

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
