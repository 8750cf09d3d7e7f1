// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-action-compiler.h"

#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

P4ActionCompiler::P4ActionCompiler(P4Emitter& emitter, const P4Action* action)
    : m_emitter(emitter),
      m_expressions(emitter, action)
{
}

const std::map<std::string, P4ActionCompiler::Primitive>&
P4ActionCompiler::GetPrimitives()
{
    using C = P4ActionCompiler;
    static const std::map<std::string, Primitive> primitives{
        {"assign", {2, &C::CompileAssign}},
        {"modify_field", {2, &C::CompileAssign}},
        {"assign_header", {2, &C::CompileAssignHeader}},
        {"copy_header", {2, &C::CompileAssignHeader}},
        {"assign_header_stack", {2, &C::CompileAssignStack}},
        {"assign_VL", {2, &C::CompileAssignVariable}},
        {"assign_union", {2, &C::CompileAssignUnion}},
        {"assign_union_stack", {2, &C::CompileAssignUnionStack}},
        {"register_read", {3, &C::CompileRegisterRead}},
        {"register_write", {3, &C::CompileRegisterWrite}},
        {"count", {2, &C::CompileCount}},
        {"mark_to_drop", {1, &C::CompileMarkToDrop}},
        {"drop", {0, &C::CompileDrop}},
        {"add_header", {1, &C::CompileAddHeader}},
        {"remove_header", {1, &C::CompileRemoveHeader}},
        {"push", {2, &C::CompilePush}},
        {"pop", {2, &C::CompilePop}},
        {"modify_field_with_hash_based_offset", {4, &C::CompileHash}},
        {"clone_ingress_pkt_to_egress", {2, &C::CompileClone}},
        {"clone_egress_pkt_to_egress", {2, &C::CompileClone}},
        {"resubmit", {1, &C::CompileResubmit}},
        {"recirculate", {1, &C::CompileRecirculate}},
        {"truncate", {1, &C::CompileTruncate}},
        {"execute_meter", {3, &C::CompileMeter}},
        {"generate_digest", {2, &C::CompileDigest}},
        {"log_msg", {2, &C::CompileLog}},
        {"modify_field_rng_uniform", {3, &C::CompileRandom}},
        {"exit", {0, &C::CompileExit}},
        {"assert", {1, &C::CompileAssert}},
        {"assume", {1, &C::CompileAssert}},
        {"_jump", {1, &C::CompileJump}},
        {"_jump_if_zero", {2, &C::CompileJumpIfZero}},
        {"no_op", {0, nullptr}},
    };
    return primitives;
}

void
P4ActionCompiler::CompileList(const P4Json& primitives)
{
    std::vector<uint32_t> addresses;
    m_jumps.clear();
    for (const auto& primitive : primitives.GetItems())
    {
        addresses.push_back(m_emitter.GetAddress());
        CompilePrimitive(primitive);
    }
    addresses.push_back(m_emitter.GetAddress());
    for (const auto& [instruction, target] : m_jumps)
    {
        const uint32_t index = GetConstant(target);
        if (index >= addresses.size())
        {
            target.Fail("a jump out of the action");
        }
        m_emitter.GetProgram().code[instruction].c = addresses[index];
    }
}

void
P4ActionCompiler::CompilePrimitive(const P4Json& primitive)
{
    const P4Json op = primitive.Get("op");
    const auto& known = GetPrimitives();
    const auto found = known.find(op.AsText());
    if (found == known.end())
    {
        op.Fail(fmt::format("the primitive \"{}\" is not supported", op.AsText()));
    }
    const auto parameters = primitive.Get("parameters").GetItems(found->second.parameters);
    if (found->second.compile != nullptr)
    {
        (this->*found->second.compile)(parameters);
    }
    m_emitter.EndStatement();
}

void
P4ActionCompiler::CompileAssign(const Parameters& parameters)
{
    const P4Target target = m_expressions.CompileTarget(parameters[0]);
    m_expressions.CompileTo(target.field, parameters[1]);
    m_expressions.Finish(target);
}

void
P4ActionCompiler::CompileRegisterRead(const Parameters& parameters)
{
    const P4Target target = m_expressions.CompileTarget(parameters[0]);
    const P4Field& field = target.field;
    const uint32_t index = m_emitter.FindRegister(parameters[1].Get("value"));
    const auto& array = m_emitter.GetProgram().registers[index];
    if (field.bits != array.bits)
    {
        parameters[0].Fail(
            fmt::format("a field of {} bits for a register of {}", field.bits, array.bits));
    }
    const uint32_t cell = m_expressions.CompileToLimb(parameters[2]);
    m_emitter.EmitWide(P4Op::REGISTER_READ, field.limbs, field.slot, index, cell, field.beyond);
    m_expressions.Finish(target);
}

