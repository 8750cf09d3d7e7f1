// SPDX-License-Identifier: GPL-2.0-only
// A library of its own, which only programs that are one of several load: MPI starts slowly, and
// most runs do without.
#include "ns3/process-link.h"
#include "ns3/shared-boards.h"
#include "ns3/shared-window.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mpi.h>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// The processes that mpirun has started. An error in MPI ends them all.
class MpiProcessLink final : public ProcessLink
{
  public:
    MpiProcessLink()
    {
        MPI_Init(nullptr, nullptr);
        int number = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &number);
        m_own = static_cast<uint32_t>(number);
        MPI_Comm_size(MPI_COMM_WORLD, &number);
        m_received.resize(static_cast<size_t>(number));
        MakeBoards();
    }

    ~MpiProcessLink() override
    {
        if (std::uncaught_exceptions() > 0)
        {
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); // the others would wait for ever
        }
        for (auto& sending : m_sendings)
        {
            MPI_Waitall(static_cast<int>(sending.requests.size()),
                        sending.requests.data(),
                        MPI_STATUSES_IGNORE);
        }
        m_boards.reset();
        m_window.reset();
        MPI_Finalize();
    }

    uint32_t GetCount() const override
    {
        return static_cast<uint32_t>(m_received.size());
    }

    uint32_t GetOwn() const override
    {
        return m_own;
    }

    void Send(const ProcessNote& note, std::vector<OutgoingBatch>& batches) override;
    std::span<const std::byte> Receive(uint32_t peer, ProcessNote& note) override;

  private:
    /// What goes to another process by messages first.
    struct Header
    {
        ProcessNote note;
        uint64_t bytes; //!< of the batch that follows
    };

    static_assert(std::is_trivially_copyable_v<Header>);

    /// Bytes of which none is set before they come.
    struct MessageBytes
    {
        explicit MessageBytes(size_t count = 0)
            : bytes(new std::byte[count]),
              size(count)
        {
        }

        std::unique_ptr<std::byte[]> bytes;
        size_t size;
    };

    /// What goes to all others at once and may be under way.
    struct Sending
    {
        std::vector<Header> headers;       //!< [process]; none by boards
        std::vector<MessageBytes> batches; //!< [process]
        std::vector<MPI_Request> requests;
    };

    static constexpr int TAG = 0;

    /// Of each board. More goes by messages.
    static constexpr uint64_t ROOM_BYTES = uint64_t{2} << 20;

    /// MPI counts bytes in an int.
    static constexpr size_t PIECE_BYTES = size_t{1} << 30;

    /// Calls transfer(piece, bytes) for the pieces of a batch.
    template <typename Transfer>
    static void ForPieces(const MessageBytes& batch, const Transfer& transfer)
    {
        for (size_t at = 0; at < batch.size; at += PIECE_BYTES)
        {
            transfer(batch.bytes.get() + at,
                     static_cast<int>(std::min(PIECE_BYTES, batch.size - at)));
        }
    }

    void MakeBoards();
    void SendByMessages(const ProcessNote* note, const std::vector<OutgoingBatch>& batches);
    static void Begin(Sending& sending, uint32_t peer);
    void DropSent();
    std::span<const std::byte> ReceiveBatch(uint32_t peer, uint64_t bytes);

    uint32_t m_own{0};
    std::optional<SharedWindow> m_window;
    std::optional<SharedBoards> m_boards; //!< none: messages instead
    std::vector<MessageBytes> m_received; //!< [process] the last one by messages
    std::deque<Sending> m_sendings;       //!< not known to have left
};

void
MpiProcessLink::MakeBoards()
{
    const SharedBoards::Layout layout{.processes = GetCount(), .roomBytes = ROOM_BYTES};
    const auto& segments = m_window.emplace(layout).GetSegments();
    if (!segments.empty())
    {
        const bool hasEachACore = GetCount() <= std::thread::hardware_concurrency();
        m_boards.emplace(layout,
                         m_own,
                         segments,
                         hasEachACore ? SharedBoards::Cores::OfEach : SharedBoards::Cores::Shared);
    }
}

void
MpiProcessLink::Send(const ProcessNote& note, std::vector<OutgoingBatch>& batches)
{
    DropSent();
    if (!m_boards || !m_boards->PutUp(note, batches))
    {
        SendByMessages(m_boards ? nullptr : &note, batches);
    }
    for (auto& batch : batches)
    {
        batch.Clear();
    }
}

std::span<const std::byte>
MpiProcessLink::Receive(uint32_t peer, ProcessNote& note)
{
    if (!m_boards)
    {
        Header header{};
        const auto from = static_cast<int>(peer);
        MPI_Recv(&header, sizeof(header), MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note = header.note;
        return ReceiveBatch(peer, header.bytes);
    }
    while (!m_sendings.empty() && !m_boards->IsUp(peer))
    {
        DropSent(); // messages may need it to get on
    }
    const auto reading = m_boards->Read(peer);
    note = reading.note;
    return reading.batch ? std::span(reading.batch, reading.size)
                         : ReceiveBatch(peer, reading.size);
}

/// Begins to send the batches to all others. \param note goes before them; nullptr: none
void
MpiProcessLink::SendByMessages(const ProcessNote* note, const std::vector<OutgoingBatch>& batches)
{
    auto& sending = m_sendings.emplace_back();
    for (const auto& batch : batches)
    {
        sending.batches.push_back(MessageBytes(batch.GetSize()));
        batch.CopyTo(sending.batches.back().bytes.get());
        if (note)
        {
            sending.headers.push_back({*note, batch.GetSize()});
        }
    }
    for (uint32_t peer = 0; peer < GetCount(); ++peer)
    {
        if (peer != m_own)
        {
            Begin(sending, peer);
        }
    }
}

void
MpiProcessLink::Begin(Sending& sending, uint32_t peer)
{
    const auto to = static_cast<int>(peer);
    const auto send = [&sending, to](const void* data, int bytes) {
        auto& request = sending.requests.emplace_back();
        MPI_Isend(data, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
    };
    if (!sending.headers.empty())
    {
        send(&sending.headers[peer], sizeof(Header));
    }
    ForPieces(sending.batches[peer], send);
}

/// Forgets what has left.
void
MpiProcessLink::DropSent()
{
    while (!m_sendings.empty())
    {
        auto& requests = m_sendings.front().requests;
        int haveLeft = 0;
        MPI_Testall(static_cast<int>(requests.size()),
                    requests.data(),
                    &haveLeft,
                    MPI_STATUSES_IGNORE);
        if (haveLeft == 0)
        {
            return;
        }
        m_sendings.pop_front();
    }
}

std::span<const std::byte>
MpiProcessLink::ReceiveBatch(uint32_t peer, uint64_t bytes)
{
    auto& batch = m_received[peer];
    batch = MessageBytes(bytes);
    ForPieces(batch, [peer](std::byte* piece, int count) {
        const auto from = static_cast<int>(peer);
        MPI_Recv(piece, count, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    return {batch.bytes.get(), batch.size};
}

} // namespace

} // namespace ns3::gradsync

extern "C" ns3::gradsync::ProcessLink*
GradsyncMakeProcessLink()
{
    return new ns3::gradsync::MpiProcessLink();
}
