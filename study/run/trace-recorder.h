// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_RECORDER_H
#define GRADSYNC_TRACE_RECORDER_H

#include "ns3/callback.h"
#include "ns3/ptr.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Keeps what a trace source of an object reports, as long as it lives. \tparam SOURCE an
/// ns3::Object \tparam RECORD what the trace source hands over, by constant reference
template <typename SOURCE, typename RECORD>
class TraceRecorder
{
  public:
    TraceRecorder(const Ptr<SOURCE>& source, std::string trace)
        : m_source(source),
          m_trace(std::move(trace))
    {
        m_source->TraceConnectWithoutContext(m_trace, MakeCallback(&TraceRecorder::OnRecord, this));
    }

    ~TraceRecorder()
    {
        m_source->TraceDisconnectWithoutContext(m_trace,
                                                MakeCallback(&TraceRecorder::OnRecord, this));
    }

    TraceRecorder(const TraceRecorder&) = delete;
    TraceRecorder& operator=(const TraceRecorder&) = delete;

    /// What has come so far, once.
    std::vector<RECORD> Take()
    {
        return std::exchange(m_records, {});
    }

  private:
    void OnRecord(const RECORD& record)
    {
        m_records.push_back(record);
    }

    Ptr<SOURCE> m_source;
    std::string m_trace;
    std::vector<RECORD> m_records;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_RECORDER_H
