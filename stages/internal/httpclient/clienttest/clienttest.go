// Package clienttest has what tests of the HTTP client and of the stages over it need: servers of names, a resolver of
// a few names, and content codings.
package clienttest

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/dns/dnsmessage"
)

// NameServer is a server of names over UDP and TCP whose answers a test makes.
type NameServer struct {
	Addr  netip.AddrPort
	Asked atomic.Int64
	ByTCP atomic.Int64
}

// ServeNames starts one. What the answer makes of a question is sent, one packet after the other.
func ServeNames(t *testing.T, answer func(q dnsmessage.Question, id uint16, tcp bool) [][]byte) *NameServer {
	t.Helper()
	s := &NameServer{}
	var serving sync.WaitGroup
	l, conn := listenTwice(t)
	s.Addr = l.Addr().(*net.TCPAddr).AddrPort()
	byTCP := func(conn net.Conn) {
		defer conn.Close()
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		packet := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, packet); err != nil {
			return
		}
		s.ByTCP.Add(1)
		for _, a := range answerTo(packet, true, answer) {
			_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...))
		}
	}
	serving.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			serving.Go(func() { byTCP(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); conn.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			packet := make([]byte, 4096)
			n, from, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			s.Asked.Add(1)
			for _, a := range answerTo(packet[:n], false, answer) {
				_, _ = conn.WriteToUDPAddrPort(a, from)
			}
		}
	})
	return s
}

// listenTwice listens at one port by TCP and by UDP. One that is free for the first may be taken for the second: each
// question that another test asks has a port of its own.
func listenTwice(t *testing.T) (*net.TCPListener, *net.UDPConn) {
	t.Helper()
	var failed error
	for range 20 {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(l.Addr().(*net.TCPAddr).AddrPort()))
		if err == nil {
			return l, conn
		}
		failed = err
		l.Close()
	}
	t.Fatal(failed)
	return nil, nil
}

func answerTo(packet []byte, tcp bool, answer func(q dnsmessage.Question, id uint16, tcp bool) [][]byte) [][]byte {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	return answer(q, header.ID, tcp)
}

// Answers makes an answer of lines such as "a.test 60 A 127.0.0.1" and "b.test 60 CNAME a.test".
func Answers(q dnsmessage.Question, id uint16, code dnsmessage.RCode, lines ...string) []byte {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: id, Response: true, RCode: code})
	_ = b.StartQuestions()
	_ = b.Question(q)
	_ = b.StartAnswers()
	for _, line := range lines {
		f := strings.Fields(line)
		var ttl uint32
		_, _ = fmt.Sscan(f[1], &ttl)
		h := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(f[0] + "."), Class: dnsmessage.ClassINET, TTL: ttl}
		switch f[2] {
		case "A":
			_ = b.AResource(h, dnsmessage.AResource{A: netip.MustParseAddr(f[3]).As4()})
		case "AAAA":
			_ = b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(f[3]).As16()})
		case "CNAME":
			_ = b.CNAMEResource(h, dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(f[3] + ".")})
		case "TXT":
			_ = b.TXTResource(h, dnsmessage.TXTResource{TXT: []string{f[3]}})
		}
	}
	packet, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return packet
}

// OfType keeps the lines that answer a question of its type.
func OfType(q dnsmessage.Question, lines ...string) (kept []string) {
	for _, line := range lines {
		if t := strings.Fields(line)[2]; t == "CNAME" || "Type"+t == q.Type.String() {
			kept = append(kept, line)
		}
	}
	return kept
}

// Zone is a resolver of a few names.
type Zone struct {
	Hosts map[string]string // addresses, separated by spaces
	Asked atomic.Int64
	Gate  chan struct{} // if there is one, answers wait for it
	Holds time.Duration
}

// Lookup implements httpclient.Resolver.
func (z *Zone) Lookup(_ context.Context, host string) ([]netip.Addr, time.Duration, error) {
	z.Asked.Add(1)
	if z.Gate != nil {
		<-z.Gate
	}
	known, ok := z.Hosts[host]
	if !ok {
		return nil, -1, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if known == "busy" {
		return nil, -1, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	}
	var addrs []netip.Addr
	for addr := range strings.FieldsSeq(known) {
		addrs = append(addrs, netip.MustParseAddr(addr))
	}
	return addrs, z.Holds, nil
}

// Encode compresses with what is not under test, where there is something else.
func Encode(t testing.TB, encoding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "":
		return body
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "bare":
		w, err = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriterLevel(&b, 1)
	case "zstd":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	}
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
