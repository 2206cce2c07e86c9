package storecmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// wouldTellJSON is an annotation that there would be, as a JSON line.
type wouldTellJSON struct {
	Relevance int         `json:"relevance"`
	Told      string      `json:"told"` // new, page told or told
	URD       string      `json:"urd"`
	URL       string      `json:"url"`
	Version   int         `json:"version"`
	Fetched   string      `json:"fetched"`
	Title     string      `json:"title"`
	Summary   string      `json:"summary"`
	Threshold int         `json:"threshold"`
	Before    *beforeJSON `json:"before,omitempty"` // the latest that the owner was told
}

type beforeJSON struct {
	ID      string `json:"id"`
	URD     string `json:"urd"`
	URL     string `json:"url"`
	Version int    `json:"version"`
	At      string `json:"at"`
}

func (t *wouldTell) json() wouldTellJSON {
	v := wouldTellJSON{
		Relevance: t.Relevance, Told: t.told, URD: t.URD, URL: t.URI, Version: t.Docbase.Version, Fetched: moment(t.UpdateTime),
		Title: t.Title, Summary: t.Summary, Threshold: t.Explain.Threshold,
	}
	if b := t.before; b != nil {
		v.Before = &beforeJSON{b.ID, b.URD, b.URI, b.Docbase.Version, moment(b.UpdateTime)}
	}
	return v
}

// print lists what there would be to tell, each as soon as it is found.
func (r *rematch) print(c *cobra.Command, limit int, asJSON bool) error {
	out := newRows(c.OutOrStdout(), nil, asJSON)
	progress, last := cli.NewProgress(c), time.Now()
	tick := func() {
		if time.Since(last) >= cli.ProgressEvery {
			last = time.Now()
			progress.Show("%d URLs looked at, %d versions matched, %d to tell", r.urls, r.read, r.found)
		}
	}
	var s rematchSum
	for t, err := range r.alerts(c.Context(), tick) {
		progress.Clear()
		if err != nil {
			return err
		}
		s.add(t)
		if part := partOf(c); part != nil && part.Rows {
			err = errors.Join(out.json.Encode(t.rematchRow()), out.flush())
		} else {
			err = t.print(c, out, asJSON)
		}
		if err != nil {
			return err
		}
		if limit > 0 && r.found == limit {
			break
		}
	}
	progress.Clear()
	s.URLs, s.Read = r.urls, r.read
	return sharing(c, rematchRow{Sum: &s}, func() error { s.say(c); return nil })
}

// rematchRow is an annotation that there would be, or at the end what was looked at, for who puts together what the
// partitions of a cluster have.
type rematchRow struct {
	ACI    *xmlschema.ACI
	Told   string
	Before *xmlschema.ACI
	Sum    *rematchSum
}

func (t *wouldTell) rematchRow() rematchRow {
	r := rematchRow{ACI: t.ACI, Told: t.told}
	if t.before != nil {
		r.Before = t.before.ACI
	}
	return r
}

func (r rematchRow) wouldTell() *wouldTell {
	t := &wouldTell{ACI: r.ACI, told: r.Told}
	if r.Before != nil {
		t.before = &control.ACI{ACI: r.Before}
	}
	return t
}

// compare orders rows by when their documents came.
func (r rematchRow) compare(other rematchRow) int {
	switch {
	case r.ACI == nil:
		return 1
	case other.ACI == nil:
		return -1
	}
	return cmp.Or(r.ACI.UpdateTime.Compare(other.ACI.UpdateTime), strings.Compare(r.ACI.URI, other.ACI.URI))
}

// printParts lists what there would be to tell by the documents of all partitions.
func (f *rematchFlags) printParts(c *cobra.Command, p *parts, in func() io.Reader, args []string) error {
	out, told := newRows(c.OutOrStdout(), nil, f.json), make(map[string]*mirrors)
	var s rematchSum
	return eachRow(p, in, args, rematchRow.compare, nil, func(rows iter.Seq2[rematchRow, error]) error {
		for row, err := range rows {
			switch {
			case err != nil:
				return err
			case row.Sum != nil:
				s.URLs, s.Read = s.URLs+row.Sum.URLs, s.Read+row.Sum.Read
				continue
			case f.limit > 0 && s.found == f.limit:
				continue
			}
			t := row.wouldTell()
			if told[t.URD] == nil {
				told[t.URD] = new(mirrors)
			}
			if told[t.URD].add(t.ACI) {
				continue
			}
			s.add(t)
			if err := t.print(c, out, f.json); err != nil {
				return err
			}
		}
		s.say(c)
		return nil
	})
}

// rematchSum is what was looked at, and what of it there would be to tell.
type rematchSum struct {
	URLs, Read  int
	found, told int
}

func (s *rematchSum) add(t *wouldTell) {
	if s.found++; t.before != nil {
		s.told++
	}
}

func (s *rematchSum) say(c *cobra.Command) {
	note(c, "%s at %s looked at: %d to tell, of which %d %s told of already", cli.Count(s.Read, "version"), cli.Count(s.URLs, "URL"), s.found, s.told, map[bool]string{true: "was", false: "were"}[s.told == 1])
}

func (t *wouldTell) print(c *cobra.Command, out *rows, asJSON bool) error {
	switch {
	case asJSON:
		return errors.Join(out.json.Encode(t.json()), out.flush())
	case cli.IsTerminal(c.OutOrStdout()):
		return t.describe(c.OutOrStdout())
	}
	return errors.Join(out.row(t.Relevance, t.told, t.URD, t.URI, t.Docbase.Version, t.UpdateTime, t.Summary), out.flush())
}

// describe writes it for a person.
func (t *wouldTell) describe(w io.Writer) error {
	w = cli.Prose(w)
	cli.PrintACI(w, t.ACI)
	said := ""
	switch b := t.before; t.told {
	case toldSame:
		said = fmt.Sprintf("; told already, at %s", moment(b.UpdateTime))
	case toldOfPage:
		said = fmt.Sprintf("; told of version %d by URD %s, at %s", b.Docbase.Version, b.URD, moment(b.UpdateTime))
	}
	_, err := fmt.Fprintf(w, "     URD %s, version %d of %s%s\n", t.URD, t.Docbase.Version, moment(t.UpdateTime), said)
	return err
}
