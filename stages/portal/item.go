package portal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// itemPage is what is shown of one annotation.
type itemPage struct {
	inboxRow
	URI       string // of the document, to follow; empty: it has none on the web
	Shown     string // the URI as it is written
	Version   int
	Threshold int
	Why       []whyRow
	Also      []xmlschema.Mirror
	More      int // further documents of the same text
}

// whyRow is what one keyword added to a relevance.
type whyRow struct {
	Key                              string
	Weight                           int
	Title, Heading, Body, Navigation int
	Percent                          int // of the relevance
	Found                            bool
}

// showItem shows one annotation: as a page, or as the ending of its name says: .txt, .json or .xml. It stays unread
// until that is said by a POST.
func showItem(v *visit, mine control.Owned) error {
	name, format, _ := strings.Cut(v.r.PathValue("seq"), ".")
	v.r.SetPathValue("seq", name)
	seq, err := v.number("seq")
	if err != nil {
		return err
	}
	i, err := mine.Item(v.r.Context(), seq)
	if err != nil {
		return err
	}
	if format != "" {
		return v.writeItem(i, format)
	}
	u, err := mine.URD(v.r.Context(), i.URD)
	if err != nil && !errors.Is(err, control.ErrNotFound) {
		return err
	}
	titles := make(map[string]string)
	if err == nil {
		titles[i.URD] = titleOf(u)
	}
	p := v.itemPage(i, titles)
	return v.showTitled(http.StatusOK, "item", p.Title, p)
}

func (v *visit) itemPage(i control.InboxItem, titles map[string]string) itemPage {
	p := itemPage{inboxRow: v.row(i, titles), URI: onTheWeb(i.URI), Shown: i.URI, Version: i.Docbase.Version, Also: i.ACI.Also.Documents, More: i.ACI.Also.More()}
	if i.Explain == nil {
		return p
	}
	p.Threshold = i.Explain.Threshold
	for _, k := range i.Explain.Keywords {
		p.Why = append(p.Why, whyRow{
			Key: k.Key, Weight: k.Weight, Title: k.Title, Heading: k.Heading, Body: k.Body, Navigation: k.Navigation,
			Percent: int(k.Share*100 + 0.5), Found: k.Title+k.Heading+k.Body+k.Navigation > 0,
		})
	}
	return p
}

// onTheWeb returns a URL that a person can follow; empty for others.
func onTheWeb(uri string) string {
	if u, err := url.Parse(uri); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return uri
}

// writeItem writes an annotation in a format for programs, or for a terminal.
func (v *visit) writeItem(i control.InboxItem, format string) error {
	h := v.w.Header()
	switch format {
	case "txt":
		h.Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintf(v.w, "%s\n%s\n\n%s\n\n%s %d%%\n", i.Title, i.URI, i.Summary, text("item.relevance"), i.Relevance)
	case "json":
		body, err := json.Marshal(i.ACI.ACI)
		if err != nil {
			return err
		}
		h.Set("Content-Type", "application/json")
		_, _ = v.w.Write(append(body, '\n'))
	case "xml":
		h.Set("Content-Type", "application/xml")
		h.Set("Content-Length", strconv.Itoa(len(i.Canonical())))
		_, _ = v.w.Write(i.Canonical())
	default:
		return control.ErrNotFound
	}
	return nil
}
