package portal

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/storage/control"
)

// interestRoutes are those of what one wants to know.
var interestRoutes = []route{
	{pattern: "GET /interests", own: showInterests, section: "interests"},
	{pattern: "POST /interests", own: changeInterests, section: "interests"},
	{pattern: "GET /interests.xml", own: exportXML, program: true},
	{pattern: "GET /interests.json", own: exportJSON, program: true},
	{pattern: "GET /interests.opml", own: exportOPML, program: true},
	{pattern: "GET /interests/new", own: showNewInterest, section: "interests"},
	{pattern: "POST /interests/new", own: addInterest, section: "interests"},
	{pattern: "POST /interests/preview", own: previewInterest, section: "interests", long: true},
	{pattern: "GET /interests/{id}", own: showInterest, section: "interests"},
	{pattern: "POST /interests/{id}", own: changeInterest, section: "interests"},
	{pattern: "GET /interests/{id}/delete", own: showDeletion, section: "interests"},
	{pattern: "POST /interests/{id}/delete", own: deleteInterest, section: "interests"},
	{pattern: "POST /interests/{id}/pause", own: pauseInterest},
	{pattern: "POST /interests/{id}/resume", own: resumeInterest},
	{pattern: "POST /interests/{id}/now", own: checkInterest},
}

// interestsInPage is how many interests a page of the list has.
const interestsInPage = 100

// interestsPage is what the list of interests shows.
type interestsPage struct {
	Query          interestsQuery
	Labels         []facet
	Rows           []interestRow
	Found          int
	Before, Behind string // the pages around; empty: there are none
	Empty          bool   // there are no interests at all
	Form           *form  // what was to be done with those that are ticked
}

// interestRow is an interest in a list.
type interestRow struct {
	ID, Link, Title, Source string
	Labels                  []facet
	Paused                  bool
	Rests                   bool // it starts no crawl, though it is not paused
	Asked                   string
	Told                    int // annotations in the inbox
	Marked, Share           int // how many were marked as useful or not, and how many of 100 of these as useful
	Ticked                  bool
}

// interestsQuery is what of the interests is asked for, as the URL has it.
type interestsQuery struct {
	Label, Text string
	Page        int // from 1
}

func readInterestsQuery(q url.Values) interestsQuery {
	page, _ := strconv.Atoi(q.Get("page"))
	return interestsQuery{q.Get("label"), strings.TrimSpace(q.Get("q")), max(page, 1)}
}

// Link is the URL of the list with the query.
func (q interestsQuery) Link() string {
	v := make(url.Values)
	if q.Label != "" {
		v.Set("label", q.Label)
	}
	if q.Text != "" {
		v.Set("q", q.Text)
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	if len(v) == 0 {
		return "/interests"
	}
	return "/interests?" + v.Encode()
}

// admits reports whether an interest is asked for.
func (q interestsQuery) admits(u control.URD) bool {
	if q.Label != "" && !slices.Contains(u.Labels, q.Label) {
		return false
	}
	if q.Text == "" {
		return true
	}
	all := u.Title + "\n" + u.URI
	for k := range u.Keywords.All() {
		all += "\n" + k.Key
	}
	return strings.Contains(strings.ToLower(all), strings.ToLower(q.Text))
}

// interestPath is where an interest is.
func interestPath(id string) string { return "/interests/" + url.PathEscape(id) }

// showInterests shows what its owner wants to know.
func showInterests(v *visit, mine control.Owned) error {
	p, err := v.interestsPage(mine, readInterestsQuery(v.r.URL.Query()), newForm(nil))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "interests", p)
}

// interestsPage makes the list, with what is wrong with what was to be done with it.
func (v *visit) interestsPage(mine control.Owned, q interestsQuery, f *form) (interestsPage, error) {
	p := interestsPage{Query: q, Form: f}
	all, err := interestsOf(v.r.Context(), mine)
	if err != nil {
		return p, err
	}
	p.Empty = len(all) == 0
	p.Labels = labelFacets(all, q)
	all = slices.DeleteFunc(all, func(u control.URD) bool { return !q.admits(u) })
	p.Found = len(all)
	from := min((q.Page-1)*interestsInPage, (max(p.Found, 1)-1)/interestsInPage*interestsInPage)
	to := min(from+interestsInPage, p.Found)
	p.Query.Page = from/interestsInPage + 1
	shown := all[from:to]
	ids := make([]string, len(shown))
	for i, u := range shown {
		ids[i] = u.ID
	}
	counts, err := mine.InboxCounts(v.r.Context(), ids...)
	if err != nil {
		return p, err
	}
	for _, u := range shown {
		row := v.interestRow(u, counts[u.ID])
		row.Ticked = f.Is("id", u.ID)
		p.Rows = append(p.Rows, row)
	}
	around := p.Query
	if around.Page = p.Query.Page - 1; from > 0 {
		p.Before = around.Link()
	}
	if around.Page = p.Query.Page + 1; to < p.Found {
		p.Behind = around.Link()
	}
	return p, nil
}

// interestsOf returns all interests of an owner, by their titles.
func interestsOf(ctx context.Context, mine control.Owned) (all []control.URD, err error) {
	for u, err := range mine.URDs(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	slices.SortStableFunc(all, func(a, b control.URD) int {
		return cmp.Or(strings.Compare(strings.ToLower(titleOf(a)), strings.ToLower(titleOf(b))), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// labelFacets are the labels that there are, with how many interests each has.
func labelFacets(all []control.URD, q interestsQuery) []facet {
	counts := make(map[string]int)
	var labels []string
	for _, u := range all {
		for _, label := range u.Labels {
			if counts[label]++; counts[label] == 1 {
				labels = append(labels, label)
			}
		}
	}
	if len(labels) == 0 {
		return nil
	}
	facets := []facet{{text("interests.all"), interestsQuery{Text: q.Text}.Link(), len(all), q.Label == ""}}
	slices.Sort(labels)
	for _, label := range labels {
		facets = append(facets, facet{label, interestsQuery{Label: label, Text: q.Text}.Link(), counts[label], q.Label == label})
	}
	return facets
}

// interestRow is an interest as a list shows it.
func (v *visit) interestRow(u control.URD, counts map[control.InboxState]int) interestRow {
	row := interestRow{
		ID: u.ID, Link: interestPath(u.ID), Title: titleOf(u), Source: u.URI, Paused: u.Paused, Rests: u.Crawl.ID == "" && !u.Paused, Asked: v.moment(u.CheckAsked),
		Marked: counts[control.Useful] + counts[control.Useless],
	}
	for _, label := range u.Labels {
		row.Labels = append(row.Labels, facet{Label: label, Link: interestsQuery{Label: label}.Link()})
	}
	for state, n := range counts {
		if state != control.Bin {
			row.Told += n
		}
	}
	if row.Marked > 0 {
		row.Share = (100*counts[control.Useful] + row.Marked/2) / row.Marked
	}
	return row
}
