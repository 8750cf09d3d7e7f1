// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-kinds.h"

#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr double MOST_PER_SECOND = 1e21;
constexpr double MOST_MEMORY = 1ULL << 50;

const std::vector<std::string> DATATYPES{"fp32", "tf32", "fp16", "bf16", "fp8"};

ParameterSpec
MakeSourceSpec()
{
    return Required({"source", std::string("data sheet"), "where the number is from", {}, 1});
}

ParameterSpec
MakeDatatypeSpec()
{
    return Required({"datatype", std::string("bf16"), "of matrix products", DATATYPES});
}

std::vector<ParameterSpec>
MakeDeviceSpecs()
{
    auto peaks = Required(
        MakeObjectSpec("peaks",
                       "at most, by its data sheet",
                       {MakeDatatypeSpec(),
                        Required({"flops", 989.4e12, "a second, dense", {}, 1.0, MOST_PER_SECOND}),
                        MakeSourceSpec()}));
    peaks.isList = true;
    auto achieved = MakeObjectSpec(
        "achieved",
        "what models reach of the peak; of several, the first of the datatype and kind counts",
        {MakeDatatypeSpec(),
         Required({"models",
                   std::string("transformer"),
                   "kind of the model that it was measured with",
                   {"cnn", "table", "transformer"}}),
         Required({"share", 0.4, "of the peak", {}, 1e-6, 1.0}),
         MakeSourceSpec()});
    achieved.isList = true;
    return {Required({"name", std::string("NVIDIA H100 SXM"), "for people", {}, 1}),
            MakeSourceSpec(),
            Required({"memory", ByteCount{80'000'000'000}, "its size", {}, 1, MOST_MEMORY}),
            Required({"memoryBandwidth", 3.35e12, "bytes a second", {}, 1.0, MOST_PER_SECOND}),
            peaks,
            achieved};
}

} // namespace

const std::vector<ParameterSpec>&
GetDeviceParameters()
{
    static const auto specs = MakeDeviceSpecs();
    return specs;
}

DeviceProfile
MakeDevice(const ParameterSet& parameters)
{
    DeviceProfile device;
    device.name = parameters.Get<std::string>("name");
    device.source = parameters.Get<std::string>("source");
    device.memoryBytes = parameters.Get<ByteCount>("memory").bytes;
    device.memoryBytesPerSecond = parameters.Get<double>("memoryBandwidth");
    for (const auto& peak : parameters.Get<std::vector<ParameterSet>>("peaks"))
    {
        device.peaks.push_back({peak.Get<std::string>("datatype"),
                                peak.Get<double>("flops"),
                                peak.Get<std::string>("source")});
    }
    if (const auto* achieved = parameters.Find<std::vector<ParameterSet>>("achieved"))
    {
        for (const auto& one : *achieved)
        {
            device.achieved.push_back({one.Get<std::string>("datatype"),
                                       one.Get<std::string>("models"),
                                       one.Get<double>("share"),
                                       one.Get<std::string>("source")});
        }
    }
    return device;
}

} // namespace ns3::gradsync
