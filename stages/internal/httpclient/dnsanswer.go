package httpclient

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// maxAliases is how many names in a row may stand for the next one.
const maxAliases = 16

// dnsAnswer is what a server answers to a question. Without addresses, there is no such name, or it has none.
type dnsAnswer struct {
	addrs     []netip.Addr
	holds     time.Duration // the least of what was used
	truncated bool          // it must be asked for again over TCP
}

var errOtherAnswer = errors.New("not an answer to the question")

// dnsRecord is what an answer holds of a name: an address or the name that it stands for.
type dnsRecord struct {
	addr  netip.Addr
	alias string
	holds time.Duration
}

// read reads an answer. It is errOtherAnswer if it is not one to the question; another error means that the
// server does not know, or makes no sense.
func (q dnsQuery) read(packet []byte) (dnsAnswer, error) {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil || header.ID != q.id || !header.Response {
		return dnsAnswer{}, errOtherAnswer
	}
	asked, err := p.Question()
	if err != nil || asked.Type != q.question.Type || asked.Class != q.question.Class || !sameName(asked.Name, q.question.Name) {
		return dnsAnswer{}, errOtherAnswer
	}
	switch {
	case header.RCode != dnsmessage.RCodeSuccess && header.RCode != dnsmessage.RCodeNameError:
		return dnsAnswer{}, fmt.Errorf("it answers %s", strings.TrimPrefix(header.RCode.String(), "RCode"))
	case header.Truncated:
		return dnsAnswer{truncated: true}, nil
	}
	if err := p.SkipAllQuestions(); err != nil {
		return dnsAnswer{}, fmt.Errorf("read its answer: %w", err)
	}
	records, err := readRecords(&p, q.question.Type)
	if err != nil {
		return dnsAnswer{}, fmt.Errorf("read its answer: %w", err)
	}
	return follow(records, folded(q.question.Name)), nil
}

// readRecords reads addresses of a type, and aliases, by the names they are of. What else is there does not
// matter.
func readRecords(p *dnsmessage.Parser, t dnsmessage.Type) (map[string][]dnsRecord, error) {
	records := make(map[string][]dnsRecord)
	for {
		h, err := p.AnswerHeader()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		r := dnsRecord{holds: time.Duration(max(int32(h.TTL), 0)) * time.Second} // RFC 2181, section 8
		switch {
		case h.Class != dnsmessage.ClassINET || h.Type != t && h.Type != dnsmessage.TypeCNAME:
			if err := p.SkipAnswer(); err != nil {
				return nil, err
			}
			continue
		case h.Type == dnsmessage.TypeA:
			a, err := p.AResource()
			if err != nil {
				return nil, err
			}
			r.addr = netip.AddrFrom4(a.A)
		case h.Type == dnsmessage.TypeAAAA:
			a, err := p.AAAAResource()
			if err != nil {
				return nil, err
			}
			r.addr = netip.AddrFrom16(a.AAAA)
		default:
			c, err := p.CNAMEResource()
			if err != nil {
				return nil, err
			}
			r.alias = folded(c.CNAME)
		}
		name := folded(h.Name)
		records[name] = append(records[name], r)
	}
}

// follow finds the addresses of a name, or of that for which it stands.
func follow(records map[string][]dnsRecord, name string) dnsAnswer {
	var a dnsAnswer
	holds := time.Duration(1<<63 - 1)
	for range maxAliases {
		alias := ""
		for _, r := range records[name] {
			if r.alias != "" {
				alias, holds = r.alias, min(holds, r.holds)
			}
		}
		if alias == "" {
			break
		}
		name = alias
	}
	for _, r := range records[name] {
		if r.addr.IsValid() {
			a.addrs, holds = append(a.addrs, r.addr), min(holds, r.holds)
		}
	}
	if len(a.addrs) > 0 {
		a.holds = holds
	}
	return a
}

func sameName(a, b dnsmessage.Name) bool { return folded(a) == folded(b) }

func folded(n dnsmessage.Name) string { return strings.ToLower(n.String()) }
