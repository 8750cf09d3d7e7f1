// SPDX-License-Identifier: GPL-2.0-only
/**
 * Every kernel against the CPU function of the same name, on all gradients of nasty-gradients.h.
 * Outputs are poisoned before each run and compared bit for bit. Prints what CI counts: "N passed,
 * N failed, N skipped"; without a GPU all cases are skipped. Exit code 1 when one failed.
 *
 * Option: --longest=N leaves out longer gradients, for tools under which kernels run slowly.
 */
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

struct Case
{
    const char* name;
    std::function<bool(const Gradient&)> test;
};

const std::vector<Case>&
GetCases()
{
    static const std::vector<Case> cases{{"int8", TestInt8},
                                         {"fp16 and bf16", TestSixteenBits},
                                         {"two-bit", TestTwoBits},
                                         {"fixed point", TestFixedPoint},
                                         {"top-k", TestTopK},
                                         {"Ok-Topk", TestOkTopK},
                                         {"DGC", TestDgc},
                                         {"bbTopk", TestBlockTopK},
                                         {"error feedback and momentum", TestDecorators},
                                         {"norm, DGT, OmniReduce", TestSums},
                                         {"additions", TestAdditions}};
    return cases;
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
        for (const auto& gradient : MakeNastyGradients(length))
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
        std::printf("no GPU here: nothing was compared\n0 passed, 0 failed, %zu skipped\n",
                    GetCases().size());
        return 0;
    }
    size_t passed = 0;
    for (const auto& one : GetCases())
    {
        passed += Holds(one, longest) ? 1 : 0;
    }
    const size_t failed = GetCases().size() - passed;
    std::printf("%zu passed, %zu failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
