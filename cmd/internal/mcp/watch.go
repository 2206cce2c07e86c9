package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

type watchIn struct {
	Action   string   `json:"action" jsonschema:"add, list, pause, resume or remove"`
	ID       string   `json:"id,omitempty" jsonschema:"which one, to pause, resume or remove"`
	URL      string   `json:"url,omitempty" jsonschema:"to add: the page to watch; one that ends in * watches what other crawls bring from under it"`
	Keywords []string `json:"keywords,omitempty" jsonschema:"to add: tell of pages with these words alone, each as WORD or WORD:WEIGHT with a weight of 1 to 5; without any, of every change"`
	Select   []string `json:"select,omitempty" jsonschema:"to add: look at these parts of the page alone: [css:|xpath:|jq:|regex:]RULE"`
	Ignore   []string `json:"ignore,omitempty" jsonschema:"to add: leave these parts of the page out"`
	Depth    int      `json:"depth,omitempty" jsonschema:"to add: levels of pages, 1 (the page alone) unless the operator lets agents begin crawls"`
	Timing   string   `json:"timing,omitempty" jsonschema:"to add: the longest time between visits, as 1h; else left to the schedule"`
	Secret   string   `json:"secret,omitempty" jsonschema:"to add: the name of the owner's credentials to ask with"`
	Title    string   `json:"title,omitempty" jsonschema:"to add: a line that names it"`
	Offset   int      `json:"offset,omitempty" jsonschema:"to list: how many to leave out: next of the answer before"`
	Owner    string   `json:"owner,omitempty" jsonschema:"for the operator: whose"`
}

type watchOut struct {
	ID      string    `json:"id,omitempty"`
	Effect  string    `json:"effect,omitempty" jsonschema:"added, known, paused, resumed, unchanged or removed"`
	Remarks []string  `json:"remarks,omitempty" jsonschema:"what of it is probably not meant"`
	Watches []watched `json:"watches,omitempty"`
	Next    int       `json:"next,omitempty" jsonschema:"as offset, for those that follow"`
}

// watched is a URD as it is listed.
type watched struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Title    string `json:"title,omitempty"`
	Interest string `json:"interest"`
	Depth    int    `json:"depth"`
	Timing   string `json:"timing,omitempty"`
	Secret   string `json:"secret,omitempty"`
	Paused   bool   `json:"paused,omitempty"`
}

const watchesOnPage = 100

var watchTool = define("watch", "Be told of changes from now on: add a watch (a URD) of a page, list those there are, pause, resume or remove one.",
	changes, false, nil, watch).oneOf("action", "add", "list", "pause", "resume", "remove")

func watch(ctx context.Context, d *Desk, in watchIn, _ func(string)) (*watchOut, error) {
	mine, err := d.owned(in.Owner)
	if err != nil {
		return nil, err
	}
	switch in.Action {
	case "add":
		u, err := in.urd(mine.Owner())
		if err != nil {
			return nil, err
		}
		return d.addURD(ctx, mine, u)
	case "list":
		return in.list(ctx, mine)
	case "pause", "resume":
		return in.setPaused(ctx, mine, in.Action == "pause")
	case "remove":
		if err := in.needsID(); err != nil {
			return nil, err
		}
		if err := mine.Delete(ctx, in.ID); err != nil {
			return nil, noURD(err, in.ID)
		}
		return &watchOut{ID: in.ID, Effect: "removed"}, nil
	}
	return nil, fmt.Errorf("action %q: it is add, list, pause, resume or remove", short(in.Action, 50))
}

func (in watchIn) needsID() error {
	if in.ID == "" {
		return fmt.Errorf("to %s one, say which: id, as action list has it", in.Action)
	}
	return nil
}

// urd returns what is asked for as a URD.
func (in watchIn) urd(owner string) (*xmlschema.URD, error) {
	if in.URL == "" {
		return nil, errors.New("to add a watch, say of which page: url")
	}
	if in.ID != "" {
		return nil, errors.New("an id is given by webrace: leave it out to add a watch")
	}
	u := xmlschema.NewURD(owner, in.URL)
	u.Protocol, u.Secret, u.Title, u.Depth = xmlschema.ProtocolOf(in.URL), in.Secret, strings.TrimSpace(in.Title), 1
	if in.Depth != 0 {
		u.Depth = in.Depth
	}
	if in.Timing != "" {
		var err error
		if u.Timing, err = time.ParseDuration(in.Timing); err != nil || u.Timing <= 0 {
			return nil, fmt.Errorf("timing %q: write it as 30m or 1h", short(in.Timing, 50))
		}
	}
	keywords, err := cli.ParseKeywords(in.Keywords)
	if err != nil {
		return nil, err
	}
	if len(keywords) > 0 {
		u.Keywords = xmlschema.NewKeywords(keywords...)
	} else {
		u.ProcessType = xmlschema.ProcessNonFilter
	}
	if u.Select, err = cli.ParseRules("--select", in.Select); err != nil {
		return nil, err
	}
	if u.Ignore, err = cli.ParseRules("--ignore", in.Ignore); err != nil {
		return nil, err
	}
	return u, u.Validate()
}

// addURD stores a URD that is served, and is within the limits.
func (d *Desk) addURD(ctx context.Context, mine control.Owned, u *xmlschema.URD) (*watchOut, error) {
	if err := d.Limits.allowsWatch(u); err != nil {
		return nil, err
	}
	remarks := u.Advice()
	for _, fault := range d.Globals.CheckURD(u) {
		if !fault.Warning {
			return nil, errors.New(fault.Message)
		}
		remarks = append(remarks, fault.Message)
	}
	id, err := mine.Add(ctx, u)
	if known := (*control.TakenError)(nil); errors.As(err, &known) {
		return &watchOut{ID: known.Name, Effect: "known"}, nil
	}
	if err != nil {
		return nil, err
	}
	return &watchOut{ID: id, Effect: "added", Remarks: remarks}, nil
}

func (in watchIn) list(ctx context.Context, mine control.Owned) (*watchOut, error) {
	out := &watchOut{}
	n := 0
	for u, err := range mine.URDs(ctx) {
		if err != nil {
			return nil, err
		}
		if n++; n <= in.Offset {
			continue
		}
		if len(out.Watches) == watchesOnPage {
			out.Next = in.Offset + watchesOnPage
			break
		}
		w := watched{ID: u.ID, URL: u.URI, Title: u.Title, Interest: short(cli.Interest(u.URD), 500), Depth: u.Depth, Secret: u.Secret, Paused: u.Paused}
		if u.Timing > 0 {
			w.Timing = u.Timing.String()
		}
		out.Watches = append(out.Watches, w)
	}
	return out, nil
}

func (in watchIn) setPaused(ctx context.Context, mine control.Owned, paused bool) (*watchOut, error) {
	if err := in.needsID(); err != nil {
		return nil, err
	}
	done, err := mine.Change(ctx, []string{in.ID}, func(u *xmlschema.URD) error {
		u.Paused = paused
		return nil
	})
	if err != nil {
		return nil, noURD(err, in.ID)
	}
	out := &watchOut{ID: in.ID, Effect: string(done[0].Effect)}
	if done[0].Effect == control.Changed {
		out.Effect = in.Action + "d"
	}
	return out, nil
}
