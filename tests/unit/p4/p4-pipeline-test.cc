// SPDX-License-Identifier: GPL-2.0-only
#include "support/p4-mutator.h"
#include "support/p4-stf-configuration.h"
#include "support/slot-switch-vector.h"
#include "support/stf-vector.h"

#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-runtime-commands.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <random>

namespace ns3::gradsync
{

namespace
{

const std::filesystem::path FOLDER = GRADSYNC_SOURCE_DIR "/p4-behavioral";

/// The folder of the vectors; GRADSYNC_STF_FOLDER names another, for longer series.
std::filesystem::path
GetVectorFolder()
{
    const char* other = std::getenv("GRADSYNC_STF_FOLDER");
    return other != nullptr ? std::filesystem::path(other) : FOLDER / "vectors";
}

/// Where the compiled programs are; GRADSYNC_P4_FOLDER names another, for mutants.
std::filesystem::path
GetProgramFolder()
{
    const char* other = std::getenv("GRADSYNC_P4_FOLDER");
    return other != nullptr ? std::filesystem::path(other) : FOLDER / "compiled";
}

/// Each program is compiled once.
std::shared_ptr<const P4Program>
GetProgram(const std::string& name)
{
    static std::map<std::string, std::shared_ptr<const P4Program>> programs;
    auto& program = programs[name];
    if (!program)
    {
        program = std::make_shared<const P4Program>(
            P4ProgramLoader::LoadFile(GetProgramFolder() / (name + ".json")));
    }
    return program;
}

StfSwitch
MakeSwitch(P4Pipeline& pipeline)
{
    return [&pipeline](uint32_t port, std::span<const uint8_t> frame) {
        std::vector<StfPacket> packets;
        for (const auto& packet : pipeline.Process(frame, port))
        {
            packets.emplace_back(packet.port, packet.bytes);
        }
        return packets;
    };
}

class P4Vectors : public testing::TestWithParam<std::filesystem::path>
{
};

TEST_P(P4Vectors, PipelineAnswersAsExpected)
{
    const auto vector = ReadStfVector(GetParam());
    ASSERT_FALSE(vector.steps.empty());
    P4Pipeline pipeline(GetProgram(vector.program));
    ConfigureByStf(pipeline, vector);
    const auto command = [&pipeline, &vector](const std::string& line) {
        P4RuntimeCommands(pipeline, vector.name).Run(line);
    };
    EXPECT_EQ(PlayStfVector(vector, MakeSwitch(pipeline), command), std::nullopt);
    if (vector.program.starts_with("slot-aggregation"))
    {
        // The program guards every index itself.
        EXPECT_EQ(pipeline.GetOutOfRange(), 0U);
    }
}

class SlotSwitchVectors : public testing::TestWithParam<std::filesystem::path>
{
};

TEST_P(SlotSwitchVectors, NativeSwitchAnswersAsExpected)
{
    const auto vector = ReadStfVector(GetParam());
    auto frames = MakeSlotSwitch(vector);
    const auto process = [&frames](uint32_t port, std::span<const uint8_t> frame) {
        std::vector<StfPacket> packets;
        for (auto& [out, bytes] : frames.Process(static_cast<uint16_t>(port), frame))
        {
            packets.emplace_back(out, std::move(bytes));
        }
        return packets;
    };
    const auto command = [&frames](const std::string& line) { ClearStfCell(frames, line); };
    EXPECT_EQ(PlayStfVector(vector, process, command), std::nullopt);
}

class AtpSwitchVectors : public testing::TestWithParam<std::filesystem::path>
{
};

TEST_P(AtpSwitchVectors, NativeSwitchAnswersAsExpected)
{
    const auto vector = ReadStfVector(GetParam());
    auto frames = MakeAtpSwitch(vector);
    const auto process = [&frames](uint32_t /* port */, std::span<const uint8_t> frame) {
        std::vector<StfPacket> packets;
        for (auto& [out, bytes] : frames.Process(frame))
        {
            packets.emplace_back(out, std::move(bytes));
        }
        return packets;
    };
    EXPECT_EQ(PlayStfVector(vector, process), std::nullopt);
}

/// The vectors for these programs.
std::vector<std::filesystem::path>
FindVectors(const std::string& program)
{
    auto files = FindStfFiles(GetVectorFolder());
    std::erase_if(files, [&program](const auto& file) {
        return !ReadStfVector(file).program.starts_with(program);
    });
    return files;
}

std::string
GetTestName(const testing::TestParamInfo<std::filesystem::path>& parameter)
{
    std::string name = parameter.param.stem().string();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All,
                         P4Vectors,
                         testing::ValuesIn(FindStfFiles(GetVectorFolder())),
                         GetTestName);
INSTANTIATE_TEST_SUITE_P(All,
                         SlotSwitchVectors,
                         testing::ValuesIn(FindVectors("slot-aggregation")),
                         GetTestName);
INSTANTIATE_TEST_SUITE_P(All, AtpSwitchVectors, testing::ValuesIn(FindVectors("atp")), GetTestName);

nlohmann::json
ReadProgram(const std::string& name)
{
    return nlohmann::json::parse(std::ifstream(FOLDER / "compiled" / (name + ".json")));
}

/// What loading a changed program says, or "" when it says nothing.
std::string
LoadChanged(const std::function<void(nlohmann::json&)>& change)
{
    auto program = ReadProgram("slot-aggregation");
    change(program);
    try
    {
        P4ProgramLoader::Load(program.dump(), "p.json");
    }
    catch (const P4Error& error)
    {
        return error.what();
    }
    return "";
}

using testing::HasSubstr;
using testing::StartsWith;

TEST(P4ProgramLoader, NamesThePathOfAnUnknownPrimitive)
{
    const auto text = LoadChanged([](nlohmann::json& program) {
        program["actions"][0]["primitives"][1]["op"] = "recompute_all";
    });
    EXPECT_EQ(text,
              "p.json.actions[0].primitives[1].op: the primitive \"recompute_all\" is not "
              "supported");
}

TEST(P4ProgramLoader, NamesThePathOfAnUnknownOperation)
{
    const auto text = LoadChanged([](nlohmann::json& program) {
        program["pipelines"][0]["conditionals"][0]["expression"]["value"]["op"] = "xor";
    });
    EXPECT_THAT(text, StartsWith("p.json.pipelines[0].conditionals[0].expression.value.op: "));
    EXPECT_THAT(text, HasSubstr("\"xor\""));
}

TEST(P4ProgramLoader, RefusesObjectsThatItDoesNotKnow)
{
    const auto externs = LoadChanged([](nlohmann::json& program) {
        program["extern_instances"].push_back({{"name", "m"}});
    });
    EXPECT_EQ(externs, "p.json.extern_instances: externs are not supported: \"m\"");
    const auto table = LoadChanged(
        [](nlohmann::json& program) { program["pipelines"][0]["tables"][0]["type"] = "hashed"; });
    EXPECT_THAT(table, HasSubstr("a table of type \"hashed\" is not supported"));
}

TEST(P4ProgramLoader, NamesIndicesThatAreVariableWhereTheyAreNotSupported)
{
    // As p4c writes h.h[h.i.index]: an object in place of a field's or a header's name.
    const nlohmann::json element{{"type", "expression"},
                                 {"value", {{"op", "dereference_header_stack"}}}};
    const auto key = LoadChanged([&element](nlohmann::json& program) {
        program["pipelines"][0]["tables"][0]["key"] =
            nlohmann::json::array({{{"match_type", "exact"}, {"target", element}}});
    });
    EXPECT_THAT(key, StartsWith("p.json.pipelines[0].tables[0].key[0].target: "));
    EXPECT_THAT(key, HasSubstr("a key that is an expression"));
    const auto extract = LoadChanged([&element](nlohmann::json& program) {
        auto& state = program["parsers"][0]["parse_states"][0];
        state["parser_ops"] = nlohmann::json::array(
            {{{"op", "extract"}, {"parameters", {{{"type", "regular"}, {"value", element}}}}}});
    });
    EXPECT_THAT(extract, HasSubstr("by an index that is variable is not supported"));
}

TEST(P4ProgramLoader, RefusesAnotherFormat)
{
    const auto text = LoadChanged([](nlohmann::json& program) {
        program["__meta__"]["version"] = {3, 0};
    });
    EXPECT_EQ(text, "p.json.__meta__.version: format 3.x is not supported, only 2.x");
}

TEST(P4ProgramLoader, RefusesNamesThatAreNotThere)
{
    const auto text = LoadChanged([](nlohmann::json& program) {
        program["parsers"][0]["parse_states"][0]["parser_ops"][0]["parameters"][0]["value"] =
            "vlan";
    });
    EXPECT_THAT(text, HasSubstr("there is no header \"vlan\""));
}

TEST(P4ProgramLoader, EveryMutationIsLoadedOrRefused)
{
    const char* seconds = std::getenv("GRADSYNC_P4_FUZZ_SECONDS");
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
    P4Mutator mutator(ReadProgram("slot-aggregation"), 20261121);
    const auto vector = ReadStfVector(FOLDER / "vectors" / "edge-both-sets.stf");
    uint32_t loaded = 0;
    uint32_t refused = 0;
    for (int i = 0; i < 150 || std::chrono::steady_clock::now() < end; ++i)
    {
        try
        {
            P4Pipeline pipeline(
                std::make_shared<const P4Program>(P4ProgramLoader::Load(mutator.Next(), "p")));
            ++loaded;
            ConfigureByStf(pipeline, vector);
            for (const auto& step : vector.steps)
            {
                pipeline.Process(step.packet.second, step.packet.first);
            }
        }
        catch (const P4Error&)
        {
            ++refused;
        }
    }
    // Mutations that are all refused, or none of them, would try only half of the loader.
    EXPECT_GT(loaded, 10U);
    EXPECT_GT(refused, 20U);
}

/**
 * What p4c makes of `action a(inout standard_metadata_t s) { mark_to_drop(s); }`: standard_metadata
 * is copied field by field, the copy is marked, and is copied back unless it is `in` only.
 */
nlohmann::json
MarkACopyInstead(nlohmann::json program, bool isCopiedBack)
{
    auto copy = *std::ranges::find_if(program["headers"], [](const auto& header) {
        return header["name"] == "standard_metadata";
    });
    copy["name"] = "s_0";
    copy["id"] = program["headers"].size();
    program["headers"].push_back(copy);
    const auto type = *std::ranges::find_if(program["header_types"], [&copy](const auto& entry) {
        return entry["name"] == copy["header_type"];
    });
    const auto assignAll = [&type](nlohmann::json& list, const char* to, const char* from) {
        for (const auto& field : type["fields"])
        {
            const auto place = [&field](const char* header) {
                return nlohmann::json{{"type", "field"}, {"value", {header, field[0]}}};
            };
            list.push_back({{"op", "assign"}, {"parameters", {place(to), place(from)}}});
        }
    };
    for (auto& action : program["actions"])
    {
        auto primitives = nlohmann::json::array();
        for (auto& primitive : action["primitives"])
        {
            if (primitive["op"] != "mark_to_drop")
            {
                primitives.push_back(primitive);
                continue;
            }
            assignAll(primitives, "s_0", "standard_metadata");
            primitive["parameters"][0]["value"] = "s_0";
            primitives.push_back(primitive);
            if (isCopiedBack)
            {
                assignAll(primitives, "standard_metadata", "s_0");
            }
        }
        action["primitives"] = primitives;
    }
    return program;
}

std::optional<std::string>
PlayWithMarkedCopy(const std::string& file, bool isCopiedBack)
{
    const auto vector = ReadStfVector(FOLDER / "vectors" / file);
    const auto program = MarkACopyInstead(ReadProgram(vector.program), isCopiedBack);
    P4Pipeline pipeline(
        std::make_shared<const P4Program>(P4ProgramLoader::Load(program.dump(), "p.json")));
    ConfigureByStf(pipeline, vector);
    const auto command = [&pipeline](const std::string& line) {
        P4RuntimeCommands(pipeline, "v").Run(line);
    };
    return PlayStfVector(vector, MakeSwitch(pipeline), command);
}

TEST(P4MarkToDrop, MarksTheHeaderThatIsNamed)
{
    // Vectors in which packets are dropped by mark_to_drop: a copy that is copied back drops the
    // same.
    for (const std::string file : {"edge-stale.stf", "edge-malformed.stf", "features.stf"})
    {
        EXPECT_EQ(PlayWithMarkedCopy(file, true), std::nullopt) << file;
        EXPECT_NE(PlayWithMarkedCopy(file, false), std::nullopt) << file;
    }
}

TEST(P4MarkToDrop, RefusesAHeaderThatHasNoPort)
{
    const auto text = LoadChanged([](nlohmann::json& program) {
        for (auto& action : program["actions"])
        {
            for (auto& primitive : action["primitives"])
            {
                if (primitive["op"] == "mark_to_drop")
                {
                    primitive["parameters"][0]["value"] = "scalars";
                }
            }
        }
    });
    EXPECT_THAT(text,
                HasSubstr("header \"scalars\" is no standard_metadata: it has no egress_spec of 9 "
                          "bits"));
}

class P4Commands : public testing::Test
{
  protected:
    /// What a command says, or "" when it says nothing.
    std::string Say(const std::string& command)
    {
        try
        {
            P4RuntimeCommands(m_pipeline, "c.txt").Run("# a comment\n\n" + command);
        }
        catch (const P4Error& error)
        {
            return error.what();
        }
        return "";
    }

