package portal

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// inboxRoutes are those of what one was told.
var inboxRoutes = []route{
	{pattern: "GET /{$}", own: showInbox, section: "inbox"},
	{pattern: "GET /new", own: showWhetherNew},
	{pattern: "POST /marks", own: markSome},
	{pattern: "GET /a/{seq}", own: showItem, section: "inbox", program: true},
	{pattern: "GET /a/{seq}/page", own: giveRaw},
	{pattern: "POST /a/{seq}", own: markItem},
}

// inPage is how many annotations a page of the inbox has.
const inPage = 50

// inboxPage is what the inbox shows.
type inboxPage struct {
	Filter    inboxQuery
	Facets    []facet
	Interests []choice
	Rows      []inboxRow
	Older     string // where those go on that are older; empty: there are none
	Newest    int64  // the latest of all, from which it is asked whether there are new ones
	Empty     bool   // nothing was ever told
}

// facet is a part of the inbox that can be shown alone.
type facet struct {
	Label, Link string
	Count       int
	Chosen      bool
}

// inboxRow is an annotation in a list.
type inboxRow struct {
	Seq                                    int64
	Title, Host, Summary, Judgement, When  string
	Interest, InterestID                   string
	State                                  control.InboxState
	Relevance                              int
	Urgent, Unread, Useful, Useless, InBin bool
	Keywords                               []string
	Also                                   int
}

// inboxQuery is what of the inbox is asked for, as the URL has it.
type inboxQuery struct {
	State   string // one of the states; empty: all but the bin
	URD     string
	Urgent  bool
	ByWorth bool // the most relevant first
	Before  int64
}

func readInboxQuery(q url.Values) inboxQuery {
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64)
	query := inboxQuery{URD: q.Get("interest"), Urgent: q.Get("urgent") != "", ByWorth: q.Get("sort") == "relevance", Before: max(before, 0)}
	if slices.Contains(inboxStates, control.InboxState(q.Get("state"))) {
		query.State = q.Get("state")
	}
	return query
}

// inboxStates are the states that can be shown alone, in the order in which they are offered.
var inboxStates = []control.InboxState{control.Unread, control.Read, control.Useful, control.Useless, control.Bin}

// Link is the URL of the inbox with the query.
func (q inboxQuery) Link() string {
	v := make(url.Values)
	set := func(name, value string, is bool) {
		if is {
			v.Set(name, value)
		}
	}
	set("state", q.State, q.State != "")
	set("interest", q.URD, q.URD != "")
	set("urgent", "1", q.Urgent)
	set("sort", "relevance", q.ByWorth)
	set("before", strconv.FormatInt(q.Before, 10), q.Before > 0)
	if len(v) == 0 {
		return "/"
	}
	return "/?" + v.Encode()
}

// filter is the query as the store takes it.
func (q inboxQuery) filter() control.InboxFilter {
	f := control.InboxFilter{URD: q.URD, Before: q.Before, ByRelevance: q.ByWorth, Limit: inPage + 1}
	if q.Urgent {
		f.Urgency = 3
	}
	if q.State != "" {
		f.States = []control.InboxState{control.InboxState(q.State)}
	} else {
		f.States = []control.InboxState{control.Unread, control.Read, control.Useful, control.Useless}
	}
	return f
}

// showInbox shows what its owner was told.
func showInbox(v *visit, mine control.Owned) error {
	ctx := v.r.Context()
	p := inboxPage{Filter: readInboxQuery(v.r.URL.Query())}
	titles, err := p.readInterests(ctx, mine)
	if err != nil {
		return err
	}
	for i, err := range mine.Inbox(ctx, p.Filter.filter()) {
		if err != nil {
			return err
		}
		if len(p.Rows) == inPage {
			older := p.Filter
			older.Before = p.Rows[inPage-1].Seq
			if !older.ByWorth { // by relevance there is the first page alone
				p.Older = older.Link()
			}
			break
		}
		p.Rows = append(p.Rows, v.row(i, titles))
	}
	counts, latest, err := mine.Counts(ctx)
	if err != nil {
		return err
	}
	p.Empty, p.Facets, p.Newest = len(counts) == 0, p.facets(counts), latest
	if v.isPart() {
		return v.part("inbox", "rows", p)
	}
	return v.show(http.StatusOK, "inbox", p)
}

// readInterests reads the titles of the interests, by their ids, and has them to choose from.
func (p *inboxPage) readInterests(ctx context.Context, mine control.Owned) (map[string]string, error) {
	titles := make(map[string]string)
	p.Interests = []choice{{"", text("inbox.any_interest"), p.Filter.URD == ""}}
	for u, err := range mine.URDs(ctx) {
		if err != nil {
			return nil, err
		}
		titles[u.ID] = titleOf(u)
		p.Interests = append(p.Interests, choice{u.ID, titles[u.ID], p.Filter.URD == u.ID})
	}
	return titles, nil
}

