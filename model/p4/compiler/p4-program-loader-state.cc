// SPDX-License-Identifier: GPL-2.0-only
// The part of P4ProgramLoader that reads registers, counters, lists of fields and checksums.
#include "ns3/p4-calculation-loader.h"
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
constexpr uint32_t MAX_METER_RATES = 16;

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
        array.bits = item.Get("bitwidth").AsNumber(MAX_FIELD_BITS, "bits of a register");
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
        if (item.Get("is_direct").AsBool())
        {
            array.table = item.Get("binding").AsText();
        }
        else
        {
            array.size = item.Get("size").AsNumber(MAX_COUNTERS);
        }
        m_emitter.AddCounterName(array.name,
                                 static_cast<uint32_t>(m_program.counters.size()),
                                 item.Get("name"));
        m_program.counters.push_back(std::move(array));
    }
}

void
P4ProgramLoader::LoadMeters()
{
    const auto arrays = m_root.Find("meter_arrays");
    for (const auto& item : arrays ? arrays->GetItems() : std::vector<P4Json>{})
    {
        P4MeterArray array;
        array.name = item.Get("name").AsText();
        array.size = item.Get("size").AsNumber();
        array.rates = item.Get("rate_count").AsNumber(MAX_METER_RATES);
        const P4Json type = item.Get("type");
        array.countsBytes = type.AsText() == "bytes";
        if (!array.countsBytes && type.AsText() != "packets")
        {
            type.Fail(fmt::format("a meter of \"{}\" is not supported, only of bytes and packets",
                                  type.AsText()));
        }
        const auto isDirect = item.Find("is_direct");
        if (isDirect && isDirect->AsBool())
        {
            const P4Field& result = m_emitter.FindField(item.Get("result_target"));
            if (result.limbs > 1)
            {
                item.Get("result_target").Fail("a colour's field has 64 bits at most");
            }
            array.result = result.slot;
            array.resultBits = std::min<uint32_t>(result.bits, 64);
            array.table = item.Get("binding").AsText();
        }
        m_emitter.AddMeterName(array.name,
                               static_cast<uint32_t>(m_program.meters.size()),
                               item.Get("name"));
        m_program.meters.push_back(std::move(array));
    }
}

void
P4ProgramLoader::LoadValueSets()
{
    const auto sets = m_root.Find("parse_vsets");
    for (const auto& item : sets ? sets->GetItems() : std::vector<P4Json>{})
    {
        const P4ValueSet set{
            item.Get("name").AsText(),
            item.Get("compressed_bitwidth").AsNumber(MAX_FIELD_BITS, "bits of a parser value set")};
        m_emitter.AddValueSetName(set.name,
                                  static_cast<uint32_t>(m_program.valueSets.size()),
                                  item.Get("name"));
        m_program.valueSets.push_back(set);
    }
}

void
P4ProgramLoader::LoadDigests()
{
    const auto lists = m_root.Find("learn_lists");
    for (const auto& item : lists ? lists->GetItems() : std::vector<P4Json>{})
    {
        P4DigestList list;
        list.name = item.Get("name").AsText();
        for (const auto& element : item.Get("elements").GetItems())
        {
            if (const P4Json type = element.Get("type"); type.AsText() != "field")
            {
                type.Fail(fmt::format("a \"{}\" in a digest is not supported, only a field",
                                      type.AsText()));
            }
            const auto names = element.Get("value").GetItems(2);
            list.fields.push_back(m_emitter.FindField(element.Get("value")));
            list.fields.back().name = names[0].AsText() + "." + names[1].AsText();
        }
        m_emitter.AddDigest(item.Get("id").AsNumber(),
                            static_cast<uint32_t>(m_program.digests.size()));
        m_program.digests.push_back(std::move(list));
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
            list.emplace_back(field.slot, field.CountLimbs());
        }
        m_program.fieldLists[item.Get("id").AsNumber()] = std::move(list);
    }
}

void
P4ProgramLoader::LoadCalculations()
{
    for (const auto& item : m_root.Get("calculations").GetItems())
    {
        m_program.calculations.push_back(LoadP4Calculation(m_emitter, item));
        m_emitter.AddCalculationName(item.Get("name").AsText(),
                                     static_cast<uint32_t>(m_program.calculations.size() - 1),
                                     item.Get("name"));
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
