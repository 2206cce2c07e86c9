package urlnorm

import (
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// The parser reads hosts as the standard does, but for some things, which are done here before it sees them: it
// refuses names with letters beyond ASCII that have an underscore or the like as well; takes numbers with a sign for
// parts of an IPv4 address (http://-1/ would be 255.255.255.255), and names that begin with a large number for one;
// reads an IPv6 address in any number of brackets; and lets labels pass that are no punycode.

// domains is domain to ASCII of the standard, which is not strict.
var domains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false),
	idna.VerifyDNSLength(false), idna.StrictDomainName(false), idna.Transitional(false))

// invalidHost is one that the parser refuses.
const invalidHost = "\x00"

// taken begins what stands for a host that the parser would not take as it is, while it parses.
const taken = "taken-"

// beforeHost gives the parser a host that it reads rightly.
func beforeHost(u *url.Url, host string) string {
	if p := u.Protocol(); host == "" || p != "http:" && p != "https:" {
		return host
	}
	if host[0] == '[' {
		if end := strings.IndexByte(host, ']'); end != len(host)-1 || strings.LastIndexByte(host, '[') > 0 {
			return invalidHost
		}
		return host
	}
	domain, ok := domainToASCII(host)
	switch {
	case !ok:
		return invalidHost
	case endsInNumber(domain):
		if strings.ContainsAny(domain, "+-") { // no address, and nothing else may end in a number
			return invalidHost
		}
		return domain
	case looksNumeric(domain) || strings.Contains(domain, "xn--") || strings.HasPrefix(domain, taken):
		return taken + hex.EncodeToString([]byte(domain))
	}
	return domain
}

// afterHost takes back what beforeHost did.
func afterHost(_ *url.Url, host string) string {
	if digits, ok := strings.CutPrefix(host, taken); ok {
		if domain, err := hex.DecodeString(digits); err == nil {
			return string(domain)
		}
	}
	return host
}

// domainToASCII returns the name that a host stands for, if it is one.
func domainToASCII(host string) (string, bool) {
	domain := decodePercent(host)
	if !utf8.ValidString(domain) {
		return "", false
	}
	domain, err := toASCII(domain)
	const forbidden = " #/:<>?@[\\]^|%\x7f"
	return domain, err == nil && domain != "" && !strings.ContainsFunc(domain, func(r rune) bool { return r < ' ' }) && !strings.ContainsAny(domain, forbidden)
}

func toASCII(domain string) (string, error) {
	lower := strings.ToLower(domain)
	if isASCII(domain) && !strings.HasPrefix(lower, "xn--") && !strings.Contains(lower, ".xn--") {
		return lower, nil
	}
	mapped := norm.NFKC.String(strings.ReplaceAll(lower, "\u00ad", ""))
	for label := range strings.FieldsFuncSeq(mapped, func(r rune) bool { return r == '.' || r == '\u3002' }) {
		if code, ok := strings.CutPrefix(label, "xn--"); ok && (code == "" || !isASCII(code)) {
			return "", errPunycode // which the library lets pass
		}
	}
	return domains.ToASCII(domain)
}

var errPunycode = errors.New("a label is no punycode")

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func decodePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && isEscape(s, i) {
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func lastLabel(domain string) string {
	domain = strings.TrimSuffix(domain, ".")
	return domain[strings.LastIndexByte(domain, '.')+1:]
}

// endsInNumber is the ends-in-a-number checker of the standard.
func endsInNumber(domain string) bool {
	last := lastLabel(domain)
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// looksNumeric reports whether the parser might take a name for an address, because of a sign or for want of a limit.
func looksNumeric(domain string) bool {
	last := lastLabel(domain)
	return last != "" && strings.IndexByte("+-0123456789", last[0]) >= 0
}
