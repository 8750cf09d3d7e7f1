// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ITERATION_SKIP_H
#define GRADSYNC_ITERATION_SKIP_H

#include "ns3/exchange-engine.h"
#include "ns3/nstime.h"
#include "ns3/recorder.h"
#include "ns3/run-result.h"
#include "ns3/scenario.h"
#include "ns3/state-words.h"
#include "ns3/training-recorder.h"
#include "ns3/transport.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * Leaves out iterations that would be the same as earlier ones.
 *
 * At the end of each iteration it writes down all that decides how the simulation goes on
 * (StateWords). Where that was the same at the end of an earlier one, what followed that one
 * follows again, and again: whole periods of it are left out, what does not fill a period and what
 * is under way after the last iteration is simulated, and the result is extended by the periods
 * that were left out. It is what simulating them would have given, to the last byte.
 *
 * Runs whose state nobody can tell, or does not repeat, are simulated whole.
 */
class IterationSkip
{
  public:
    /// All but the run must outlive it. \param skips false: it looks on, and leaves nothing out, so
    /// that there are the same events
    IterationSkip(const ResolvedRun& run,
                  const Ptr<ExchangeEngine>& engine,
                  const Ptr<Transport>& transport,
                  const Recorder& recorder,
                  TrainingRecorder& trainings,
                  bool skips);
    ~IterationSkip();
    IterationSkip(const IterationSkip&) = delete;
    IterationSkip& operator=(const IterationSkip&) = delete;

    /// How many iterations were left out.
    uint32_t GetCount() const;

    // With what was left out.
    void ExtendRecords(RunResult& result) const;
    void Extend(TransportStatistics& statistics) const;
    void Extend(std::vector<LinkStatistics>& links) const;
    uint64_t ExtendEvents(uint64_t events) const;

  private:
    /// What was known at a boundary.
    struct Moment
    {
        uint32_t iteration; //!< of so many the last is done
        Time at;
        uint64_t events;
        TransportStatistics statistics;
        std::vector<LinkStatistics> links; //!< where they are recorded
        size_t iterations;                 //!< records so far; likewise
        size_t computations;
        size_t transfers;
        size_t work;
        size_t runs; //!< of a workload
        std::vector<uint64_t> state;
    };

    /// The period that was left out.
    struct Period
    {
        Moment begin;
        Moment end;
        uint32_t count;

        uint32_t GetIterations() const
        {
            return end.iteration - begin.iteration;
        }

        Time GetLength() const
        {
            return end.at - begin.at;
        }
    };

    uint32_t OnBoundary(const IterationBoundary& boundary);
    bool Look(StateWords& words);
    Moment Describe(uint32_t done) const;
    uint32_t Repeat(const Moment& begin, const Moment& end, uint32_t left, uint32_t growing);
    void Keep(Moment moment);

    template <typename Record, typename Shift>
    void ExtendBy(std::vector<Record>& records, size_t begin, size_t end, const Shift& shift) const;

    Ptr<ExchangeEngine> m_engine;
    Ptr<Transport> m_transport;
    const Recorder& m_recorder;
    TrainingRecorder& m_trainings;
    bool m_skips;
    bool m_recordsLinks;
    uint32_t m_looks{0};
    std::deque<Moment> m_moments; //!< the newest last
    std::optional<Period> m_period;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ITERATION_SKIP_H
