// SPDX-License-Identifier: GPL-2.0-only
// The part of P4ProgramLoader that reads headers, stacks and standard metadata.
#include "ns3/p4-limbs.h"
#include "ns3/p4-program-loader.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

void
P4ProgramLoader::LoadHeaders()
{
    for (const auto& type : m_root.Get("header_types").GetItems())
    {
        const std::string name = type.Get("name").AsText();
        if (!m_types.emplace(name, type).second)
        {
            type.Get("name").Fail(fmt::format("\"{}\" is there twice", name));
        }
    }
    for (const auto& instance : m_root.Get("headers").GetItems())
    {
        AddHeader(instance);
    }
}

void
P4ProgramLoader::AddHeader(const P4Json& instance)
{
    P4Header header;
    header.name = instance.Get("name").AsText();
    header.isMetadata = instance.Get("metadata").AsBool();
    const P4Json typeName = instance.Get("header_type");
    const auto type = m_types.find(typeName.AsText());
    if (type == m_types.end())
    {
        typeName.Fail(fmt::format("there is no header type \"{}\"", typeName.AsText()));
    }
    header.valid = m_emitter.Allocate(1);
    LoadFields(header, type->second);
    const auto index = static_cast<uint32_t>(m_program.headers.size());
    m_emitter.AddHeaderName(header.name, index, instance.Get("name"));
    m_headerOfId[instance.Get("id").AsNumber()] = index;
    m_program.store[header.valid] = header.isMetadata ? 1 : 0;
    m_program.headers.push_back(std::move(header));
}

void
P4ProgramLoader::LoadFields(P4Header& header, const P4Json& type)
{
    uint64_t bits = 0;
    P4Field* variable = nullptr;
    const auto items = type.Get("fields").GetItems();
    header.fields.reserve(items.size());
    for (const auto& item : items)
    {
        header.fields.push_back(LoadField(item, static_cast<uint32_t>(bits)));
        if (!header.fields.back().isVariable)
        {
            bits += header.fields.back().bits;
            continue;
        }
        if (variable != nullptr)
        {
            item.Fail("a header has one field of variable length (varbit) at most");
        }
        variable = &header.fields.back();
    }
    if (bits % 8 != 0 && !header.isMetadata)
    {
        type.Fail(fmt::format("a header of {} bits is not made of bytes", bits));
    }
    header.bytes = static_cast<uint32_t>(bits / 8);
    header.maxBytes = header.bytes;
    if (variable != nullptr)
    {
        LoadVariableField(header, *variable, type);
    }
    header.slot = static_cast<uint32_t>(m_program.store.size());
    for (auto& field : header.fields)
    {
        field.slot = m_emitter.Allocate(field.limbs);
        field.beyond = field.isSigned ? m_emitter.Allocate(1) : 0;
        header.hasSigned = header.hasSigned || field.isSigned;
    }
    header.limbs = static_cast<uint32_t>(m_program.store.size()) - header.slot;
}

void
P4ProgramLoader::LoadVariableField(P4Header& header, P4Field& field, const P4Json& type)
{
    if (const auto expression = type.Find("length_exp"))
    {
        expression->Fail(
            "the length of a field of variable length (varbit) by an expression of its "
            "type is not supported; p4c tells it where the header is extracted");
    }
    const P4Json most = type.Get("max_length");
    header.maxBytes = most.AsNumber(UINT16_MAX, "bytes of a header with a varbit field");
    if (header.maxBytes <= header.bytes)
    {
        most.Fail("the field of variable length (varbit) has no room");
    }
    field.bits = 8 * (header.maxBytes - header.bytes);
    field.limbs = limbs::CountFor(field.bits);
    header.variableBits = m_emitter.Allocate(1);
}

