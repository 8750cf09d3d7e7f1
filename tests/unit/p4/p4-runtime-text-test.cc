// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-text.h"

#include <gmock/gmock.h>
#include <memory>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

const P4Program&
GetFeatures()
{
    static const auto program =
        P4ProgramLoader::LoadFile(GRADSYNC_SOURCE_DIR "/p4-behavioral/compiled/features.json");
    return program;
}

// As p4c writes it, with fields that are not read: alias, annotations, bitwidth, size.
const P4NamedText INFO{R"(
pkg_info { arch: "v1model" }
tables {
  preamble { id: 11 name: "FeatureIngress.byTernary" alias: "byTernary" annotations: "@hidden" }
  match_fields { id: 1 name: "headers.operands.e" bitwidth: 64 match_type: TERNARY }
  match_fields { id: 2 name: "headers.operands.shift" bitwidth: 8 match_type: EXACT }
  action_refs { id: 21 annotations: "@defaultonly" scope: DEFAULT_ONLY }
  size: 1024
}
tables {
  preamble { id: 12 name: "FeatureIngress.byPrefix" }
  match_fields { id: 1 name: "headers.operands.a" bitwidth: 128 match_type: LPM }
}
actions {
  preamble { id: 21 name: "FeatureIngress.classify" }
  params { id: 1 name: "result" bitwidth: 16 }
}
actions { preamble { id: 22 name: "NoAction" } }
registers { preamble { id: 31 name: "FeatureIngress.cells" } size: 4 }
)",
                       "f.p4info.txtpb"};

std::string
Translate(const std::string& entries)
{
    return MakeP4RuntimeCommands(GetFeatures(), {entries, "e.txtpb"}, INFO);
}

std::string
GetTextRefusal(const std::string& entries)
{
    try
    {
        Translate(entries);
    }
    catch (const P4Error& error)
    {
        return error.what();
    }
    return "";
}

TEST(P4RuntimeText, WritesEntriesAsCommands)
{
    // Priority 5 is 2^31 - 1 - 5 for BMv2, where the smallest wins.
    EXPECT_EQ(Translate(R"(
entities {
  table_entry {
    table_id: 11
    match { field_id: 2 exact { value: "\x03" } }
    match { field_id: 1 ternary { value: "\x01" mask: "\x0f\xff" } }
    action { action { action_id: 21 params { param_id: 1 value: "\x00\x11" } } }
    priority: 5
    controller_metadata: 7  # not read
  }
}
entities {
  table_entry {
    table_id: 12
    match { field_id: 1 lpm { value: "\x80\000" prefix_len: 9 } }
    action { action { action_id: 21 params { param_id: 1 value: "B" } } }
  }
})"),
              "table_add FeatureIngress.byTernary FeatureIngress.classify 0x01&&&0x0fff 0x03 => "
              "0x0011 2147483642\n"
              "table_add FeatureIngress.byPrefix FeatureIngress.classify 0x8000/9 => 0x42\n");
    // Keys that are left out match anything, in a write request too.
    EXPECT_EQ(Translate(R"(
device_id: 0
updates {
  type: INSERT
  entity {
    table_entry {
      table_id: 11
      match { field_id: 2 exact { value: "\x03" } }
      action { action { action_id: 22 } }
      priority: 1
    }
  }
}
updates {
  type: MODIFY
  entity {
    table_entry {
      table_id: 12
      action { action { action_id: 22 } }
      is_default_action: true
    }
  }
})"),
              "table_add FeatureIngress.byTernary NoAction 0&&&0 0x03 => 2147483646\n"
              "table_set_default FeatureIngress.byPrefix NoAction\n");
}