    P4Pipeline m_pipeline{GetProgram("slot-aggregation")};
};

TEST_F(P4Commands, ReadsAddressesAndNumbers)
{
    EXPECT_EQ(Say("table_add SlotEgress.receiver SlotEgress.addressResult 1 0x2 => "
                  "02:00:00:00:01:00 10.0.1.0"),
              "");
    EXPECT_EQ(Say("table_add SlotIngress.route SlotIngress.forward 10.1.0.0/16 => 5"), "");
}

TEST_F(P4Commands, NamesLineAndProblem)
{
    EXPECT_EQ(Say("table_ad x"),
              "c.txt:3: the command \"table_ad\" is not supported; did you mean \"table_add\"?");
    EXPECT_THAT(Say("table_add nothing a 1 => 2"), HasSubstr("there is no table \"nothing\""));
    EXPECT_THAT(Say("table_add SlotIngress.route SlotIngress.forward 10.0.0.0/33 => 5"),
                HasSubstr("has 32 bits"));
    EXPECT_THAT(Say("table_add SlotIngress.route SlotIngress.forward 10.0.0.0/8 => 512"),
                HasSubstr("\"512\" is no number of 9 bits"));
    EXPECT_THAT(Say("table_add SlotIngress.route SlotIngress.forward 10.0.0.0/8 =>"),
                HasSubstr("has 1 parameters"));
    EXPECT_THAT(Say("table_add SlotIngress.route SlotIngress.drop 10.0.0.0/8 =>"),
                HasSubstr("there is no action of the table \"SlotIngress.drop\""));
    EXPECT_THAT(Say("mc_node_associate 1 0"), HasSubstr("there is no multicast group 1"));
    EXPECT_THAT(Say("table_set_default SlotIngress.route SlotIngress.noRoute"),
                HasSubstr("is constant"));
}

TEST(P4Limbs, DivisionOfWideNumbersLeavesTheRemainder)
{
    // a = q b + r with r < b, for numbers of up to 2,048 bits.
    std::mt19937_64 random(20261122);
    for (const uint32_t n : {2U, 3U, 8U, 32U})
    {
        for (int round = 0; round < 20; ++round)
        {
            std::vector<uint64_t> a(n);
            std::vector<uint64_t> b(n);
            std::ranges::generate(a, random);
            const auto divisorLimbs = 1 + random() % n;
            std::generate_n(b.begin(), divisorLimbs, std::ref(random));
            b[divisorLimbs - 1] >>= random() % 63;
            std::vector<uint64_t> quotient(n);
            std::vector<uint64_t> rest(n);
            limbs::Divide(quotient.data(), rest.data(), a.data(), b.data(), n);
            EXPECT_LT(limbs::Compare(rest.data(), b.data(), n), 0);
            std::vector<uint64_t> product(n);
            limbs::Multiply(product.data(), quotient.data(), b.data(), n);
            std::vector<uint64_t> sum(n);
            limbs::Add(sum.data(), product.data(), rest.data(), n);
            EXPECT_EQ(sum, a);
        }
    }
}

TEST(P4Examples, ConfigureAtp)
{
    std::ostringstream text;
    text << std::ifstream(FOLDER / "atp.cli").rdbuf();
    P4Pipeline pipeline(GetProgram("atp"));
    EXPECT_NO_THROW(P4RuntimeCommands(pipeline, "atp.cli").Run(text.str()));
}

TEST_F(P4Commands, ReadTheExampleConfiguration)
{
    std::ostringstream text;
    text << std::ifstream(FOLDER / "slot-aggregation.cli").rdbuf();
    EXPECT_EQ(Say(text.str()), "");
    // A packet of background traffic: the route to 10.0.1.2 is there.
    const auto vector = ReadStfVector(FOLDER / "vectors" / "edge-forwarding.stf");
    auto frame = vector.steps[0].packet.second;
    constexpr size_t DESTINATION_AT = 30;
    // 10.255.0.1 becomes 10.0.1.2: the sum of the two words grows by 2 - 0xFF.
    ASSERT_EQ(frame[DESTINATION_AT + 1], 0xFF);
    frame[DESTINATION_AT + 1] = 0;
    frame[DESTINATION_AT + 2] = 1;
    frame[DESTINATION_AT + 3] = 2;
    uint32_t sum = (~(uint32_t{frame[24]} << 8 | frame[25]) & 0xFFFF) + (0xFFFF - 0xFF) + 0x0101;
    sum = (sum & 0xFFFF) + (sum >> 16);
    frame[24] = static_cast<uint8_t>(~sum >> 8);
    frame[25] = static_cast<uint8_t>(~sum);
    const auto sent = m_pipeline.Process(frame, 9);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].port, 2U);
}

