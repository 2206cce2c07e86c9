package archive

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// surt returns the key under which archives look a URL up, in which hosts of a domain lie side by side:
// org,example)/path for https://www.example.org/path.
func surt(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return strings.ToLower(address)
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	if _, err := netip.ParseAddr(host); err != nil {
		labels := strings.Split(host, ".")
		slices.Reverse(labels)
		host = strings.Join(labels, ",")
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	key := host + ")" + strings.ToLower(u.EscapedPath())
	if u.RawQuery != "" {
		parameters := strings.Split(strings.ToLower(u.RawQuery), "&")
		slices.Sort(parameters)
		key += "?" + strings.Join(parameters, "&")
	}
	return strings.ReplaceAll(key, " ", "%20")
}
