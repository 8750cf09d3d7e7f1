// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-program-loader.h"

#include "ns3/p4-action-compiler.h"
#include "ns3/p4-control-compiler.h"
#include "ns3/p4-error.h"
#include "ns3/p4-expression-compiler.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-parser-compiler.h"

#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t FORMAT_MAJOR = 2;
constexpr uintmax_t MAX_FILE_BYTES = uintmax_t{64} * 1024 * 1024;
/// p4c makes no field wider than this.
constexpr uint32_t MAX_FIELD_BITS = 4096;
constexpr uint64_t MAX_REGISTER_LIMBS = uint64_t{1} << 25;
constexpr uint32_t MAX_COUNTERS = 1U << 24;
constexpr int MAX_DEPTH = 512;

/// Parses with a bound on the depth, so that no file runs recursive code off the stack.
nlohmann::json
Parse(std::string_view text, const std::string& file)
{
    const auto bounded = [&file](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > MAX_DEPTH)
        {
            throw P4Error(file, "the JSON is nested too deeply");
        }
        return true;
    };
    try
    {
        return nlohmann::json::parse(text, bounded);
    }
    catch (const nlohmann::json::exception& error)
    {
        throw P4Error(file, fmt::format("this is not JSON: {}", error.what()));
    }
}

} // namespace

P4Program
P4ProgramLoader::Load(std::string_view text, const std::string& file)
{
    const nlohmann::json document = Parse(text, file);
    P4ProgramLoader loader(document, file);
    loader.LoadAll();
    return std::move(loader.m_program);
}

P4Program
P4ProgramLoader::LoadFile(const std::filesystem::path& file)
{
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file, error);
    if (error || bytes > MAX_FILE_BYTES)
    {
        throw P4Error(file.string(), "a readable file of at most 64 MiB is expected");
    }
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return Load(text.str(), file.string());
}

P4ProgramLoader::P4ProgramLoader(const nlohmann::json& document, const std::string& file)
    : m_root(document, file),
      m_emitter(m_program)
{
    m_program.file = file;
}

void
P4ProgramLoader::LoadAll()
{
    CheckVersion();
    CheckUnsupported();
    // Slot 0 is nobody's: index 0 stands for "none" where a mask may be missing.
    m_emitter.Allocate(1);
    m_emitter.Emit(P4Op::END);
    LoadErrors();
    LoadHeaders();
    LoadStacks();
    LoadAliases();
    m_program.packetLimbs = static_cast<uint32_t>(m_program.store.size());
    LoadRegisters();
    LoadCounters();
    LoadFieldLists();
    LoadCalculations();
    LoadActions();
    LoadParser();
    LoadDeparser();
    m_program.verifyAddress = LoadChecksums("verify", P4Op::VERIFY_CHECKSUM);
    m_program.updateAddress = LoadChecksums("update", P4Op::UPDATE_CHECKSUM);
    for (const auto& pipeline : m_root.Get("pipelines").GetItems())
    {
        const P4Json name = pipeline.Get("name");
        if (name.AsText() != "ingress" && name.AsText() != "egress")
        {
            name.Fail(fmt::format("a pipeline \"{}\" is not supported", name.AsText()));
        }
        const uint32_t address = P4ControlCompiler(m_emitter, m_actionOfId).Compile(pipeline);
        (name.AsText() == "ingress" ? m_program.ingressAddress : m_program.egressAddress) = address;
    }
}

void
P4ProgramLoader::CheckVersion() const
{
    const P4Json version = m_root.Get("__meta__").Get("version");
    const uint32_t major = version.GetItems(2)[0].AsNumber();
    if (major != FORMAT_MAJOR)
    {
        version.Fail(fmt::format("format {}.x is not supported, only {}.x", major, FORMAT_MAJOR));
    }
}

