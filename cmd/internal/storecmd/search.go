package storecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
)

const searchHelp = `search finds documents that have all the words, in all their forms; if none has,
it says so and shows those that have some. The best come first: a word counts
most in a title, then in the URL, in headings, in the text, and hardly in menus.

  "a phrase"            words in this order
  cats OR dogs          one of them; AND stands between words that are both wanted
  -word, NOT word       must not occur (write -- in front of a query that begins so)
  +word                 must occur; words without + are then merely welcome
  (cats OR dogs) food   parentheses
  begin*, mispelt~1     beginnings; words with 1 or 2 (~2) other letters
  title:word            in the title; so heading:, body:, and url: for words of the URL
  host:example.org      on this host; host:*.example.org also on those below it
  lang:en  type:html    in this language; of this type, also as type:text/plain
  date:2026-01          first seen in this year, month or day; also after:2026-01-31,
                        before:2026-02 and after:7d for seven days ago

Only the latest version of each URL is searched, unless --all-versions is given.
The pipeline named search fills the index, and follows what is stored.

What was fetched with credentials is in no index: --secret NAME makes one of it, in
memory and for this search alone.

A search writes nothing. Only an index that does not fit what is stored is brought up to
date first, and that is said: one that an older release made, which takes as long as
--rebuild, and one from which a killed gc has not yet taken what it removed. Where the
index is lost or damaged nothing is searched, and the command that mends it is named.`

// searchOptions determine what is looked for, and how it is shown.
type searchOptions struct {
	query   fulltext.Query
	sort    string
	page    int
	facets  bool
	json    bool
	rebuild bool
	secret  string
}

func newSearch(globals *cli.Globals) *cobra.Command {
	o := new(searchOptions)
	c := &cobra.Command{
		Use:   "search WORDS…",
		Short: "find documents in full text",
		Long:  searchHelp,
		Example: `  webrace-store search annual report
  webrace-store search -- '"annual report" -draft host:example.org' --sort -date
  webrace-store search 'title:(merger OR takeover) after:30d' --facets
  webrace-store search --secret bank statement
  webrace-store search --rebuild`,
		Args: func(c *cobra.Command, args []string) error {
			if o.rebuild {
				return cobra.NoArgs(c, args)
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, words []string) error {
			if o.rebuild && o.secret != "" {
				return cli.Wrongf("choose --secret or --rebuild: what was fetched with credentials is in no index")
			}
			if o.rebuild {
				if asked, err := sumOf(c, globals, addIndexed, func(n uint64) error { return sayIndexed(c, n) }); asked {
					return err
				}
				return withDir(globals, func(dir *storage.Dir) error { return rebuildIndex(c, dir) })
			}
			if err := o.read(c, words); err != nil {
				return err
			}
			if asked, err := withParts(c, globals, func(p *parts) error { return o.searchParts(c, p) }); asked {
				return err
			}
			return o.look(c, globals, func(dir *storage.Dir) error { return o.search(c, dir) })
		},
	}
	o.addFlags(c.Flags())
	withSecret(c, &o.secret)
	return c
}

func (o *searchOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "as JSON lines")
	flags.IntVarP(&o.query.Size, "number", "n", 10, "how many on a page; also --limit")
	flags.IntVar(&o.page, "page", 1, "which page")
	flags.IntVar(&o.query.From, "from", 0, "how many to leave out, instead of --page")
	flags.StringVar(&o.sort, "sort", string(fulltext.ByRelevance), "the `order`: relevance, date (the oldest first), -date, url or host")
	flags.BoolVar(&o.facets, "facets", false, "also count hosts, languages, types and dates of all that is found")
	flags.StringSliceVar(&o.query.Hosts, "host", nil, "only on this host, or one of several")
	flags.StringSliceVar(&o.query.Languages, "lang", nil, "only in this language")
	flags.StringSliceVar(&o.query.Types, "type", nil, "only of this media type, as html or text/plain")
	flags.BoolVar(&o.query.History, "all-versions", false, "search the superseded versions that are indexed too; also --versions")
	flags.BoolVar(&o.rebuild, "rebuild", false, "make the index anew of all that is stored, and search nothing")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "limit":
			name = "number"
		case "versions":
			name = "all-versions"
		}
		return pflag.NormalizedName(name)
	})
}

// facetValues is how many values of each facet are shown.
const facetValues = 10

// read checks what was typed.
func (o *searchOptions) read(c *cobra.Command, words []string) error {
	q := &o.query
	q.Text, q.Sort = strings.Join(words, " "), fulltext.Sort(o.sort)
	switch {
	case q.Size < 1:
		return cli.Wrongf("-n %d: it is at least 1", q.Size)
	case o.page < 1:
		return cli.Wrongf("--page %d: pages are counted from 1", o.page)
	case q.From < 0:
		return cli.Wrongf("--from %d: it is at least 0", q.From)
	case c.Flags().Changed("page") && c.Flags().Changed("from"):
		return cli.Wrongf("choose --page or --from")
	case !slices.Contains(fulltext.Sorts, q.Sort):
		return cli.Wrongf("--sort %s: it is relevance, date, -date, url or host", o.sort)
	}
	if o.page > 1 {
		q.From = (o.page - 1) * q.Size
	}
	if o.facets {
		q.Facets = facetValues
	}
	return nil
}

// look runs f on a directory that is opened for reading alone, unless its index has to be brought up to date first.
func (o *searchOptions) look(c *cobra.Command, globals *cli.Globals, f func(*storage.Dir) error) error {
	var outdated string
	err := lookIntoDir(globals, func(dir *storage.Dir) (err error) {
		if o.secret == "" {
			outdated, err = dir.FulltextOutdated()
		}
		if err != nil || outdated != "" {
			return err
		}
		return f(dir)
	})
	if err != nil || outdated == "" {
		return err
	}
	note(c, "%s: the full-text index is brought up to date first", outdated)
	return withDir(globals, f)
}