void
P4ActionCompiler::CompileRegisterWrite(const Parameters& parameters)
{
    const uint32_t index = m_emitter.FindRegister(parameters[0].Get("value"));
    const auto& array = m_emitter.GetProgram().registers[index];
    const uint32_t cell = m_expressions.CompileToLimb(parameters[1]);
    // The value goes through a place of the register's width, which cuts it.
    P4Field value;
    value.bits = array.bits;
    value.limbs = array.limbs;
    value.slot = m_emitter.AllocateTemporary(array.limbs);
    m_expressions.CompileTo(value, parameters[2]);
    m_emitter.EmitWide(P4Op::REGISTER_WRITE, array.limbs, value.slot, index, cell);
}

void
P4ActionCompiler::CompileCount(const Parameters& parameters)
{
    const uint32_t index = m_emitter.FindCounter(parameters[0].Get("value"));
    m_emitter.Emit(P4Op::COUNT, index, m_expressions.CompileToLimb(parameters[1]));
}

void
P4ActionCompiler::CompileMarkToDrop(const Parameters& parameters)
{
    // The header may be a copy of standard_metadata, which the program copies back: a local of an
    // action with a parameter of that type.
    const auto& program = m_emitter.GetProgram();
    const auto& header = program.headers[GetHeader(parameters[0])];
    const P4Field* port = header.FindField("egress_spec");
    if (port == nullptr || port->bits < CountBits({P4_DROP_PORT}) || port->limbs != 1)
    {
        parameters[0].Fail(
            fmt::format("header \"{}\" is no standard_metadata: it has no egress_spec of 9 bits",
                        header.name));
    }
    const P4Field* group = header.FindField("mcast_grp");
    m_emitter.Emit(P4Op::MARK_TO_DROP,
                   port->slot,
                   group == nullptr ? program.standard.unused : group->slot);
}

void
P4ActionCompiler::CompileDrop(const Parameters& /* parameters */)
{
    const auto& standard = m_emitter.GetProgram().standard;
    m_emitter.Emit(P4Op::MARK_TO_DROP, standard.egressSpec, standard.multicastGroup);
}

void
P4ActionCompiler::CompileHash(const Parameters& parameters)
{
    const P4Target target = m_expressions.CompileTarget(parameters[0]);
    const P4Field& field = target.field;
    const uint32_t base = m_expressions.CompileToLimb(parameters[1]);
    const uint32_t calculation = m_emitter.FindCalculation(parameters[2].Get("value"));
    const uint32_t size = m_expressions.CompileToLimb(parameters[3]);
    if (field.limbs != 1)
    {
        parameters[0].Fail("a hash fits in 64 bits");
    }
    m_emitter.Emit(P4Op::HASH, field.slot, base, size, calculation);
    CutToWidth(field);
    m_expressions.Finish(target);
}

void
P4ActionCompiler::CompileClone(const Parameters& parameters)
{
    const uint32_t session = m_expressions.CompileToLimb(parameters[0]);
    m_emitter.Emit(P4Op::CLONE, 0, session, 0, GetFieldList(parameters[1]));
}

void
P4ActionCompiler::CompileResubmit(const Parameters& parameters)
{
    m_emitter.Emit(P4Op::RESUBMIT, 0, 0, 0, GetFieldList(parameters[0]));
}

void
P4ActionCompiler::CompileRecirculate(const Parameters& parameters)
{
    m_emitter.Emit(P4Op::RECIRCULATE, 0, 0, 0, GetFieldList(parameters[0]));
}

void
P4ActionCompiler::CompileTruncate(const Parameters& parameters)
{
    m_emitter.Emit(P4Op::TRUNCATE, 0, m_expressions.CompileToLimb(parameters[0]));
}

void
P4ActionCompiler::CompileExit(const Parameters& /* parameters */)
{
    m_emitter.Emit(P4Op::EXIT);
}

void
P4ActionCompiler::CompileAssert(const Parameters& parameters)
{
    m_emitter.Emit(P4Op::ASSERT, 0, m_expressions.CompileToLimb(parameters[0]));
}

void
P4ActionCompiler::CompileJump(const Parameters& parameters)
{
    m_jumps.emplace_back(m_emitter.Emit(P4Op::JUMP), parameters[0]);
}

void
P4ActionCompiler::CompileJumpIfZero(const Parameters& parameters)
{
    const uint32_t condition = m_expressions.CompileToLimb(parameters[0]);
    m_jumps.emplace_back(m_emitter.Emit(P4Op::JUMP_IF_ZERO, 0, condition), parameters[1]);
}

