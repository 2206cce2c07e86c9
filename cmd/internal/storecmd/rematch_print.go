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
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
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

	Judgement *xmlschema.RecordJudgement `json:"judgement,omitempty"` // if a model was asked
}

type beforeJSON struct {
	ID      string `json:"id"`
	URD     string `json:"urd"`
	URL     string `json:"url"`
	Version int    `json:"version"`
	At      string `json:"at"`
}

func jsonOf(t *explain.WouldTell) wouldTellJSON {
	v := wouldTellJSON{
		Relevance: t.Relevance, Told: t.Told, URD: t.URD, URL: t.URI, Version: t.Docbase.Version, Fetched: wording.Moment(t.UpdateTime),
		Title: t.Title, Summary: t.Summary, Threshold: t.Explain.Threshold, Judgement: (*xmlschema.RecordJudgement)(t.Judgement),
	}
	if b := t.Before; b != nil {
		v.Before = &beforeJSON{b.ID, b.URD, b.URI, b.Docbase.Version, wording.Moment(b.UpdateTime)}
	}
	return v
}

// printRematch lists what there would be to tell, each as soon as it is found.
func printRematch(c *cobra.Command, r *explain.Rematch, limit int, asJSON bool) error {
	out := newRows(c.OutOrStdout(), nil, asJSON)
	progress, last := cli.NewProgress(c), time.Now()
	tick := func() {
		if time.Since(last) >= cli.ProgressEvery {
			last = time.Now()
			progress.Show("%d URLs looked at, %d versions matched, %d to tell", r.URLs, r.Versions, r.Found)
		}
	}
	var s rematchSum
	for t, err := range r.Alerts(c.Context(), tick) {
		progress.Clear()
		if err != nil {
			return err
		}
		s.add(t)
		if part := partOf(c); part != nil && part.Rows {
			err = errors.Join(out.json.Encode(rowOf(t)), out.flush())
		} else {
			err = printWouldTell(c, out, t, asJSON)
		}
		if err != nil {
			return err
		}
		if limit > 0 && r.Found == limit {
			break
		}
	}
	progress.Clear()
	s.URLs, s.Read = r.URLs, r.Versions
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

func rowOf(t *explain.WouldTell) rematchRow {
	r := rematchRow{ACI: t.ACI, Told: t.Told}
	if t.Before != nil {
		r.Before = t.Before.ACI
	}
	return r
}

func (r rematchRow) wouldTell() *explain.WouldTell {
	t := &explain.WouldTell{ACI: r.ACI, Told: r.Told}
	if r.Before != nil {
		t.Before = &control.ACI{ACI: r.Before}
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
	out, told := newRows(c.OutOrStdout(), nil, f.json), make(map[string]*explain.Mirrors)
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
				told[t.URD] = new(explain.Mirrors)
			}
			if told[t.URD].Add(t.ACI) {
				continue
			}
			s.add(t)
			if err := printWouldTell(c, out, t, f.json); err != nil {
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

func (s *rematchSum) add(t *explain.WouldTell) {
	if s.found++; t.Before != nil {
		s.told++
	}
}

func (s *rematchSum) say(c *cobra.Command) {
	note(c, "%s at %s looked at: %d to tell, of which %d %s told of already", wording.Count(s.Read, "version"), wording.Count(s.URLs, "URL"), s.found, s.told, map[bool]string{true: "was", false: "were"}[s.told == 1])
}

func printWouldTell(c *cobra.Command, out *rows, t *explain.WouldTell, asJSON bool) error {
	switch {
	case asJSON:
		return errors.Join(out.json.Encode(jsonOf(t)), out.flush())
	case cli.IsTerminal(c.OutOrStdout()):
		return describeWouldTell(c.OutOrStdout(), t)
	}
	return errors.Join(out.row(t.Relevance, t.Told, t.URD, t.URI, t.Docbase.Version, t.UpdateTime, t.Summary), out.flush())
}

// describeWouldTell writes it for a person.
func describeWouldTell(w io.Writer, t *explain.WouldTell) error {
	w = cli.Prose(w)
	cli.PrintACI(w, t.ACI)
	said := ""
	switch b := t.Before; t.Told {
	case explain.ToldSame:
		said = fmt.Sprintf("; told already, at %s", wording.Moment(b.UpdateTime))
	case explain.ToldOfPage:
		said = fmt.Sprintf("; told of version %d by URD %s, at %s", b.Docbase.Version, b.URD, wording.Moment(b.UpdateTime))
	}
	_, err := fmt.Fprintf(w, "     URD %s, version %d of %s%s\n", t.URD, t.Docbase.Version, wording.Moment(t.UpdateTime), said)
	return err
}