TEST_F(P4Commands, RefusesAnEntryThatIsThere)
{
    const std::string entry = "table_add SlotIngress.route SlotIngress.forward 10.0.0.0/8 => 5";
    EXPECT_EQ(Say(entry), "");
    EXPECT_THAT(Say(entry), HasSubstr("the table has an entry with this key"));
}

TEST_F(P4Commands, WritesRegisters)
{
    EXPECT_EQ(Say("register_write SlotIngress.epochs 7 65535"), "");
    EXPECT_EQ(m_pipeline.GetRegister("SlotIngress.epochs", 7), 65535U);
    EXPECT_THAT(Say("register_write SlotIngress.epochs 7 65536"), HasSubstr("no number of 16"));
}

TEST_F(P4Commands, CountersTellWhyPacketsWereDropped)
{
    const auto vector = ReadStfVector(FOLDER / "vectors" / "edge-duplicates.stf");
    ConfigureByStf(m_pipeline, vector);
    ASSERT_EQ(PlayStfVector(vector, MakeSwitch(m_pipeline)), std::nullopt);
    // Two repetitions before completion, three answered after it; EVENT_* of the program.
    EXPECT_EQ(m_pipeline.GetCounterPackets("SlotIngress.events", 5), 2U);
    EXPECT_EQ(m_pipeline.GetCounterPackets("SlotIngress.events", 7), 3U);
    EXPECT_EQ(m_pipeline.GetCounterPackets("SlotIngress.events", 8), 1U);
}

} // namespace

} // namespace ns3::gradsync
