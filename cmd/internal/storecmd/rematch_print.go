package storecmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
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
	told := 0
	for t, err := range r.alerts(c.Context(), tick) {
		progress.Clear()
		if err != nil {
			return err
		}
		if t.before != nil {
			told++
		}
		switch {
		case asJSON:
			err = errors.Join(out.json.Encode(t.json()), out.flush())
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
	progress.Clear()
	note(c, "%s at %s looked at: %d to tell, of which %d %s told of already", cli.Count(r.read, "version"), cli.Count(r.urls, "URL"), r.found, told, map[bool]string{true: "was", false: "were"}[told == 1])
	return nil
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
