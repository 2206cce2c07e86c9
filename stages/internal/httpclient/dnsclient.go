package httpclient

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// How servers of names are asked: each one at most twice, for a few seconds, and for answers that pass
// every network in one piece (RFC 9715).
const (
	dnsRounds   = 2
	dnsPatience = 3 * time.Second
	dnsLargest  = 1232
)

// dnsClient asks recursive servers for addresses (RFC 1035), one after the other until one answers. Unlike
// the system's resolver it knows for how long an answer holds. Names are absolute; no hosts file is read.
type dnsClient struct {
	servers []netip.AddrPort
	family  family
}

// Lookup asks for addresses of both families at once. One that fails does not spoil the other.
func (c *dnsClient) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	name, err := dnsmessage.NewName(strings.TrimSuffix(host, ".") + ".")
	if err != nil {
		return nil, -1, noSuchHost(host)
	}
	types := []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}
	switch c.family.only {
	case 4:
		types = types[:1]
	case 6:
		types = types[1:]
	}
	answers := make([]dnsAnswer, len(types))
	failures := make([]error, len(types))
	var all sync.WaitGroup
	for i, t := range types {
		all.Go(func() {
			defer func() {
				if v := recover(); v != nil { // a server may answer anything
					failures[i] = fmt.Errorf("read the answer of a name server: panic: %v", v)
				}
			}()
			answers[i], failures[i] = c.ask(ctx, name, t)
		})
	}
	all.Wait()
	var addrs []netip.Addr
	holds := time.Duration(-1)
	for _, a := range answers {
		addrs = append(addrs, a.addrs...)
		if len(a.addrs) > 0 && (holds < 0 || a.holds < holds) {
			holds = a.holds
		}
	}
	if len(addrs) > 0 {
		return addrs, holds, nil
	}
	if err := errors.Join(failures...); err != nil {
		return nil, -1, fmt.Errorf("look up %s: %w", host, err)
	}
	return nil, -1, noSuchHost(host)
}

func noSuchHost(name string) error {
	return &net.DNSError{Err: "no such host, or it has no address", Name: name, IsNotFound: true}
}

// ask asks one server after the other until one answers.
func (c *dnsClient) ask(ctx context.Context, name dnsmessage.Name, t dnsmessage.Type) (dnsAnswer, error) {
	var failure error
	for range dnsRounds {
		for _, server := range c.servers {
			if ctx.Err() != nil {
				return dnsAnswer{}, errors.Join(failure, ctx.Err())
			}
			answer, err := askServer(ctx, server, name, t)
			if err == nil {
				return answer, nil
			}
			failure = fmt.Errorf("ask %s: %w", server, err)
		}
	}
	return dnsAnswer{}, failure
}

func askServer(ctx context.Context, server netip.AddrPort, name dnsmessage.Name, t dnsmessage.Type) (dnsAnswer, error) {
	ctx, end := context.WithTimeout(ctx, dnsPatience)
	defer end()
	var random [2]byte
	_, _ = rand.Read(random[:]) // which never fails
	question := dnsmessage.Question{Name: name, Type: t, Class: dnsmessage.ClassINET}
	q := dnsQuery{id: binary.BigEndian.Uint16(random[:]), question: question}
	packet, err := q.pack()
	if err != nil { // a label of more than 63 letters
		return dnsAnswer{}, noSuchHost(name.String())
	}
	answer, err := q.exchange(ctx, "udp", server, packet)
	if err == nil && answer.truncated {
		answer, err = q.exchange(ctx, "tcp", server, packet)
	}
	return answer, err
}

// dnsQuery is one question to one server.
type dnsQuery struct {
	id       uint16
	question dnsmessage.Question
}

func (q dnsQuery) pack() ([]byte, error) {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: q.id, RecursionDesired: true})
	b.EnableCompression()
	var size dnsmessage.ResourceHeader
	if err := size.SetEDNS0(dnsLargest, dnsmessage.RCodeSuccess, false); err != nil {
		return nil, err
	}
	if err := errors.Join(b.StartQuestions(), b.Question(q.question), b.StartAdditionals(), b.OPTResource(size, dnsmessage.OPTResource{})); err != nil {
		return nil, err
	}
	return b.Finish()
}

// exchange sends the question and waits for its answer. Over UDP, what is no answer to it is passed over:
// any machine can send such.
func (q dnsQuery) exchange(ctx context.Context, network string, server netip.AddrPort, packet []byte) (dnsAnswer, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, server.String())
	if err != nil {
		return dnsAnswer{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if network == "tcp" {
		return q.overTCP(conn, packet)
	}
	if _, err := conn.Write(packet); err != nil {
		return dnsAnswer{}, err
	}
	received := make([]byte, 64<<10)
	for {
		n, err := conn.Read(received)
		if err != nil {
			return dnsAnswer{}, err
		}
		answer, err := q.read(received[:n])
		if !errors.Is(err, errOtherAnswer) {
			return answer, err
		}
	}
}

// overTCP puts the length before each message (RFC 1035, section 4.2.2).
func (q dnsQuery) overTCP(conn net.Conn, packet []byte) (dnsAnswer, error) {
	if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)); err != nil {
		return dnsAnswer{}, err
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return dnsAnswer{}, err
	}
	received := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, received); err != nil {
		return dnsAnswer{}, err
	}
	return q.read(received)
}
