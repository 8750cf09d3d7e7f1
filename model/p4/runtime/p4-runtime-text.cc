// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-runtime-text.h"

#include "p4-runtime.pb.h"

#include "ns3/p4-command-writer.h"
#include "ns3/p4-error.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <map>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Notes the first error of a text; what is not declared is no error.
class FirstError : public google::protobuf::io::ErrorCollector
{
  public:
    void AddError(int line,
                  google::protobuf::io::ColumnNumber column,
                  const std::string& text) override
    {
        if (m_text.empty())
        {
            m_text = fmt::format("{}:{}: {}", line + 1, column + 1, text);
        }
    }

    void AddWarning(int /* line */,
                    google::protobuf::io::ColumnNumber /* column */,
                    const std::string& /* text */) override
    {
    }

    const std::string& GetText() const
    {
        return m_text;
    }

  private:
    std::string m_text;
};

template <typename Message>
Message
Parse(const P4NamedText& text)
{
    constexpr int MAX_DEPTH = 64;
    Message message;
    FirstError error;
    google::protobuf::TextFormat::Parser parser;
    parser.RecordErrorsTo(&error);
    parser.AllowUnknownField(true);
    parser.AllowUnknownExtension(true);
    parser.SetRecursionLimit(MAX_DEPTH);
    if (!parser.ParseFromString(text.text, &message))
    {
        throw P4Error(text.file + ":" + error.GetText());
    }
    return message;
}

/// Bytes, the highest first, as a word of simple_switch_CLI.
std::string
WriteBytes(const std::string& bytes)
{
    if (bytes.empty())
    {
        throw P4Error("a value without bytes");
    }
    std::string word = "0x";
    for (const char byte : bytes)
    {
        word += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    }
    return word;
}

uint32_t
ReadPort(const p4runtime::Replica& replica)
{
    if (replica.port().empty())
    {
        return replica.egress_port();
    }
    uint32_t port = 0;
    for (const char byte : replica.port())
    {
        // A port of more bits than 9 is refused by the command.
        port = (port & 0xFFFFU) << 8 | static_cast<uint8_t>(byte);
    }
    return port;
}

std::vector<P4Replica>
ReadReplicaMessages(const google::protobuf::RepeatedPtrField<p4runtime::Replica>& replicas)
{
    std::vector<P4Replica> read;
    for (const auto& replica : replicas)
    {
        read.push_back({ReadPort(replica), replica.instance()});
    }
    return read;
}

P4ControlKey
ReadMatch(const p4runtime::Match& match)
{
    if (match.has_exact())
    {
        return {WriteBytes(match.exact().value()), {}};
    }
    if (match.has_lpm())
    {
        return {WriteBytes(match.lpm().value()), std::to_string(match.lpm().prefix_len())};
    }
    if (match.has_ternary())
    {
        return {WriteBytes(match.ternary().value()), WriteBytes(match.ternary().mask())};
    }
    if (match.has_range())
    {
        return {WriteBytes(match.range().low()), WriteBytes(match.range().high())};
    }
    if (match.has_optional())
    {
        return {WriteBytes(match.optional().value()), {}};
    }
    throw P4Error(fmt::format("field {} has no value of a known kind", match.field_id()));
}

/// What the numbers of p4info stand for.
class Numbers
{
  public:
    explicit Numbers(const P4NamedText& text)
        : m_file(text.file),
          m_info(Parse<p4runtime::Info>(text))
    {
        for (const auto* list : {&m_info.tables(),
                                 &m_info.actions(),
                                 &m_info.action_profiles(),
                                 &m_info.counters(),
                                 &m_info.meters(),
                                 &m_info.registers(),
                                 &m_info.value_sets()})
        {
            for (const auto& object : *list)
            {
                m_objects.emplace(object.preamble().id(), &object);
            }
        }
    }

    const p4runtime::Object& Find(uint32_t id) const
    {
        const auto found = m_objects.find(id);
        if (found == m_objects.end())
        {
            throw P4Error(fmt::format("{} has nothing of number {}", m_file, id));
        }
        return *found->second;
    }

    const std::string& GetName(uint32_t id) const
    {
        return Find(id).preamble().name();
    }

