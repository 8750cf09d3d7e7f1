// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slowdown.h"

#include "ns3/double.h"
#include "ns3/random-variable-stream.h"

#include <cmath>

namespace ns3::gradsync
{

namespace
{

template <typename Variable>
Ptr<RandomVariableStream>
Make(const char* first, double firstValue, const char* second, double secondValue)
{
    auto variable = CreateObject<Variable>();
    variable->SetAttribute(first, DoubleValue(firstValue));
    variable->SetAttribute(second, DoubleValue(secondValue));
    return variable;
}

Ptr<RandomVariableStream>
MakeTrace(std::vector<double> values)
{
    auto variable = CreateObject<DeterministicRandomVariable>();
    variable->SetValueArray(values.data(), values.size());
    return variable;
}

Ptr<RandomVariableStream>
MakeVariable(const Slowdown& slowdown)
{
    using Law = Slowdown::Law;
    switch (slowdown.law)
    {
    case Law::Uniform:
        return Make<UniformRandomVariable>("Min", slowdown.first, "Max", slowdown.second);
    case Law::Exponential:
        return Make<ExponentialRandomVariable>("Mean", slowdown.first, "Bound", 0.0);
    case Law::Lognormal:
        return Make<LogNormalRandomVariable>("Mu",
                                             std::log(slowdown.first),
                                             "Sigma",
                                             slowdown.second);
    case Law::Pareto:
        return Make<ParetoRandomVariable>("Scale", slowdown.first, "Shape", slowdown.second);
    case Law::Trace:
        return MakeTrace(slowdown.values);
    case Law::Constant:
        break;
    }
    return MakeTrace({slowdown.first});
}

} // namespace

SlowdownSource::SlowdownSource(const Slowdown& slowdown, int64_t stream)
    : m_variable(MakeVariable(slowdown)),
      m_offset(slowdown.law == Slowdown::Law::Exponential ? 1.0 : 0.0)
{
    m_variable->SetStream(stream);
}

double
SlowdownSource::Draw() const
{
    return m_offset + m_variable->GetValue();
}

} // namespace ns3::gradsync
