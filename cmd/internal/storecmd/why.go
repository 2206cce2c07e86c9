package storecmd

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

func newWhy(globals *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "why URL",
		Short: "say why a URL was fetched or not: scope, depth, rule, trap, robots.txt, media type, redirect, error, when it is due",
		Long: `why asks the rules and limits of the frontier as they are configured now. What a run was
given beside its configuration, --set has to say here too; a pipeline that is running is
asked itself.

Of a document that is stored it shows what its owner states that it may be used for, with
the line of robots.txt, the field of the header or the element that it stands in.`,
		Example: `  webrace-store why https://example.org/news
  webrace-store why https://example.org/a.pdf --set 'frontier.rules=["deny extension pdf"]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			if asked, err := withParts(c, globals, func(p *parts) error { return whyParts(p, url, asJSON) }); asked {
				return err
			}
			return lookIntoDir(globals, func(dir *storage.Dir) error {
				return withFrontiers(c, globals, dir, func(queues explain.Queues) error { return why(c, dir, queues, url, asJSON) })
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines, one for each pipeline")
	settingsFlag(c, globals)
	return c
}

func why(c *cobra.Command, dir *storage.Dir, queues explain.Queues, url string, asJSON bool) error {
	part := partOf(c)
	if part != nil {
		if err := json.Unmarshal(part.Ask, &url); err != nil {
			return err
		}
	}
	all, err := queues.Statuses(url)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		note(c, "nothing was crawled yet, so no crawl came to %s", url)
		return nil
	}
	for _, s := range ofItsPipelines(url, all) {
		a, err := answerTo(c.Context(), dir, queues, s)
		if err == nil && part != nil {
			err = json.NewEncoder(c.OutOrStdout()).Encode(partAnswer{*a, a.gated})
		} else if err == nil {
			err = a.show(c, asJSON)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ofItsPipelines leaves out, of a source that is not of the web, the pipelines that know nothing of it, if another
// does: they serve other protocols. A page may be of any, and is refused by each for a reason.
func ofItsPipelines(url string, all []explain.Status) []explain.Status {
	if xmlschema.ProtocolOf(url) == xmlschema.ProtocolHTTP {
		return all
	}
	known := slices.DeleteFunc(slices.Clone(all), func(s explain.Status) bool { return s.State == frontier.Unseen })
	if len(known) == 0 {
		return all
	}
	return known
}

func (a *answer) show(c *cobra.Command, asJSON bool) error {
	if asJSON {
		return cli.NewEncoder(c.OutOrStdout()).Encode(a)
	}
	a.print(cli.Prose(c.OutOrStdout()), time.Now())
	return nil
}

// answer is all that is known of a URL in one pipeline.
type answer struct {
	Pipeline  string           `json:"pipeline"`
	URL       string           `json:"url"`
	Secret    string           `json:"secret,omitempty"` // the name of the credentials it is fetched with
	State     string           `json:"state"`
	Because   string           `json:"because"`           // the state, for a person
	Refused   string           `json:"refused,omitempty"` // the reason, as counters are named, if it were offered now
	Refusal   string           `json:"refusal,omitempty"` // the same, for a person
	Rule      *decidingRule    `json:"rule,omitempty"`
	Crawls    []cameFrom       `json:"crawls,omitempty"`
	Lister    string           `json:"lister,omitempty"` // the sitemap, or robots.txt, by which it was found
	Status    int              `json:"status,omitempty"`
	At        *time.Time       `json:"at,omitempty"` // of the last answer
	Error     string           `json:"error,omitempty"`
	Attempts  int              `json:"attempts,omitempty"` // that failed in a row
	Due       *time.Time       `json:"due,omitempty"`      // when it is tried again
	HostAt    *time.Time       `json:"host_at,omitempty"`  // when its host may be asked again
	HostWhy   string           `json:"host_because,omitempty"`
	Paused    bool             `json:"paused,omitempty"`     // its host is
	Interval  float64          `json:"interval_s,omitempty"` // until the next visit is worth its while
	Redirects []string         `json:"redirects,omitempty"`  // where it leads, one after the other
	Document  *answeredVersion `json:"document,omitempty"`   // that is, or was, stored

	gated bool // it is refused whatever crawl comes to it
}

type decidingRule struct {
	Number  int    `json:"number"`
	Rule    string `json:"rule"`
	Comment string `json:"comment,omitempty"`
}

// cameFrom describes how a crawl came to the URL.
type cameFrom struct {
	Crawl   string `json:"crawl"`
	Start   string `json:"start,omitempty"`
	Level   int    `json:"level"`
	Round   int    `json:"round"`
	Current bool   `json:"current"`           // this is the crawl's last round
	Waiting bool   `json:"waiting"`           // the crawl waits for it
	Landing string `json:"landing,omitempty"` // where the start led, if that is out of its scope
}

// answeredVersion is the version of the last visit.
type answeredVersion struct {
	Version   int    `json:"version"`
	Stored    bool   `json:"stored"` // else it was removed since
	MediaType string `json:"media_type,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	Undecoded string `json:"undecoded,omitempty"` // why its body is not taken out of its content encodings
	Canonical string `json:"canonical,omitempty"` // if it is another URL
	Unread    string `json:"unread,omitempty"`    // why its text was not read, or not whole

	Usage usage.Statements `json:"usage,omitempty"` // what it may be used for, as far as is stated
}