    /// A key's or a parameter's name, of a list of them.
    std::string FindPart(const google::protobuf::RepeatedPtrField<p4runtime::Part>& parts,
                         uint32_t id,
                         const std::string& owner) const
    {
        for (const auto& part : parts)
        {
            if (part.id() == id)
            {
                return part.name();
            }
        }
        throw P4Error(fmt::format("{}: \"{}\" has nothing of number {}", m_file, owner, id));
    }

  private:
    std::string m_file;
    p4runtime::Info m_info;
    std::map<uint32_t, const p4runtime::Object*> m_objects;
};

/// Entities in their order as commands.
class EntityReader
{
  public:
    EntityReader(const P4Program& program, const P4NamedText& info)
        : m_numbers(info),
          m_writer(program)
    {
    }

    void Read(const p4runtime::Entity& entity, bool isModification)
    {
        if (isModification &&
            !(entity.has_table_entry() && entity.table_entry().is_default_action()))
        {
            throw P4Error("only default actions are modified");
        }
        if (entity.has_table_entry())
        {
            ReadTableEntry(entity.table_entry());
        }
        else if (entity.has_packet_replication_engine_entry())
        {
            ReadReplication(entity.packet_replication_engine_entry());
        }
        else if (entity.has_register_entry())
        {
            const auto& entry = entity.register_entry();
            m_writer.AddCommand(fmt::format("register_write {} {} {}",
                                            m_numbers.GetName(entry.register_id()),
                                            entry.index().index(),
                                            WriteBytes(entry.data().bitstring())));
        }
        else if (entity.has_meter_entry())
        {
            ReadMeter(entity.meter_entry());
        }
        else if (entity.has_action_profile_member())
        {
            ReadMember(entity.action_profile_member());
        }
        else if (entity.has_action_profile_group())
        {
            ReadGroup(entity.action_profile_group());
        }
        else if (entity.has_value_set_entry())
        {
            ReadValueSet(entity.value_set_entry());
        }
        else
        {
            throw P4Error("this is no entity of a kind that is supported");
        }
    }

    const std::string& GetText() const
    {
        return m_writer.GetText();
    }

  private:
    std::map<std::string, std::string> ReadParameters(const p4runtime::Action& action) const
    {
        const auto& object = m_numbers.Find(action.action_id());
        std::map<std::string, std::string> parameters;
        for (const auto& param : action.params())
        {
            const auto name =
                m_numbers.FindPart(object.params(), param.param_id(), object.preamble().name());
            parameters[name] = WriteBytes(param.value());
        }
        return parameters;
    }

    void ReadTableEntry(const p4runtime::TableEntry& entry)
    {
        const auto& table = m_numbers.Find(entry.table_id());
        P4ControlEntry made;
        made.table = table.preamble().name();
        made.isDefault = entry.is_default_action();
        made.priority = entry.priority();
        for (const auto& match : entry.match())
        {
            const auto name =
                m_numbers.FindPart(table.match_fields(), match.field_id(), made.table);
            made.keys[name] = ReadMatch(match);
        }
        const auto& action = entry.action();
        if (action.has_action())
        {
            made.action = m_numbers.GetName(action.action().action_id());
            made.parameters = ReadParameters(action.action());
        }
        else if (action.type_case() == p4runtime::TableAction::kActionProfileMemberId)
        {
            made.member = {P4EntryTarget::MEMBER,
                           FindHandle(m_members, action.action_profile_member_id(), "member")};
        }
        else if (action.type_case() == p4runtime::TableAction::kActionProfileGroupId)
        {
            made.member = {P4EntryTarget::GROUP,
                           FindHandle(m_groups, action.action_profile_group_id(), "group")};
        }
        else
        {
            throw P4Error(action.has_action_profile_action_set()
                              ? "one-shot action sets are not supported"
                              : "an entry without an action");
        }
        m_writer.AddEntry(made);
    }

    void ReadReplication(const p4runtime::ReplicationEntry& entry)
    {
        if (entry.has_multicast_group_entry())
        {
            const auto& group = entry.multicast_group_entry();
            m_writer.AddGroup(group.multicast_group_id(), ReadReplicaMessages(group.replicas()));
            return;
        }
        const auto& session = entry.clone_session_entry();
        if (session.packet_length_bytes() != 0)
        {
            throw P4Error("a clone session that truncates is not supported");
        }
        m_writer.AddCloneSession(session.session_id(), ReadReplicaMessages(session.replicas()));
    }

