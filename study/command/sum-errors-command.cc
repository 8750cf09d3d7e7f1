// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/program-commands.h"
#include "ns3/sum-error-study.h"

#include <cmath>
#include <fmt/format.h>
#include <ostream>
#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t WORKERS = 8;
constexpr uint32_t ELEMENTS = 65536;
constexpr uint64_t SEED = 1;
/// Factors from 10^4 to 10^9.
constexpr int SMALLEST_DECADE = 4;
constexpr int DECADES = 5;
constexpr int STEPS_PER_DECADE = 4;

} // namespace

int
SumErrorsCommand(std::ostream& out)
{
    out << "distribution,workers,elements,largest_sum,encoding,factor,relative_error,largest_error,"
           "overflows\n";
    for (const auto& name : SumErrorStudy::ListDistributions())
    {
        const SumErrorStudy study(name, WORKERS, ELEMENTS, SEED);
        const auto print = [&](const std::string& encoding, const SumErrors& errors) {
            out << fmt::format("\"{}\",{},{},{:.6g},{},{:.6g},{:.6g},{}\n",
                               name,
                               WORKERS,
                               ELEMENTS,
                               study.GetLargestSum(),
                               encoding,
                               errors.relative,
                               errors.largest,
                               errors.overflows);
        };
        for (int step = 0; step <= DECADES * STEPS_PER_DECADE; ++step)
        {
            const auto decade = SMALLEST_DECADE + static_cast<double>(step) / STEPS_PER_DECADE;
            const auto factor = static_cast<float>(std::pow(10.0, decade));
            print(fmt::format("factor,{}", factor), study.MeasureFactor(factor));
        }
        print("exponents,", study.MeasureExponents());
    }
    return exit_code::OK;
}

} // namespace ns3::gradsync
