// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz/import-mutator.h"
#include "unit/study/scenario-test-support.h"

#include "ns3/goal-writer.h"
#include "ns3/input-file.h"
#include "ns3/job-planner.h"
#include "ns3/plan-statistics.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/scenario-sweep.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

const std::filesystem::path SCENARIOS = std::filesystem::path(GRADSYNC_SOURCE_DIR) / "scenarios";

/// Hosts at a switch; paths of files are relative to the folder of the scenarios.
ResolvedRun
MakeRun(const std::string& scheme, const std::string& transport = "fluid", uint32_t hosts = 4)
{
    const auto text = fmt::format(
        R"({{"topology": {{"kind": "star", "hosts": {}, "hostLink": {{"rate": "40Gbps", "delay": "1us"}}}},
            "transport": "{}", "job": {{"gradient": "1MB"}}, "scheme": {}}})",
        hosts,
        transport,
        scheme);
    return ResolveRun(ParseScenario(text, SCENARIOS / "x.json", {}), 0);
}

RunResult
SimulatePlan(const std::string& scheme, const std::string& transport = "fluid", uint32_t hosts = 4)
{
    const auto run = MakeRun(scheme, transport, hosts);
    CheckRun(run, true);
    auto result = RunScenario(run);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    return result;
}

/// A file with a plan, and the scheme that reads it.
class ImportedFile
{
  public:
    explicit ImportedFile(const std::string& content)
    {
        std::ofstream(GetPath()) << content;
    }

    std::string GetPath() const
    {
        return (m_folder.Get() / "plan").string();
    }

    std::string GetScheme() const
    {
        return fmt::format(R"({{"kind": "import", "file": "{}"}})", GetPath());
    }

    /// What is wrong with it for so many workers, found before anything is simulated.
    std::string GetError(uint32_t hosts) const
    {
        return ErrorOf([&] { CheckRun(MakeRun(GetScheme(), "fluid", hosts), true); });
    }

  private:
    TemporaryFolder m_folder;
};

constexpr const char* RING = R"({"kind": "import", "file": "algorithms/ring-4.xml"})";
constexpr const char* ALL_PAIRS = R"({"kind": "import", "file": "algorithms/all-pairs-4.xml"})";

TEST(MscclImport, RingTakesTheTimeOfOurs)
{
    for (const auto* transport : {"fluid", "roce"})
    {
        const auto imported = SimulatePlan(RING, transport);
        const auto own = SimulatePlan(R"("ring")", transport);
        EXPECT_TRUE(PlanVerifier().Verify(*imported.jobs[0].plan).ok);
        EXPECT_EQ(imported.summary.meanIctPs, own.summary.meanIctPs) << transport;
        EXPECT_EQ(imported.summary.longestChain, own.summary.longestChain);
        EXPECT_EQ(imported.summary.goodputBytes, own.summary.goodputBytes);
    }
}

TEST(MscclImport, AllPairsIsAnAllReduceOfTwoStepsThroughScratch)
{
    const auto imported = SimulatePlan(ALL_PAIRS);
    const auto& plan = *imported.jobs[0].plan;
    const auto verification = PlanVerifier().Verify(plan);
    EXPECT_TRUE(verification.ok) << verification.violations.front();
    // Three scratch places that hold the same chunk.
    EXPECT_EQ(plan.GetBufferCount(), 4U);
    EXPECT_EQ(imported.summary.longestChain, 2U);
    // As co-located parameter servers: 2 (w - 1)/w K/B = 1.5 * 0.2 ms, and 2 steps of 2 links.
    EXPECT_EQ(imported.summary.meanIctPs, 304'000'000);
}

/// The algorithm of the ring with one attribute of its last step changed.
std::string
BreakRing(const std::string& from, const std::string& to)
{
    auto text = ReadInputFile((SCENARIOS / "algorithms/ring-4.xml").string());
    const auto place = text.rfind(from);
    EXPECT_NE(place, std::string::npos);
    return text.replace(place, from.size(), to);
}

