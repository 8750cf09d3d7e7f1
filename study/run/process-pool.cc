// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/process-pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

namespace ns3::gradsync
{

namespace
{

constexpr int TICK_MS = 200;
constexpr char PROGRESS = 'P'; //!< followed by 8 bytes
constexpr char COMPUTED = 'C';
constexpr char PROBLEM = 'E'; //!< followed by text up to the end

/// Signals that stop the program.
sigset_t
GetStopSignals()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    {
        sigaddset(&signals, signal);
    }
    return signals;
}

/// Writes all of it; a parent that is gone is no error, the child dies with it.
void
WriteAll(int pipe, const std::string& message)
{
    size_t written = 0;
    while (written < message.size())
    {
        const ssize_t count = write(pipe, message.data() + written, message.size() - written);
        if (count < 0 && errno != EINTR)
        {
            return;
        }
        written += count > 0 ? static_cast<size_t>(count) : 0;
    }
}

void
DieWithParent(pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    // The parent may have died before the call above.
    if (getppid() != parent)
    {
        _exit(1);
    }
}

} // namespace

void
ProcessPool::Report::operator()(uint64_t progress) const
{
    std::string message(1 + sizeof(progress), PROGRESS);
    std::memcpy(message.data() + 1, &progress, sizeof(progress));
    WriteAll(m_pipe, message);
}

void
ProcessPool::Report::EndComputing() const
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    WriteAll(m_pipe, std::string(1, COMPUTED));
}

ProcessPool::ProcessPool(uint32_t parallel)
    : m_parallel(std::max<uint32_t>(1, parallel)),
      m_parent(getpid())
{
    // Blocked, the signals wait until IsInterrupted looks at them: no handler, no global flag.
    const sigset_t signals = GetStopSignals();
    sigprocmask(SIG_BLOCK, &signals, &m_oldMask);
}

ProcessPool::~ProcessPool()
{
    KillAll();
    sigprocmask(SIG_SETMASK, &m_oldMask, nullptr);
}

bool
ProcessPool::Run(const std::vector<uint32_t>& tasks, const Task& task, const Listener& listener)
{
    size_t next = 0;
    while (next < tasks.size() || !m_children.empty())
    {
        while (next < tasks.size() && HasRoom())
        {
            Start(tasks[next], task);
            ++next;
        }
        Wait(listener);
        if (IsInterrupted())
        {
            KillAll();
            return false;
        }
        listener.onTick();
    }
    return true;
}

/// For one more child.
bool
ProcessPool::HasRoom() const
{
    const auto computing =
        std::ranges::count_if(m_children, [](const auto& child) { return child.second.computes; });
    return computing < m_parallel && m_children.size() < 2 * size_t{m_parallel};
}

void
ProcessPool::Start(uint32_t id, const Task& task)
{
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0)
    {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    // What is buffered now must not be written by the child as well.
    std::fflush(nullptr);
    const pid_t process = fork();
    if (process < 0)
    {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (process == 0)
    {
        close(ends[0]);
        RunChild(id, ends[1], task);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    m_children[id] = {process, ends[0], {}, {}, true};
}

void
ProcessPool::RunChild(uint32_t id, int pipe, const Task& task) const
{
    DieWithParent(m_parent);
    sigprocmask(SIG_SETMASK, &m_oldMask, nullptr);
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    try
    {
        task(id, Report(pipe));
    }
    catch (const std::exception& error)
    {
        WriteAll(pipe, PROBLEM + std::string(error.what()));
        status = 1;
    }
    std::fflush(nullptr);
    // No destructors of static objects and no exit handlers: those belong to the parent.
    _exit(status);
}

void
ProcessPool::Wait(const Listener& listener)
{
    std::vector<pollfd> polled;
    std::vector<uint32_t> ids;
    for (const auto& [id, child] : m_children)
    {
        polled.push_back({child.pipe, POLLIN, 0});
        ids.push_back(id);
    }
    if (poll(polled.data(), polled.size(), TICK_MS) <= 0)
    {
        return;
    }
    for (size_t i = 0; i < polled.size(); ++i)
    {
        Child& child = m_children.at(ids[i]);
        if (polled[i].revents == 0 || Read(child, ids[i], listener))
        {
            continue;
        }
        const TaskOutcome outcome = Collect(child);
        m_children.erase(ids[i]);
        if (!m_interrupted)
        {
            listener.onEnd(ids[i], outcome);
        }
    }
}

/// False at the end of the pipe: the child has ended.
bool
ProcessPool::Read(Child& child, uint32_t id, const Listener& listener) const
{
    std::array<char, 4096> buffer{};
    const ssize_t count = read(child.pipe, buffer.data(), buffer.size());
    if (count <= 0)
    {
        return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
    child.received.append(buffer.data(), static_cast<size_t>(count));
    Understand(child, id, listener);
    return true;
}

/// Takes what has come whole.
void
ProcessPool::Understand(Child& child, uint32_t id, const Listener& listener) const
{
    auto& received = child.received;
    while (!received.empty())
    {
        uint64_t progress = 0;
        if (received[0] == COMPUTED)
        {
            child.computes = false;
            received.erase(0, 1);
        }
        else if (received[0] == PROGRESS && received.size() >= 1 + sizeof(progress))
        {
            std::memcpy(&progress, received.data() + 1, sizeof(progress));
            received.erase(0, 1 + sizeof(progress));
            listener.onProgress(id, progress);
        }
        else
        {
            return;
        }
    }
}

TaskOutcome
ProcessPool::Collect(Child& child)
{
    close(child.pipe);
    int status = 0;
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR)
    {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    {
        return {true, {}};
    }
    if (child.received.starts_with(PROBLEM))
    {
        return {false, child.received.substr(1)};
    }
    if (!WIFSIGNALED(status))
    {
        return {false, fmt::format("ended with exit code {}", WEXITSTATUS(status))};
    }
    const int signal = WTERMSIG(status);
    // Ctrl-C reaches the children too, sometimes before the parent sees it.
    m_interrupted = m_interrupted || signal == SIGINT;
    return {false, fmt::format("crashed: signal {} ({})", signal, strsignal(signal))};
}

void
ProcessPool::KillAll()
{
    for (const auto& [id, child] : m_children)
    {
        kill(child.process, SIGKILL);
    }
    for (auto& [id, child] : m_children)
    {
        Collect(child);
    }
    m_children.clear();
}

bool
ProcessPool::IsInterrupted()
{
    const sigset_t signals = GetStopSignals();
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    {
        if (sigismember(&pending, signal) == 1)
        {
            int taken = 0;
            sigwait(&signals, &taken);
            m_interrupted = true;
        }
    }
    return m_interrupted;
}

} // namespace ns3::gradsync
