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
	refused  int    // the status, if it was too often
	Later    bool   // the page is asked for by another request, when what is stored is shown
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

// 10 a minute.
var (
	previewsOf = allowance{"previews of", 10, 6 * time.Second}
	pagesOf    = allowance{"pages of previews of", 10, 6 * time.Second}
)

// previewInterest shows what an interest would bring, as it is typed: of its page now, and of what is stored. Nothing
// is stored by it. A script shows first what is stored, which is there at once, and then asks for the page.
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
	case v.isPart() && v.r.URL.Query().Get("part") == "page":
		err = v.withReader(p, pagesOf, mine, func(r Reader) error { return v.previewPage(p, r, mine, u) })
		if err != nil {
			return err
		}
		return v.part("interest", "previewed-page", p)
	default:
		p.Later = v.isPart()
		err := v.withReader(p, previewsOf, mine, func(r Reader) error { return v.preview(p, r, mine, u) })
		if err != nil {
			return err
		}
		if p.refused != 0 {
			status = p.refused
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

// withReader passes on a reader, or says in the preview why there is none, or why it must wait.
func (v *visit) withReader(p *previewPage, of allowance, mine control.Owned, do func(Reader) error) error {
	err := v.tools.limits.pass(v.tools.now(), of, mine.Owner())
	var reader Reader
	if err == nil {
		reader, err = v.tools.open()
	}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		p.Said, p.refused = refused.Error(), refused.status
		return nil
	case err != nil:
		return err
	case reader == nil:
		p.Said = text("preview.none")
		return nil
	}
	return do(reader)
}

// preview fills in what an interest would bring.
func (v *visit) preview(p *previewPage, reader Reader, mine control.Owned, u *xmlschema.URD) error {
	if !p.Later {
		if err := v.previewPage(p, reader, mine, u); err != nil {
			return err
		}
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
