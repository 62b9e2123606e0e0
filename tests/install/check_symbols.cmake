# cmake -DNM=... -DLIBRARY=... -P: the shared library exports functions, constants and types of namespace kqd, with the version
# of the library, but no internals, third parties or experiments.
execute_process(COMMAND ${NM} --dynamic --defined-only --demangle --format=posix ${LIBRARY}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "kqd::two_sample_test\\(")
  message(FATAL_ERROR "${LIBRARY} does not export kqd::two_sample_test")
endif()
foreach(name IN ITEMS kqd::parallel_for_blocks kqd::simd:: kqd::RandomStream kqd::run_experiment kqd::lab::)
  if(symbols MATCHES "${name}")
    message(SEND_ERROR "${LIBRARY} exports ${name}, which no public header declares")
  endif()
endforeach()
string(REPLACE ";" "," symbols "${symbols}")
string(REPLACE "\n" ";" symbols "${symbols}")
foreach(symbol IN LISTS symbols)
  if(symbol AND NOT symbol MATCHES "^(typeinfo (name )?for |vtable for )?kqd::|^KQD_[0-9.]+ ")
    message(SEND_ERROR "${LIBRARY} exports ${symbol}")
  endif()
endforeach()