TEST(MscclImport, IsRefusedWhenTheAlgorithmIsNoAllReduce)
{
    // The last step of GPU 3 stores chunk 1 in the place of another one.
    const ImportedFile moved(BreakRing(R"(dstbuf="o" dstoff="1")", R"(dstbuf="o" dstoff="2")"));
    EXPECT_THAT(moved.GetError(4),
                testing::HasSubstr("/plan:44: <step>: moves chunk 1 to the place of chunk 2"));
    // The last but one adds chunk 2, which is whole, to the sum that is there.
    const ImportedFile added(BreakRing(R"(type="rcs")", R"(type="rrcs")"));
    EXPECT_THAT(added.GetError(4),
                testing::HasSubstr("the plan of the scheme import is no all-reduce: "));
    EXPECT_THAT(added.GetError(4), testing::HasSubstr("expected disjoint contributions"));
}

TEST(MscclImport, SumThatIsNotStoredLeavesItsSourceAsItWas)
{
    // GPU 1 sends the sum of both parts on without storing it, then its own part, which GPU 2 adds:
    // it is there twice only if the part was left alone.
    const ImportedFile file(R"(<algo coll="allreduce" ngpus="3" nchunksperloop="1" inplace="1">
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
 <tb id="0" send="1" recv="-1"><step s="0" type="s" srcbuf="i" srcoff="0"/></tb>
 <tb id="1" send="-1" recv="2"><step s="0" type="r" dstbuf="i" dstoff="0"/></tb></gpu>
<gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
 <tb id="0" send="2" recv="0"><step s="0" type="rrs" srcbuf="i" srcoff="0"/></tb>
 <tb id="1" send="-1" recv="2"><step s="0" type="r" dstbuf="i" dstoff="0"/></tb></gpu>
<gpu id="2" i_chunks="1" o_chunks="1" s_chunks="0">
 <tb id="0" send="0" recv="1"><step s="0" type="rrcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0"/></tb>
 <tb id="1" send="1" recv="-1"><step s="0" type="s" srcbuf="i" srcoff="0" depid="0" deps="0"/></tb></gpu>
</algo>)");
    const auto result = SimulatePlan(file.GetScheme(), "fluid", 3);
    const auto& plan = *result.jobs[0].plan;
    // The sum goes through a staging buffer of GPU 1; there and back are three transfers.
    EXPECT_EQ(plan.GetBufferCount(), 2U);
    EXPECT_EQ(ComputePlanStatistics(plan).localCount, 1U);
    EXPECT_EQ(result.summary.longestChain, 3U);
}

/// A file and what its error says behind the path.
struct BadFile
{
    std::string content;
    std::string message;
};

