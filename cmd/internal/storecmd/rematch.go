package storecmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// rematchFlags determine what is matched again.
type rematchFlags struct {
	urds        []string
	draft       string
	secret      string
	allVersions bool
	since       string
	limit       int
	json        bool
	ask         bool
}

func newRematch(globals *cli.Globals) *cobra.Command {
	var flags rematchFlags
	c := &cobra.Command{
		Use:   "rematch OWNER",
		Short: "say what an owner would be told of what is stored, by their URDs as they are now, or by a draft",
		Long: `rematch matches the latest version of every stored document with the URDs of an owner,
as if none of them had been seen before, and lists what its owner would be told, in the
order in which it came. One that has moved for good is at its new URL alone. With
--all-versions the versions of a document are gone through as they came, and each is
matched as the URD says: what was added, the whole page, or pages when first seen.
Nothing is stored, and no owner is told. What a URD has a model asked is asked with --ask
alone: what is answered no is left out, and answers are kept, so that they cost once.

A URD is asked about a document as in a pipeline: its crawl came to it within its depth,
or it lies under the prefix that the URD watches. Where a crawl has never run, as that of
a draft, every document within its scope counts as reached, whatever its depth.

What was fetched with credentials is for those who gave them: --secret NAME goes through
that, and through nothing else, with the URDs that name it.

Each line says whether the owner was told already: "told" of the same version for the same
interest, or of the same text at another document; "page told" of the page, by another URD,
for another interest or of another version; or "new".`,
		Example: `  webrace-store rematch eleni
  webrace-store rematch eleni --draft changed.xml --since 30d
  webrace-store rematch eleni --draft question.xml --all-versions --ask
  webrace-store rematch eleni --urd u1 --all-versions --json
  webrace-store rematch eleni --secret bank`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return flags.run(c, globals, args[0]) },
	}
	f := c.Flags()
	f.StringArrayVar(&flags.urds, "urd", nil, "only the URD with this `ID`, as often as needed")
	f.StringVar(&flags.draft, "draft", "", "the URDs of an XML `FILE` instead of those that are stored; - reads standard input")
	f.BoolVar(&flags.allVersions, "all-versions", false, "all versions of each document, the oldest first, not the latest alone")
	f.StringVar(&flags.since, "since", "", "only versions fetched since a `TIME`, as 2026-01-31 or 24h")
	f.IntVar(&flags.limit, "limit", 0, "end after so many (default: all)")
	f.BoolVar(&flags.ask, "ask", false, "have a model asked what the URDs want to know, as the stage ask of their pipeline does, within its budget")
	f.BoolVar(&flags.json, "json", false, "as JSON lines")
	withSecret(c, &flags.secret)
	return c
}

func (f *rematchFlags) run(c *cobra.Command, globals *cli.Globals, owner string) error {
	if f.limit < 0 {
		return cli.Wrongf("--limit %d: it is 0, for all, or more", f.limit)
	}
	if f.draft != "" && len(f.urds) > 0 {
		return cli.Wrongf("choose --urd or --draft")
	}
	since, err := parseSince(f.since, time.Now())
	if err != nil {
		return err
	}
	if asked, err := withParts(c, globals, func(p *parts) error { return f.ofParts(c, p) }); asked {
		return err
	}
	open := lookIntoDir
	if f.ask {
		open = withDir // answers are kept, and what they cost
	}
	return open(globals, func(dir *storage.Dir) error {
		return withFrontiers(c, globals, dir, func(queues explain.Queues) error {
			store, err := dir.Control()
			if err != nil {
				return err
			}
			cache, err := dir.Objects()
			if err != nil {
				return err
			}
			asked, err := f.interests(c, globals, store, owner)
			if err != nil {
				return err
			}
			r := &explain.Rematch{
				Owner: owner, Secret: f.secret, Interests: asked, AllVersions: f.allVersions, Since: since,
				Cache: cache, Control: store, Queues: queues,
			}
			end, err := f.judge(c, globals, dir, r)
			if err != nil {
				return err
			}
			defer end()
			if part := partOf(c); part != nil {
				if more, err := tellRan(c, r, part); !more || err != nil {
					return err
				}
			}
			return printRematch(c, r, f.limit, f.json)
		})
	})
}

