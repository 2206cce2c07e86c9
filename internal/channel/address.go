package channel

import (
	"net/url"
	"strings"
)

// Address is where messages of a channel go: a mail address, or the URL of a webhook, which may be as good as a
// password, with the key that its requests are signed with. What prints, logs or marshals it shows its host alone.
type Address struct{ to, key string }

// NewAddress makes one of a mail address or a URL. Requests to it are signed if there is a key.
func NewAddress(to, key string) Address { return Address{to, key} }

// Reveal returns what the address is made of.
func (a Address) Reveal() (to, key string) { return a.to, a.key }

// String returns the host, or the domain of a mail address.
func (a Address) String() string {
	if u, err := url.Parse(a.to); err == nil && u.Host != "" {
		return u.Host
	}
	if _, domain, is := strings.Cut(a.to, "@"); is {
		return domain
	}
	if a.to == "" {
		return "no address"
	}
	return "an address"
}

// GoString is String: %#v shows no more.
func (a Address) GoString() string { return a.String() }

// MarshalText is String: JSON shows no more.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