// answerTo gathers what is known of a URL in one pipeline.
func answerTo(ctx context.Context, dir *storage.Dir, queues explain.Queues, s explain.Status) (*answer, error) {
	a := answerOf(s)
	var err error
	if s.Visit != nil {
		if a.Document, err = documentOf(dir, objects.View(s.Secret, s.URL), s.Visit); err != nil {
			return nil, err
		}
	}
	if s.Moved != "" && s.Redirected() {
		a.Redirects, err = chainOf(ctx, queues, s)
	}
	return a, err
}

// answerOf returns what the frontier knows.
func answerOf(s explain.Status) *answer {
	a := &answer{
		Pipeline: s.Pipeline, URL: s.URL, Secret: s.Secret, State: string(s.State), Because: s.Because(), Refusal: s.Refusal(),
		Due: instant(s.Due), HostAt: instant(s.Host), HostWhy: s.HostWhy, Paused: s.Paused, Lister: s.Lister, gated: isGated(s),
	}
	if a.Refusal != "" {
		a.Refused = s.Refused.String()
	}
	if r := s.Gate.Rule; r != nil {
		a.Rule = &decidingRule{s.Gate.Number, r.Text(), r.Comment()}
	}
	for _, c := range s.Reached {
		a.Crawls = append(a.Crawls, cameFrom{c.Crawl, c.Start, explain.Level(c.Distance), c.Round, c.Current, c.Waiting, c.Landing})
	}
	if v := s.Visit; v != nil {
		a.Status, a.At, a.Error, a.Attempts, a.Interval = v.Status, instant(v.At), wording.OneLine(v.Error), v.Attempts, v.Interval.Seconds()
	}
	return a
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// longestChain is how many redirects are followed.
const longestChain = 20

// chainOf returns where a URL is redirected to, and from there on, as it was found at the last visits. Of a circle it
// ends with the first URL that comes again.
func chainOf(ctx context.Context, queues explain.Queues, s explain.Status) (chain []string, err error) {
	first := s.URL
	for s.Moved != "" && s.Redirected() && len(chain) < longestChain && ctx.Err() == nil {
		seen := s.Moved == first || slices.Contains(chain, s.Moved)
		if chain = append(chain, s.Moved); seen {
			break
		}
		next, err := queues.Statuses(s.Moved)
		if err != nil {
			return nil, err
		}
		at := s
		s = explain.Status{}
		for _, n := range next {
			if n.Pipeline == at.Pipeline && n.Secret == at.Secret {
				s = n
			}
		}
	}
	return chain, ctx.Err()
}

// documentOf returns what is known of the version of a visit of a view; nil where there was none.
func documentOf(dir *storage.Dir, view string, v *webrace.Visit) (*answeredVersion, error) {
	if v.Version == 0 {
		return nil, nil
	}
	documents, err := dir.Objects()
	if err != nil {
		return nil, err
	}
	version, err := documents.Get(view, v.Version)
	if errors.Is(err, objects.ErrNotFound) {
		return &answeredVersion{Version: v.Version}, nil
	}
	if err != nil {
		return nil, err
	}
	d := &answeredVersion{Version: v.Version, Stored: true, MediaType: version.MediaType, Truncated: version.Truncated}
	content, err := explain.Read(context.Background(), documents, version)
	if err != nil { // why is no place to tell of damage: fsck is
		return d, nil
	}
	d.Usage = content.Usage()
	d.Unread, d.Undecoded = content.Unread.Reason, content.Undecoded
	if content.Canonical != version.URL {
		d.Canonical = content.Canonical
	}
	return d, nil
}

// isGated reports whether the URL is refused whatever crawl comes to it.
func isGated(s explain.Status) bool {
	return s.Refused >= frontier.Rule && s.Refused <= frontier.TrapFarDates
}
