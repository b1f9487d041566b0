# Writes OUTPUT: the version of the program and the state of the checkout it is built from, for the
# provenance of results. Run as a script at every build; the file changes only when its content does.
set(sha unknown)
find_program(GIT git)
if(GIT)
  # A checkout of something else above this folder says nothing about it.
  cmake_path(GET SOURCE PARENT_PATH above)
  set(ENV{GIT_CEILING_DIRECTORIES} ${above})
  execute_process(COMMAND ${GIT} --no-optional-locks describe --always --dirty --exclude=*
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE found RESULT_VARIABLE result
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(result EQUAL 0)
    set(sha ${found})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#pragma once

#define GRAZE_VERSION "@VERSION@"
#define GRAZE_GIT_SHA "@sha@"
#define GRAZE_COMPILER "@COMPILER@"
]])
