// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-calculation-loader.h"

#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t MAX_CONSTANT_BITS = 4096;

P4HashAlgorithm
ReadAlgorithm(const P4Json& name)
{
    // Those that are "custom" begin with the parameters of the plain ones.
    static const std::map<std::string, P4HashAlgorithm> algorithms{
        {"csum16", P4HashAlgorithm::CSUM16},
        {"xor16", P4HashAlgorithm::XOR16},
        {"crc16", P4HashAlgorithm::CRC16},
        {"crc16_custom", P4HashAlgorithm::CRC16},
        {"crc32", P4HashAlgorithm::CRC32},
        {"crc32_custom", P4HashAlgorithm::CRC32},
        {"identity", P4HashAlgorithm::IDENTITY}};
    const auto known = algorithms.find(name.AsText());
    if (known == algorithms.end())
    {
        name.Fail(fmt::format("the algorithm \"{}\" is not supported", name.AsText()));
    }
    return known->second;
}

void
AddField(P4Calculation& calculation, const P4Header& header, const P4Field& field)
{
    calculation.inputs.push_back(
        {field.slot, field.bits, header.valid, field.isVariable ? header.variableBits : 0});
}

void
AddConstant(P4Calculation& calculation, P4Emitter& emitter, const P4Json& input)
{
    const uint32_t bits = input.Get("bitwidth").AsNumber(MAX_CONSTANT_BITS);
    auto value = ParseHexadecimal(input.Get("value")).first;
    value.resize(limbs::CountFor(bits));
    const uint32_t slot = emitter.Allocate(limbs::CountFor(bits));
    std::copy(value.begin(), value.end(), emitter.GetProgram().store.begin() + slot);
    calculation.inputs.push_back({slot, bits, 0, 0});
}

} // namespace

P4Calculation
LoadP4Calculation(P4Emitter& emitter, const P4Json& item)
{
    P4Calculation calculation;
    calculation.algorithm = ReadAlgorithm(item.Get("algo"));
    const auto& headers = emitter.GetProgram().headers;
    for (const auto& input : item.Get("input").GetItems())
    {
        const P4Json type = input.Get("type");
        if (type.AsText() == "payload")
        {
            calculation.withPayload = true;
        }
        else if (type.AsText() == "hexstr")
        {
            AddConstant(calculation, emitter, input);
        }
        else if (type.AsText() == "field")
        {
            const auto header = emitter.FindHeader(input.Get("value").GetItems(2)[0]);
            AddField(calculation, headers[header], emitter.FindField(input.Get("value")));
        }
        else if (type.AsText() == "header")
        {
            const auto& header = headers[emitter.FindHeader(input.Get("value"))];
            for (const auto& field : header.fields)
            {
                AddField(calculation, header, field);
            }
        }
        else
        {
            type.Fail(fmt::format("an input of type \"{}\" is not supported", type.AsText()));
        }
    }
    return calculation;
}

} // namespace ns3::gradsync