// ofParts has all partitions match what they have, with a draft that is read here.
func (f *rematchFlags) ofParts(c *cobra.Command, p *parts) error {
	args, in := p.globals.Args, c.InOrStdin()
	if f.draft != "" && f.draft != "-" {
		file, err := os.Open(p.globals.Path(f.draft))
		if err != nil {
			return cli.Wrong(err)
		}
		defer file.Close()
		args, in = with(args, "--draft", "-"), file
	}
	draft := strings.NewReader("")
	if f.draft != "" {
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		draft = strings.NewReader(string(text))
	}
	again := func() io.Reader { return io.NewSectionReader(draft, 0, draft.Size()) }
	ran, err := f.ran(c, p, again, args)
	if err != nil {
		return err
	}
	if p.ask, err = json.Marshal(ran); err != nil {
		return err
	}
	return f.printParts(c, p, again, args)
}

// ran returns the crawls that ever came to their own start, which is in one of the partitions.
func (f *rematchFlags) ran(c *cobra.Command, p *parts, in func() io.Reader, args []string) (ids []string, err error) {
	var r replies
	streams := p.streams(c.Context(), &r, in, args)
	for id, failed := range merged(streams, strings.Compare, nil) {
		if ids = append(ids, id); failed != nil && err == nil {
			err = failed
		}
	}
	for _, s := range streams {
		s.end()
	}
	if err == nil && len(r.failed) > 0 {
		err = r.conclude(p)
	}
	return ids, err
}

// tellRan writes which crawls came to their own start in this partition, or learns which did in any, as it is asked.
func tellRan(c *cobra.Command, r *explain.Rematch, part *remote.Part) (more bool, err error) {
	if part.Ask != nil {
		var ids []string
		err := json.Unmarshal(part.Ask, &ids)
		for _, i := range r.Interests {
			i.SetRan(slices.Contains(ids, i.Request.Crawl.ID))
		}
		return true, err
	}
	for _, i := range r.Interests {
		if ran, err := r.Ran(i); err != nil {
			return false, err
		} else if ran {
			if err := json.NewEncoder(c.OutOrStdout()).Encode(i.Request.Crawl.ID); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// interests returns what is to be matched again.
func (f *rematchFlags) interests(c *cobra.Command, globals *cli.Globals, store *control.Store, owner string) (all []*explain.Rematched, err error) {
	urds, err := f.requests(c, globals, store, owner)
	if err != nil {
		return nil, err
	}
	for _, u := range urds {
		if u.Paused {
			note(c, "URD %s is paused, and is told of nothing: it is left out", u.ID)
			continue
		}
		interest, err := annotate.NewInterest(u.URD)
		if err != nil {
			note(c, "URD %s cannot be matched and is left out: %v", u.ID, err)
			continue
		}
		for _, warning := range interest.Warnings {
			note(c, "URD %s: warning: %s", u.ID, warning)
		}
		if asks := u.Crawl.Secret; u.Crawl.ID != "" && asks != f.secret {
			note(c, "URD %s: %s", u.ID, explain.OthersSee(asks))
		}
		all = append(all, &explain.Rematched{Interest: interest, Request: u})
	}
	return all, nil
}

func (f *rematchFlags) requests(c *cobra.Command, globals *cli.Globals, store *control.Store, owner string) (all []control.URD, err error) {
	if f.draft != "" {
		return readDraft(c, globals, f.draft, owner)
	}
	for urd, err := range store.ByOwner(c.Context(), owner) {
		if err != nil {
			return nil, err
		}
		if len(f.urds) == 0 || slices.Contains(f.urds, urd.ID) {
			all = append(all, urd)
		}
	}
	for _, id := range f.urds {
		if !slices.ContainsFunc(all, func(u control.URD) bool { return u.ID == id }) {
			return nil, fmt.Errorf("%s has no URD %s: %s", owner, id, listURDs)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no URDs: %s", owner, listURDs)
	}
	return all, nil
}

// readDraft reads URDs that are not stored, or not as they stand there.
func readDraft(c *cobra.Command, globals *cli.Globals, path, owner string) (all []control.URD, err error) {
	flags := importFlags{owner: owner, format: "xml"}
	urds, err := flags.read(c, globals, path)
	if err != nil {
		return nil, err
	}
	for i, u := range urds {
		if u.Owner != owner {
			return nil, cli.Wrongf("%s: %s is of %s, not of %s", path, ordinal(i, u), u.Owner, owner)
		}
		crawl, _, err := control.CrawlOf(u)
		if err != nil {
			return nil, cli.Wrongf("%s: %s: %w", path, ordinal(i, u), err)
		}
		if u.ID == "" {
			u.ID = xmlschema.DeriveID(u.Owner, u.Source(), u.InterestHash())
		}
		all = append(all, control.URD{URD: u, Crawl: crawl})
	}
	return all, nil
}
