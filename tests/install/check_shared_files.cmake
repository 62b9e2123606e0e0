# Completions and the manual page lie where shells and man look for them, and are what they should be.
function(check file first_line)
  file(STRINGS ${SHARE_DIR}/${file} lines LIMIT_COUNT 1)
  if(NOT lines MATCHES "${first_line}")
    message(FATAL_ERROR "${file} starts with \"${lines}\", expected ${first_line}")
  endif()
endfunction()

check(bash-completion/completions/kqd "^# Completions of kqd for bash")
check(zsh/site-functions/_kqd "^#compdef kqd$")
check(fish/vendor_completions.d/kqd.fish "^# Completions of kqd for fish")
check(man/man1/kqd.1 "^.TH KQD 1 ")
