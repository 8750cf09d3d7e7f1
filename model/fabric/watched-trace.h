// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WATCHED_TRACE_H
#define GRADSYNC_WATCHED_TRACE_H

#include "ns3/callback.h"
#include "ns3/traced-callback.h"

#include <functional>
#include <string>
#include <utility>

namespace ns3::gradsync
{

/**
 * A trace source, as MakeTraceSourceAccessor takes it, that tells its owner whether anybody
 * listens: what happens for every packet is told where a flag is set, and costs a look at that flag
 * where it is not.
 */
template <typename... ARGUMENTS>
class WatchedTrace
{
  public:
    /// \param onChange told whether somebody listens, when that may have changed
    explicit WatchedTrace(std::function<void(bool isWatched)> onChange)
        : m_onChange(std::move(onChange))
    {
    }

    bool IsWatched() const
    {
        return !m_callbacks.IsEmpty();
    }

    void operator()(ARGUMENTS... arguments) const
    {
        m_callbacks(std::move(arguments)...);
    }

    void ConnectWithoutContext(const CallbackBase& callback)
    {
        m_callbacks.ConnectWithoutContext(callback);
        m_onChange(IsWatched());
    }

    void Connect(const CallbackBase& callback, const std::string& path)
    {
        m_callbacks.Connect(callback, path);
        m_onChange(IsWatched());
    }

    void DisconnectWithoutContext(const CallbackBase& callback)
    {
        m_callbacks.DisconnectWithoutContext(callback);
        m_onChange(IsWatched());
    }

    void Disconnect(const CallbackBase& callback, const std::string& path)
    {
        m_callbacks.Disconnect(callback, path);
        m_onChange(IsWatched());
    }

  private:
    TracedCallback<ARGUMENTS...> m_callbacks;
    std::function<void(bool)> m_onChange;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WATCHED_TRACE_H
