package keywordfilter

import (
	"context"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// A page may come to an owner in several ways, as the entry of two feeds that they follow. They are told of it once,
// if these URDs have the same interest. A message may lie in several mailboxes, and be moved from one to another, and
// nothing is remembered of how it came before.

// ways returns the crawls by which a document came or, in the same version, came before; nil if that is one alone.
func ways(d *webrace.Document) (crawls []string) {
	for _, r := range d.Reach {
		crawls = append(crawls, r.Crawl)
	}
	if d.Visit != nil {
		for _, s := range d.Visit.Shown {
			if s.Version == d.Version && s.Version > 0 {
				crawls = append(crawls, s.Crawl)
			}
		}
	}
	slices.Sort(crawls)
	if crawls = slices.Compact(crawls); len(crawls) < 2 {
		return nil
	}
	return crawls
}

// twins returns the annotations that other URDs of the owner may have made of the document for the same interest; nil
// if there are no such URDs.
func (m *matching) twins(ctx context.Context, urd *control.URD, aci *xmlschema.ACI) (*xmlschema.Twins, error) {
	message := urlnorm.Host(m.document.URL) == ""
	if m.ways == nil && !message || m.stage.control == nil {
		return nil, nil
	}
	ways := m.ways
	if message {
		ways = nil
	}
	ids, err := m.stage.control.IDsByCrawl(ctx, urd.Owner, ways...)
	if err != nil {
		return nil, err
	}
	t := &xmlschema.Twins{URI: urd.URI}
	interest := urd.InterestHash()
	for _, id := range ids {
		if other, known := m.audience.urds.Get(id); known && id != urd.ID && (!message || other.Protocol == urd.Protocol) && other.InterestHash() == interest {
			t.IDs = append(t.IDs, xmlschema.ACIID(id, interest, aci.URI, aci.Docbase))
		}
	}
	if len(t.IDs) == 0 {
		return nil, nil
	}
	return t, nil
}
