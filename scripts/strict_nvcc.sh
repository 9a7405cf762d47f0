#!/bin/sh
# Runs nvcc, and fails as well when ptxas warns that a kernel will not be what was written: spilled registers,
# ignored setmaxnreg (C7508 and on), serialised wgmma (to C7515), waits and fences of wgmma that were
# forgotten and put in (C7517, C7519).
# Usage: strict_nvcc.sh NVCC ARGUMENTS...

messages=$("$@" 2>&1)
status=$?
[ -z "$messages" ] || echo "$messages" >&2
if echo "$messages" | grep -qE 'C75(0[89]|1[0-9])|Registers are spilled'; then
    echo "not accepted: ptxas spills registers or gave up an optimisation (above)" >&2
    exit 1
fi
exit $status
