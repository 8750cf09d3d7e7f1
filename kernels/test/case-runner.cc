// SPDX-License-Identifier: GPL-2.0-only
/**
 * Runs the cases of a test program on all gradients of nasty-gradients.h. Outputs are poisoned
 * before each run and compared bit for bit. Prints what CI counts: "N passed, N failed, N skipped";
 * without a GPU the cases that need one are skipped. Exit code 1 when one failed.
 *
 * Option: --longest=N leaves out longer gradients, for tools under which kernels run slowly.
 */
#include "case-runner.h"

#include "device-array.h"
#include "support/nasty-gradients.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

namespace
{

using namespace ns3::gradsync;

/// On what a case is run: where only the length counts, on zeros.
std::vector<NastyGradient>
MakeGradients(const Case& one, size_t length)
{
    return one.needsDevice
               ? MakeNastyGradients(length)
               : std::vector<NastyGradient>{{"any values", std::vector<float>(length, 0.0F)}};
}

/// Whether a case holds for all gradients of at most so many elements.
bool
Holds(const Case& one, size_t longest)
{
    bool isGood = true;
    auto lengths = GetNastyLengths();
    lengths.push_back((size_t{1} << 24) + 5);
    std::erase_if(lengths, [longest](size_t length) { return length > longest; });
    for (const size_t length : lengths)
    {
        for (const auto& gradient : MakeGradients(one, length))
        {
            if (!one.test(gradient.values))
            {
                std::printf("FAILED %s: %s, %zu elements\n",
                            one.name,
                            gradient.name.c_str(),
                            length);
                isGood = false;
            }
        }
    }
    return isGood;
}

} // namespace

int
main(int argc, char** argv)
{
    size_t longest = SIZE_MAX;
    if (argc > 2 || (argc == 2 && std::sscanf(argv[1], "--longest=%zu", &longest) != 1))
    {
        std::fprintf(stderr, "found %s, expected --longest=N\n", argv[argc - 1]);
        return 2;
    }
    int devices = 0;
    const bool hasDevice = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!hasDevice)
    {
        std::printf("no GPU here: no kernel was run\n");
    }
    size_t passed = 0;
    size_t skipped = 0;
    for (const auto& one : GetCases())
    {
        const bool isSkipped = one.needsDevice && !hasDevice;
        skipped += isSkipped ? 1 : 0;
        passed += !isSkipped && Holds(one, longest) ? 1 : 0;
    }
    const size_t failed = GetCases().size() - passed - skipped;
    std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
    return failed == 0 ? 0 : 1;
}
