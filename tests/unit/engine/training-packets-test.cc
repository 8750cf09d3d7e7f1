// SPDX-License-Identifier: GPL-2.0-only
// The closed forms of overlap and of pipelines (reference 2, sections 2 and 3) on packets.
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/plan-shelf.h"
#include "ns3/roce-transport.h"
#include "ns3/string.h"
#include "ns3/training-workload.h"
#include "ns3/uinteger.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::Choose;
using tests::MakeBlock;
using tests::MakeOverlapping;
using tests::MakePipeline;
using tests::OverlappingLayers;

constexpr uint64_t MTU_BYTES = 4096;
constexpr uint64_t ACK_EVERY = 16; // packets
constexpr uint64_t DELAY = 1000;   // of a link, in ns
constexpr uint64_t HOPS = 2;
constexpr int ROUNDS = 12;

/// As the closed forms count it, and what packets make of it at least and at most. Of links of a
/// byte a nanosecond, so bytes are nanoseconds.
struct PacketTimes
{
    double ideal{0.0};
    double least{0.0};
    double most{0.0};
};

/**
 * Messages of one size that follow each other, each after the one before has arrived whole.
 *
 * At least: each packet has headers on the first link, W bytes in all. The last packet waits at the
 * switch until a whole one, that before it, has been forwarded: once more the wire of a full
 * packet, or of the message if that is one packet. Two links of 1 us.
 *
 * At most: what goes the other way at the same time (a ring of two, the messages of neighbours)
 * is acknowledged every 16 packets and at the end of a message; acknowledgements go first, so they
 * delay data by no more than their own bytes, on the first link and on the second. A message meets
 * those of one message the other way, and the last one of the message before.
 */
PacketTimes
SendInTurn(uint64_t count, uint64_t bytes)
{
    const auto packets = (bytes + MTU_BYTES - 1) / MTU_BYTES;
    const auto last = bytes - (packets - 1) * MTU_BYTES;
    const auto whole = (packets - 1) * wire::RoceDataBytes(MTU_BYTES) + wire::RoceDataBytes(last);
    const auto stored = std::min<uint64_t>(whole, wire::RoceDataBytes(MTU_BYTES));
    const auto least = whole + stored + HOPS * DELAY;
    const auto acks = (packets + ACK_EVERY - 1) / ACK_EVERY + 1;
    const auto most = least + HOPS * acks * wire::ROCE_ACK_BYTES;
    return {static_cast<double>(count * bytes),
            static_cast<double>(count * least),
            static_cast<double>(count * most)};
}

PacketTimes
operator+(const PacketTimes& a, const PacketTimes& b)
{
    return {a.ideal + b.ideal, a.least + b.least, a.most + b.most};
}

/// RoCEv2 at line rate over one switch, 8 Gb/s and 1 us a link.
class TrainingPacketsTest : public tests::WorkloadFixture
{
  protected:
    /// A closed form, in nanoseconds, of the time of one communication.
    using Form = std::function<double(double)>;

    oracles::RackNetworkRates GetRates() const override
    {
        return {DataRate("8Gbps"), DataRate("8Gbps"), NanoSeconds(DELAY)};
    }

    Ptr<Transport> MakeTransport() const override
    {
        auto roce = CreateObject<RoceTransport>();
        roce->SetAttribute("Mtu", UintegerValue(MTU_BYTES));
        roce->SetAttribute("AckEvery", UintegerValue(ACK_EVERY));
        roce->SetAttribute("KeptQueuePairs", UintegerValue(0)); // small networks reserve, too
        roce->GetFabric()->SetAttribute("LoadBalancing", StringValue("destination"));
        return roce;
    }

    Time RunTraining(const TrainingSpec& spec)
    {
        PlanShelf shelf({}, 1);
        return Run(MakeTrainingWorkload(spec, shelf));
    }

