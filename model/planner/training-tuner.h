// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_TUNER_H
#define GRADSYNC_TRAINING_TUNER_H

#include "ns3/plan-shelf.h"
#include "ns3/topology.h"
#include "ns3/training-job-spec.h"
#include "ns3/workload-estimator.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a training job leaves open, as it was chosen.
struct TrainingChoice
{
    TrainingSpec spec;
    std::string text;    //!< what was chosen, as `exchange=hierarchical bucket=5242880`
    double seconds{0.0}; //!< estimate of an iteration
};

/**
 * Chooses what a training job leaves open, by estimates alone: the scheme of each group that has
 * `auto`, the best of AutoPlanner for its largest collective; then one after the other, each with
 * those before it, how gradients are exchanged, in buckets of which size, and in how many slices
 * (Centauri's three levels), by WorkloadEstimator. Of equal ones the first, what is the default.
 */
class TrainingTuner
{
  public:
    using Maker = std::function<Workload(const TrainingSpec&)>;

    /// \param make the workload of a spec; the arguments outlive the tuner
    TrainingTuner(const TrainingJobSpec& job,
                  const Topology& topology,
                  PlanShelf& shelf,
                  Maker make);

    /// Whether there is anything to choose.
    static bool IsOpen(const TrainingJobSpec& job, const TrainingSpec& spec);

    /// \throws WorkloadError when none of the candidates can be; SchemeError when no scheme can
    TrainingChoice Tune(const TrainingSpec& spec);

  private:
    void ChooseSchemes();
    SchemeChoice FindBest(ParallelGroup group, uint64_t bytes, const SharedCodec& codec);
    void ChooseTensorScheme();
    void ChooseExchange();
    void ChooseBuckets();
    void ChooseSlices();
    /// Takes the candidate if it is better.
    void Try(const TrainingSpec& candidate);
    void Say(const std::string& what);
    double Estimate(const TrainingSpec& spec);

    const TrainingJobSpec& m_job;
    const Topology& m_topology;
    PlanShelf& m_shelf;
    Maker m_make;
    double m_reduceSecondsPerByte;
    WorkloadEstimator m_estimator;
    TrainingChoice m_choice;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_TUNER_H
