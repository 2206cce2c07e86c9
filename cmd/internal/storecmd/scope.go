package storecmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
)

func newScope(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "scope",
		Short: "which URLs are taken, also while pipelines run: add, rm, list",
		Long: "Rules that are added here are asked before those of the configuration, and stay until they are removed.\n" +
			"What a new rule denies is not accepted any more, and is dropped when its turn comes if it is queued.",
		Example: `  webrace-store scope add deny prefix https://example.org/calendar/
  webrace-store scope add trust path /archive/ --first --comment "no trap, asked 21 November"
  webrace-store scope rm 1 --pipeline webrace`,
	}
	c.AddCommand(newScopeAdd(globals), newScopeRemove(globals), newScopeList(globals))
	return c
}

func newScopeAdd(globals *cli.Globals) *cobra.Command {
	var pipeline, comment string
	var first bool
	c := &cobra.Command{
		Use:   "add allow|deny|trust KIND PATTERN",
		Short: "add a rule, of the form that frontier.rules have, behind those that were added before",
		Long: "add adds a rule to the pipelines that have crawled; before the first crawl, to all that can; with --pipeline, to\n" +
			"that one in any case. It holds from now on, also while pipelines run.",
		Example: "  webrace-store scope add deny path /calendar/",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			line := strings.Join(args, " ")
			if comment != "" {
				line += " # " + wording.OneLine(comment)
			}
			if r, err := scope.ParseRule(line); err != nil || r == nil {
				return cli.Wrongf("%q is no rule: %v", line, err)
			}
			if asked, err := inAll(c, globals); asked {
				return err
			}
			var names []string
			err := fillDir(globals, func(dir *storage.Dir) error {
				if err := makeQueues(globals, dir, pipeline); err != nil {
					return err
				}
				return inEachQueue(c, globals, dir, pipeline, func(ctx context.Context, q explain.Queue) error {
					names = append(names, q.Pipeline)
					r, err := scope.ParseRule(line) // one for each queue: they count their hits
					if err != nil {
						return err
					}
					return q.AddRule(ctx, r, first)
				})
			})
			if err == nil {
				note(c, "added to %s: %s", suggest.And(names), line)
			}
			return err
		},
	}
	pipelineFlag(c, &pipeline)
	c.Flags().BoolVar(&first, "first", false, "before those that were added before")
	c.Flags().StringVar(&comment, "comment", "", "why, for those who read it later")
	return c
}

func newScopeRemove(globals *cli.Globals) *cobra.Command {
	var pipeline string
	c := &cobra.Command{
		Use:     "rm RULE|NUMBER",
		Short:   "remove a rule that was added, as scope list writes or numbers it",
		Example: "  webrace-store scope rm 2",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if asked, err := inAll(c, globals); asked {
				return err
			}
			var names []string
			wanted := strings.Join(args, " ")
			err := eachQueue(c, globals, withDir, pipeline, func(ctx context.Context, q explain.Queue) error {
				text, err := ruleText(q, wanted)
				if err != nil || text == "" {
					return err
				}
				one, err := q.RemoveRule(ctx, text)
				if one {
					names = append(names, q.Pipeline+": "+text)
				}
				return err
			})
			switch {
			case err == nil && len(names) > 0:
				note(c, "removed from %s", suggest.And(names))
			case err == nil:
				err = fmt.Errorf("no rule %q was added: webrace-store scope list shows those that were; others are in the configuration", wanted)
			}
			return err
		},
	}
	pipelineFlag(c, &pipeline)
	return c
}

// ruleText returns the text of a rule that was added, given as it is written or by its number; empty for
// none.
func ruleText(q explain.Queue, wanted string) (string, error) {
	all, added := q.Rules()
	if n, err := strconv.Atoi(wanted); err == nil {
		if n < 1 || n > added {
			return "", nil
		}
		return all[n-1].Text(), nil
	}
	r, err := scope.ParseRule(wanted)
	if err != nil || r == nil {
		return "", cli.Wrongf("%q is neither a rule nor the number of one", wanted)
	}
	return r.Text(), nil
}

// rule is one of a pipeline's rules as it is listed.
type rule struct {
	Pipeline string `json:"pipeline"`
	Number   int    `json:"number"`
	Hits     int64  `json:"hits"`
	Added    bool   `json:"added"` // to the queue; else it is in the configuration
	Rule     string `json:"rule"`
	Comment  string `json:"comment,omitempty"`
}

