// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROCESS_POOL_H
#define GRADSYNC_PROCESS_POOL_H

#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ns3::gradsync
{

/// How a task of a ProcessPool ended.
struct TaskOutcome
{
    bool ok{false};
    std::string problem; //!< not ok: what() of the exception, or the signal that ended the process
};

/**
 * Runs tasks in child processes, a number of them at a time, each in a process of its own: ns-3's
 * singletons are fresh, memory is accounted per run, and a crash takes nothing else with it.
 *
 * SIGINT, SIGTERM and SIGHUP to the parent end all children; children die with the parent.
 */
class ProcessPool
{
  public:
    /// By which a task tells the parent how it goes on.
    class Report
    {
      public:
        /// \param pipe to the parent
        explicit Report(int pipe)
            : m_pipe(pipe)
        {
        }

        /// The progress of the task.
        void operator()(uint64_t progress) const;

        /// It has computed, and what it has still to write waits for the disk more than it works:
        /// the next one may start. Until they end, tasks that write are at most as many as those
        /// that compute. Gives memory that is free back to the system, where it can.
        void EndComputing() const;

      private:
        int m_pipe;
    };

    /// Runs in the child; what it throws becomes the outcome's problem.
    using Task = std::function<void(uint32_t task, const Report& report)>;

    /// Called in the parent.
    struct Listener
    {
        std::function<void(uint32_t task, uint64_t progress)> onProgress;
        std::function<void(uint32_t task, const TaskOutcome& outcome)> onEnd;
        std::function<void()> onTick; //!< about five times a second
    };

    /// \param parallel number of processes that compute at a time, at least 1
    explicit ProcessPool(uint32_t parallel);
    ~ProcessPool();
    ProcessPool(const ProcessPool&) = delete;
    ProcessPool& operator=(const ProcessPool&) = delete;

    /**
     * Runs the tasks in the order given.
     * \returns false when a signal stopped it before all tasks had ended
     * \throws std::system_error when no process or pipe can be made
     */
    bool Run(const std::vector<uint32_t>& tasks, const Task& task, const Listener& listener);

  private:
    struct Child
    {
        pid_t process;
        int pipe;
        std::string received; //!< bytes not understood yet
        std::string problem;
        bool computes{true}; //!< see Report::EndComputing
    };

    bool HasRoom() const;
    void Start(uint32_t id, const Task& task);
    [[noreturn]] void RunChild(uint32_t id, int pipe, const Task& task) const;
    void Wait(const Listener& listener);
    bool Read(Child& child, uint32_t id, const Listener& listener) const;
    void Understand(Child& child, uint32_t id, const Listener& listener) const;
    TaskOutcome Collect(Child& child);
    void KillAll();
    bool IsInterrupted();

    uint32_t m_parallel;
    std::map<uint32_t, Child> m_children; //!< by task
    sigset_t m_oldMask{};
    pid_t m_parent;
    bool m_interrupted{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PROCESS_POOL_H
