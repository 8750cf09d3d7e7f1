// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/event-order.h"
#include "ns3/global-value.h"
#include "ns3/object-factory.h"
#include "ns3/radix-scheduler.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/window-simulator-impl.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;

class WindowSimulatorTest : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        Use("ns3::gradsync::WindowSimulatorImpl");
    }

    void TearDown() override
    {
        Simulator::Destroy();
        Bind("ns3::DefaultSimulatorImpl");
    }

    static void Bind(const std::string& type)
    {
        GlobalValue::Bind("SimulatorImplementationType", StringValue(type));
    }

    static void Use(const std::string& type)
    {
        Simulator::Destroy();
        Bind(type);
        ObjectFactory factory;
        factory.SetTypeId(RadixScheduler::GetTypeId());
        Simulator::SetScheduler(factory);
    }

    static WindowSimulatorImpl& Get()
    {
        return dynamic_cast<WindowSimulatorImpl&>(*Simulator::GetImplementation());
    }

    void Note(int number)
    {
        m_noted.emplace_back(Simulator::Now().GetTimeStep(), number);
    }

    void NoteAt(int64_t at, int number)
    {
        Simulator::Schedule(TimeStep(at) - Simulator::Now(),
                            &WindowSimulatorTest::Note,
                            this,
                            number);
    }

    std::vector<std::pair<int64_t, int>> m_noted;
};

using Noted = std::pair<int64_t, int>;

TEST_F(WindowSimulatorTest, RunsUpToATimeAndOnFromThere)
{
    NoteAt(10, 1);
    NoteAt(20, 2);
    NoteAt(30, 3);
    auto& simulator = Get();
    simulator.RunUntil(20);
    EXPECT_THAT(m_noted, ElementsAre(Noted{10, 1}));
    EXPECT_EQ(simulator.GetNextTime(), 20);
    simulator.AdvanceTo(19);
    EXPECT_EQ(Simulator::Now().GetTimeStep(), 19);
    NoteAt(19, 4); // not too late for what is put in between
    NoteAt(20, 5);
    simulator.RunUntil(31);
    EXPECT_THAT(m_noted,
                ElementsAre(Noted{10, 1}, Noted{19, 4}, Noted{20, 2}, Noted{20, 5}, Noted{30, 3}));
    EXPECT_EQ(simulator.GetNextTime(), INT64_MAX);
    EXPECT_EQ(simulator.GetEventCount(), 5U);
}

TEST_F(WindowSimulatorTest, EventsOfTheInstantThatItAdvancesToAreStillToCome)
{
    const auto early = Simulator::Schedule(TimeStep(20), [] { FAIL(); }); // made before 10's event
    NoteAt(10, 1);
    auto& simulator = Get();
    simulator.RunUntil(11);
    simulator.AdvanceTo(20);
    EXPECT_FALSE(Simulator::IsExpired(early));
    Simulator::Remove(early);
    Simulator::Run();
    EXPECT_THAT(m_noted, ElementsAre(Noted{10, 1}));
}

TEST_F(WindowSimulatorTest, PausesBehindTheEventInHand)
{
    NoteAt(10, 1);
    Simulator::Schedule(TimeStep(10), [] { Get().Pause(); });
    NoteAt(10, 2);
    auto& simulator = Get();
    simulator.RunUntil(100);
    EXPECT_THAT(m_noted, ElementsAre(Noted{10, 1}));
    simulator.RunUntil(100);
    EXPECT_THAT(m_noted, ElementsAre(Noted{10, 1}, Noted{10, 2}));
}

TEST_F(WindowSimulatorTest, TellsTheOrderOfTheEventInHand)
{
    std::vector<uint32_t> orders;
    for (const auto order : {EventOrder::OfNode(4), EventOrder::OfArrival(7)})
    {
        ScheduleInOrder(order, TimeStep(1), [&orders] { orders.push_back(Get().GetOrder()); });
    }
    Simulator::Run();
    EXPECT_THAT(orders, ElementsAre(EventOrder::OfArrival(7), EventOrder::OfNode(4)));
}

TEST_F(WindowSimulatorTest, CancelledAndRemovedEventsDoNothing)
{
    const auto cancelled = Simulator::Schedule(TimeStep(5), [] { FAIL(); });
    const auto removed = Simulator::Schedule(TimeStep(6), [] { FAIL(); });
    Simulator::Cancel(cancelled);
    Simulator::Remove(removed);
    EXPECT_TRUE(Simulator::IsExpired(cancelled));
    EXPECT_TRUE(Simulator::IsExpired(removed));
    NoteAt(7, 1);
    Simulator::Run();
    EXPECT_THAT(m_noted, ElementsAre(Noted{7, 1}));
    EXPECT_EQ(Simulator::GetEventCount(), 2U); // ns-3 counts what is cancelled, not what is removed
}

TEST_F(WindowSimulatorTest, StopsAndCallsWhatIsLeftForItsEnd)
{
    NoteAt(1, 1);
    NoteAt(3, 3);
    Simulator::Stop(TimeStep(2));
    Simulator::ScheduleDestroy([this] { Note(9); });
    Simulator::Run();
    EXPECT_TRUE(Get().IsStopped());
    Simulator::Destroy();
    EXPECT_EQ(m_noted.size(), 2U);
    EXPECT_EQ(m_noted.back().second, 9);
}

/// Events that schedule others at random, in all orders and at equal times too.
class Cascade
{
  public:
    std::vector<Noted> Run(uint32_t seed)
    {
        m_random.seed(seed);
        Spawn();
        Simulator::Run();
        return std::exchange(m_noted, {});
    }

  private:
    void Spawn()
    {
        for (int i = 0; i < 3 && m_count < 5000; ++i)
        {
            const auto number = m_count++;
            const auto delay = TimeStep(m_random() % 4);
            switch (m_random() % 4)
            {
            case 0:
                ScheduleInOrder(EventOrder::OfNode(m_random() % 8),
                                delay,
                                &Cascade::Happen,
                                this,
                                number);
                break;
            case 1:
                ScheduleInOrder(EventOrder::OfWake(m_random() % 8),
                                delay,
                                &Cascade::Happen,
                                this,
                                number);
                break;
            default:
                Simulator::Schedule(delay, &Cascade::Happen, this, number);
            }
        }
    }

    void Happen(int number)
    {
        m_noted.emplace_back(Simulator::Now().GetTimeStep(), number);
        Spawn();
    }

    std::mt19937 m_random;
    int m_count{0};
    std::vector<Noted> m_noted;
};

TEST_F(WindowSimulatorTest, AloneItIsAsNs3sOwn)
{
    for (uint32_t seed = 0; seed < 20; ++seed)
    {
        Use("ns3::gradsync::WindowSimulatorImpl");
        const auto own = Cascade().Run(seed);
        const auto count = Simulator::GetEventCount();
        Use("ns3::DefaultSimulatorImpl");
        EXPECT_EQ(Cascade().Run(seed), own);
        EXPECT_EQ(Simulator::GetEventCount(), count);
    }
}

} // namespace
} // namespace ns3::gradsync
