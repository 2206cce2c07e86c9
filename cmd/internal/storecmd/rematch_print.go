package storecmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
)

// wouldTellView is an annotation that there would be, as a JSON line.
type wouldTellView struct {
	Relevance int         `json:"relevance"`
	Told      string      `json:"told"` // new, page told or told
	URD       string      `json:"urd"`
	URL       string      `json:"url"`
	Version   int         `json:"version"`
	Fetched   string      `json:"fetched"`
	Title     string      `json:"title"`
	Summary   string      `json:"summary"`
	Threshold int         `json:"threshold"`
	Before    *beforeView `json:"before,omitempty"` // the latest that the owner was told
}

type beforeView struct {
	ID      string `json:"id"`
	URD     string `json:"urd"`
	URL     string `json:"url"`
	Version int    `json:"version"`
	At      string `json:"at"`
}

func (t *wouldTell) view() wouldTellView {
	v := wouldTellView{
		Relevance: t.Relevance, Told: t.told, URD: t.URD, URL: t.URI, Version: t.Docbase.Version, Fetched: moment(t.UpdateTime),
		Title: t.Title, Summary: t.Summary, Threshold: t.Explain.Threshold,
	}
	if b := t.before; b != nil {
		v.Before = &beforeView{b.ID, b.URD, b.URI, b.Docbase.Version, moment(b.UpdateTime)}
	}
	return v
}

// print lists what there would be to tell, each as soon as it is found.
func (r *rematch) print(c *cobra.Command, limit int, asJSON bool) error {
	out := newRows(c.OutOrStdout(), nil, asJSON)
	progress := newProgressLine(c.ErrOrStderr())
	told := 0
	for t, err := range r.alerts(c.Context(), func() { progress.show(r) }) {
		progress.clear()
		if err != nil {
			return err
		}
		if t.before != nil {
			told++
		}
		switch {
		case asJSON:
			err = errors.Join(out.json.Encode(t.view()), out.flush())
		case cli.IsTerminal(c.OutOrStdout()):
			err = t.describe(c.OutOrStdout())
		default:
			err = errors.Join(out.row(t.Relevance, t.told, t.URD, t.URI, t.Docbase.Version, t.UpdateTime, t.Summary), out.flush())
		}
		if err != nil {
			return err
		}
		if limit > 0 && r.found == limit {
			break
		}
	}
	progress.clear()
	note(c, "%s at %s looked at: %d to tell, of which %d %s told of already", plural(r.read, "version"), plural(r.urls, "URL"), r.found, told, map[bool]string{true: "was", false: "were"}[told == 1])
	return nil
}

// describe writes it for a person.
func (t *wouldTell) describe(w io.Writer) error {
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

// progressLine is a line on a terminal that is written over while somebody waits.
type progressLine struct {
	w     io.Writer
	last  time.Time
	shown bool
}

// progressEvery is how often the line changes.
const progressEvery = 200 * time.Millisecond

func newProgressLine(w io.Writer) *progressLine {
	if !cli.IsTerminal(w) {
		w = nil
	}
	return &progressLine{w: w, last: time.Now()}
}

func (p *progressLine) show(r *rematch) {
	if p.w == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(cli.Exact(p.w), "\r\x1b[K%d URLs looked at, %d versions matched, %d to tell", r.urls, r.read, r.found)
}

func (p *progressLine) clear() {
	if p.shown {
		fmt.Fprint(cli.Exact(p.w), "\r\x1b[K")
		p.shown = false
	}
}
