package mcp

import (
	"context"
	"fmt"
)

type linksIn struct {
	URL     string `json:"url" jsonschema:"the address of a document, in full"`
	Version int    `json:"version,omitempty" jsonschema:"which stored version; without it, the latest"`
	URD     string `json:"urd,omitempty" jsonschema:"the id of a watch of yours: the document as that sees it, with its credentials"`
	Offset  int    `json:"offset,omitempty" jsonschema:"how many to leave out: next of the answer before"`
}

type linksOut struct {
	Notice  string   `json:"notice"`
	URL     string   `json:"url"`
	Version int      `json:"version"`
	Total   int      `json:"total"`
	Links   []string `json:"links" jsonschema:"where the document leads, in its order"`
	Next    int      `json:"next,omitempty" jsonschema:"as offset, for those that follow"`
}

const linksOnPage = 200

var linksTool = define("links", "List where a stored document leads.", looks, true, nil, links)

func links(ctx context.Context, d *Desk, in linksIn, _ func(string)) (*linksOut, error) {
	document, err := d.see(ctx, in.URL, in.URD)
	if err != nil {
		return nil, err
	}
	version, err := document.version(in.Version)
	if err != nil {
		return nil, err
	}
	all, err := document.cache.Links(version)
	if err != nil {
		return nil, err
	}
	if in.Offset < 0 || in.Offset > len(all) {
		return nil, fmt.Errorf("offset %d: it has %d links; begin with 0, and go on with what next says", in.Offset, len(all))
	}
	out := &linksOut{Notice: notice, URL: document.shownURL(), Version: version.Number, Total: len(all), Links: []string{}}
	size := 0
	for i, link := range all[in.Offset:] {
		if size += len(link); i == linksOnPage || size > mostBytes {
			out.Next = in.Offset + i
			break
		}
		out.Links = append(out.Links, unmarked(link))
	}
	return out, nil
}
