package main

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// serveNames starts a server of names, and returns its address. It has the addresses of the names that a
// function gives one for, to be kept for no time at all.
func serveNames(t *testing.T, addressOf func(name string) netip.Addr) string {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		packet := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			if answer := answerOf(packet[:n], addressOf); answer != nil {
				_, _ = conn.WriteToUDPAddrPort(answer, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// answerOf is what is sent back; nothing to what is no question.
func answerOf(packet []byte, addressOf func(name string) netip.Addr) []byte {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	answer := dnsmessage.Message{Header: dnsmessage.Header{ID: header.ID, Response: true}, Questions: []dnsmessage.Question{q}}
	switch addr := addressOf(strings.TrimSuffix(q.Name.String(), ".")); {
	case !addr.IsValid():
		answer.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		answer.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}, Body: &dnsmessage.AResource{A: addr.As4()},
		}}
	}
	b, err := answer.Pack()
	if err != nil {
		return nil
	}
	return b
}

// noName is the address of every name: none.
func noName(string) netip.Addr { return netip.Addr{} }
