#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Compiles the CUDA kernels for sm_80 and sm_90, warnings as errors, runs their tests where there is a
# GPU, and looks at their machine code. What is not possible on this machine is counted as skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=build/kernels
tools=build/kernels-tools
passed=0
failed=0
skipped=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0))
    exit
}

# add FILE: counts what a program said in its last line.
add() {
    [[ $(tail -n 1 "$1") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped ]] || {
        failed=$((failed + 1))
        return
    }
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
}

nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null)
if [[ -z $nvcc ]]; then
    echo "nvcc is not here: the kernels were neither compiled, tested nor looked at"
    skipped=3
    finish
fi
if cmake -S kernels -B $build -G Ninja -DCMAKE_CUDA_COMPILER="$nvcc" >$build.log 2>&1 &&
    ninja -C $build; then
    passed=$((passed + 1))
else
    cat $build.log
    failed=$((failed + 1))
    finish
fi
$build/kernels-test | tee $build/test.log
add $build/test.log
$build/device-codecs-test --longest=100003 | tee $build/codecs.log
add $build/codecs.log

# The toolkit's disassemblers, which not every installation of the compiler has.
if ! { command -v cuobjdump && command -v nvdisasm; } >/dev/null; then
    python3 -P -m venv $tools && $tools/bin/python -P -m pip -q install --no-deps \
        --require-hashes --only-binary=:all: -r kernels/requirements-tools.lock ||
        echo "the disassemblers could not be installed"
    export PATH=$PATH:$(echo "$PWD"/$tools/lib/python3*/site-packages/nvidia/cu13/bin)
fi
python3 -P kernels/count-issue-slots.py $build/libgradsync-kernels.a \
    --check kernels/counts/issue-slots.json >$build/issue-slots.log 2>&1 &
python3 -P kernels/check-machine-code.py $build/libgradsync-kernels.a | tee $build/machine-code.log
add $build/machine-code.log
wait
cat $build/issue-slots.log
add $build/issue-slots.log
finish