TEST(MscclImport, NamesFileLineElementAndWhatIsAllowed)
{
    const std::string head = R"(<algo coll="allreduce" ngpus="4" nchunksperloop="4" inplace="1">)";
    const std::string gpu = R"(<gpu id="0" i_chunks="4" o_chunks="0" s_chunks="0">)";
    const std::vector<BadFile> cases = {
        {"<algo", ":1: "},
        {"<plan/>", ":1: <plan>: expected <algo>"},
        {R"(<algo coll="alltoal"/>)",
         R"(:1: <algo>: coll: found "alltoal" (allowed: allreduce, allgather, reducescatter))"},
        {R"(<algo coll="allreduce" ngpus="4x"/>)",
         R"(:1: <algo>: ngpus: found "4x", expected a whole number from 1 to 65536)"},
        {R"(<algo coll="allreduce" ngpus="4"/>)",
         R"(:1: <algo>: the attribute "nchunksperloop" is missing)"},
        {R"(<algo coll="allreduce" ngpus="4" nchunksperloop="4" inplace="0"/>)",
         R"(inplace: found "0", expected a whole number from 1 to 1)"},
        {head + "\n<gpus/></algo>", ":2: <gpus>: expected <gpu> here"},
        {head + gpu +
             "<tb id=\"0\" send=\"1\" recv=\"-1\" chan=\"0\">\n<step s=\"0\" type=\"sr\"/>"
             "</tb></gpu></algo>",
         ":2: <step>: type: found \"sr\" (allowed: cpy, nop, r, rcs, re, rrc, rrcs, rrs, s)"},
        {head + gpu +
             R"(<tb id="0" send="-1" recv="1" chan="0">)"
             R"(<step s="0" type="r" dstbuf="i" dstoff="4" cnt="1"/></tb></gpu></algo>)",
         R"(dstoff: found "4", expected a whole number from 0 to 3)"}};
    for (const auto& [content, message] : cases)
    {
        SCOPED_TRACE(content);
        const ImportedFile file(content);
        const auto error = file.GetError(4);
        EXPECT_THAT(error, testing::HasSubstr(file.GetPath() + ":"));
        EXPECT_THAT(error, testing::HasSubstr(message));
    }
}

TEST(PlanImport, WantsAsManyWorkersAsTheFileHas)
{
    EXPECT_THAT(ErrorOf([] { CheckRun(MakeRun(RING, "fluid", 5), true); }),
                testing::HasSubstr("ring-4.xml is for 4 workers and 0 dedicated servers, but the "
                                   "job has 5 and 0"));
}

TEST(PlanImport, NamesAFileThatIsNotThere)
{
    EXPECT_THAT(ErrorOf([] { MakeRun(R"({"kind": "import", "file": "algorithms/none.xml"})"); }),
                testing::HasSubstr("algorithms/none.xml: the file cannot be read"));
    EXPECT_THAT(ErrorOf([] { CheckRun(MakeRun(R"("import")"), true); }),
                testing::HasSubstr("\"file\" is missing"));
}

