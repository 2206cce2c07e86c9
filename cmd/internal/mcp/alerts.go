package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/control"
)

type alertsIn struct {
	Action string `json:"action" jsonschema:"list, or take: those that wait, which wait no more then"`
	After  int64  `json:"after,omitempty" jsonschema:"to list: those with a greater number: next of the answer before"`
	URD    string `json:"urd,omitempty" jsonschema:"to list: those of this watch alone"`
	URL    string `json:"url,omitempty" jsonschema:"to list: those about this URL alone"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many: 1 to 50, else 20"`
	Owner  string `json:"owner,omitempty" jsonschema:"for the operator: whose"`
}

type alertsOut struct {
	Notice string  `json:"notice"`
	Alerts []alert `json:"alerts" jsonschema:"in the order in which they came"`
	Next   int64   `json:"next,omitempty" jsonschema:"to list: as after, for those that follow"`
	More   bool    `json:"more,omitempty" jsonschema:"to take: more wait"`
}

type alert struct {
	Number    int64  `json:"number"`
	URD       string `json:"urd" jsonschema:"the watch: name it to read the document as that sees it"`
	URL       string `json:"url"`
	Title     string `json:"title,omitempty"`
	Summary   string `json:"summary" jsonschema:"quoted: what is new, with what was found in «»"`
	Relevance int    `json:"relevance" jsonschema:"0 to 100"`
	Urgency   int    `json:"urgency" jsonschema:"1 to 3, 3 the most urgent"`
	Version   int    `json:"version,omitempty"`
	Since     int    `json:"since,omitempty" jsonschema:"the version that was known before: compare with diff"`
	At        string `json:"at"`
	Taken     bool   `json:"taken"`
	Withheld  bool   `json:"withheld,omitempty" jsonschema:"title and summary are left out, because the page's owner states that no model is to be given it"`
}

const (
	alertsAtOnce = 50
	alertsOnPage = 20
	longSummary  = 1000 // bytes
)

var alertsTool = define("alerts", "List what you were told: what is new on the pages that you watch. Take those that wait to be told of each once.",
	changes, true, nil, alerts).oneOf("action", "list", "take")

func alerts(ctx context.Context, d *Desk, in alertsIn, _ func(string)) (*alertsOut, error) {
	if in.Limit < 0 || in.Limit > alertsAtOnce {
		return nil, fmt.Errorf("limit %d: it is 1 to %d", in.Limit, alertsAtOnce)
	}
	if in.Limit == 0 {
		in.Limit = alertsOnPage
	}
	mine, err := d.owned(in.Owner)
	if err != nil {
		return nil, err
	}
	out := &alertsOut{Notice: notice, Alerts: []alert{}}
	switch in.Action {
	case "list":
		return out, in.list(ctx, d, mine.Owner(), out)
	case "take":
		if in.After != 0 || in.URD != "" || in.URL != "" {
			return nil, errors.New("take goes with limit alone: what waits is taken in its order")
		}
		taken, more, err := mine.Take(ctx, in.Limit)
		if err != nil {
			return nil, err
		}
		out.More = more
		for _, a := range taken {
			if err := d.tell(ctx, out, a); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("action %q: it is list or take", short(in.Action, 50))
}

func (in alertsIn) list(ctx context.Context, d *Desk, owner string, out *alertsOut) (err error) {
	filter := control.Filter{Owner: owner, URD: in.URD, After: in.After, Limit: in.Limit + 1}
	if in.URL != "" {
		if filter.URL, err = address(in.URL); err != nil {
			return err
		}
	}
	store, err := d.Dir.Control()
	if err != nil {
		return err
	}
	for a, err := range store.ACIs(ctx, filter) {
		if err != nil {
			return err
		}
		if len(out.Alerts) == in.Limit {
			out.Next = out.Alerts[in.Limit-1].Number
			break
		}
		if err := d.tell(ctx, out, a); err != nil {
			return err
		}
	}
	return nil
}

// tell adds an alert, without what it quotes if that is not to be given to a model.
func (d *Desk) tell(ctx context.Context, out *alertsOut, a control.ACI) error {
	told := alertOf(a)
	withheld, err := d.isWithheld(ctx, a)
	if withheld {
		told.Title, told.Summary, told.Withheld = "", "", true
	}
	out.Alerts = append(out.Alerts, told)
	return err
}

func alertOf(a control.ACI) alert {
	return alert{
		Number: a.Seq, URD: a.URD, URL: unmarked(a.URI), Title: short(a.Title, 300), Summary: short(a.Summary, longSummary), Relevance: a.Relevance, Urgency: a.Urgency,
		Version: a.Docbase.Version, Since: a.Docbase.Since, At: moment(a.UpdateTime), Taken: !a.Retrieved.IsZero(),
	}
}
