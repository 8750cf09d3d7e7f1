// SPDX-License-Identifier: GPL-2.0-only
/**
 * Runs the cases of a test program on all gradients of nasty-gradients.h. Outputs are poisoned
 * before each run and compared bit for bit. Prints what CI counts: "N passed, N failed, N skipped";
 * without a GPU the cases that need one are skipped. Exit code 1 when one failed.
 *
 * Options, in this order: --longest=N leaves out longer gradients, for tools under which kernels
 * run slowly; a name runs only that case, -NAME all others. --list alone prints the names.
 */
#include "case-runner.h"

#include "device-array.h"
#include "support/nasty-gradients.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <optional>
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

#ifdef GRADSYNC_EMULATED
/// Prints what the kernels of a case did that no GPU may be asked to do. \returns whether they did
/// nothing
bool
AreKernelsClean(const Case& one)
{
    const auto findings = emulator::TakeFindings();
    for (const auto& finding : findings)
    {
        std::printf("FOUND in %s: %s\n", one.name, emulator::Describe(finding).c_str());
    }
    return findings.empty();
}
#else
bool
AreKernelsClean(const Case&)
{
    return true; // what compute-sanitizer is for
}
#endif

/// Gradients of which the CPU's part takes long are tried on threads. Not short ones: where several
/// threads launch, compute-sanitizer loses track.
std::launch
ChooseLaunch(size_t length)
{
#ifdef GRADSYNC_EMULATED
    constexpr size_t LONG = SIZE_MAX; // the emulator runs one launch after the other
#else
    constexpr size_t LONG = 100'000;
#endif
    return length >= LONG ? std::launch::async : std::launch::deferred;
}

/// Whether a case holds for all gradients of one length.
bool
HoldsAt(const Case& one, size_t length)
{
    const auto gradients = MakeGradients(one, length);
    std::vector<std::future<bool>> results;
    for (const auto& gradient : gradients)
    {
        results.push_back(
            std::async(ChooseLaunch(length), [&] { return one.test(gradient.values); }));
    }
    bool isGood = true;
    for (size_t i = 0; i < results.size(); ++i)
    {
        if (!results[i].get())
        {
            std::printf("FAILED %s: %s, %zu elements\n",
                        one.name,
                        gradients[i].name.c_str(),
                        length);
            isGood = false;
        }
    }
    return isGood;
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
        isGood = HoldsAt(one, length) && isGood;
    }
    return AreKernelsClean(one) && isGood;
}

/// What the options ask for.
struct Choice
{
    size_t longest{SIZE_MAX};
    std::vector<Case> cases;
};

/// None when the options are wrong, which has been told then.
std::optional<Choice>
ReadOptions(int argc, char** argv)
{
    Choice choice{.cases = GetCases()};
    if (argc > 3 || (argc >= 2 && std::sscanf(argv[1], "--longest=%zu", &choice.longest) != 1))
    {
        std::fprintf(stderr,
                     "found %s, expected --list, or --longest=N and the name of a case\n",
                     argv[1]);
        return std::nullopt;
    }
    if (argc == 3)
    {
        const bool isLeftOut = argv[2][0] == '-';
        const char* const name = argv[2] + (isLeftOut ? 1 : 0);
        std::erase_if(choice.cases, [name, isLeftOut](const Case& one) {
            return (std::strcmp(one.name, name) == 0) == isLeftOut;
        });
    }
    if (choice.cases.empty())
    {
        std::fprintf(stderr, "no case is called %s\n", argv[2]);
        return std::nullopt;
    }
    return choice;
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0)
    {
        for (const auto& one : GetCases())
        {
            std::printf("%s\n", one.name);
        }
        return 0;
    }
    const auto choice = ReadOptions(argc, argv);
    if (!choice)
    {
        return 2;
    }
    const auto& cases = choice->cases;
    int devices = 0;
    const bool hasDevice = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!hasDevice)
    {
        std::printf("no GPU here: no kernel was run\n");
    }
    size_t passed = 0;
    size_t skipped = 0;
    for (const auto& one : cases)
    {
        const bool isSkipped = one.needsDevice && !hasDevice;
        skipped += isSkipped ? 1 : 0;
        passed += !isSkipped && Holds(one, choice->longest) ? 1 : 0;
    }
#ifdef GRADSYNC_EMULATED
    const auto ran = static_cast<size_t>(
        std::ranges::count_if(cases, [](const Case& one) { return one.needsDevice; }));
    std::printf("%zu cases emulated on a CPU, none run on a GPU: %llu launches\n",
                ran,
                static_cast<unsigned long long>(emulator::CountLaunches()));
#endif
    const size_t failed = cases.size() - passed - skipped;
    std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
    return failed == 0 ? 0 : 1;
}
