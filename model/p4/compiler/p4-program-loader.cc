// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-program-loader.h"

#include "ns3/input-file.h"
#include "ns3/p4-action-compiler.h"
#include "ns3/p4-control-compiler.h"
#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-parser-compiler.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t FORMAT_MAJOR = 2;

/// Whether a part of the document refers to one of these fields, as `{"type": "field", "value":
/// [HEADER, NAME]}`. The depth is bounded by Parse.
bool
NamesField(const nlohmann::json& part, std::span<const std::string_view> names)
{
    if (part.is_object() && part.value("type", nlohmann::json()) == "field")
    {
        const auto value = part.find("value");
        return value != part.end() && value->is_array() && value->size() == 2 &&
               value->back().is_string() &&
               std::ranges::find(names, value->back().get_ref<const std::string&>()) != names.end();
    }
    return part.is_structured() && std::ranges::any_of(part, [names](const auto& inner) {
               return NamesField(inner, names);
           });
}

/// Metadata that a switch has only after the packet has waited.
constexpr std::array<std::string_view, 5> QUEUE_FIELDS{"enq_timestamp",
                                                       "enq_qdepth",
                                                       "deq_timedelta",
                                                       "deq_qdepth",
                                                       "egress_global_timestamp"};

} // namespace

P4Program
P4ProgramLoader::Load(std::string_view text, const std::string& file)
{
    const nlohmann::json document = ParseP4Json(text, file);
    P4ProgramLoader loader(document, file);
    loader.LoadAll();
    loader.m_program.readsQueues = NamesField(document, QUEUE_FIELDS);
    return std::move(loader.m_program);
}

P4Program
P4ProgramLoader::LoadFile(const std::filesystem::path& file)
{
    try
    {
        return Load(ReadInputFile(file), file.string());
    }
    catch (const InputFileError& error)
    {
        throw P4Error(file.string(), error.what());
    }
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
    LoadUnions();
    LoadUnionStacks();
    LoadAliases();
    m_program.packetLimbs = static_cast<uint32_t>(m_program.store.size());
    LoadRegisters();
    LoadCounters();
    LoadMeters();
    LoadValueSets();
    LoadDigests();
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
    const auto externs = m_root.Find("extern_instances");
    if (externs && !externs->GetItems().empty())
    {
        const auto name = externs->GetItems()[0].Find("name");
        externs->Fail(
            fmt::format("externs are not supported{}", name ? ": \"" + name->AsText() + "\"" : ""));
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
            {"HeaderTooShort", &m_program.errorHeaderTooShort},
            {"ParserInvalidArgument", &m_program.errorInvalidArgument}};
        if (const auto found = used.find(name); found != used.end())
        {
            *found->second = value;
        }
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
            const uint32_t bits =
                parameter.Get("bitwidth").AsNumber(MAX_FIELD_BITS, "bits of an action's parameter");
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
    if (const auto primitives = deparsers[0].Find("primitives"))
    {
        m_program.deparserAddress = m_emitter.GetAddress();
        P4ActionCompiler(m_emitter, nullptr).CompileList(*primitives);
        m_emitter.Emit(P4Op::END);
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

} // namespace ns3::gradsync
