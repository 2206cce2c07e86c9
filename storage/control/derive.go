package control

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/webrace/webrace/xmlschema"
)

// columns are what is looked up of a URD beside its XML, and derived from it.
type columns struct {
	id, owner, uri        string
	crawl, protocol, host string // crawl is empty when it starts none, host when it names none
	start                 string // of the crawl; empty when it is the URI as it stands
	urgency               int
	keywords              int // different ones
}

// derive returns the columns of a URD, and its different keys, sorted.
func derive(u *xmlschema.URD) (columns, []string, error) {
	keys := keysOf(u)
	crawl, _, err := CrawlOf(u)
	start := crawl.Start
	if start == u.URI {
		start = ""
	}
	return columns{
		id: u.ID, owner: u.Owner, uri: u.URI, crawl: crawl.ID, start: start,
		protocol: cmp.Or(u.Protocol, xmlschema.ProtocolHTTP),
		host:     hostOf(u),
		urgency:  cmp.Or(u.Urgency, xmlschema.DefaultUrgency),
		keywords: len(keys),
	}, keys, err
}

// args are the columns in the order of a statement that writes them.
func (c columns) args() []any {
	return []any{c.id, c.owner, c.uri, c.crawl, c.start, c.protocol, c.host, c.urgency, c.keywords}
}

func keysOf(u *xmlschema.URD) (keys []string) {
	for k := range u.Keywords.All() {
		keys = append(keys, k.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// hostOf returns the host that a URD's start or prefix lies on, without its port; a prefix that does not
// go beyond the name of the host may mean several, and has none.
func hostOf(u *xmlschema.URD) string {
	prefix, watches := u.Prefix()
	parsed, err := url.Parse(prefix)
	if err != nil || watches && parsed.Path == "" {
		return ""
	}
	return strings.ToLower(parsed.Hostname())
}
