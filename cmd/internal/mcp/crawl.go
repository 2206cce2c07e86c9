package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/frontier"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/urds"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

type crawlIn struct {
	Action   string   `json:"action" jsonschema:"start, state or stop"`
	URL      string   `json:"url,omitempty" jsonschema:"to start: where"`
	Depth    int      `json:"depth,omitempty" jsonschema:"to start: levels of pages, 1 is the start alone; else 2, within what the operator allows"`
	Keywords []string `json:"keywords,omitempty" jsonschema:"to start: tell of pages with these words, each as WORD or WORD:WEIGHT; without any, of each page when it is first seen"`
	ID       string   `json:"id,omitempty" jsonschema:"to stop, or for the state of one alone: which"`
	Wait     int      `json:"wait,omitempty" jsonschema:"for the state of one: wait so many seconds for it to be done, at most 240"`
	Owner    string   `json:"owner,omitempty" jsonschema:"for the operator: whose"`
}

type crawlOut struct {
	ID     string       `json:"id,omitempty"`
	Effect string       `json:"effect,omitempty" jsonschema:"started, known or stopped"`
	Crawls []crawlState `json:"crawls,omitempty"`
	Remark string       `json:"remark,omitempty"`
}

// crawlState is how the crawl of a URD stands.
type crawlState struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Depth    int    `json:"depth"`
	State    string `json:"state" jsonschema:"waiting (not begun), crawling, done or paused"`
	Round    int    `json:"round" jsonschema:"which pass it is in"`
	Pending  int    `json:"pending" jsonschema:"URLs that it waits for"`
	Requests uint64 `json:"requests" jsonschema:"made for it in all"`
	Began    string `json:"began,omitempty"`
	Pipeline string `json:"pipeline,omitempty"`
}

const (
	mostCrawls = 100
	mostWait   = 240 // seconds
	waitPoll   = 500 * time.Millisecond
)

// mark is the label of URDs that crawl began.
const mark = "crawl"

var crawlTool = func() tool {
	t := define("crawl", "Begin a crawl from a page, within the limits that the operator has set, see how it stands, or stop it. What it brings is found by search.",
		&sdk.ToolAnnotations{}, false, nil, crawl).oneOf("action", "start", "state", "stop")
	t.offered = func(o Options) bool { return o.Limits.CrawlPages > 0 }
	return t
}()

func crawl(ctx context.Context, d *Desk, in crawlIn, say func(string)) (*crawlOut, error) {
	mine, err := d.owned(in.Owner)
	if err != nil {
		return nil, err
	}
	switch in.Action {
	case "start":
		return in.start(ctx, d, mine)
	case "state":
		return in.state(ctx, d, mine, say)
	case "stop":
		if in.ID == "" {
			return nil, errors.New("say which crawl is to stop: id, as action state has it")
		}
		if err := mine.Delete(ctx, in.ID); err != nil {
			return nil, noURD(err, in.ID)
		}
		return &crawlOut{ID: in.ID, Effect: "stopped", Remark: "a round that is under way is finished; what it brought stays stored"}, nil
	}
	return nil, fmt.Errorf("action %q: it is start, state or stop", short(in.Action, 50))
}

// start begins a crawl by a URD, as everything begins one here: the pipelines that run see it at once.
func (in crawlIn) start(ctx context.Context, d *Desk, mine control.Owned) (*crawlOut, error) {
	if in.URL == "" {
		return nil, errors.New("say where the crawl is to begin: url")
	}
	if in.Depth == 0 {
		in.Depth = min(2, d.Limits.CrawlDepth)
	}
	if err := d.Limits.allowsCrawl(in.URL, in.Depth); err != nil {
		return nil, err
	}
	u := xmlschema.NewURD(mine.Owner(), in.URL)
	u.Depth, u.Urgency, u.Labels, u.Change = in.Depth, 1, []string{mark}, xmlschema.ChangeFirst
	if _, prefix := u.Prefix(); prefix || !u.OfTheWeb() {
		return nil, errors.New("a crawl begins at one page of the web: watch takes other URLs")
	}
	keywords, err := cli.ParseKeywords(in.Keywords)
	if err != nil {
		return nil, err
	}
	if u.ProcessType = xmlschema.ProcessNonFilter; len(keywords) > 0 {
		u.ProcessType, u.Keywords = xmlschema.ProcessFilter, xmlschema.NewKeywords(keywords...)
	}
	if err := u.Validate(); err != nil {
		return nil, err
	}
	if err := d.boundsCrawl(ctx, u); err != nil {
		return nil, err
	}
	added, err := d.addURD(ctx, mine, u)
	if err != nil {
		return nil, err
	}
	out := &crawlOut{ID: added.ID, Effect: "known"}
	if added.Effect == "added" {
		out.Effect = "started"
	}
	if !d.Running {
		out.Remark = "nothing runs now: it begins when its operator runs a pipeline, as webrace-run webrace --continuous"
	}
	return out, nil
}

