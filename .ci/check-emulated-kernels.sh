#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the CUDA kernels on the CPU (kernels/emulator): what the emulator itself finds, every case of kernels-test, blocks
# at the same time, and small mistakes that must be found. Nothing here says that a kernel ran on a GPU.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=build/kernels-emulator
passed=0
failed=0

# add FILE: counts what a program said in its last line.
add() {
    [[ $(tail -n 1 "$1") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] || {
        failed=$((failed + 1))
        return
    }
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
}

if ! { cmake -S kernels/emulator -B $build -G Ninja && ninja -C $build; } >$build.log 2>&1; then
    cat $build.log
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
$build/emulator-test | tee $build/emulator.log
add $build/emulator.log
# A core each, with the bytes that the kernels move, of which the profiles of estimates are made. What follows has
# both to itself: with less, threads wait for others until that counts as endless.
longest="error feedback and momentum" # nearly as long as all the others together
{
    $build/emulated-kernels-test --longest=8193 "$longest" >$build/longest.log
    $build/count-traffic >$build/traffic.json
} &
$build/emulated-kernels-test --longest=8193 "-$longest" | tee $build/cases.log
add $build/cases.log
wait
cat $build/longest.log
add $build/longest.log
for seed in 2 3; do
    GRADSYNC_EMULATOR_SEED=$seed GRADSYNC_EMULATOR_WORKERS=4 \
        $build/emulated-kernels-test --longest=100003 Ok-Topk | tee $build/workers.log
    add $build/workers.log
done
python3 -P kernels/emulator/test/mutants.py $build | tee $build/mutants.log
add $build/mutants.log
if cmp $build/traffic.json kernels/counts/traffic.json; then
    passed=$((passed + 1))
else
    echo "the kernels move other bytes than kernels/counts/traffic.json says: count again (doc/compression.rst)"
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))