func (o *searchOptions) search(c *cobra.Command, dir *storage.Dir) error {
	index, done, err := searchedIndex(c.Context(), dir, o.secret)
	if err != nil {
		return err
	}
	defer done()
	return o.show(c, indexHere{o, dir, index})
}

// searched is what is searched: an index, or those of all partitions of a cluster.
type searched interface {
	find(ctx context.Context, q fulltext.Query) (fulltext.Results, error)
	suggest(ctx context.Context, text string) (string, error)
	// fragments returns for each of some hits the parts of its text that answer the query best, or why it cannot be read.
	fragments(ctx context.Context, hits []fulltext.Hit, marks fulltext.Marks) ([]hitText, error)
	// sizes returns how many documents are indexed, and how many stored versions are not yet.
	sizes(ctx context.Context) (indexed, waiting uint64, err error)
}

// hitText is the parts of the text of a hit.
type hitText struct {
	Fragments []string `json:"fragments,omitempty"`
	Unread    string   `json:"unread,omitempty"` // why it cannot be read; empty also of what is gone
}

// show searches, and shows what is found.
func (o *searchOptions) show(c *cobra.Command, s searched) error {
	results, err := s.find(c.Context(), o.query)
	if errors.Is(err, fulltext.ErrQuery) {
		return cli.Wrong(pointed(err))
	}
	if err != nil {
		return err
	}
	if len(results.Hits) == 0 {
		return o.sayWhyNothing(c, s, results.Total)
	}
	if results.Relaxed {
		note(c, "no document has all the words: these have some%s", o.didYouMean(c, s))
	}
	if err := o.print(c, s, results); err != nil {
		return err
	}
	note(c, "%s", o.shownOf(results))
	return nil
}

// searchedIndex returns what is searched of a directory, and what to call in the end.
func searchedIndex(ctx context.Context, dir *storage.Dir, secret string) (index *fulltext.Store, done func(), err error) {
	if secret == "" {
		index, err = dir.Fulltext()
		return index, func() {}, err
	}
	if index, err = dir.PrivateFulltext(ctx, secret); err != nil {
		return nil, nil, err
	}
	return index, func() { index.Close() }, nil // nothing of it was to be kept
}

// pointed adds to the error of a query the query, and points at the place.
func pointed(err error) error {
	var wrong *fulltext.QueryError
	if !errors.As(err, &wrong) || utf8.RuneCountInString(wrong.Query) > 200 || strings.ContainsAny(wrong.Query, "\n\t") || wrong.Query == "" {
		return err
	}
	return fmt.Errorf("%w\n  %s\n  %s^", err, wrong.Query, strings.Repeat(" ", wrong.Column-1))
}

// shownOf returns which hits of all were shown, and how to see more.
func (o *searchOptions) shownOf(r fulltext.Results) string {
	from, to := o.query.From+1, o.query.From+len(r.Hits)
	shown := fmt.Sprintf("%d to %d of %d", from, to, r.Total)
	switch {
	case uint64(to) >= r.Total:
	case o.query.From%o.query.Size == 0:
		shown += fmt.Sprintf("; --page %d shows more", o.query.From/o.query.Size+2)
	default:
		shown += fmt.Sprintf("; --from %d shows more", to)
	}
	return shown
}

func (o *searchOptions) sayWhyNothing(c *cobra.Command, s searched, total uint64) error {
	n, waiting, err := s.sizes(c.Context())
	switch {
	case err != nil:
		return err
	case n == 0 && o.secret != "":
		note(c, "%s", nothingListed(o.secret, ""))
	case n == 0:
		note(c, "nothing is indexed yet: webrace-run search fills the index")
	case total > 0:
		note(c, "no more than %s found by %s", wording.Count(int(total), "document"), o.query.Text)
	default:
		note(c, "none of %s is found by %s%s", wording.Count(int(n), "document"), o.query.Text, o.didYouMean(c, s))
		if waiting > 0 && o.secret == "" {
			note(c, "%s not indexed yet: webrace-run search brings the index up to date", are(int(waiting), "stored version"))
		}
	}
	return nil
}

func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return wording.Count(n, noun) + " are"
}

// didYouMean suggests another query if there is one; a suggestion that fails is none.
func (o *searchOptions) didYouMean(c *cobra.Command, s searched) string {
	better, err := s.suggest(c.Context(), o.query.Text)
	if err != nil || better == "" {
		return ""
	}
	return "; did you mean " + better + "?"
}

// rebuildIndex makes the index anew.
func rebuildIndex(c *cobra.Command, dir *storage.Dir) error {
	terminal := cli.IsTerminal(c.ErrOrStderr())
	err := dir.RebuildFulltext(c.Context(), func(done, all int) {
		if terminal {
			fmt.Fprintf(cli.Exact(c.ErrOrStderr()), "\r\x1b[K%d of %d URLs", done, all)
		}
	})
	if terminal {
		fmt.Fprint(cli.Exact(c.ErrOrStderr()), "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	index, err := dir.Fulltext()
	if err != nil {
		return err
	}
	n, err := index.Count()
	if err != nil {
		return err
	}
	return sharing(c, n, func() error { return sayIndexed(c, n) })
}

func addIndexed(to *uint64, n uint64) { *to += n }

func sayIndexed(c *cobra.Command, n uint64) error {
	note(c, "%s indexed", wording.Count(int(n), "document"))
	return nil
}
