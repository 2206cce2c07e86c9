package credentials

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Bounds determine where a secret may be sent, and what it gave.
type Bounds struct {
	// Hosts are names with their port, unless that is the default of the scheme, or "*." and a domain for
	// the domain and all under it, at the default ports. None are the hosts at which the crawls begin that
	// the secret is for.
	Hosts []string

	// Insecure allows plain http as well.
	Insecure bool

	// Models allows what was fetched with the secret to be shown to a model. Without, it is asked of none.
	Models bool
}

// NewBounds returns bounds with the hosts in their normal form, each once.
func NewBounds(hosts []string, insecure bool) (Bounds, error) {
	b := Bounds{Insecure: insecure}
	for _, host := range hosts {
		normal, err := normalHost(host)
		if err != nil {
			return Bounds{}, fmt.Errorf("%.200q is no host that a secret can be for: %w", host, err)
		}
		b.Hosts = append(b.Hosts, normal)
	}
	slices.Sort(b.Hosts)
	b.Hosts = slices.Compact(b.Hosts)
	return b, nil
}

func normalHost(host string) (string, error) {
	name, wide := strings.CutPrefix(host, "*.")
	if name == "" || strings.ContainsAny(name, "/?#@\\* \t\r\n") {
		return "", fmt.Errorf("it is a name with or without a port, or *. and a domain")
	}
	normal, err := urlnorm.Parse("https://" + name + "/")
	if err != nil {
		return "", err
	}
	normal, _ = scope.Host(normal)
	if !wide {
		return normal, nil
	}
	if _, err := netip.ParseAddr(normal); err == nil || strings.ContainsAny(normal, ":[") {
		return "", fmt.Errorf("*. wants a domain without a port after it")
	}
	if suffix, _ := publicsuffix.PublicSuffix(normal); suffix == normal {
		return "", fmt.Errorf("under %s anybody may have a name", normal)
	}
	return "*." + normal, nil
}

// Admit reports whether a host, in its normal form, is among the hosts.
func (b Bounds) Admit(host string) bool {
	return slices.ContainsFunc(b.Hosts, func(h string) bool {
		domain, wide := strings.CutPrefix(h, "*.")
		return h == host || wide && (host == domain || strings.HasSuffix(host, "."+domain))
	})
}