    /// Closed forms grow with the time of a communication, as each begins when those before it have
    /// ended: with the least that packets take they bound a run from below, with the most from
    /// above. \param slack of the form itself, from above
    void Check(const Time& took, const PacketTimes& of, const Form& form, const Form& slack = {})
    {
        const auto nanoseconds = static_cast<double>(took.GetPicoSeconds()) / 1000.0;
        const auto most = form(of.most) + (slack ? slack(of.most) : 0.0);
        EXPECT_GE(nanoseconds, form(of.least) - 0.5);
        EXPECT_LE(nanoseconds, most + 0.5);
        m_measured = std::max(m_measured, nanoseconds / form(of.ideal) - 1.0);
        m_bound = std::max(m_bound, most / form(of.ideal) - 1.0);
        ++m_runs;
        Reset();
    }

    /// Says how far packets were from the closed form.
    void TearDown() override
    {
        const auto& name = testing::UnitTest::GetInstance()->current_test_info()->name();
        const auto row = fmt::format("{:<36} {:>3} runs: {:>6.2f} % above the closed form at "
                                     "most, bound {:>6.2f} %",
                                     name,
                                     m_runs,
                                     100.0 * m_measured,
                                     100.0 * m_bound);
        std::cout << row << '\n';
        WorkloadFixture::TearDown();
    }

    double m_measured{0.0};
    double m_bound{0.0};
    int m_runs{0};
};

/// Of two ranks: two steps of half of it.
PacketTimes
RingOfTwo(uint64_t bytes)
{
    return SendInTurn(2, bytes / 2);
}

double
ToNanoseconds(uint64_t microseconds)
{
    return 1000.0 * static_cast<double>(microseconds);
}

// Section 2: L f + max(L b + c, b + L c), an iteration.
TEST_F(TrainingPacketsTest, SumsInOrder)
{
    for (int round = 0; round < ROUNDS; ++round)
    {
        const OverlappingLayers of{Draw(1, 8),
                                   Draw(20, 400),
                                   Draw(20, 400),
                                   2 * Draw(10'000, 200'000),
                                   static_cast<uint32_t>(Draw(1, 3))};
        const auto end = RunTraining(MakeOverlapping(of, {}));
        Check(end, RingOfTwo(of.exchange), [&of](double c) {
            const auto layers = static_cast<double>(of.layers);
            const auto b = ToNanoseconds(of.backward);
            return of.iterations *
                   (layers * ToNanoseconds(of.forward) + std::max(layers * b + c, b + layers * c));
        });
    }
}

// Section 2: from max(L (f + b) + c, b + f + L c) on, at most L slices above it, an iteration; c
// are the sums of its slices.
TEST_F(TrainingPacketsTest, SumsByPriority)
{
    for (int round = 0; round < ROUNDS; ++round)
    {
        const auto pieces = Draw(1, 4);
        const auto piece = 2 * Draw(10'000, 50'000);
        const OverlappingLayers of{Draw(2, 8), Draw(20, 400), Draw(20, 400), pieces * piece, 3};
        RunTraining(MakeOverlapping(of, {StreamPolicy::Priority, 0, piece}));
        const auto begins = tests::FindBackwardPasses(*m_workload, GetLog());
        const auto slices = static_cast<double>(pieces);
        const auto layers = static_cast<double>(of.layers);
        // From the first backward pass to the third: two iterations.
        Check(
            begins[2] - begins[0],
            RingOfTwo(piece),
            [&](double slice) {
                const auto passes = ToNanoseconds(of.forward + of.backward);
                const auto c = slices * slice;
                return 2.0 * std::max(layers * passes + c, passes + layers * c);
            },
            [&](double slice) { return 2.0 * layers * slice; });
    }
}

