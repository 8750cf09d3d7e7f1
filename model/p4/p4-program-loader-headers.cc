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
    uint64_t bits = 0;
    header.valid = m_emitter.Allocate(1);
    header.slot = static_cast<uint32_t>(m_program.store.size());
    for (const auto& item : type->second.Get("fields").GetItems())
    {
        P4Field field = LoadField(item, static_cast<uint32_t>(bits));
        field.slot = m_emitter.Allocate(field.limbs);
        bits += field.bits;
        header.fields.push_back(std::move(field));
    }
    header.limbs = static_cast<uint32_t>(m_program.store.size()) - header.slot;
    if (bits % 8 != 0 && !header.isMetadata)
    {
        instance.Fail(fmt::format("a header of {} bits is not made of bytes", bits));
    }
    header.bytes = static_cast<uint32_t>(bits / 8);
    const auto index = static_cast<uint32_t>(m_program.headers.size());
    m_emitter.AddHeaderName(header.name, index, instance.Get("name"));
    m_headerOfId[instance.Get("id").AsNumber()] = index;
    m_program.store[header.valid] = header.isMetadata ? 1 : 0;
    m_program.headers.push_back(std::move(header));
}

P4Field
P4ProgramLoader::LoadField(const P4Json& field, uint32_t offset) const
{
    const auto parts = field.GetItems();
    if (parts.size() < 2 || parts.size() > 3)
    {
        field.Fail("a name, a width and perhaps a sign are expected");
    }
    P4Field result;
    result.name = parts[0].AsText();
    result.bits = parts[1].AsNumber(MAX_FIELD_BITS);
    result.isSigned = parts.size() == 3 && parts[2].AsBool();
    result.limbs = limbs::CountFor(result.bits);
    result.offset = offset;
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
            if (m_program.headers[header->second].limbs !=
                m_program.headers[stack.headers[0]].limbs)
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