    void ReadMeter(const p4runtime::MeterEntry& entry)
    {
        constexpr double US_PER_S = 1e6;
        const auto& config = entry.config();
        m_writer.AddCommand(fmt::format("meter_set_rates {} {} {}:{} {}:{}",
                                        m_numbers.GetName(entry.meter_id()),
                                        entry.index().index(),
                                        static_cast<double>(config.cir()) / US_PER_S,
                                        config.cburst(),
                                        static_cast<double>(config.pir()) / US_PER_S,
                                        config.pburst()));
    }

    void ReadMember(const p4runtime::ProfileMember& entry)
    {
        const auto handle = m_writer.AddMember(m_numbers.GetName(entry.action_profile_id()),
                                               m_numbers.GetName(entry.action().action_id()),
                                               ReadParameters(entry.action()));
        m_members[entry.member_id()] = handle;
    }

    void ReadGroup(const p4runtime::ProfileGroup& entry)
    {
        std::vector<uint32_t> members;
        for (const auto& member : entry.members())
        {
            if (member.weight() > 1)
            {
                throw P4Error("members of groups have weight 1");
            }
            members.push_back(FindHandle(m_members, member.member_id(), "member"));
        }
        m_groups[entry.group_id()] =
            m_writer.AddMemberGroup(m_numbers.GetName(entry.action_profile_id()), members);
    }

    void ReadValueSet(const p4runtime::ValueSetEntry& entry)
    {
        for (const auto& member : entry.members())
        {
            if (member.match_size() != 1 || !member.match(0).has_exact())
            {
                throw P4Error("a value set's member has one exact field");
            }
            m_writer.AddCommand(fmt::format("pvs_add {} {}",
                                            m_numbers.GetName(entry.value_set_id()),
                                            WriteBytes(member.match(0).exact().value())));
        }
    }

    static uint32_t FindHandle(const std::map<uint32_t, uint32_t>& handles,
                               uint32_t id,
                               const std::string& kind)
    {
        const auto found = handles.find(id);
        if (found == handles.end())
        {
            throw P4Error(fmt::format("there is no {} {} before this", kind, id));
        }
        return found->second;
    }

    Numbers m_numbers;
    P4CommandWriter m_writer;
    /// Handles by the numbers that the entities have.
    std::map<uint32_t, uint32_t> m_members;
    std::map<uint32_t, uint32_t> m_groups;
};

} // namespace

std::string
MakeP4RuntimeCommands(const P4Program& program, const P4NamedText& entries, const P4NamedText& info)
{
    const auto request = Parse<p4runtime::Request>(entries);
    EntityReader reader(program, info);
    int number = 0;
    const auto read = [&](const p4runtime::Entity& entity, p4runtime::Update::Type type) {
        try
        {
            if (type == p4runtime::Update::DELETE)
            {
                throw P4Error("a new switch has nothing to delete");
            }
            reader.Read(entity, type == p4runtime::Update::MODIFY);
        }
        catch (const P4Error& error)
        {
            throw P4Error(fmt::format("{}: entry {}", entries.file, number), error.what());
        }
        ++number;
    };
    for (const auto& update : request.updates())
    {
        read(update.entity(), update.type());
    }
    for (const auto& entity : request.entities())
    {
        read(entity, p4runtime::Update::INSERT);
    }
    if (number == 0)
    {
        throw P4Error(entries.file, "there are no updates and no entities");
    }
    return reader.GetText();
}

std::string
MakeP4Commands(const P4Program& program,
               const P4NamedText& configuration,
               const std::optional<P4NamedText>& info)
{
    const auto& file = configuration.file;
    if (file.ends_with(".json"))
    {
        return MakeP4JsonCommands(program, configuration);
    }
    if (!file.ends_with(".txtpb") && !file.ends_with(".textproto") && !file.ends_with(".pbtxt") &&
        !file.ends_with(".prototxt"))
    {
        return configuration.text;
    }
    if (!info)
    {
        throw P4Error(file, "entries of P4Runtime need p4info, which names what they number");
    }
    return MakeP4RuntimeCommands(program, configuration, *info);
}

} // namespace ns3::gradsync