// boundsCrawl refuses a crawl that a pipeline would take, and would let come to more pages than the operator allows:
// one that runs, as it was started, or, if none of these takes it, any of the configuration.
func (d *Desk) boundsCrawl(ctx context.Context, u *xmlschema.URD) error {
	loaded, err := d.Globals.Load(config.LoadOptions{})
	if err != nil {
		return err
	}
	limits := make(map[string]int) // of the pipelines that take it
	for _, info := range loaded.Pipelines {
		graph, err := loaded.Graph(info.Name)
		if err != nil {
			continue // it cannot run
		}
		takes, limit := false, 0
		for _, s := range graph.Stages {
			switch o := s.Options.(type) {
			case urds.Options:
				takes = takes || o.Chooses(ctx, u)
			case frontier.Options:
				limit = o.CrawlURLs
			}
		}
		if takes {
			limits[info.Name] = limit
		}
	}
	store, err := d.Dir.Frontier()
	if err != nil {
		return err
	}
	running := make(map[string]int)
	err = d.Queues(func(queues explain.Queues) error {
		for _, q := range queues {
			if _, takes := limits[q.Pipeline]; takes && store.InUse(q.Pipeline) {
				running[q.Pipeline] = q.CrawlURLs()
			}
		}
		return nil
	})
	if len(running) > 0 {
		limits = running
	}
	for name, limit := range limits {
		if limit <= 0 || limit > d.Limits.CrawlPages {
			return fmt.Errorf("the pipeline %s would let the crawl come to more than the %d pages that the operator allows (--crawl-pages): the operator bounds it by --set %[1]s.frontier.crawl_urls=%[2]d",
				name, d.Limits.CrawlPages)
		}
	}
	return err
}

// state returns how crawls stand, after waiting for one to be done if that is asked for.
func (in crawlIn) state(ctx context.Context, d *Desk, mine control.Owned, say func(string)) (*crawlOut, error) {
	if in.Wait < 0 || in.Wait > mostWait || in.Wait > 0 && in.ID == "" {
		return nil, fmt.Errorf("wait %d: it is at most %d seconds, for one crawl that id names", in.Wait, mostWait)
	}
	until := time.Now().Add(time.Duration(in.Wait) * time.Second)
	for {
		out, err := in.stateNow(ctx, d, mine)
		if err != nil || in.Wait == 0 || out.Crawls[0].State == "done" || out.Crawls[0].State == "paused" || !time.Now().Before(until) {
			return out, err
		}
		at := out.Crawls[0]
		say(fmt.Sprintf("%s: %d requests made, %d URLs pending", at.State, at.Requests, at.Pending))
		select {
		case <-time.After(waitPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (in crawlIn) stateNow(ctx context.Context, d *Desk, mine control.Owned) (*crawlOut, error) {
	store, err := d.Dir.Frontier()
	if err != nil {
		return nil, err
	}
	pipelines, err := store.Pipelines()
	if err != nil {
		return nil, err
	}
	out := &crawlOut{}
	for u, err := range mine.URDs(ctx) {
		if err != nil {
			return nil, err
		}
		if in.ID != "" && u.ID != in.ID || in.ID == "" && !slices.Contains(u.Labels, mark) {
			continue
		}
		at := crawlState{ID: u.ID, URL: unmarked(u.URI), Depth: u.Depth, State: "waiting"}
		if u.Paused {
			at.State = "paused"
		}
		for _, pipeline := range pipelines {
			status, err := store.CrawlStatus(pipeline, u.Crawl.ID)
			if err != nil || u.Crawl.ID == "" || status.Round == 0 {
				continue // it never came there
			}
			at.Pipeline, at.Round, at.Pending, at.Requests, at.Began = pipeline, status.Round, status.Pending, status.Requests, moment(status.Started)
			if at.State = "done"; status.Pending > 0 {
				at.State = "crawling"
			}
		}
		if out.Crawls = append(out.Crawls, at); len(out.Crawls) == mostCrawls {
			break
		}
	}
	if in.ID != "" && len(out.Crawls) == 0 {
		return nil, noURD(control.ErrNotFound, in.ID)
	}
	return out, nil
}
