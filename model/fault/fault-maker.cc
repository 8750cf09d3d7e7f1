// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-maker.h"

#include "ns3/fault-kinds.h"
#include "ns3/slowdown-parameters.h"
#include "ns3/units.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Failures by chance: `mtbf` or `ratePerHour`, and `mttr`.
void
SetChance(const ParameterSet& parameters, FaultSpec& fault)
{
    const auto* mtbf = parameters.Find<Time>("mtbf");
    const auto* rate = parameters.Find<double>("ratePerHour");
    const auto* mttr = parameters.Find<Time>("mttr");
    if (!mtbf && !rate)
    {
        if (mttr)
        {
            throw ParameterError("mttr", "it needs \"mtbf\" or \"ratePerHour\"");
        }
        return;
    }
    if (mtbf && rate)
    {
        throw ParameterError("ratePerHour",
                             "\"mtbf\" and \"ratePerHour\" are both given, expected one of them");
    }
    for (const auto* key : {"duration", "every", "count", "random"})
    {
        if (parameters.Has(key))
        {
            throw ParameterError(key,
                                 "it cannot be given with failures by chance: targets fail each by "
                                 "themselves, and \"mttr\" says for how long");
        }
    }
    fault.meanUp = mtbf ? *mtbf : Hours(1.0 / *rate);
    fault.meanRepair = mttr ? *mttr : Time();
}

void
SetTimes(const ParameterSet& parameters, FaultSpec& fault)
{
    const auto get = [&parameters](const char* name) {
        const auto* time = parameters.Find<Time>(name);
        return time ? *time : Time();
    };
    fault.start = get("start");
    fault.every = get("every");
    fault.duration = parameters.Has("duration") ? get("duration") : fault.every;
    if (const auto* count = parameters.Find<int64_t>("count"))
    {
        fault.count = static_cast<uint64_t>(*count);
    }
    if (fault.every.IsZero() && fault.count > 1)
    {
        throw ParameterError("count",
                             "it needs \"every\", the time from one beginning to the next");
    }
    if (fault.every.IsStrictlyPositive() &&
        (fault.duration > fault.every || fault.duration.IsZero()))
    {
        throw ParameterError::Expected(
            "duration",
            fmt::format("a time above 0 and at most \"every\", {}", FormatTime(fault.every)));
    }
}

LossModel
GetLoss(const ParameterSet& parameters)
{
    if (const auto* loss = parameters.Find<double>("loss"))
    {
        LossModel model;
        model.lossGood = *loss;
        return model;
    }
    const auto& model = parameters.GetObject("loss");
    return {.lossGood = model.Get<double>("lossGood"),
            .lossBad = model.Get<double>("lossBad"),
            .goodToBad = model.Get<double>("goodToBad"),
            .badToGood = model.Get<double>("badToGood")};
}

LinkState
GetDegradation(const ParameterSet& parameters)
{
    LinkState state;
    if (const auto* share = parameters.Find<double>("rateShare"))
    {
        state.rateShare = *share;
    }
    if (const auto* delay = parameters.Find<Time>("extraDelay"))
    {
        state.extraDelay = *delay;
    }
    if (parameters.Has("loss"))
    {
        state.loss = GetLoss(parameters);
    }
    if (state == LinkState{})
    {
        throw ParameterError(
            "",
            "nothing is degraded, expected \"rateShare\", \"extraDelay\" or \"loss\"");
    }
    return state;
}

} // namespace

FaultSpec
MakeFault(FaultKind kind, const ParameterSet& parameters)
{
    FaultSpec fault;
    fault.kind = kind;
    SetChance(parameters, fault);
    SetTimes(parameters, fault);
    const auto* detection = parameters.Find<Time>("detectionDelay");
    fault.detectionDelay = detection ? *detection : DEFAULT_DETECTION_DELAY;
    if (kind == FaultKind::LinkDegraded)
    {
        fault.degraded = GetDegradation(parameters);
    }
    else if (kind == FaultKind::Flood)
    {
        fault.degraded.floodBitRate = parameters.Get<DataRate>("rate").GetBitRate();
    }
    else if (kind == FaultKind::Straggler)
    {
        fault.slowdown = MakeSlowdown(parameters);
    }
    return fault;
}

} // namespace ns3::gradsync
