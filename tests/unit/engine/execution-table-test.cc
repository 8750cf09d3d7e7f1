// SPDX-License-Identifier: GPL-2.0-only
// Numbers of executions, beyond 2^32 of them. Part of engine-tests.
#include "ns3/execution-table.h"
#include "ns3/running-numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

class NumberedObserver final : public OperationObserver
{
  public:
    void OnDelivered(OperationId) override
    {
    }

    void OnComputed(OperationId) override
    {
    }

    void OnTrained(OperationId, uint32_t, const Time&) override
    {
    }

    void OnSkipped(OperationId) override
    {
    }

    void OnFailed(OperationId, const std::string&) override
    {
    }

    void OnWrongSum(OperationId, const std::string&) override
    {
    }
};

TEST(ExecutionTable, GivesNoNumberThatIsInUseAfter32Bits)
{
    ExecutionTable table(UINT32_MAX - 1);
    std::vector<NumberedObserver> observers(5);
    std::vector<uint32_t> numbers;
    for (auto& observer : observers)
    {
        numbers.push_back(table.Add(observer));
    }
    EXPECT_THAT(numbers, ElementsAre(UINT32_MAX - 1, UINT32_MAX, 0, 1, 2));
    for (size_t i = 0; i < observers.size(); ++i)
    {
        EXPECT_EQ(table.Find(ExecutionTable::MakeTag(numbers[i], UINT32_MAX)), &observers[i]);
    }
    table.Remove(0);
    EXPECT_EQ(table.Find(ExecutionTable::MakeTag(0, 0)), nullptr);
}

/// Adds whatever it is asked for, but for what is over.
class NumberSource final : public ExecutionSource
{
  public:
    explicit NumberSource(ExecutionTable& table)
        : m_table(table)
    {
    }

    void Provide(uint32_t number) override
    {
        asked.push_back(number);
        if (number != OVER)
        {
            m_table.Add(observer, number);
        }
    }

    static constexpr uint32_t OVER = 8;
    NumberedObserver observer;
    std::vector<uint32_t> asked;

  private:
    ExecutionTable& m_table;
};

TEST(ExecutionTable, AsksItsSourceForNumbersThatNobodyHas)
{
    ExecutionTable table;
    NumberSource source(table);
    EXPECT_EQ(table.Find(ExecutionTable::MakeTag(7, 1)), nullptr);
    table.SetSource(&source);
    EXPECT_EQ(table.Find(ExecutionTable::MakeTag(7, 1)), &source.observer);
    EXPECT_EQ(table.Find(ExecutionTable::MakeTag(7, 2)), &source.observer);
    EXPECT_EQ(table.Find(ExecutionTable::MakeTag(NumberSource::OVER, 0)), nullptr);
    EXPECT_THAT(source.asked, ElementsAre(7, NumberSource::OVER));
    table.Remove(7);
    table.SetSource(nullptr);
    EXPECT_EQ(table.Find(ExecutionTable::MakeTag(7, 1)), nullptr);
}

TEST(ExecutionTable, SkipsALongExecutionThatIsStillUnderWay)
{
    // As after 2^32 - 1 others: numbers 0 and 1 are those of executions that have not ended.
    ExecutionTable table(0);
    std::vector<NumberedObserver> observers(3);
    table.Add(observers[0]);
    table.Add(observers[1]);
    ExecutionTable later(UINT32_MAX);
    later.Replace(0, observers[0]);
    later.Replace(1, observers[1]);
    EXPECT_EQ(later.Add(observers[2]), UINT32_MAX);
    NumberedObserver next;
    EXPECT_EQ(later.Find(ExecutionTable::MakeTag(2, 0)), nullptr);
    EXPECT_EQ(later.Add(next), 2U);
    EXPECT_EQ(later.Find(ExecutionTable::MakeTag(2, 0)), &next);
    EXPECT_EQ(later.Find(ExecutionTable::MakeTag(0, 0)), &observers[0]);
    EXPECT_EQ(later.Find(ExecutionTable::MakeTag(1, 0)), &observers[1]);
}

TEST(RunningNumbers, StayBelowTheirEndAndApartFromThoseInUse)
{
    std::mt19937 random(5);
    for (const uint64_t end : {uint64_t{10}, uint64_t{1} << 31, uint64_t{1} << 32})
    {
        RunningNumbers numbers(end, static_cast<uint32_t>(end - 3));
        std::set<uint32_t> used;
        for (int step = 0; step < 1000; ++step)
        {
            if (used.size() > 5)
            {
                used.erase(std::next(used.begin(), static_cast<int>(random() % used.size())));
            }
            const auto number = numbers.Take([&](uint32_t taken) { return used.contains(taken); });
            EXPECT_LT(number, end);
            EXPECT_TRUE(used.insert(number).second);
        }
    }
}

} // namespace
} // namespace ns3::gradsync
