# cmake -DBUILD_DIR=... -DPREFIX=... -P: installs into an empty prefix, so that no older file can help.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
