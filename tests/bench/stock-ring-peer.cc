// SPDX-License-Identifier: GPL-2.0-only
#include "bench/stock-ring-peer.h"

#include "ns3/inet-socket-address.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint16_t Port = 5000;

/**
 * A TCP socket with ns-3's defaults (NewReno as in Linux, window scaling, SACK, time stamps, no
 * Nagle) but for these:
 *  - the segment fills the MTU;
 *  - the window reaches the bandwidth-delay product of a data centre, and starts with 10 segments
 * (RFC 6928);
 *  - every second segment is acknowledged (default), the last one after 1 ms in place of 200 ms,
 * and the smallest timeout is 10 ms in place of 1 s. Nothing is lost here, so neither decides the
 * result.
 */
Ptr<Socket>
MakeSocket(const Ptr<Node>& node, const StockTcpOptions& options)
{
    auto socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
    socket->SetAttribute("SegmentSize", UintegerValue(options.segmentBytes));
    socket->SetAttribute("SndBufSize", UintegerValue(options.bufferBytes));
    socket->SetAttribute("RcvBufSize", UintegerValue(options.bufferBytes));
    socket->SetAttribute("InitialCwnd", UintegerValue(10));
    socket->SetAttribute("DelAckTimeout", TimeValue(MilliSeconds(1)));
    socket->SetAttribute("MinRto", TimeValue(MilliSeconds(10)));
    return socket;
}

} // namespace

StockRingPeer::StockRingPeer(std::vector<uint64_t> sendBytes,
                             std::vector<uint64_t> receiveBytes,
                             std::function<void()> onConnected,
                             std::function<void()> onDone)
    : m_sendBytes(std::move(sendBytes)),
      m_receiveBytes(std::move(receiveBytes)),
      m_onConnected(std::move(onConnected)),
      m_onDone(std::move(onDone))
{
}

void
StockRingPeer::Listen(const Ptr<Node>& node, const StockTcpOptions& options)
{
    m_listener = MakeSocket(node, options);
    m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), Port));
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&StockRingPeer::OnAccept, this));
    m_listener->Listen();
}

void
StockRingPeer::Connect(const Ptr<Node>& node, Ipv4Address neighbour, const StockTcpOptions& options)
{
    m_segmentBytes = options.segmentBytes;
    m_sender = MakeSocket(node, options);
    m_sender->Bind();
    m_sender->SetConnectCallback(MakeCallback(&StockRingPeer::OnConnect, this),
                                 MakeNullCallback<void, Ptr<Socket>>());
    m_sender->SetSendCallback(MakeCallback(&StockRingPeer::OnSpace, this));
    m_sender->Connect(InetSocketAddress(neighbour, Port));
}

void
StockRingPeer::Start()
{
    m_unsentBytes += m_sendBytes.at(0);
    SendWhatIsAllowed();
}

// ns-3's callbacks fix the types of these parameters.
// NOLINTBEGIN(performance-unnecessary-value-param)
void
StockRingPeer::OnAccept(Ptr<Socket> socket, const Address& /* from */)
{
    socket->SetRecvCallback(MakeCallback(&StockRingPeer::OnReceive, this));
}

void
StockRingPeer::OnConnect(Ptr<Socket> /* socket */)
{
    m_onConnected();
}

void
StockRingPeer::OnReceive(Ptr<Socket> socket)
{
    while (const auto packet = socket->Recv())
    {
        m_partialBytes += packet->GetSize();
    }
    while (m_received < m_receiveBytes.size() && m_partialBytes >= m_receiveBytes[m_received])
    {
        m_partialBytes -= m_receiveBytes[m_received];
        ++m_received;
        if (m_received < m_sendBytes.size())
        {
            m_unsentBytes += m_sendBytes[m_received];
        }
        if (m_received == m_receiveBytes.size())
        {
            m_onDone();
        }
    }
    SendWhatIsAllowed();
}

void
StockRingPeer::OnSpace(Ptr<Socket> /* socket */, uint32_t /* bytes */)
{
    SendWhatIsAllowed();
}

// NOLINTEND(performance-unnecessary-value-param)

void
StockRingPeer::SendWhatIsAllowed()
{
    while (m_unsentBytes > 0)
    {
        // In whole segments but for the end of what may be sent: without Nagle's algorithm every
        // write would end in a short segment.
        const uint64_t space = m_sender->GetTxAvailable();
        const auto bytes = std::min(m_unsentBytes, space - space % m_segmentBytes);
        if (bytes == 0)
        {
            return; // OnSpace goes on
        }
        const auto sent = m_sender->Send(Create<Packet>(static_cast<uint32_t>(bytes)));
        if (sent < 0)
        {
            throw std::runtime_error("a stock TCP socket refused to send");
        }
        m_unsentBytes -= static_cast<uint64_t>(sent);
    }
}

} // namespace ns3::gradsync
