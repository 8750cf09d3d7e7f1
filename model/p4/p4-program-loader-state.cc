// SPDX-License-Identifier: GPL-2.0-only
// The part of P4ProgramLoader that reads registers, counters, lists of fields and checksums.
#include "ns3/p4-expression-compiler.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-program-loader.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MAX_REGISTER_LIMBS = uint64_t{1} << 25;
constexpr uint32_t MAX_COUNTERS = 1U << 24;

void
AddCalculationInput(P4Calculation& calculation, const P4Header& header, const P4Field& field)
{
    calculation.inputs.push_back(
        {field.slot, field.bits, header.valid, field.isVariable ? header.variableBits : 0});
}

} // namespace

void
P4ProgramLoader::LoadRegisters()
{
    uint64_t limbs = 0;
    for (const auto& item : m_root.Get("register_arrays").GetItems())
    {
        P4RegisterArray array;
        array.name = item.Get("name").AsText();
        array.size = item.Get("size").AsNumber();
        array.bits = item.Get("bitwidth").AsNumber(MAX_FIELD_BITS);
        array.limbs = limbs::CountFor(array.bits);
        limbs += uint64_t{array.size} * array.limbs;
        if (array.bits == 0 || limbs > MAX_REGISTER_LIMBS)
        {
            item.Fail("registers have at least one bit, and 256 MiB together at most");
        }
        m_emitter.AddRegisterName(array.name,
                                  static_cast<uint32_t>(m_program.registers.size()),
                                  item.Get("name"));
        m_program.registers.push_back(std::move(array));
    }
}

void
P4ProgramLoader::LoadCounters()
{
    for (const auto& item : m_root.Get("counter_arrays").GetItems())
    {
        P4CounterArray array;
        array.name = item.Get("name").AsText();
        // Those of a table have one counter per entry, which nothing in the program can read.
        const bool isDirect = item.Get("is_direct").AsBool();
        array.size = isDirect ? 0 : item.Get("size").AsNumber(MAX_COUNTERS);
        m_emitter.AddCounterName(array.name,
                                 static_cast<uint32_t>(m_program.counters.size()),
                                 item.Get("name"));
        m_program.counters.push_back(std::move(array));
    }
}

void
P4ProgramLoader::LoadFieldLists()
{
    const auto lists = m_root.Find("field_lists");
    if (!lists)
    {
        return;
    }
    for (const auto& item : lists->GetItems())
    {
        P4FieldList list;
        for (const auto& element : item.Get("elements").GetItems())
        {
            const P4Field& field = m_emitter.FindField(element.Get("value"));
            list.emplace_back(field.slot, field.limbs);
        }
        m_program.fieldLists[item.Get("id").AsNumber()] = std::move(list);
    }
}

void
P4ProgramLoader::LoadCalculations()
{
    static const std::map<std::string, P4HashAlgorithm> algorithms{
        {"csum16", P4HashAlgorithm::CSUM16},
        {"xor16", P4HashAlgorithm::XOR16},
        {"crc16", P4HashAlgorithm::CRC16},
        {"crc32", P4HashAlgorithm::CRC32},
        {"identity", P4HashAlgorithm::IDENTITY}};
    for (const auto& item : m_root.Get("calculations").GetItems())
    {
        P4Calculation calculation;
        const P4Json algorithm = item.Get("algo");
        const auto known = algorithms.find(algorithm.AsText());
        if (known == algorithms.end())
        {
            algorithm.Fail(
                fmt::format("the algorithm \"{}\" is not supported", algorithm.AsText()));
        }
        calculation.algorithm = known->second;
        for (const auto& input : item.Get("input").GetItems())
        {
            const P4Json type = input.Get("type");
            if (type.AsText() == "payload")
            {
                calculation.withPayload = true;
            }
            else if (type.AsText() == "hexstr")
            {
                const uint32_t bits = input.Get("bitwidth").AsNumber(MAX_FIELD_BITS);
                auto value = ParseHexadecimal(input.Get("value")).first;
                value.resize(limbs::CountFor(bits));
                const uint32_t slot = m_emitter.Allocate(limbs::CountFor(bits));
                std::copy(value.begin(), value.end(), m_program.store.begin() + slot);
                calculation.inputs.push_back({slot, bits, 0, 0});
            }
            else if (type.AsText() == "field")
            {
                const auto header = m_emitter.FindHeader(input.Get("value").GetItems(2)[0]);
                const P4Field& field = m_emitter.FindField(input.Get("value"));
                AddCalculationInput(calculation, m_program.headers[header], field);
            }
            else if (type.AsText() == "header")
            {
                const auto header = m_emitter.FindHeader(input.Get("value"));
                for (const auto& field : m_program.headers[header].fields)
                {
                    AddCalculationInput(calculation, m_program.headers[header], field);
                }
            }
            else
            {
                type.Fail(fmt::format("an input of type \"{}\" is not supported", type.AsText()));
            }
        }
        m_emitter.AddCalculationName(item.Get("name").AsText(),
                                     static_cast<uint32_t>(m_program.calculations.size()),
                                     item.Get("name"));
        m_program.calculations.push_back(std::move(calculation));
    }
}

uint32_t
P4ProgramLoader::LoadChecksums(const std::string& purpose, P4Op op)
{
    const uint32_t address = m_emitter.GetAddress();
    for (const auto& item : m_root.Get("checksums").GetItems())
    {
        const auto applies = item.Find(purpose);
        if (applies && !applies->AsBool())
        {
            continue;
        }
        const P4Field& target = m_emitter.FindField(item.Get("target"));
        const auto header = m_emitter.FindHeader(item.Get("target").GetItems(2)[0]);
        const uint32_t calculation = m_emitter.FindCalculation(item.Get("calculation"));
        if (target.bits > 64)
        {
            item.Get("target").Fail("a checksum fits in 64 bits");
        }
        std::vector<uint32_t> skips;
        if (op == P4Op::VERIFY_CHECKSUM)
        {
            skips.push_back(m_emitter.Emit(P4Op::JUMP_IF_ZERO, 0, m_program.headers[header].valid));
        }
        if (const auto condition = item.Find("if_cond"))
        {
            const uint32_t slot = P4ExpressionCompiler(m_emitter).CompileToLimb(*condition);
            m_emitter.EndStatement();
            skips.push_back(m_emitter.Emit(P4Op::JUMP_IF_ZERO, 0, slot));
        }
        const P4Value mask = m_emitter.AddConstant(limbs::LowMask(target.bits));
        m_emitter.Emit(op, target.slot, calculation, mask.slot);
        for (const uint32_t skip : skips)
        {
            m_emitter.PatchHere(skip);
        }
    }
    m_emitter.Emit(P4Op::END);
    return address;
}

} // namespace ns3::gradsync