TEST(P4RuntimeText, WritesGroupsSessionsAndRegisters)
{
    const auto commands = Translate(R"(
entities {
  packet_replication_engine_entry {
    multicast_group_entry {
      multicast_group_id: 3
      replicas { egress_port: 1 instance: 7 }
      replicas { port: "\x00\x02" instance: 8 }
    }
  }
}
entities {
  packet_replication_engine_entry {
    clone_session_entry { session_id: 5 replicas { egress_port: 4 instance: 1 } }
  }
}
entities { register_entry { register_id: 31 index { index: 2 } data { bitstring: "\x12\x34" } } })");
    EXPECT_EQ(commands,
              "mc_mgrp_create 3\nmc_node_create 7 1\nmc_node_associate 3 0\n"
              "mc_node_create 8 2\nmc_node_associate 3 1\n"
              "mc_mgrp_create 32773\nmc_node_create 1 4\nmc_node_associate 32773 2\n"
              "mirroring_add_mc 5 32773\n"
              "register_write FeatureIngress.cells 2 0x1234\n");
    // A switch takes them: kind 0x30 goes to the group of its count, 0x31 is cloned to session 5.
    P4Pipeline pipeline(std::make_shared<const P4Program>(GetFeatures()));
    P4RuntimeCommands(pipeline, "e.txtpb").Run(commands);
    const auto send = [&pipeline](std::vector<uint8_t> frame) {
        std::vector<uint32_t> ports;
        for (const auto& packet : pipeline.Process(frame, 0))
        {
            ports.push_back(packet.port);
        }
        return ports;
    };
    EXPECT_THAT(send({0, 0, 0x30, 3, 0, 0}), ElementsAre(1, 2));
    EXPECT_THAT(send({0, 0, 0x31, 0, 0, 0}), ElementsAre(4, 1));
    EXPECT_EQ(pipeline.GetRegister("FeatureIngress.cells", 2), 0x1234U);
}

/// features.p4 with an action profile with a selector for byPrefix, a meter and a value set.
TEST(P4RuntimeText, WritesMembersGroupsMetersAndValueSets)
{
    auto program = GetFeatures();
    for (auto& table : program.tables)
    {
        if (table.name == "FeatureIngress.byPrefix")
        {
            table.profile = 0;
            P4ActionProfile profile;
            profile.name = "FeatureIngress.ways";
            profile.actions = table.actions;
            profile.hasSelector = true;
            program.profiles.push_back(profile);
        }
    }
    const P4NamedText info{
        INFO.text + "action_profiles { preamble { id: 41 name: \"FeatureIngress.ways\" } }"
                    "meters { preamble { id: 42 name: \"m\" } }"
                    "value_sets { preamble { id: 43 name: \"v\" } match { id: 1 } }",
        "i"};
    const P4NamedText entries{R"(
entities {
  action_profile_member {
    action_profile_id: 41
    member_id: 100
    action { action_id: 21 params { param_id: 1 value: "\x07" } }
  }
}
entities {
  action_profile_group {
    action_profile_id: 41
    group_id: 200
    members { member_id: 100 weight: 1 }
  }
}
entities {
  table_entry {
    table_id: 12
    match { field_id: 1 lpm { value: "\x01" prefix_len: 128 } }
    action { action_profile_group_id: 200 }
  }
}
entities { table_entry { table_id: 12 action { action_profile_member_id: 100 } is_default_action: true } }
entities {
  meter_entry { meter_id: 42 index { index: 1 } config { cir: 500000 cburst: 9 pir: 2000000 pburst: 10 } }
}
entities { value_set_entry { value_set_id: 43 members { match { field_id: 1 exact { value: "\x08" } } } } })",
                              "e"};
    EXPECT_EQ(MakeP4RuntimeCommands(program, entries, info),
              "act_prof_create_member FeatureIngress.ways FeatureIngress.classify 0x07\n"
              "act_prof_create_group FeatureIngress.ways\n"
              "act_prof_add_member_to_group FeatureIngress.ways 0 0\n"
              "table_indirect_add_with_group FeatureIngress.byPrefix 0x01/128 => 0\n"
              "table_indirect_set_default FeatureIngress.byPrefix 0\n"
              "meter_set_rates m 1 0.5:9 2:10\n"
              "pvs_add v 0x08\n");
}