P4Field
P4ProgramLoader::LoadField(const P4Json& field, uint32_t offset) const
{
    const auto parts = field.GetItems();
    if (parts.size() < 2 || parts.size() > 4)
    {
        field.Fail("a name, a width and perhaps a sign are expected");
    }
    if (parts.size() == 4 && parts[3].AsFlag())
    {
        parts[3].Fail("saturating fields are not supported");
    }
    P4Field result;
    result.name = parts[0].AsText();
    result.isSigned = parts.size() > 2 && parts[2].AsFlag();
    result.offset = offset;
    if (parts[1].IsText() && parts[1].AsText() == "*")
    {
        result.isVariable = true;
        result.isSigned = false;
        return result;
    }
    result.bits = parts[1].AsNumber(MAX_FIELD_BITS, "bits of a field");
    result.limbs = limbs::CountFor(result.bits);
    if (result.bits == 0)
    {
        parts[1].Fail("a field needs at least one bit");
    }
    return result;
}

void
P4ProgramLoader::LoadStacks()
{
    for (const auto& item : m_root.Get("header_stacks").GetItems())
    {
        P4Stack stack;
        stack.name = item.Get("name").AsText();
        for (const auto& id : item.Get("header_ids").GetItems())
        {
            const auto header = m_headerOfId.find(id.AsNumber());
            if (header == m_headerOfId.end())
            {
                id.Fail(fmt::format("there is no header {}", id.AsNumber()));
            }
            stack.headers.push_back(header->second);
            if (!m_program.headers[header->second].HasLayoutOf(m_program.headers[stack.headers[0]]))
            {
                id.Fail("the headers of a stack have one type");
            }
        }
        if (stack.headers.empty())
        {
            item.Get("header_ids").Fail("a stack has at least one header");
        }
        stack.next = m_emitter.Allocate(1);
        m_emitter.AddStackName(stack.name,
                               static_cast<uint32_t>(m_program.stacks.size()),
                               item.Get("name"));
        m_program.stacks.push_back(std::move(stack));
    }
}

void
P4ProgramLoader::LoadUnions()
{
    const auto unions = m_root.Find("header_unions");
    if (!unions)
    {
        return;
    }
    for (const auto& item : unions->GetItems())
    {
        P4Union one;
        one.name = item.Get("name").AsText();
        for (const auto& id : item.Get("header_ids").GetItems())
        {
            const auto header = m_headerOfId.find(id.AsNumber());
            if (header == m_headerOfId.end() || m_program.headers[header->second].isMetadata ||
                !m_program.headers[header->second].rivals.empty())
            {
                id.Fail(
                    fmt::format("header {} is none, or belongs to another union", id.AsNumber()));
            }
            one.headers.push_back(header->second);
        }
        for (const uint32_t header : one.headers)
        {
            for (const uint32_t rival : one.headers)
            {
                if (rival != header)
                {
                    m_program.headers[header].rivals.push_back(m_program.headers[rival].valid);
                }
            }
        }
        const auto index = static_cast<uint32_t>(m_program.unions.size());
        m_emitter.AddUnionName(one.name, index, item.Get("name"));
        m_unionOfId[item.Get("id").AsNumber()] = index;
        m_program.unions.push_back(std::move(one));
    }
}

std::vector<std::string>
P4ProgramLoader::FindUnionMembers(const P4Json& name) const
{
    std::vector<std::string> members;
    for (const auto& type : m_root.Get("header_union_types").GetItems())
    {
        if (type.Get("name").AsText() == name.AsText())
        {
            for (const auto& member : type.Get("headers").GetItems())
            {
                members.push_back(member.GetItems(2)[0].AsText());
            }
            return members;
        }
    }
    name.Fail(fmt::format("there is no header union type \"{}\"", name.AsText()));
}

