package storecmd

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
	"github.com/webrace/webrace/storage/objects"
)

// diffFlags determine what is compared, and how the difference is shown.
type diffFlags struct {
	secret           string
	raw, words, json bool
	main             bool
	context          int
}

func newCacheDiff(globals *cli.Globals) *cobra.Command {
	var flags diffFlags
	c := &cobra.Command{
		Use:   "diff URL [V1 V2]",
		Short: "show what a reader sees changed between two versions of a URL, the latest two by default",
		Long: `diff compares the texts of two versions, a block of text a line, in the format of
diff -u. Of JSON a line is a leaf with its path, and what merely has another number in
its list is equal; of a table it is a row; of what has no text, its type and size. What
changed of rows and of entries of lists stands behind @@, as alerts say it: before and
after. Standard error says where nothing differs but the order, and where a version was
cut, because it was too long or ended early. As with diff, the exit status is 0 when they
are equal, 1 when they differ, and 2 when they cannot be compared, for example because
there is no such version.`,
		Example: `  webrace-store cache diff https://example.org/
  webrace-store cache diff https://example.org/ 3 7 --words`,
		Args: cobra.MatchAll(cobra.RangeArgs(1, 3), func(_ *cobra.Command, args []string) error {
			if len(args) == 2 {
				return cli.Wrongf("name both versions, or none for the latest two")
			}
			return nil
		}),
		RunE: func(c *cobra.Command, args []string) error {
			url, numbers, err := diffArguments(args)
			if err != nil {
				return err
			}
			if asked, err := atHomeOf(c, globals, url); asked {
				return err
			}
			return lookIntoObjects(globals, func(store *objects.Store) error {
				return flags.run(c, store, objects.View(flags.secret, store.Spelling(flags.secret, url)), numbers)
			})
		},
	}
	withSecret(c, &flags.secret)
	f := c.Flags()
	f.BoolVar(&flags.raw, "raw", false, "compare the bodies as they were received, instead of their texts")
	f.BoolVar(&flags.main, "main", false, "compare the main parts of pages: without navigation, share buttons, related links, comments")
	f.BoolVar(&flags.words, "words", false, "mark single words: [-removed-]{+added+}")
	f.BoolVar(&flags.json, "json", false, "write one JSON object")
	f.IntVar(&flags.context, "context", 3, "how many equal lines are shown around a change")
	return c
}

// diffArguments reads URL [V1 V2]; both versions are 0 where none are named.
func diffArguments(args []string) (url string, numbers [2]int, err error) {
	if url, err = normal(args[0]); err != nil {
		return "", numbers, err
	}
	for i, arg := range args[1:] {
		if numbers[i], err = strconv.Atoi(arg); err != nil || numbers[i] < 1 {
			return "", numbers, cli.Wrongf("%q is no version: they are numbered from 1", arg)
		}
	}
	return url, numbers, nil
}

func (f diffFlags) run(c *cobra.Command, store *objects.Store, url string, numbers [2]int) error {
	if f.context < 0 {
		return cli.Wrongf("--context %d: it is 0 or more", f.context)
	}
	if f.main && f.raw {
		return cli.Wrongf("--main is of what a reader sees, and --raw is not: give one of them")
	}
	d, err := f.compare(store, url, numbers)
	if err != nil {
		return cli.Wrong(missing(err))
	}
	for i, v := range d.versions {
		if d.cut[i] {
			fmt.Fprintf(c.ErrOrStderr(), "version %d was cut behind line %d, where it was too long or ended early: what changed there is not seen\n", v.Number, len(d.lines[i]))
		}
	}
	for i, v := range d.versions {
		if d.whole[i] {
			note(c, "no part of version %d stands out as what a reader comes for: all of it is compared", v.Number)
		}
	}
	if d.standsIn {
		note(c, "version %d is of another kind than version %d (%s instead of %s): nobody is told of it, unless it stays so for more than three rounds",
			d.versions[1].Number, d.versions[0].Number, explain.TypeOf(d.versions[1]), explain.TypeOf(d.versions[0]))
	}
	if d.moved {
		note(c, "what differs is the order, or is never news: nobody is told of it")
	}
	switch {
	case f.json:
		err = cli.NewEncoder(c.OutOrStdout()).Encode(d.json())
	case len(d.changes) > 0:
		_, err = io.WriteString(cli.Exact(c.OutOrStdout()), d.format(f, cli.IsTerminal(c.OutOrStdout())))
	}
	if err == nil && len(d.changes) > 0 {
		return &cli.Error{Status: cli.Failed} // that they differ is all there is to say
	}
	return err
}

