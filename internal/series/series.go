// Package series knows by their addresses which pages are of one list that goes over several.
package series

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/urlnorm"
)

// A list that goes over several pages has one address, but for the number of the page or of its first entry.

// pageNames are what such a number is called in a query, and whether it counts pages. `p` is that of an article where
// the path is that of a directory; `id` tells nothing.
var pageNames = map[string]bool{
	"page": true, "paged": true, "pg": true, "p": true, "pageno": true, "page_no": true, "pagenum": true, "page_num": true,
	"pagenumber": true, "page_number": true, "currentpage": true, "seite": true, "pagina": true, "sida": true, "strona": true,
	"offset": false, "start": false, "startindex": false, "start_index": false, "from": false, "first": false, "skip": false,
}

// inSeries is where a page would stand in a list.
type inSeries struct {
	address string // of another page

	list   string // the address without the number, and without a slash at its end
	number int    // noNumber where there is none: mostly, it is the first
	before string // the address with the number before; empty where the numbers are not those of pages
}

const noNumber = -1

// placeOf returns where the page at an address would stand in a list.
func placeOf(address string) inSeries {
	path, query, _ := strings.Cut(address, "?")
	bare := strings.TrimSuffix(path, "/")
	if i := strings.LastIndex(bare, "/page/"); i >= 0 {
		if n, is := pageNumber(bare[i+len("/page/"):]); is {
			return inSeries{list: withQuery(bare[:i], query), number: n, before: withQuery(bare[:i+len("/page/")]+strconv.Itoa(n-1)+path[len(bare):], query)}
		}
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		counts, known := pageNames[strings.ToLower(name)]
		n, is := pageNumber(value)
		if !known || !is || name == "p" && bare != path {
			continue
		}
		at := inSeries{list: withQuery(bare, strings.Join(slices.Delete(slices.Clone(parts), i, i+1), "&")), number: n}
		if parts[i] = name + "=" + strconv.Itoa(n-1); counts {
			at.before = withQuery(path, strings.Join(parts, "&"))
		}
		return at
	}
	return inSeries{list: withQuery(bare, query), number: noNumber}
}

func withQuery(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

// pageNumber returns the number that a text is, if a page may have it.
func pageNumber(text string) (n int, is bool) {
	if text == "" || len(text) > 7 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// Near returns the addresses that the page before a page and the one behind it may have, if it is of a list, by its own
// address and by what leads to it and on from it. It may be the first page under two names: then two are behind it.
func Near(page string, links ...string) (before, next []string) {
	if urlnorm.IsMarked(page) {
		return nil, nil
	}
	at := placeOf(page)
	others := linked(page, at, links)
	slices.SortFunc(others, func(x, y inSeries) int { return cmp.Compare(x.number, y.number) })
	first, _ := slices.BinarySearchFunc(others, at.number, func(o inSeries, n int) int { return cmp.Compare(o.number, n) })
	for _, o := range others[first:] {
		if o.number != others[first].number && (at.number != noNumber || others[first].number > 1) {
			break
		}
		next = append(next, o.address)
	}
	if at.number == noNumber {
		return nil, next
	}
	switch {
	case at.before != "":
		before = []string{at.before}
	case first > 0:
		before = []string{others[first-1].address}
	}
	if len(before) == 0 || at.before != "" && at.number <= 2 { // the first page mostly has no number
		base, query, _ := strings.Cut(at.list, "?")
		before = append(before, at.list, withQuery(base+"/", query))
	}
	return before, next
}

// Among returns the links of a page that lead to other pages of its list.
func Among(page string, links []string) (all []string) {
	for _, other := range linked(page, placeOf(page), links) {
		all = append(all, other.address)
	}
	return all
}

// linked returns where those links of a page stand in its list that lead to other pages of it.
func linked(page string, at inSeries, links []string) (all []inSeries) {
	path, _, _ := strings.Cut(at.list, "?")
	for _, address := range links {
		if !strings.HasPrefix(address, path) || address == page {
			continue
		}
		if other := placeOf(address); other.list == at.list && other.number != at.number {
			other.address = address
			all = append(all, other)
		}
	}
	return all
}

// Same reports whether the pages at two addresses would be of one list.
func Same(a, b string) bool { return placeOf(a).list == placeOf(b).list }