void
P4ProgramLoader::LoadUnionStacks()
{
    const auto stacks = m_root.Find("header_union_stacks");
    if (!stacks)
    {
        return;
    }
    for (const auto& item : stacks->GetItems())
    {
        P4UnionStack stack;
        stack.name = item.Get("name").AsText();
        stack.firstStack = static_cast<uint32_t>(m_program.stacks.size());
        stack.members = FindUnionMembers(item.Get("union_type"));
        std::vector<P4Stack> columns(stack.members.size());
        const uint32_t next = m_emitter.Allocate(1);
        for (const auto& id : item.Get("header_union_ids").GetItems())
        {
            const auto found = m_unionOfId.find(id.AsNumber());
            if (found == m_unionOfId.end() ||
                m_program.unions[found->second].headers.size() != columns.size())
            {
                id.Fail(fmt::format("there is no union {} of this type", id.AsNumber()));
            }
            for (size_t i = 0; i < columns.size(); ++i)
            {
                columns[i].headers.push_back(m_program.unions[found->second].headers[i]);
            }
        }
        for (auto& column : columns)
        {
            CheckColumn(column, item);
            column.next = next;
            m_program.stacks.push_back(std::move(column));
        }
        m_emitter.AddUnionStackName(stack.name,
                                    static_cast<uint32_t>(m_program.unionStacks.size()),
                                    item.Get("name"));
        m_program.unionStacks.push_back(std::move(stack));
    }
}

void
P4ProgramLoader::CheckColumn(const P4Stack& column, const P4Json& where) const
{
    if (column.headers.empty())
    {
        where.Fail("a stack has at least one header union");
    }
    for (const uint32_t header : column.headers)
    {
        if (!m_program.headers[header].HasLayoutOf(m_program.headers[column.headers[0]]))
        {
            where.Fail("the header unions of a stack have one type");
        }
    }
}

void
P4ProgramLoader::LoadAliases()
{
    for (const auto& header : m_program.headers)
    {
        for (const auto& field : header.fields)
        {
            m_standardFields[header.name + "." + field.name] = field.slot;
        }
    }
    if (const auto aliases = m_root.Find("field_aliases"))
    {
        for (const auto& alias : aliases->GetItems())
        {
            const auto pair = alias.GetItems(2);
            m_standardFields[pair[0].AsText()] = m_emitter.FindField(pair[1]).slot;
        }
    }
    auto& standard = m_program.standard;
    standard.unused = m_emitter.Allocate(1);
    standard.ingressPort = FindStandard("standard_metadata", "ingress_port");
    standard.egressSpec = FindStandard("standard_metadata", "egress_spec");
    standard.egressPort = FindStandard("standard_metadata", "egress_port");
    standard.instanceType = FindStandard("standard_metadata", "instance_type");
    standard.packetLength = FindStandard("standard_metadata", "packet_length");
    standard.parserError = FindStandard("standard_metadata", "parser_error");
    standard.checksumError = FindStandard("standard_metadata", "checksum_error");
    standard.multicastGroup = FindStandard("intrinsic_metadata", "mcast_grp");
    standard.replicationId = FindStandard("intrinsic_metadata", "egress_rid");
    standard.ingressTimestamp = FindStandard("intrinsic_metadata", "ingress_global_timestamp");
    standard.egressTimestamp = FindStandard("intrinsic_metadata", "egress_global_timestamp");
    standard.enqueueTimestamp = FindStandard("queueing_metadata", "enq_timestamp");
    standard.enqueueDepth = FindStandard("queueing_metadata", "enq_qdepth");
    standard.dequeueTimedelta = FindStandard("queueing_metadata", "deq_timedelta");
    standard.dequeueDepth = FindStandard("queueing_metadata", "deq_qdepth");
    if (standard.egressSpec == standard.unused || standard.ingressPort == standard.unused)
    {
        m_root.Get("headers").Fail("there is no standard_metadata of v1model");
    }
    if (standard.multicastGroup == standard.unused)
    {
        // A place of its own: 0 for ever.
        standard.multicastGroup = m_emitter.Allocate(1);
    }
}

uint32_t
P4ProgramLoader::FindStandard(const std::string& header, const std::string& field) const
{
    const auto found = m_standardFields.find(header + "." + field);
    return found == m_standardFields.end() ? m_program.standard.unused : found->second;
}

} // namespace ns3::gradsync
