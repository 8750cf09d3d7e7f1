// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FORKED_LINK_H
#define GRADSYNC_FORKED_LINK_H

#include "address-sanitizer.h"

#include "ns3/process-link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <poll.h>
#include <span>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ns3::gradsync::tests
{

/// Links processes that were forked from one, by sockets between each two of them.
class ForkedLink final : public ProcessLink
{
  public:
    /// \param peers [process] socket to it
    ForkedLink(uint32_t own, std::vector<int> peers)
        : m_own(own),
          m_peers(std::move(peers)),
          m_unsent(m_peers.size()),
          m_incoming(m_peers.size()),
          m_received(65536)
    {
    }

    uint32_t GetCount() const override
    {
        return static_cast<uint32_t>(m_peers.size());
    }

    uint32_t GetOwn() const override
    {
        return m_own;
    }

    void Send(const ProcessNote& note, std::vector<OutgoingBatch>& batches) override
    {
        for (uint32_t peer = 0; peer < GetCount(); ++peer)
        {
            if (peer != m_own)
            {
                AppendPlain(m_unsent[peer], note);
                AppendPlain(m_unsent[peer], uint64_t{batches[peer].GetSize()});
                m_unsent[peer].resize(m_unsent[peer].size() + batches[peer].GetSize());
                batches[peer].CopyTo(m_unsent[peer].data() + m_unsent[peer].size() -
                                     batches[peer].GetSize());
                Flush(peer);
            }
            batches[peer].Clear();
        }
    }

    std::span<const std::byte> Receive(uint32_t peer, ProcessNote& note) override
    {
        constexpr size_t HEADER = sizeof(ProcessNote) + sizeof(uint64_t);
        auto& incoming = m_incoming[peer];
        // So that what comes begins where memory is aligned.
        incoming.bytes.erase(incoming.bytes.begin(), incoming.bytes.begin() + incoming.usedBytes);
        incoming.usedBytes = 0;
        FillTo(peer, HEADER);
        uint64_t size = 0;
        std::memcpy(&note, incoming.bytes.data(), sizeof(note));
        std::memcpy(&size, incoming.bytes.data() + sizeof(note), sizeof(size));
        FillTo(peer, HEADER + size);
        incoming.usedBytes = static_cast<ptrdiff_t>(HEADER + size);
        return std::span(incoming.bytes).subspan(HEADER, size);
    }

    /// Sends what is left.
    void Finish()
    {
        for (uint32_t peer = 0; peer < GetCount(); ++peer)
        {
            while (!m_unsent[peer].empty())
            {
                Flush(peer);
                Wait(m_own);
            }
        }
    }

  private:
    /// What has come from a process.
    struct Incoming
    {
        ByteBatch bytes;
        ptrdiff_t usedBytes = 0; //!< of the last that was handed out
    };

    /// Sends as much as goes without waiting.
    void Flush(uint32_t peer)
    {
        auto& unsent = m_unsent[peer];
        if (!unsent.empty())
        {
            const auto count =
                send(m_peers[peer], unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            unsent.erase(unsent.begin(), unsent.begin() + CountDone(count));
        }
    }

    /// Reads, as much at a time as has come. What others wait for goes on meanwhile.
    void FillTo(uint32_t peer, size_t size)
    {
        auto& bytes = m_incoming[peer].bytes;
        while (bytes.size() < size)
        {
            const bool mayWait = std::ranges::all_of(m_unsent, &ByteBatch::empty);
            const auto count = CountDone(recv(m_peers[peer],
                                              m_received.data(),
                                              m_received.size(),
                                              mayWait ? 0 : MSG_DONTWAIT));
            bytes.insert(bytes.end(), m_received.begin(), m_received.begin() + count);
            for (uint32_t other = 0; count == 0 && other < GetCount(); ++other)
            {
                Flush(other);
            }
            if (count == 0)
            {
                Wait(peer);
            }
        }
    }

    /// Sleeps until something comes from a process, none if it is the own one, or more can be sent.
    /// Processes that waited busily would starve each other where there are fewer cores.
    void Wait(uint32_t from)
    {
        std::vector<pollfd> awaited;
        for (uint32_t peer = 0; peer < GetCount(); ++peer)
        {
            const int events = (peer == from ? POLLIN : 0) | (m_unsent[peer].empty() ? 0 : POLLOUT);
            if (peer != m_own && events != 0)
            {
                awaited.push_back({m_peers[peer], static_cast<short>(events), 0});
            }
        }
        if (!awaited.empty())
        {
            poll(awaited.data(), awaited.size(), -1);
        }
    }

    /// \returns 0 where nothing goes now
    static ssize_t CountDone(ssize_t count)
    {
        if (count < 0 && errno == EAGAIN)
        {
            return 0;
        }
        Require(count);
        return count;
    }

    static void Require(ssize_t count)
    {
        if (count <= 0)
        {
            throw std::runtime_error("another process is gone");
        }
    }

    uint32_t m_own;
    std::vector<int> m_peers;
    std::vector<ByteBatch> m_unsent;   //!< [process]
    std::vector<Incoming> m_incoming;  //!< likewise
    std::vector<std::byte> m_received; //!< room for what comes, most of which is short
};

/// Runs `task` in so many processes, linked. \returns how many of them did not come to an end
inline uint32_t
RunForked(uint32_t count, const std::function<void(ProcessLink& link)>& task)
{
    std::vector<std::vector<int>> peers(count, std::vector<int>(count, -1));
    for (uint32_t one = 0; one < count; ++one)
    {
        for (uint32_t other = one + 1; other < count; ++other)
        {
            std::array<int, 2> ends{};
            EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
            peers[one][other] = ends[0];
            peers[other][one] = ends[1];
        }
    }
    ReleaseFreedMemory();
    std::vector<pid_t> children;
    for (uint32_t own = 0; own < count; ++own)
    {
        children.push_back(fork());
        if (children.back() == 0)
        {
            for (uint32_t other = 0; other < count; ++other)
            {
                for (const int end : other == own ? std::vector<int>{} : peers[other])
                {
                    close(end); // so that all hear of one that is gone
                }
            }
            int code = EXIT_SUCCESS;
            try
            {
                ForkedLink link(own, peers[own]);
                task(link);
                link.Finish();
            }
            catch (const std::exception& error)
            {
                std::cerr << "process " << own << ": " << error.what() << '\n';
                code = EXIT_FAILURE;
            }
            _exit(code);
        }
    }
    for (const auto& ends : peers)
    {
        for (const int end : ends)
        {
            close(end);
        }
    }
    uint32_t failed = 0;
    for (const auto child : children)
    {
        int status = 0;
        waitpid(child, &status, 0);
        failed += WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS ? 0 : 1;
    }
    return failed;
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_FORKED_LINK_H
