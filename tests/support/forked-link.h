// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FORKED_LINK_H
#define GRADSYNC_FORKED_LINK_H

#include "address-sanitizer.h"

#include "ns3/process-link.h"
#include "ns3/shared-boards.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <new>
#include <span>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ns3::gradsync::tests
{

/// Memory that processes share which are forked from this one. The system gives pages of it as they
/// are written.
class ForkedMemory
{
  public:
    explicit ForkedMemory(const SharedBoards::Layout& layout)
        : m_segmentBytes(RoundUp(SharedBoards::GetSegmentBytes(layout))),
          m_bytes(layout.processes * (m_segmentBytes + sizeof(std::atomic<bool>)))
    {
        auto* place = mmap(nullptr,
                           m_bytes,
                           PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1,
                           0);
        if (place == MAP_FAILED)
        {
            throw std::bad_alloc();
        }
        m_place = static_cast<std::byte*>(place);
        m_haveEnded =
            reinterpret_cast<std::atomic<bool>*>(m_place + layout.processes * m_segmentBytes);
        for (uint32_t process = 0; process < layout.processes; ++process)
        {
            m_segments.push_back(m_place + process * m_segmentBytes);
            SharedBoards::Clear(m_segments.back(), layout);
            new (&m_haveEnded[process]) std::atomic<bool>(false);
        }
    }

    ForkedMemory(const ForkedMemory&) = delete;
    ForkedMemory& operator=(const ForkedMemory&) = delete;

    ~ForkedMemory()
    {
        munmap(m_place, m_bytes);
    }

    /// \returns [process] what begins with its boards
    const std::vector<std::byte*>& GetSegments() const
    {
        return m_segments;
    }

    /// Of a process: whether it does nothing any more.
    std::atomic<bool>& HasEnded(uint32_t process) const
    {
        return m_haveEnded[process];
    }

  private:
    static size_t RoundUp(size_t bytes)
    {
        constexpr auto ALIGNMENT = SharedBoards::SEGMENT_ALIGNMENT;
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    size_t m_segmentBytes;
    size_t m_bytes;
    std::byte* m_place{nullptr};
    std::vector<std::byte*> m_segments;
    std::atomic<bool>* m_haveEnded{nullptr}; //!< [process]
};

/// Links processes that were forked from one, by boards, as those of one machine that MPI starts.
class ForkedLink final : public ProcessLink
{
  public:
    /// Of each board: more than any test puts up at once.
    static constexpr uint64_t ROOM_BYTES = uint64_t{64} << 20;

    ForkedLink(const SharedBoards::Layout& layout, uint32_t own, const ForkedMemory& memory)
        : m_count(layout.processes),
          m_own(own),
          m_memory(memory),
          m_boards(layout, own, memory.GetSegments(), SharedBoards::Cores::Shared)
    {
    }

    uint32_t GetCount() const override
    {
        return m_count;
    }

    uint32_t GetOwn() const override
    {
        return m_own;
    }

    void Send(const ProcessNote& note, std::vector<OutgoingBatch>& batches) override
    {
        if (!m_boards.PutUp(note, batches))
        {
            throw std::runtime_error("boards have no room for what is put up");
        }
        std::ranges::for_each(batches, &OutgoingBatch::Clear);
    }

    std::span<const std::byte> Receive(uint32_t peer, ProcessNote& note) override
    {
        // A process puts up all before it ends.
        for (bool hasEnded = false; !m_boards.Await(peer);)
        {
            if (hasEnded)
            {
                throw std::runtime_error("another process is gone");
            }
            hasEnded = m_memory.HasEnded(peer).load();
        }
        const auto reading = m_boards.Read(peer);
        note = reading.note;
        return {reading.batch, reading.size};
    }

  private:
    uint32_t m_count;
    uint32_t m_own;
    const ForkedMemory& m_memory;
    SharedBoards m_boards;
};

/// The whole of a forked process.
[[noreturn]] inline void
EndForked(uint32_t own, const std::function<void()>& task)
{
    int code = EXIT_SUCCESS;
    try
    {
        task();
    }
    catch (const std::exception& error)
    {
        std::cerr << "process " << own << ": " << error.what() << '\n';
        code = EXIT_FAILURE;
    }
    _exit(code);
}

/// Runs `task` in so many processes, linked. \returns how many of them did not come to an end
inline uint32_t
RunForked(uint32_t count, const std::function<void(ProcessLink& link)>& task)
{
    const SharedBoards::Layout layout{.processes = count, .roomBytes = ForkedLink::ROOM_BYTES};
    const ForkedMemory memory(layout);
    ReleaseFreedMemory();
    std::vector<pid_t> children;
    for (uint32_t own = 0; own < count; ++own)
    {
        children.push_back(fork());
        if (children.back() == 0)
        {
            EndForked(own, [&] {
                ForkedLink link(layout, own, memory);
                task(link);
            });
        }
    }
    uint32_t failed = 0;
    for (uint32_t ended = 0; ended < count;)
    {
        int status = 0;
        const auto child = wait(&status);
        if (child < 0)
        {
            throw std::runtime_error("processes are gone that nobody has waited for");
        }
        const auto found = std::ranges::find(children, child);
        if (found == children.end())
        {
            continue; // of somebody else
        }
        memory.HasEnded(static_cast<uint32_t>(found - children.begin())).store(true);
        failed += WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS ? 0 : 1;
        ++ended;
    }
    return failed;
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_FORKED_LINK_H
