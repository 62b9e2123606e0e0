# cmake -DSHARE_DIR=... -P: completions and the manual page are in the folders of shells and man, and begin as they should.
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