// Section 2, FSDP, r = g: half of 2 g bytes, one step.
TEST_F(TrainingPacketsTest, FullySharded)
{
    for (int round = 0; round < ROUNDS; ++round)
    {
        const auto layers = Draw(2, 8);
        const auto forward = Draw(20, 400);
        const auto backward = Draw(20, 800);
        const auto gathered = Draw(20'000, 300'000);
        const auto end =
            RunTraining(tests::MakeSharded(layers, MakeBlock(forward, backward, 0, 2 * gathered)));
        Check(end, SendInTurn(1, gathered), [&](double g) {
            const auto count = static_cast<double>(layers);
            const auto f = ToNanoseconds(forward);
            const auto b = ToNanoseconds(backward);
            const auto back =
                b >= 2 * g ? g + count * b + g
                           : std::max(2 * g, g + b) + (count - 2) * 2 * g + g + std::max(b, g);
            return g + (count - 1) * std::max(f, g) + f + back;
        });
    }
}

// Section 2, Centauri: C/q + (q - 1)/q max(C, M) + M/q, of q slices.
TEST_F(TrainingPacketsTest, Slices)
{
    for (int round = 0; round < ROUNDS; ++round)
    {
        const auto slices = static_cast<uint32_t>(Draw(1, 8));
        const auto collective = 2 * Draw(10'000, 200'000);
        const auto computation = Draw(20, 400);
        auto block = MakeBlock(0, slices * computation);
        block.afterForward = {{Choose("ring"), slices * collective}};
        TrainingSpec spec;
        spec.tensor = 2;
        spec.blocks = {block};
        spec.slices = slices;
        const auto end = RunTraining(spec);
        Check(end, RingOfTwo(collective), [&](double c) {
            const auto m = ToNanoseconds(computation);
            return c + (slices - 1) * std::max(c, m) + m;
        });
    }
}

// Section 3, GPipe with a message of time a after each stage but the last, which is a stage of its
// own then: sum F + (p - 1) a + (m - 1) max(F, a), and as much backward.
TEST_F(TrainingPacketsTest, PipelineWithMessages)
{
    for (int round = 0; round < ROUNDS; ++round)
    {
        TrainingSpec spec;
        spec.schedule = PipelineSchedule::GPipe;
        spec.pipeline = {static_cast<uint32_t>(Draw(2, 5)), static_cast<uint32_t>(Draw(1, 8))};
        spec.activationBytes = Draw(20'000, 300'000);
        double sum = 0.0;
        double forward = 0.0;
        double backward = 0.0;
        for (uint32_t stage = 0; stage < spec.pipeline.stages; ++stage)
        {
            const auto f = Draw(20, 400);
            const auto b = Draw(20, 400);
            spec.blocks.push_back(MakeBlock(f, b));
            sum += ToNanoseconds(f + b);
            forward = std::max(forward, ToNanoseconds(f));
            backward = std::max(backward, ToNanoseconds(b));
        }
        const auto end = RunTraining(spec);
        Check(end, SendInTurn(1, spec.activationBytes), [&](double a) {
            return sum + 2.0 * (spec.pipeline.stages - 1) * a +
                   (spec.pipeline.microbatches - 1) *
                       (std::max(forward, a) + std::max(backward, a));
        });
    }
}

// (n - 1) steps of K/n, 2 (m - 1) of K/(m n), (n - 1) of K/n.
TEST_F(TrainingPacketsTest, TwoLevels)
{
    for (const uint32_t inner : {1, 2, 4})
    {
        for (const uint32_t groups : {2, 3})
        {
            const auto part = Draw(10'000, 200'000);
            TrainingSpec spec;
            spec.data = inner * groups;
            spec.blocks.assign(1, MakeBlock(100, 200, 0, part * inner * groups));
            spec.dataParallelism = DataParallelism::Hierarchical;
            spec.gradientScheme = Choose("reduce-scatter");
            spec.outerScheme = Choose("ring");
            spec.parameterScheme = Choose("all-gather");
            spec.innerRanks = inner;
            const auto end = RunTraining(spec);
            Check(end,
                  SendInTurn(uint64_t{2} * (inner - 1), part * groups) +
                      SendInTurn(uint64_t{2} * (groups - 1), part),
                  [](double sum) { return ToNanoseconds(300) + sum; });
        }
    }
}

} // namespace
} // namespace ns3::gradsync