void
P4ActionCompiler::CompileMeter(const Parameters& parameters)
{
    const uint32_t meter = m_emitter.FindMeter(parameters[0].Get("value"));
    const uint32_t index = m_expressions.CompileToLimb(parameters[1]);
    const P4Target target = m_expressions.CompileTarget(parameters[2]);
    if (target.field.limbs > 1)
    {
        parameters[2].Fail("a colour's field has 64 bits at most");
    }
    m_emitter.Emit(P4Op::EXECUTE_METER, target.field.slot, meter, index);
    CutToWidth(target.field);
    m_expressions.Finish(target);
}

void
P4ActionCompiler::CompileDigest(const Parameters& parameters)
{
    const uint32_t id = GetConstant(parameters[1]);
    const auto list = m_emitter.FindDigest(id);
    if (!list && id != 0)
    {
        parameters[1].Fail(fmt::format("there is no digest {}", id));
    }
    // 0 stands for none.
    if (id != 0)
    {
        m_emitter.Emit(P4Op::DIGEST, *list);
    }
}

void
P4ActionCompiler::CompileLog(const Parameters& parameters)
{
    P4LogMessage message;
    message.texts = SplitLogFormat(parameters[0].Get("value").AsText());
    const P4Json values = parameters[1].Get("value");
    for (const auto& item : values.IsArray() ? values.GetItems() : std::vector<P4Json>{})
    {
        const P4Value value = m_expressions.Compile(item);
        message.values.push_back({value.slot, value.limbs, value.isSigned});
    }
    if (message.texts.size() != message.values.size() + 1)
    {
        parameters[1].Fail(fmt::format("log_msg has {} places for {} values",
                                       message.texts.size() - 1,
                                       message.values.size()));
    }
    auto& messages = m_emitter.GetProgram().logMessages;
    m_emitter.Emit(P4Op::LOG, static_cast<uint32_t>(messages.size()));
    messages.push_back(std::move(message));
}

void
P4ActionCompiler::CompileRandom(const Parameters& parameters)
{
    const P4Target target = m_expressions.CompileTarget(parameters[0]);
    const uint32_t low = m_expressions.CompileToLimb(parameters[1]);
    const uint32_t high = m_expressions.CompileToLimb(parameters[2]);
    if (target.field.limbs != 1)
    {
        parameters[0].Fail("a random number fits in 64 bits");
    }
    m_emitter.Emit(P4Op::RANDOM, target.field.slot, low, high);
    CutToWidth(target.field);
    m_expressions.Finish(target);
}

void
P4ActionCompiler::CutToWidth(const P4Field& field)
{
    const P4Value mask = m_emitter.AddConstant(limbs::LowMask(std::min<uint32_t>(field.bits, 64)));
    m_emitter.Emit(P4Op::AND, field.slot, field.slot, mask.slot);
    if (field.isSigned)
    {
        const P4Value sign = m_emitter.AddConstant(field.bits - 1);
        m_emitter.Emit(P4Op::SHIFT_RIGHT, field.beyond, field.slot, sign.slot);
    }
}

const P4Field&
P4ActionCompiler::GetField(const P4Json& parameter) const
{
    const P4Json type = parameter.Get("type");
    if (type.AsText() != "field")
    {
        type.Fail("only a field can be written to");
    }
    return m_emitter.FindField(parameter.Get("value"));
}

uint32_t
P4ActionCompiler::GetHeader(const P4Json& parameter) const
{
    return m_emitter.FindHeader(parameter.Get("value"));
}

uint32_t
P4ActionCompiler::GetStack(const P4Json& parameter) const
{
    return m_emitter.FindStack(parameter.Get("value"));
}

uint32_t
P4ActionCompiler::GetConstant(const P4Json& parameter) const
{
    const auto [value, isNegative] = ParseHexadecimal(parameter.Get("value"));
    if (isNegative || CountBits(value) > 16)
    {
        parameter.Get("value").Fail("a number up to 65535 is expected");
    }
    return static_cast<uint32_t>(value[0]);
}

uint32_t
P4ActionCompiler::GetFieldList(const P4Json& parameter) const
{
    const uint32_t id = GetConstant(parameter);
    // 0 stands for no metadata at all; p4c numbers its lists from 1.
    if (id != 0 && !m_emitter.GetProgram().fieldLists.contains(id))
    {
        parameter.Fail(fmt::format("there is no field list {}", id));
    }
    return id;
}

} // namespace ns3::gradsync