TEST(PlanImport, RefusesXmlThatCostsMoreThanItsSize)
{
    const auto error = [](const std::string& text) {
        try
        {
            PlanImport("x.xml", text, 1000, 4);
        }
        catch (const ImportError& problem)
        {
            return std::string(problem.what());
        }
        return std::string("no error");
    };
    // Each entity is ten times the one before.
    std::string entities = "<!ENTITY e0 \"ring\">";
    for (int i = 1; i < 9; ++i)
    {
        entities += fmt::format("<!ENTITY e{} \"", i);
        for (int k = 0; k < 10; ++k)
        {
            entities += fmt::format("&e{};", i - 1);
        }
        entities += "\">";
    }
    EXPECT_EQ(error("<!DOCTYPE algo [" + entities + "]><algo name=\"&e1;\"/>"),
              "x.xml: a DOCTYPE is not allowed");
    std::string attributes;
    for (int i = 0; i < 100'000; ++i)
    {
        attributes += fmt::format(" a{}=\"1\"", i);
    }
    EXPECT_EQ(error("<algo" + attributes + "/>"), "x.xml: an element has more than 64 attributes");
    // Neither a value nor a comment is an attribute.
    EXPECT_THAT(error("<algo name=\"" + std::string(100, '=') + "\"/>"),
                testing::Not(testing::HasSubstr("64 attributes")));
}

TEST(PlanImport, LeavesStderrAlone)
{
    // Its first bytes are those of UTF-16, the rest is of no encoding, which libxml2 tells stderr.
    testing::internal::CaptureStderr();
    EXPECT_THROW(PlanImport("x.xml", std::string("<\0\0\0", 4), 1000, 4), ImportError);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(PlanImport, RunIsAnotherOneWhenTheFileIs)
{
    const auto getDigest = [](const std::string& content) {
        const ImportedFile file(content);
        return MakeRun(file.GetScheme()).point.document["scheme"]["digest"].get<std::string>();
    };
    const auto ring = ReadInputFile((SCENARIOS / "algorithms/ring-4.xml").string());
    EXPECT_EQ(getDigest(ring), getDigest(ring));
    EXPECT_NE(getDigest(ring), getDigest(ring + "\n"));
    EXPECT_THAT(ErrorOf([] {
                    MakeRun(
                        R"({"kind": "import", "file": "algorithms/ring-4.xml", "digest": "0"})");
                }),
                testing::HasSubstr("scheme.digest: found \"0\", expected"));
}

std::string
Export(const Plan& plan, bool comments)
{
    std::stringstream stream;
    GoalWriter(plan).Write(stream);
    std::string text;
    for (std::string line; std::getline(stream, line);)
    {
        text += comments || !line.starts_with("//") ? line + '\n' : "";
    }
    return text;
}

/// Whether all that one rank sends another shares a connection.
bool
HasOneStreamAPair(const Plan& plan)
{
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> streams;
    return std::ranges::all_of(plan.GetOperations(), [&](const Operation& operation) {
        const std::pair pair(operation.src, operation.dst);
        return !operation.IsTransfer() ||
               streams.try_emplace(pair, operation.stream).first->second == operation.stream;
    });
}

TEST(GoalImport, TakesTheTimeOfThePlanThatWasExported)
{
    uint32_t equal = 0;
    for (const auto& scheme : GetSchemes())
    {
        SCOPED_TRACE(scheme.name);
        const auto hosts = 9 + scheme.countServers(MakeDefaultParameters(scheme));
        const auto run = MakeRun(fmt::format("\"{}\"", scheme.name), "fluid", hosts);
        if (PlanJob(run.jobs[0], *run.topology).plan->HasAggregations())
        {
            continue; // GOAL knows no switches that aggregate
        }
        const auto own = SimulatePlan(fmt::format("\"{}\"", scheme.name), "fluid", hosts);
        const auto& plan = *own.jobs[0].plan;
        const ImportedFile annotated(Export(plan, true));
        const auto restored = SimulatePlan(annotated.GetScheme(), "fluid", hosts);
        EXPECT_EQ(restored.summary.meanIctPs, own.summary.meanIctPs);
        EXPECT_EQ(restored.summary.longestChain, own.summary.longestChain);
        // GOAL knows no connections: what had several shares one, which takes another time.
        const auto signals = GoalWriter(plan).GetSignalCount();
        const ImportedFile bare(Export(plan, false));
        const auto plain = SimulatePlan(bare.GetScheme(), "fluid", hosts);
        EXPECT_EQ(plain.summary.goodputBytes, own.summary.goodputBytes + signals);
        if (signals == 0)
        {
            EXPECT_EQ(plain.summary.longestChain, own.summary.longestChain);
        }
        if (signals == 0 && HasOneStreamAPair(plan))
        {
            EXPECT_EQ(plain.summary.meanIctPs, own.summary.meanIctPs);
            ++equal;
        }
    }
    // The others have barriers, or several connections from one rank to another.
    EXPECT_GE(equal, 16U);
}

TEST(GoalImport, TakesTheTimeOfARingPacketByPacket)
{
    const auto own = SimulatePlan(R"("ring")", "roce");
    for (const bool comments : {true, false})
    {
        const ImportedFile file(Export(*own.jobs[0].plan, comments));
        EXPECT_EQ(SimulatePlan(file.GetScheme(), "roce").summary.meanIctPs, own.summary.meanIctPs);
    }
}

/// Rank 0 computes and sends 5000 bytes, rank 1 computes when it has them: 1 us at 40 Gb/s, and two
/// links of 1 us.
std::string
MakePair(const std::string& sender, const std::string& receiver)
{
    return fmt::format("num_ranks 2\nrank 0 {{\na: calc 1000\ns: send 5000b to 1 tag 7\n"
                       "s requires a\n{}}}\nrank 1 {{\nr: recv 5000b from 0 tag 7\n"
                       "c: calc 2000\n{}}}\n",
                       sender,
                       receiver);
}

TEST(GoalImport, StepsTakeTheirTimeAndWaitForWhatTheyRequire)
{
    struct Case
    {
        std::string sender;
        std::string receiver;
        int64_t us;
    };

    const std::vector<Case> cases = {
        {"", "c requires r\n", 1 + 3 + 2},
        {"b: calc 1000\ns requires b\n", "c requires r\n", 2 + 3 + 2}, // one after the other
        {"b: calc 1000 cpu 1\ns requires b\n", "c requires r\n", 1 + 3 + 2},
        {"", "c irequires r\n", 1 + 3},                            // with the recv, at once
        {"", "w: calc 9000\nr requires w\nc requires r\n", 9 + 2}, // a recv that comes late
        {"", "w: calc 9000\nr requires w\nc irequires r\n", 9 + 2},
        {"", "d: calc 3000 cpu 1\nd requires r\nc irequires d\n", 1 + 3 + 3},
        {"", "d: calc 3000 cpu 1\nd requires r\nc requires d\n", 1 + 3 + 3 + 2},
        {"", "d: calc 0\nd irequires c\nx: calc 4000 cpu 1\nx irequires d\n", 4}};
    for (const auto& [sender, receiver, us] : cases)
    {
        SCOPED_TRACE(sender + receiver);
        const ImportedFile file(MakePair(sender, receiver));
        EXPECT_EQ(SimulatePlan(file.GetScheme(), "fluid", 2).summary.meanIctPs, us * 1'000'000);
    }
}

TEST(GoalImport, ReadsWhatTheLanguageAllows)
{
    // Comments, steps without a label, a rank without steps, a message of no byte (which travels as
    // one), one of a rank to itself (which does not), labels before their step, ranks in any order.
    const ImportedFile file("/* made\nby hand */\nnum_ranks 3\n\nrank 1 { // the second\n"
                            "l_2 requires l1\nl1: recv 0b from 0\nl_2: send 8b to 1 cpu 0 nic 1\n"
                            "recv 8b from 1\r\n}\nrank 0 {\n\tsend 0b to 1 tag 0 cpu 2 nic 1\n}\n");
    const auto result = SimulatePlan(file.GetScheme(), "fluid", 3);
    EXPECT_EQ(result.summary.goodputBytes, 1U);
    EXPECT_EQ(result.jobs[0].plan->GetOperations()[0].stream, 0U);
    EXPECT_EQ(result.jobs[0].plan->GetOperations()[1].stream, 1U);
}

TEST(GoalImport, NamesFileLineAndWhatIsAllowed)
{
    const std::vector<BadFile> cases = {
        {"rank 0 {\n}\n", ":1: found \"rank\", expected \"num_ranks\""},
        {"num_ranks two\n",
         ":1: found \"two\", expected the number of ranks, a whole number up to 1048576"},
        {"num_ranks 2\nrank 2 {\n}\n", ":2: found rank 2, but num_ranks is 2"},
        {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", ":4: rank 0 is there twice"},
        {"num_ranks 2\nrank 0 {\na: clac 1\n", ":3: found \"clac\", expected send, recv or calc"},
        {"num_ranks 2\nrank 0 {\na: calc 1 cpu 0 nic 1\n}\n",
         ":3: found \"nic\", expected cpu or the end of the line"},
        {"num_ranks 2\nrank 0 {\na: calc 1\na: calc 1\n}\n", ":4: the label a is there twice"},
        {"num_ranks 2\nrank 0 {\na: calc 1\na requires b\n}\n", ":4: rank 0 has no step b"},
        {"num_ranks 2\nrank 0 {\na: calc 1\n",
         ":4: found the end of the file, expected a label, send, recv, calc or \"}\""},
        {"num_ranks 2\nrank 0 {\nsend 8b to 2\n}\n", ":3: found rank 2, but num_ranks is 2"},
        {"num_ranks 2\nrank 0 {\nrecv 8b from -1\n}\n", ":3: found a message from any rank (-1)"},
        {"num_ranks 2\nrank 0 {\nrecv 8b from 1 tag -1\n}\n", ":3: found any tag (-1)"},
        {"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\n",
         ":3: found a send without its recv: expected one more at rank 1 from rank 0 with tag 0"},
        {"num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 3\n}\n",
         ":3: found a recv without its send: expected one more from rank 1 to rank 0 with tag 3"},
        {"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n",
         ":6: found a recv of 9 bytes, expected 8, as its send in line 3 has"},
        {"num_ranks 2\nrank 0 {\nb: recv 8b from 1\na: send 8b to 1\na requires b\n}\n"
         "rank 1 {\nc: recv 8b from 0\nd: send 8b to 0\nd requires c\n}\n",
         "the step waits for itself"},
        {"num_ranks 2\nrank 0 {\ncalc 5\n}\n", ": found no message from one rank to another"},
        {"num_ranks 2\n//gradsync plan x exact all-reduce\n",
         ":2: //gradsync: workers: found \"x\", expected a whole number up to 4294967295"},
        {"num_ranks 2\n//gradsync plan 2 exact all-reduce\nrank 0 {\nsend 8b to 1\n}\n"
         "rank 1 {\nrecv 8b from 0\n}\n",
         ":4: found no line //gradsync before the step"}};
    for (const auto& [content, message] : cases)
    {
        SCOPED_TRACE(content);
        const ImportedFile file(content);
        const auto error = file.GetError(2);
        EXPECT_THAT(error, testing::HasSubstr(file.GetPath() + ":"));
        EXPECT_THAT(error, testing::HasSubstr(message));
    }
}

TEST(GoalImport, TellsWhenAnExportedPlanWasChanged)
{
    auto goal = Export(*SimulatePlan(R"("ring")").jobs[0].plan, true);
    const auto replace = [&goal](const std::string& from, const std::string& to) {
        auto changed = goal;
        return changed.replace(changed.find(from), from.size(), to);
    };
    // The ring of four starts with operation 0: it adds chunk 0 of rank 0 to that of rank 1.
    EXPECT_THAT(ImportedFile(replace("operation 0 reduce", "operation 0 copy")).GetError(4),
                testing::HasSubstr("the plan of the scheme import is no all-reduce: "));
    EXPECT_THAT(ImportedFile(replace("operation 0 reduce", "operation 1 reduce")).GetError(4),
                testing::HasSubstr("each number below 24, the number of operations, once"));
    EXPECT_THAT(ImportedFile(replace("operation 0 reduce 0", "operation 0 reduce 9")).GetError(4),
                testing::HasSubstr("operation 0 moves 1 chunks from chunk 9, but there are 4"));
}

TEST(PlanImport, EveryMutationIsReadOrRefused)
{
    const auto plans = std::filesystem::path(GRADSYNC_SOURCE_DIR) / "tests/fuzz/corpus/plan";
    for (const auto& folder : {SCENARIOS / "algorithms", plans})
    {
        SCOPED_TRACE(folder);
        ImportMutator mutator(LoadImports(folder), 20261121);
        uint32_t valid = 0;
        uint32_t refused = 0;
        for (int i = 0; i < 2000; ++i)
        {
            const std::string text = mutator.Next();
            try
            {
                ++(TryImport(text) ? valid : refused);
            }
            catch (const std::exception& error)
            {
                FAIL() << error.what() << "\n" << text;
            }
        }
        // Mutations that are all refused, or none of them, would try only half of the readers.
        EXPECT_GT(valid, 50U);
        EXPECT_GT(refused, 500U);
    }
}

} // namespace
} // namespace ns3::gradsync
