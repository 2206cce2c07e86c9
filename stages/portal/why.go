package portal

import (
	"fmt"
	"net/http"

	"github.com/webrace/webrace/storage/control"
)

// whyRoutes are those of why one was told nothing.
var whyRoutes = []route{
	{pattern: "GET /why", own: showWhy, section: "interests"},
}

// whyPage is what each interest has to do with a URL.
type whyPage struct {
	Form  *form
	Asked bool
	Rows  []whyInterest
}

// whyInterest is what one interest has to do with a URL.
type whyInterest struct {
	Explained
	Title, Link string
	Items       []inboxRow
}

// showWhy shows of a URL what each of one's interests has to do with it, and why one was told of it, or not.
func showWhy(v *visit, mine control.Owned) error {
	p := whyPage{Form: newForm(v.r.URL.Query())}
	url := p.Form.line("url")
	if url == "" {
		return v.show(http.StatusOK, "why", p)
	}
	if onTheWeb(url) == "" {
		p.Form.wrong("url", "why.wrong")
		return v.show(http.StatusUnprocessableEntity, "why", p)
	}
	reader, err := v.tools.open()
	if err != nil {
		return err
	}
	if reader == nil {
		p.Form.wrong("url", "preview.none")
		return v.show(http.StatusUnprocessableEntity, "why", p)
	}
	explained, err := reader.Explain(v.r.Context(), mine.Owner(), url)
	if err != nil {
		return err
	}
	p.Asked = true
	for _, e := range explained {
		row := whyInterest{Explained: e, Title: titleOf(e.URD), Link: "/interests/" + e.ID}
		for _, a := range e.Told {
			row.Items = append(row.Items, v.row(control.InboxItem{ACI: a}, nil))
		}
		p.Rows = append(p.Rows, row)
	}
	return v.show(http.StatusOK, "why", p)
}

// itemPath is where an annotation is shown.
func itemPath(seq int64) string { return fmt.Sprint("/a/", seq) }
