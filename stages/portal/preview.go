package portal

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// previewPage is what an interest that is being written would bring.
type previewPage struct {
	Said     string // why there is nothing to show; empty if there is
	Page     *Trial // the page now; nil if it could not be had
	NoPage   string // why not
	Stored   []foundRow
	Looked   int
	Complete bool   // all that is stored was looked at
	Back     string // how far back it was
}

// foundRow is a stored page of which one would have been told.
type foundRow struct {
	Found
	Link, When string
}

const (
	previewTime  = 20 * time.Second // for the page
	rematchTime  = 2 * time.Second  // for what is stored
	mostOfStored = 12
)

var previewsOf = allowance{"previews of", 10, 6 * time.Second} // 10 a minute

// previewInterest shows what an interest would bring, as it is typed: of its page now, and of what is stored. Nothing
// is stored by it.
func previewInterest(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	base := control.URD{URD: xmlschema.NewURD(mine.Owner(), "")}
	if id := f.Value("id"); id != "" {
		if base, err = mine.URD(v.r.Context(), id); err != nil {
			return err
		}
	}
	u := readInterest(f, base.URD, v.tools.options)
	p := new(previewPage)
	status := http.StatusOK
	switch {
	case !f.ok():
		p.Said, status = text("preview.wrong"), http.StatusUnprocessableEntity
	default:
		err := v.tools.limits.pass(v.tools.now(), previewsOf, mine.Owner())
		if err == nil {
			err = v.preview(p, mine, u)
		}
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			p.Said, status = refused.Error(), refused.status
		case err != nil:
			return err
		}
	}
	if v.previewed = p; v.isPart() {
		return v.part("interest", "previewed", p)
	}
	if base.ID == "" {
		return v.showNew(mine, status, f, "")
	}
	return v.showForm(mine, status, f, base, nil)
}

// preview fills in what an interest would bring.
func (v *visit) preview(p *previewPage, mine control.Owned, u *xmlschema.URD) error {
	reader, err := v.tools.open()
	if err != nil {
		return err
	}
	if reader == nil {
		p.Said = text("preview.none")
		return nil
	}
	if err := v.previewPage(p, reader, mine, u); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), rematchTime)
	defer cancel()
	if u.Scope == xmlschema.ScopeAny { // which would show all that was ever crawled for anybody
		bounded := *u
		bounded.Scope = xmlschema.ScopeHost
		u = &bounded
	}
	found, err := reader.Rematch(ctx, mine.Owner(), u, mostOfStored, nil)
	if err != nil {
		return err
	}
	p.Looked, p.Complete, p.Back = found.Looked, !found.Ended && len(found.Found) < mostOfStored, v.moment(found.Oldest)
	for _, one := range found.Found {
		row := foundRow{Found: one, When: v.moment(one.At), Link: onTheWeb(one.URL)}
		if one.Seq > 0 {
			row.Link = itemPath(one.Seq)
		}
		p.Stored = append(p.Stored, row)
	}
	return nil
}

// previewPage asks for the page of an interest. Where it cannot be had, its server's answer is said.
func (v *visit) previewPage(p *previewPage, reader Reader, mine control.Owned, u *xmlschema.URD) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), previewTime)
	defer cancel()
	trial, err := reader.Try(ctx, mine.Owner(), u)
	var unfetched *FetchError
	switch {
	case err == nil:
		p.Page = trial
	case errors.Is(err, ErrNoStart):
		p.NoPage = text("preview.no_start")
	case errors.As(err, new(*control.ForbiddenSecretError)):
		p.NoPage = text("preview.secret")
	case errors.As(err, &unfetched):
		p.NoPage = text("preview.unfetched", unfetched.Err.Error())
	case errors.Is(err, context.DeadlineExceeded) && v.r.Context().Err() == nil:
		p.NoPage = text("preview.late", int(previewTime/time.Second))
	default:
		return err
	}
	return nil
}