// compare reads both versions, and compares them line by line.
func (f diffFlags) compare(store *objects.Store, url string, numbers [2]int) (*difference, error) {
	if numbers[0] == 0 {
		all, err := store.History(url) // some of which may have been removed
		if err != nil {
			return nil, err
		}
		if len(all) == 1 {
			return nil, fmt.Errorf("%s has one version: there is nothing to compare it with", all[0].URL)
		}
		numbers = [2]int{all[len(all)-2].Number, all[len(all)-1].Number}
	}
	var d difference
	json := !f.raw
	var texts [2]*webrace.Text
	var kinds [2]extract.Kind
	for i, number := range numbers {
		var err error
		if d.versions[i], err = store.Get(url, number); err != nil {
			return nil, err
		}
		read, err := f.read(store, d.versions[i])
		if err != nil {
			return nil, err
		}
		d.lines[i], d.whole[i], texts[i], kinds[i] = read.lines, read.whole, read.text, read.kind
		d.cut[i] = d.versions[i].Truncated || texts[i] != nil && texts[i].Cut
		json, d.table = json && formats.IsJSON(read.mediaType), formats.IsTable(read.mediaType)
	}
	if !f.raw && d.versions[0].Digest != d.versions[1].Digest {
		for i, t := range texts {
			if v := d.versions[i]; len(t.Blocks) == 0 {
				body := annotate.Body{MediaType: v.MediaType, Size: v.Size, At: v.FetchedAt}
				d.lines[i] = []string{body.String() + "\n"}
			}
		}
	}
	d.standsIn = kinds[1].StandsInFor(kinds[0])
	if f.raw {
		d.changes, d.minimal = textdiff.Diff(d.lines[0], d.lines[1])
	} else {
		d.changes, d.minimal = textdiff.Texts(texts, d.lines, json)
		d.entries = textdiff.ChangedEntries(texts[0], texts[1], longestEntry)
		_, news := textdiff.Summary(texts[0], texts[1], nil, 0)
		d.moved = len(d.changes) > 0 && !news
	}
	return &d, nil
}

// versionRead is what is compared of a version.
type versionRead struct {
	lines     []string
	text      *webrace.Text // that they are; nil if it is raw
	mediaType string        // that it was read as
	kind      extract.Kind
	whole     bool // they are all of a page because it has no main part
}

// read reads a version.
func (f diffFlags) read(store *objects.Store, v objects.Version) (*versionRead, error) {
	body, header, err := store.Body(v)
	if err != nil {
		return nil, err
	}
	if f.raw {
		return &versionRead{lines: strings.SplitAfter(string(body), "\n")}, nil
	}
	r, err := extract.Text(body, header, v.MediaType, v.URL)
	if err != nil {
		return nil, err
	}
	read := &versionRead{text: r.Text, mediaType: r.MediaType, kind: extract.KindOf(r.MediaType, body, r.Text)}
	if f.main {
		d := selection.Open(v.URL, body, r.MediaType, r.Charset, r.Text)
		if read.text, err = mainOf(d); err != nil {
			return nil, err
		}
		read.whole = d.LacksMain()
	}
	read.lines = textdiff.Lines(read.text)
	return read, nil
}

// mainOf returns the text of the main part of a document; of one that has none all of it.
func mainOf(d *selection.Document) (*webrace.Text, error) {
	main, err := selection.Compile([]selection.Rule{{Language: selection.Named, Text: "main"}})
	if err != nil {
		return nil, err
	}
	part, err := main.Apply(context.Background(), d, selection.NewBudget())
	if err != nil {
		return nil, err
	}
	return part.Text, nil
}
