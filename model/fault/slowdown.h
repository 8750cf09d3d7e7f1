// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOWDOWN_H
#define GRADSYNC_SLOWDOWN_H

#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{
class RandomVariableStream;
}

namespace ns3::gradsync
{

/// By what factor a straggler computes longer: drawn anew for each computation.
struct Slowdown
{
    enum class Law : uint8_t
    {
        Constant,    //!< `first`
        Uniform,     //!< in [first, second)
        Exponential, //!< 1 and an exponential variable of mean `first`
        Lognormal,   //!< of median `first`; its logarithm has standard deviation `second`
        Pareto,      //!< at least `first`; the tail falls with exponent `second`
        Trace        //!< `values`, one after the other, and again
    };

    Law law{Law::Constant};
    double first{1.0};
    double second{0.0};
    std::vector<double> values;
};

/// Draws the factors of one straggler.
class SlowdownSource
{
  public:
    /// \param stream random number stream
    SlowdownSource(const Slowdown& slowdown, int64_t stream);

    double Draw() const;

  private:
    Ptr<RandomVariableStream> m_variable;
    double m_offset;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOWDOWN_H
