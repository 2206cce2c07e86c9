package mcp

import (
	"context"
	"errors"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
)

type whyIn struct {
	URL   string `json:"url" jsonschema:"the address of a document, in full"`
	Owner string `json:"owner,omitempty" jsonschema:"for the operator: whose watches are asked, if not where the URL stands in the queues"`
}

type whyOut struct {
	Notice  string        `json:"notice"`
	URL     string        `json:"url"`
	Watches []whyWatch    `json:"watches" jsonschema:"each watch of yours, and what it has to do with the URL"`
	Left    int           `json:"left,omitempty" jsonschema:"watches that have nothing to do with it and are left out"`
	Queues  []whyPipeline `json:"queues,omitempty" jsonschema:"for the operator: where the URL stands in each pipeline"`
}

type whyWatch struct {
	URD      string   `json:"urd"`
	Of       string   `json:"of" jsonschema:"what it watches"`
	Interest string   `json:"interest"`
	Asked    bool     `json:"asked" jsonschema:"it is asked about the URL"`
	Why      string   `json:"why" jsonschema:"so, or not"`
	Reasons  []string `json:"reasons" jsonschema:"why its owner was told of what is stored, or not"`
	Alerts   []int64  `json:"alerts" jsonschema:"the numbers of the alerts that it gave about the URL, the latest last"`
}

type whyPipeline struct {
	Pipeline string `json:"pipeline"`
	State    string `json:"state"`
	Because  string `json:"because"`
	Refused  string `json:"refused,omitempty" jsonschema:"why it would be refused if it were offered now"`
}

var whyTool = define("why", "Say of a URL what each of your watches has to do with it: whether their crawls come there, and why you were told of it or not.",
	looks, true, nil, why)

const (
	mostWatches = 50  // that have nothing to do with a URL
	mostReasons = 40  // of one watch
	longReason  = 500 // bytes
)

func why(ctx context.Context, d *Desk, in whyIn, say func(string)) (*whyOut, error) {
	url, err := address(in.URL)
	if err != nil {
		return nil, err
	}
	out := &whyOut{Notice: notice, URL: unmarked(url), Watches: []whyWatch{}}
	owner := in.Owner
	if d.Owner != "" {
		owned, err := d.owned(in.Owner)
		if err != nil {
			return nil, err
		}
		owner = owned.Owner()
	}
	say("the queues are asked")
	err = d.Queues(func(queues explain.Queues) error {
		if owner == "" {
			return out.inQueues(queues, url)
		}
		return out.toOwner(ctx, d, queues, owner, url)
	})
	if err == nil && owner == "" && len(out.Queues) == 0 {
		err = errors.New("nothing was crawled yet")
	}
	return out, err
}

func (o *whyOut) inQueues(queues explain.Queues, url string) error {
	all, err := queues.Statuses(url)
	for _, s := range all {
		o.Queues = append(o.Queues, whyPipeline{s.Pipeline, string(s.State), short(s.Because(), longReason), short(s.Refusal(), longReason)})
	}
	return err
}

func (o *whyOut) toOwner(ctx context.Context, d *Desk, queues explain.Queues, owner, url string) error {
	all, err := queues.ToOwner(ctx, d.Dir, owner, url)
	if err != nil {
		return err
	}
	size := 0
	for _, e := range all {
		w := whyWatch{
			URD: e.ID, Of: unmarked(e.URI), Interest: short(cli.Interest(e.URD.URD), longReason), Asked: e.Asked, Why: short(e.Why, longReason), Reasons: []string{}, Alerts: []int64{},
		}
		for _, line := range e.Lines[:min(len(e.Lines), mostReasons)] {
			w.Reasons = append(w.Reasons, short(line, longReason))
			size += len(w.Reasons[len(w.Reasons)-1])
		}
		for _, a := range e.Told[max(0, len(e.Told)-mostReasons):] {
			w.Alerts = append(w.Alerts, a.Seq)
		}
		if isNothing := !e.Asked && len(e.Told) == 0; size > mostBytes || isNothing && len(o.Watches) >= mostWatches {
			o.Left++
			continue
		}
		o.Watches = append(o.Watches, w)
	}
	return nil
}
