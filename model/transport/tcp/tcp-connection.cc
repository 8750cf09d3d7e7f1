// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tcp-connection.h"

#include "ns3/inet-socket-address.h"
#include "ns3/simulator.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-socket-base.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

TcpConnection::TcpConnection(uint32_t src,
                             uint32_t dst,
                             const Ptr<Socket>& sender,
                             uint32_t segmentBytes,
                             TcpConnectionObserver& observer)
    : m_src(src),
      m_dst(dst),
      m_sender(sender),
      m_segmentBytes(segmentBytes),
      m_observer(observer)
{
    m_sender->SetConnectCallback(MakeCallback(&TcpConnection::OnConnect, this),
                                 MakeCallback(&TcpConnection::OnConnectFailed, this));
    m_sender->SetCloseCallbacks(MakeCallback(&TcpConnection::OnClosed, this),
                                MakeCallback(&TcpConnection::OnClosed, this));
    m_sender->SetSendCallback(MakeCallback(&TcpConnection::OnSpace, this));
    m_sender->TraceConnectWithoutContext("Tx", MakeCallback(&TcpConnection::OnTransmit, this));
    m_sender->TraceConnectWithoutContext("CongState", MakeCallback(&TcpConnection::OnState, this));
}

TcpConnection::~TcpConnection()
{
    // The sockets live on in their nodes.
    const auto noSocket = MakeNullCallback<void, Ptr<Socket>>();
    m_sender->SetConnectCallback(noSocket, noSocket);
    m_sender->SetCloseCallbacks(noSocket, noSocket);
    m_sender->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
    m_sender->TraceDisconnectWithoutContext("Tx", MakeCallback(&TcpConnection::OnTransmit, this));
    m_sender->TraceDisconnectWithoutContext("CongState",
                                            MakeCallback(&TcpConnection::OnState, this));
    if (m_receiver)
    {
        m_receiver->SetRecvCallback(noSocket);
    }
}

InetSocketAddress
TcpConnection::Connect(const InetSocketAddress& receiver)
{
    m_sender->Bind();
    if (m_sender->Connect(receiver) != 0)
    {
        m_failure = fmt::format("no path from {} to {}",
                                m_observer.GetName(m_src),
                                m_observer.GetName(m_dst));
    }
    Address local;
    m_sender->GetSockName(local);
    return InetSocketAddress::ConvertFrom(local);
}

void
TcpConnection::Accept(const Ptr<Socket>& receiver)
{
    m_receiver = receiver;
    m_receiver->SetRecvCallback(MakeCallback(&TcpConnection::OnReceive, this));
}

void
TcpConnection::Send(const Message& message)
{
    m_queuedBytes += std::max<uint64_t>(message.bytes, 1);
    m_pending.push_back({m_queuedBytes, message.bytes, message.tag, message.handler});
    if (!m_failure.empty())
    {
        // The handler must not be told before Send returns.
        Simulator::ScheduleNow(&MessageHandler::OnFailed, message.handler, message.tag, m_failure);
        m_pending.pop_back();
    }
    else if (m_connected)
    {
        Write();
    }
}

void
TcpConnection::Write()
{
    while (m_writtenBytes < m_queuedBytes)
    {
        // In whole segments but for the end of what is queued: without Nagle's algorithm every
        // write would end in a short segment.
        const uint64_t space = m_sender->GetTxAvailable();
        const auto bytes = std::min(m_queuedBytes - m_writtenBytes, space - space % m_segmentBytes);
        const auto sent =
            bytes == 0 ? 0 : m_sender->Send(Create<Packet>(static_cast<uint32_t>(bytes)));
        if (sent <= 0)
        {
            return; // OnSpace or OnClosed goes on
        }
        m_writtenBytes += static_cast<uint64_t>(sent);
    }
}

void
TcpConnection::Fail(const std::string& reason)
{
    m_failure = reason;
    auto failed = std::exchange(m_pending, {});
    for (const auto& message : failed)
    {
        message.handler->OnFailed(message.tag, reason);
    }
}

// ns-3's callbacks fix the types of these parameters.
// NOLINTBEGIN(performance-unnecessary-value-param)
void
TcpConnection::OnConnect(Ptr<Socket> /* socket */)
{
    m_connected = true;
    Write();
}

void
TcpConnection::OnConnectFailed(Ptr<Socket> /* socket */)
{
    Fail(fmt::format("TCP from {} to {}: no answer to the connection request",
                     m_observer.GetName(m_src),
                     m_observer.GetName(m_dst)));
}

void
TcpConnection::OnClosed(Ptr<Socket> /* socket */)
{
    Fail(fmt::format("TCP from {} to {}: closed after too many retransmissions",
                     m_observer.GetName(m_src),
                     m_observer.GetName(m_dst)));
}

void
TcpConnection::OnSpace(Ptr<Socket> /* socket */, uint32_t /* bytes */)
{
    if (m_connected)
    {
        Write();
    }
}

void
TcpConnection::OnReceive(Ptr<Socket> socket)
{
    while (const auto packet = socket->Recv())
    {
        m_receivedBytes += packet->GetSize();
    }
    while (!m_pending.empty() && m_pending.front().end <= m_receivedBytes)
    {
        const auto message = m_pending.front();
        m_pending.pop_front();
        m_observer.OnGoodput(message.bytes);
        message.handler->OnDelivered(message.tag); // may send
    }
}

void
TcpConnection::OnTransmit(Ptr<const Packet> packet,
                          const TcpHeader& header,
                          Ptr<const TcpSocketBase> /* socket */)
{
    // SYN and FIN take a sequence number too.
    const auto end = header.GetSequenceNumber() + static_cast<int32_t>(packet->GetSize());
    if (packet->GetSize() > 0 && end <= m_highestSent)
    {
        m_observer.OnRetransmission(packet->GetSize());
    }
    m_highestSent = std::max(m_highestSent, end);
}

// NOLINTEND(performance-unnecessary-value-param)

void
TcpConnection::OnState(TcpSocketState::TcpCongState_t /* before */,
                       TcpSocketState::TcpCongState_t now)
{
    if (now == TcpSocketState::CA_LOSS)
    {
        m_observer.OnTimeout(m_src, m_dst);
    }
}

} // namespace ns3::gradsync