// titleOf is how people know an interest.
func titleOf(u control.URD) string {
	if u.Title != "" {
		return u.Title
	}
	return u.URI
}

// judgementOf tells what a model was asked and answered; empty if it was asked nothing.
func judgementOf(j *xmlschema.Judgement) string {
	switch {
	case j == nil:
		return ""
	case j.Answer == xmlschema.AnswerNone:
		return text("item.unjudged", j.Question, j.Reason)
	}
	return text("item.judged", j.Model, j.Question, j.Answer, j.Reason)
}

// row is an annotation as a list shows it.
func (v *visit) row(i control.InboxItem, titles map[string]string) inboxRow {
	r := inboxRow{
		Seq: i.Seq, Title: i.Title, Host: urlnorm.Host(i.URI), Summary: i.Summary, When: v.moment(i.UpdateTime),
		Interest: titles[i.URD], InterestID: i.URD, State: i.State, Relevance: i.Relevance, Urgent: i.Urgency == 3,
		Unread: i.State == control.Unread, Useful: i.State == control.Useful, Useless: i.State == control.Useless, InBin: i.State == control.Bin,
		Keywords: delivery.Found(i.ACI.ACI), Also: i.Also.Count, Judgement: judgementOf(i.Judgement),
	}
	if r.Title == "" {
		r.Title = i.URI
	}
	return r
}

// facets are the parts of the inbox, with how much each has.
func (p *inboxPage) facets(counts map[control.InboxState]int) []facet {
	all := p.Filter
	all.State, all.Before = "", 0
	total := 0
	for state, n := range counts {
		if state != control.Bin {
			total += n
		}
	}
	facets := []facet{{text("inbox.all"), all.Link(), total, p.Filter.State == ""}}
	for _, state := range inboxStates {
		one := all
		one.State = string(state)
		facets = append(facets, facet{text("state." + string(state)), one.Link(), counts[state], p.Filter.State == string(state)})
	}
	return facets
}

// newPage is what is said of annotations that have come since a page was shown.
type newPage struct {
	Count int
	Since int64
	Link  string
}

// showWhetherNew reports how many annotations have come since a page was shown, for its script.
func showWhetherNew(v *visit, mine control.Owned) error {
	q := v.r.URL.Query()
	since, err := strconv.ParseInt(q.Get("since"), 10, 64)
	if err != nil {
		return refuse(http.StatusBadRequest, "error.form")
	}
	p := newPage{Since: since, Link: back(q.Get("to"))}
	for i, err := range mine.Inbox(v.r.Context(), control.InboxFilter{Limit: inPage}) {
		if err != nil {
			return err
		}
		if i.Seq <= since {
			break
		}
		p.Count++
	}
	return v.part("inbox", "new", p)
}

// markSome gives the annotations that were ticked a state.
func markSome(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	state, err := stateOf(f)
	if err != nil {
		return err
	}
	var seqs []int64
	for _, s := range f.Values("seq") {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			seqs = append(seqs, n)
		}
	}
	done := "marked"
	if len(seqs) == 0 {
		done = "none_ticked"
	} else if _, err := mine.Mark(v.r.Context(), state, seqs...); err != nil {
		return err
	}
	return v.see(back(f.Value("to")), done)
}

// stateOf returns the state that a form gives.
func stateOf(f *form) (control.InboxState, error) {
	state := control.InboxState(f.Value("state"))
	if !slices.Contains(inboxStates, state) {
		return "", refuse(http.StatusBadRequest, "error.form")
	}
	return state, nil
}

// markItem gives one annotation a state.
func markItem(v *visit, mine control.Owned) error {
	seq, err := v.number("seq")
	if err != nil {
		return err
	}
	f, err := v.form()
	if err != nil {
		return err
	}
	state, err := stateOf(f)
	if err != nil {
		return err
	}
	n, err := mine.Mark(v.r.Context(), state, seq)
	switch {
	case err != nil:
		return err
	case n == 0:
		return control.ErrNotFound
	case !v.isPart():
		return v.see(back(f.Value("to")), "marked")
	}
	item, err := mine.Item(v.r.Context(), seq)
	if errors.Is(err, control.ErrNotFound) {
		return err
	}
	titles, err := new(inboxPage).readInterests(v.r.Context(), mine)
	if err != nil {
		return err
	}
	return v.part("inbox", "row", v.row(item, titles))
}