TEST(P4RuntimeText, NamesFileAndEntry)
{
    EXPECT_THAT(GetTextRefusal("entities {"), HasSubstr("e.txtpb:1:11: "));
    EXPECT_EQ(GetTextRefusal("# nothing"), "e.txtpb: there are no updates and no entities");
    EXPECT_EQ(GetTextRefusal("entities { digest_entry { digest_id: 1 } }"),
              "e.txtpb: entry 0: this is no entity of a kind that is supported");
    EXPECT_EQ(GetTextRefusal("entities { table_entry { table_id: 99 } }"),
              "e.txtpb: entry 0: f.p4info.txtpb has nothing of number 99");
    EXPECT_THAT(GetTextRefusal("entities { table_entry { table_id: 12 } }"),
                HasSubstr("an entry without an action"));
    EXPECT_THAT(GetTextRefusal("entities { table_entry { table_id: 12 action { action { action_id: "
                               "21 } } } }"),
                HasSubstr("the parameter \"result\" of action \"FeatureIngress.classify\" is "
                          "missing"));
    EXPECT_THAT(GetTextRefusal("entities { table_entry { table_id: 11 action { action { action_id: "
                               "22 } } priority: 1 } }"),
                HasSubstr("key \"headers.operands.shift\": one value is expected"));
    EXPECT_THAT(GetTextRefusal("updates { type: DELETE entity { table_entry { table_id: 12 } } }"),
                HasSubstr("nothing to delete"));
    EXPECT_THAT(GetTextRefusal("updates { type: MODIFY entity { table_entry { table_id: 12 } } }"),
                HasSubstr("only default actions are modified"));
    EXPECT_THROW(MakeP4RuntimeCommands(GetFeatures(), {"", "e"}, {"tables {", "i"}), P4Error);
}

TEST(P4RuntimeText, DeepNestingIsRefused)
{
    std::string text;
    for (int i = 0; i < 100'000; ++i)
    {
        text += "x { ";
    }
    EXPECT_NE(GetTextRefusal(text), "");
}

TEST(P4RuntimeJson, WritesWhatTheTutorialsHave)
{
    const P4NamedText entries{R"({
  "target": "bmv2", "p4info": "build/features.p4.p4info.txtpb",
  "table_entries": [
    {"table": "FeatureIngress.byPrefix", "default_action": true, "action_name": "NoAction",
     "action_params": {}},
    {"table": "byPrefix", "match": {"headers.operands.a": ["2001:db8::", 32]},
     "action_name": "classify", "action_params": {"result": 7}},
    {"table": "byTernary", "match": {"headers.operands.shift": 3, "headers.operands.e": [1, "0xf"]},
     "priority": 10, "action_name": "NoAction"}],
  "multicast_group_entries": [
    {"multicast_group_id": 3, "replicas": [{"egress_port": 1, "instance": 1}]}],
  "clone_session_entries": [
    {"clone_session_id": 5, "replicas": [{"egress_port": 4}]}]})",
                              "s1.json"};
    EXPECT_EQ(MakeP4Commands(GetFeatures(), entries, {}),
              "table_set_default FeatureIngress.byPrefix NoAction\n"
              "table_add FeatureIngress.byPrefix FeatureIngress.classify 2001:db8::/32 => 7\n"
              "table_add FeatureIngress.byTernary NoAction 1&&&0xf 3 => 2147483637\n"
              "mc_mgrp_create 3\nmc_node_create 1 1\nmc_node_associate 3 0\n"
              "mc_mgrp_create 32773\nmc_node_create 0 4\nmc_node_associate 32773 1\n"
              "mirroring_add_mc 5 32773\n");
}

TEST(P4RuntimeJson, NamesThePathOfWhatIsWrong)
{
    const auto refusal = [](const std::string& text, const std::string& file) -> std::string {
        try
        {
            MakeP4Commands(GetFeatures(), {text, file}, {});
        }
        catch (const P4Error& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(R"({"table_entries": [{"table": "t", "action_name": "a"}]})", "s.json"),
              "s.json.table_entries[0]: there is no table \"t\"");
    EXPECT_EQ(refusal(R"({"table_entries": [{"table": "byPrefix"}]})", "s.json"),
              "s.json.table_entries[0]: \"action_name\" is missing");
    EXPECT_THAT(refusal("{}", "s.json"), HasSubstr("there are no table_entries"));
    EXPECT_THAT(refusal("[", "s.json"), HasSubstr("this is not JSON"));
    EXPECT_EQ(refusal("entities {}", "e.txtpb"),
              "e.txtpb: entries of P4Runtime need p4info, which names what they number");
    EXPECT_EQ(refusal("anything", "e.cli"), "");
}

} // namespace

} // namespace ns3::gradsync
