# The files compiled for AVX2 and AVX-512 may not emit functions that other files emit too (inline
# functions, template instances): the linker keeps one copy of each, and if it keeps the one with
# wide instructions the program dies on machines without them. Such functions are weak symbols
# outside the namespaces recalltree::avx2 and recalltree::avx512, which no other file can name.
#
#   cmake -DNM=... -DLIBRARY=librecalltree_core.a -P kernels_share_no_code.cmake

execute_process(COMMAND ${NM} ${LIBRARY} OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" lines "${listing}")
set(in_kernels FALSE)
set(shared "")
foreach(line IN LISTS lines)
  if(line MATCHES "[.]o(bj)?[)]?:$") # the next member of the library
    string(FIND "${line}" "kernels_avx" position)
    if(position EQUAL -1)
      set(in_kernels FALSE)
    else()
      set(in_kernels TRUE)
    endif()
  elseif(in_kernels AND line MATCHES "^[0-9a-fA-F]+ [WVu] "
         AND NOT line MATCHES "10recalltree(4avx2|6avx512)|DW[.]ref")
    list(APPEND shared "${line}")
  endif()
endforeach()

if(shared)
  list(JOIN shared "\n  " shared)
  message(FATAL_ERROR "functions compiled for one instruction set and visible to all:\n  ${shared}\n"
    "Define them inside recalltree::avx2 and recalltree::avx512.")
endif()