func (r rule) compare(other rule) int {
	return cmp.Or(strings.Compare(r.Pipeline, other.Pipeline), r.Number-other.Number, strings.Compare(r.Rule, other.Rule))
}

var rulesListing = listing[rule]{
	header: []string{"pipeline", "number", "hits", "from", "rule", "comment"},
	row: func(r rule) []any {
		from := "configuration"
		if r.Added {
			from = "added"
		}
		return []any{r.Pipeline, r.Number, r.Hits, from, r.Rule, r.Comment}
	},
	json: func(r rule) any { return r },
}

func newScopeList(globals *cli.Globals) *cobra.Command {
	var pipeline string
	c := listRules(globals, "list", "scope list --pipeline webrace", cobra.NoArgs, func([]string) string { return pipeline })
	pipelineFlag(c, &pipeline)
	return c
}

func newFrontierRules(globals *cli.Globals) *cobra.Command {
	return listRules(globals, "rules [PIPELINE]", "frontier rules webrace --json", cobra.MaximumNArgs(1), func(args []string) string { return strings.Join(args, "") })
}

func listRules(globals *cli.Globals, use, example string, args cobra.PositionalArgs, pipeline func(args []string) string) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     use,
		Example: "  webrace-store " + example,
		Short:   "list the rules in the order in which they are asked, with how many URLs each has decided",
		Args:    args,
		RunE: func(c *cobra.Command, args []string) error {
			if asked, err := rulesListing.ofParts(c, globals, asJSON, rule.compare, func(to *rule, more rule) { to.Hits += more.Hits }); asked {
				return err
			}
			var list []rule
			err := eachQueue(c, globals, lookIntoDir, pipeline(args), func(_ context.Context, q explain.Queue) error {
				all, added := q.Rules()
				for i, r := range all {
					list = append(list, rule{q.Pipeline, i + 1, r.Hits(), i < added, r.Text(), r.Comment()})
				}
				return nil
			})
			if err != nil {
				return err
			}
			if len(list) == 0 {
				note(c, "there are no rules: every URL within the scope of a crawl is taken")
			}
			_, err = rulesListing.print(c, asJSON, cli.Each(list))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	settingsFlag(c, globals)
	return c
}

func pipelineFlag(c *cobra.Command, pipeline *string) {
	c.Flags().StringVar(pipeline, "pipeline", "", "of the `PIPELINE` alone, not of all that have crawled")
}

// eachQueue runs f on the queue of a pipeline, or on those of all.
func eachQueue(c *cobra.Command, globals *cli.Globals, open opening, pipeline string, f func(context.Context, explain.Queue) error) error {
	return open(globals, func(dir *storage.Dir) error { return inEachQueue(c, globals, dir, pipeline, f) })
}

func inEachQueue(c *cobra.Command, globals *cli.Globals, dir *storage.Dir, pipeline string, f func(context.Context, explain.Queue) error) error {
	return withFrontiers(c, globals, dir, func(all explain.Queues) error {
		var names []string
		found := false
		for _, q := range all {
			names = append(names, q.Pipeline)
			if pipeline != "" && q.Pipeline != pipeline {
				continue
			}
			found = true
			if err := f(c.Context(), q); err != nil {
				return err
			}
		}
		if !found {
			return unknownPipeline(pipeline, names)
		}
		return nil
	})
}

// makeQueues makes the queue of a pipeline that has not crawled yet; where none is named and none has crawled, those of
// all pipelines that can, as far as they are set up.
func makeQueues(globals *cli.Globals, dir *storage.Dir, pipeline string) error {
	store, err := dir.Frontier()
	if err != nil {
		return err
	}
	known, err := store.Pipelines()
	if err != nil || pipeline == "" && len(known) > 0 || slices.Contains(known, pipeline) {
		return err
	}
	names := []string{pipeline}
	if pipeline == "" {
		loaded, err := globals.Load(config.LoadOptions{Run: []string{}})
		if err != nil {
			return err
		}
		names = nil
		for _, p := range loaded.Pipelines {
			names = append(names, p.Name)
		}
	}
	for _, name := range names {
		m, o, err := configured(globals, name)
		switch {
		case pipeline != "" && err != nil:
			return err
		case pipeline != "" && !m.Crawls:
			return cli.Wrongf("pipeline %s has no stage frontier, whose rules these are", pipeline)
		case err != nil || !m.Crawls:
			continue
		}
		queue, err := store.Queue(name, o)
		if err != nil {
			return err
		}
		if err := queue.Close(); err != nil {
			return err
		}
	}
	return nil
}
