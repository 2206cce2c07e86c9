package scope

import (
	"bufio"
	"fmt"
	"hash/maphash"
	"io"
	"net/netip"
	"strings"

	"github.com/webrace/webrace/internal/urlnorm"
)

// Blocklist is a set of domains, or of URLs, as files list them. It is exact, takes some 30 bytes for each
// name, and a look-up costs the same in a list of ten and of a million. A nil *Blocklist is empty.
type Blocklist struct {
	seed  maphash.Seed
	text  []byte
	slots []slot // a power of two, at most half of them taken
	taken int

	Skipped int    // lines that hold nothing to block
	First   string // the first of these, with its number; empty when there is none
}

// slot is where a name lies in the text.
type slot struct{ start, end uint32 }

// ReadBlockedDomains reads a list with a domain a line, which stands for all under it as well, or a hosts
// file: lines with an address of the machine itself and the names that are to have it. What follows a # is
// a comment.
func ReadBlockedDomains(r io.Reader) (*Blocklist, error) {
	return readBlocklist(r, func(line string, add func(string)) bool {
		fields := strings.Fields(line)
		if _, err := netip.ParseAddr(fields[0]); err == nil && len(fields) > 1 {
			fields = fields[1:]
		} else if len(fields) > 1 {
			return false
		}
		for _, name := range fields {
			name, ok := domainName(name)
			if !ok {
				return false
			}
			if name != "" {
				add(name)
			}
		}
		return true
	})
}

// domainName returns a listed name in normal form; empty for one that hosts files give to the machine
// itself.
func domainName(text string) (name string, ok bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "*"), ".")
	text = strings.TrimSuffix(text, ".")
	switch {
	case text == "localhost" || text == "local" || text == "broadcasthost" || strings.HasPrefix(text, "localhost.") || strings.HasPrefix(text, "ip6-"):
		return "", true
	case text == "0.0.0.0":
		return "", true
	case isPlainName(text):
		return text, true
	}
	normal, err := urlnorm.Parse("http://" + text + "/")
	if err != nil {
		return "", false
	}
	name = urlnorm.Host(normal)
	return name, name != "" && normal == "http://"+name+"/" && hostname(name) == name
}

// isPlainName tells names that are in normal form already, as most are.
func isPlainName(s string) bool {
	letters := false
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z':
			letters = true
		case c == '.' && i > 0 && s[i-1] != '.' || '0' <= c && c <= '9' || c == '_' || c == '-' && !strings.HasPrefix(s[i:], "--"):
		default:
			return false
		}
	}
	return letters
}

// ReadBlockedURLs reads a list with a URL a line, which is blocked by http and by https. Lines that begin
// with # are comments.
func ReadBlockedURLs(r io.Reader) (*Blocklist, error) {
	return readBlocklist(r, func(line string, add func(string)) bool {
		normal, err := urlnorm.Parse(line)
		if err == nil {
			_, rest, _ := urlnorm.CutScheme(urlnorm.Identity(normal))
			add(rest)
		}
		return err == nil
	})
}

func readBlocklist(r io.Reader, read func(line string, add func(string)) bool) (*Blocklist, error) {
	b := &Blocklist{seed: maphash.MakeSeed()}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, urlnorm.MaxLength+1)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimPrefix(lines.Text(), "\ufeff")
		if i := strings.IndexByte(line, '#'); i == 0 || i > 0 && (line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !read(line, b.add) {
			if b.Skipped++; b.Skipped == 1 {
				b.First = fmt.Sprintf("line %d, %.80q", number, line)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	}
	return b, nil
}

func (b *Blocklist) add(name string) {
	if 2*(b.taken+1) > len(b.slots) {
		b.grow()
	}
	s := b.slot(name)
	if s.end > 0 {
		return
	}
	start := uint32(len(b.text))
	b.text = append(b.text, name...)
	*s = slot{start, uint32(len(b.text))}
	b.taken++
}

func (b *Blocklist) grow() {
	old := b.slots
	b.slots = make([]slot, max(16, 2*len(old)))
	for _, s := range old {
		if s.end > 0 {
			*b.slot(string(b.text[s.start:s.end])) = s
		}
	}
}

// slot returns where a name is, or goes.
func (b *Blocklist) slot(name string) *slot {
	for i := maphash.String(b.seed, name); ; i++ {
		s := &b.slots[i&uint64(len(b.slots)-1)]
		if s.end == 0 || string(b.text[s.start:s.end]) == name {
			return s
		}
	}
}

// Len returns how many different names are listed.
func (b *Blocklist) Len() int {
	if b == nil {
		return 0
	}
	return b.taken
}

func (b *Blocklist) has(name string) bool { return b.Len() > 0 && b.slot(name).end > 0 }

// Domain returns the listed domain that a URL's host is, or lies under.
func (b *Blocklist) Domain(address string) (domain string, blocked bool) {
	if b.Len() == 0 {
		return "", false
	}
	name := strings.TrimSuffix(hostname(urlnorm.Host(address)), ".")
	for name != "" {
		if b.has(name) {
			return name, true
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return "", false
}

// URL reports whether a URL is listed.
func (b *Blocklist) URL(address string) bool {
	if b.Len() == 0 {
		return false
	}
	_, rest, _ := urlnorm.CutScheme(urlnorm.Identity(address))
	return b.has(rest)
}