void
P4ProgramLoader::CheckUnsupported() const
{
    for (const auto& [member, what] : std::initializer_list<std::pair<const char*, const char*>>{
             {"header_union_types", "header unions"},
             {"header_unions", "header unions"},
             {"header_union_stacks", "stacks of header unions"},
             {"parse_vsets", "parser value sets"},
             {"meter_arrays", "meters"},
             {"learn_lists", "digests"},
             {"extern_instances", "externs"}})
    {
        const auto found = m_root.Find(member);
        if (!found)
        {
            continue;
        }
        if (const auto items = found->GetItems(); !items.empty())
        {
            const auto name = items[0].Find("name");
            found->Fail(fmt::format("{} are not supported{}",
                                    what,
                                    name ? ": \"" + name->AsText() + "\"" : ""));
        }
    }
}

void
P4ProgramLoader::LoadErrors()
{
    const auto errors = m_root.Find("errors");
    if (!errors)
    {
        return;
    }
    for (const auto& error : errors->GetItems())
    {
        const auto pair = error.GetItems(2);
        const std::string name = pair[0].AsText();
        const uint32_t value = pair[1].AsNumber();
        const std::map<std::string, uint32_t*> used{
            {"PacketTooShort", &m_program.errorPacketTooShort},
            {"NoMatch", &m_program.errorNoMatch},
            {"StackOutOfBounds", &m_program.errorStackOutOfBounds},
            {"ParserInvalidArgument", &m_program.errorInvalidArgument}};
        if (const auto found = used.find(name); found != used.end())
        {
            *found->second = value;
        }
    }
}

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
P4ProgramLoader::LoadActions()
{
    for (const auto& item : m_root.Get("actions").GetItems())
    {
        P4Action action;
        action.name = item.Get("name").AsText();
        for (const auto& parameter : item.Get("runtime_data").GetItems())
        {
            const uint32_t bits = parameter.Get("bitwidth").AsNumber(MAX_FIELD_BITS);
            if (bits == 0)
            {
                parameter.Get("bitwidth").Fail("a parameter needs at least one bit");
            }
            action.parameterNames.push_back(parameter.Get("name").AsText());
            action.parameterBits.push_back(bits);
            action.limbs += limbs::CountFor(bits);
        }
        action.slot = m_emitter.Allocate(action.limbs);
        action.address = m_emitter.GetAddress();
        P4ActionCompiler(m_emitter, &action).CompileList(item.Get("primitives"));
        m_emitter.Emit(P4Op::RETURN);
        const auto index = static_cast<uint32_t>(m_program.actions.size());
        if (!m_actionOfId.emplace(item.Get("id").AsNumber(), index).second)
        {
            item.Get("id").Fail("this id is there twice");
        }
        m_program.actions.push_back(std::move(action));
    }
}

void
P4ProgramLoader::LoadParser()
{
    const auto parsers = m_root.Get("parsers").GetItems(1);
    m_program.parserAddress = P4ParserCompiler(m_emitter).Compile(parsers[0]);
}

void
P4ProgramLoader::LoadDeparser()
{
    const auto deparsers = m_root.Get("deparsers").GetItems(1);
    if (const auto primitives = deparsers[0].Find("primitives");
        primitives && !primitives->GetItems().empty())
    {
        primitives->Fail("primitives in a deparser are not supported");
    }
    for (const auto& name : deparsers[0].Get("order").GetItems())
    {
        const uint32_t header = m_emitter.FindHeader(name);
        if (m_program.headers[header].isMetadata)
        {
            name.Fail("metadata cannot be emitted");
        }
        m_program.deparserOrder.push_back(header);
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
                calculation.inputs.push_back({slot, bits, 0});
            }
            else if (type.AsText() == "field")
            {
                const auto header = m_emitter.FindHeader(input.Get("value").GetItems(2)[0]);
                const P4Field& field = m_emitter.FindField(input.Get("value"));
                calculation.inputs.push_back(
                    {field.slot, field.bits, m_program.headers[header].valid});
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
