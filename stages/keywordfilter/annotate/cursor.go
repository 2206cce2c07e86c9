package annotate

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/series"
	"github.com/webrace/webrace/storage/objects"
)

// Lists finds the pages of lists that are paged by a cursor, as they are stored. Addresses alone prove no list: what a
// front page has as the story of the day, it links by the same words, too. So the pages of a list lead on: the link to
// the next page is called the same on each, and no other is.
type Lists struct {
	Objects *objects.Store
	Secret  string
	Until   time.Time // what was fetched later is not there; the zero time for all
}

// Around returns the pages from which something may have come to a page that stands in the place of another of its
// list: that one, those around it, and the page in front; none if it is no list. By that name the page in front leads
// to it; "" for any.
func (l *Lists) Around(i webrace.Instead, name string, front ...string) (pages []Page, err error) {
	was, still, err := l.link(i)
	if err != nil || was == "" || name != "" && name != was {
		return nil, err
	}
	next, err := l.next(i.Of, was)
	if err != nil || next == "" && !series.Alike(i.Before, i.Of) {
		return nil, err
	}
	pages = []Page{{URL: i.Of, Near: true, Gone: true}, {URL: i.Before, Near: true, Gone: still}}
	if next != "" {
		pages = append(pages, Page{URL: next, Near: true, Gone: true})
	}
	for _, url := range front {
		pages = append(pages, Page{URL: url, Near: true})
	}
	return pages, nil
}

// Behind returns the page that was behind a page of a list, where that has another behind it now; none if that is as it
// was, or it is no list. The links are those of the version before.
func (l *Lists) Behind(d *webrace.Document, linksBefore func() ([]string, error)) ([]Page, error) {
	path, _, _ := strings.Cut(d.URL, "?")
	isOfPath := func(link string) bool { return strings.HasPrefix(link, path+"?") }
	if !slices.ContainsFunc(d.Links, isOfPath) {
		return nil, nil
	}
	before, err := linksBefore()
	if err != nil {
		return nil, err
	}
	var named namedLinks
	for _, link := range d.Links {
		was := ""
		if isOfPath(link) {
			was = series.InsteadOf(link, before, d.Links, d.URL)
		}
		if was == "" {
			continue
		}
		if named.links == nil {
			named = readLinks(d.Body, extract.ContentType(d.Header, d.MediaType), d.URL)
		}
		name := named.name(link)
		if name == "" {
			continue
		}
		list, err := l.Around(webrace.Instead{Of: was, Before: d.URL}, name)
		if err != nil || len(list) > 0 {
			return []Page{{URL: was, Near: true, Next: true}}, err
		}
	}
	return nil, nil
}

// link returns what the page in front calls the one that stood in a place, and whether it still leads there.
func (l *Lists) link(i webrace.Instead) (name string, still bool, err error) {
	versions, err := l.versions(i.Before)
	if err != nil {
		return "", false, err
	}
	for n, v := range slices.Backward(versions) {
		links, err := l.Objects.Links(v)
		if err = unlessGone(err); err != nil {
			return "", false, err
		}
		if slices.Contains(links, i.Of) {
			name, err := l.nameIn(v, i.Of)
			return name, n == len(versions)-1, err
		}
	}
	return "", false, nil
}

// NameOf returns what the latest version of a page calls another; "" if it calls several so.
func (l *Lists) NameOf(page, url string) (string, error) {
	versions, err := l.versions(page)
	if err != nil || len(versions) == 0 {
		return "", err
	}
	return l.nameIn(versions[len(versions)-1], url)
}

// next returns the page of its list to which a page leads on by a link of a name; "" for none.
func (l *Lists) next(page, name string) (string, error) {
	versions, err := l.versions(page)
	if err != nil || len(versions) == 0 {
		return "", err
	}
	named, err := l.read(versions[len(versions)-1])
	if err != nil {
		return "", err
	}
	return named.next(page, name), nil
}

func (l *Lists) nameIn(v objects.Version, url string) (string, error) {
	named, err := l.read(v)
	return named.name(url), err
}

// versions returns the last versions of a page.
func (l *Lists) versions(page string) ([]objects.Version, error) {
	all, err := l.Objects.Versions(objects.View(l.Secret, page))
	if err = unlessGone(err); err != nil {
		return nil, err
	}
	if !l.Until.IsZero() {
		all = slices.DeleteFunc(all, func(v objects.Version) bool { return v.FetchedAt.After(l.Until) })
	}
	const last = 8
	return all[max(0, len(all)-last):], nil
}

func (l *Lists) read(v objects.Version) (namedLinks, error) {
	body, header, err := l.Objects.Body(v)
	if err != nil {
		return namedLinks{}, unlessGone(err)
	}
	return readLinks(body, extract.ContentType(header, v.MediaType), v.URL), nil
}

func unlessGone(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

// namedLinks are the links of a page, and what they are called there.
type namedLinks struct{ links, names []string }

func readLinks(body []byte, contentType, url string) namedLinks {
	r, err := extract.Document(body, contentType, url, extract.Options{Anchors: true})
	if err != nil {
		return namedLinks{}
	}
	n := namedLinks{links: r.Links[:min(len(r.Links), len(r.Anchors))]}
	for _, anchor := range r.Anchors[:len(n.links)] {
		n.names = append(n.names, strings.ToLower(anchor))
	}
	return n
}

// name returns what a link is called, if no other is called so.
func (n namedLinks) name(url string) string {
	i := slices.Index(n.links, url)
	if i < 0 || n.count(n.names[i]) > 1 {
		return ""
	}
	return n.names[i]
}

func (n namedLinks) count(name string) (times int) {
	for _, other := range n.names {
		if other == name {
			times++
		}
	}
	return times
}

// next returns the page of the same list that a link of a name leads to, if it is the only one of that name.
func (n namedLinks) next(page, name string) string {
	i := slices.Index(n.names, name)
	if i < 0 || n.count(name) > 1 || !series.Alike(page, n.links[i]) {
		return ""
	}
	return n.links[i]
}
