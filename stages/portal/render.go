package portal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/control"
)

//go:embed page
var pageFiles embed.FS

// layouts are the templates that every page consists of besides its own.
const layouts = "page/layout.html"

// pages are the templates of pages, by their names. Each has its own template "content", and may have others, which
// are parts that its script asks for. They are parsed when the first is shown: programs that show none start sooner.
var pages = sync.OnceValue(func() map[string]*template.Template {
	functions := template.FuncMap{
		"t": text, "counted": counted, "asset": assetURL, "field": newField, "choice": newChoice, "dict": dict, "navigation": navigation, "interest": interestPath,
	}
	layout := template.Must(template.New("").Funcs(functions).ParseFS(pageFiles, layouts))
	all := make(map[string]*template.Template)
	names, err := fs.Glob(pageFiles, "page/*.html")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		if name != layouts {
			all[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, name))
		}
	}
	return all
})

// dict makes a map of names and values, for a template that is called with several.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("dict takes names and values")
	}
	d := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, is := pairs[i].(string)
		if !is {
			return nil, errors.New("dict takes names that are texts")
		}
		d[name] = pairs[i+1]
	}
	return d, nil
}

// page is what a page is made of.
type page struct {
	Site    string // what the application is called
	Title   string
	Section string // of the navigation; empty: none of it
	Owner   string // who has logged in; empty: nobody
	Admin   bool
	Done    string // what was done before it was shown
	Path    string
	Data    any
}

// show answers with a page, whose title is the text NAME.title.
func (v *visit) show(status int, name string, data any) error {
	return v.showTitled(status, name, text(name+".title"), data)
}

// showTitled is show with a title of its own.
func (v *visit) showTitled(status int, name, title string, data any) error {
	p := page{
		Site: v.tools.options.Name, Title: title, Section: v.section, Owner: v.account.Owner, Admin: v.account.Admin,
		Path: v.r.URL.RequestURI(), Data: data,
	}
	if done := "done." + v.r.URL.Query().Get("done"); texts()[done] != "" {
		p.Done = text(done)
	}
	return v.write(status, name, "layout.html", p)
}

// part answers with a part of a page.
func (v *visit) part(name, part string, data any) error {
	return v.write(http.StatusOK, name, part, data)
}

func (v *visit) write(status int, name, part string, data any) error {
	var b bytes.Buffer
	if err := pages()[name].ExecuteTemplate(&b, part, data); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = b.WriteTo(v.w) // who went away does not read it
	return nil
}

// field is a field of a form, as its template takes it.
type field struct {
	Name, Type, Label, Hint, Value, Wrong string
	Required                              bool
	Form                                  *form
	Choices                               []choice // of a list
}

// choice is one of the values that a field may have.
type choice struct {
	Value, Label string
	Chosen       bool
}

func newChoice(value, label string, chosen bool) choice { return choice{value, label, chosen} }

// newField makes a field whose label is the text FORM.NAME, and whose hint is that of FORM.NAME_hint if there is one.
func newField(f *form, about, name, kind string) field {
	label := about + "." + name
	made := field{Name: name, Type: kind, Label: text(label), Hint: texts()[label+"_hint"], Form: f}
	if f != nil {
		made.Value, made.Wrong = f.Value(name), f.Wrong[name]
	}
	if kind == "password" {
		made.Value = ""
	}
	return made
}

// With returns the field with values to choose from.
func (f field) With(choices []choice) field {
	f.Choices = choices
	return f
}

// showNothing answers for what there is not.
func showNothing(*visit, *control.Store) error { return control.ErrNotFound }

// fail answers with what went wrong.
func (s *site) fail(v *visit, err error) {
	refused := new(refusal)
	switch {
	case v.r.Context().Err() != nil && !errors.Is(context.Cause(v.r.Context()), errNotTaken):
		panic(http.ErrAbortHandler) // nobody reads the answer
	case errors.As(err, &refused):
	case errors.Is(err, control.ErrNotFound):
		refused = &refusal{status: http.StatusNotFound, key: "error.nothing"}
	default:
		s.tools.env.Logger.Error("a request failed", "method", v.r.Method, "route", v.r.Pattern, "error", err)
		refused = &refusal{status: http.StatusServiceUnavailable, key: "error.store", after: 10 * time.Second}
	}
	switch {
	case refused.status >= 500:
		s.tools.env.Counter("failed").Add(1)
	case refused.status == http.StatusForbidden || refused.status == http.StatusTooManyRequests:
		s.tools.env.Counter("refused").Add(1)
	}
	h := v.w.Header()
	if refused.after > 0 {
		h.Set("Retry-After", strconv.Itoa(int((refused.after+time.Second-1)/time.Second)))
	}
	if refused.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if v.program || !strings.Contains(v.r.Header.Get("Accept"), "text/html") {
		http.Error(v.w, refused.Error(), refused.status)
		return
	}
	if err := v.show(refused.status, "error", refused.Error()); err != nil {
		s.tools.env.Logger.Error("an error cannot be shown", "error", err)
	}
}

// asset is a file that pages need besides.
type asset struct {
	content []byte
	sum     string // the first digits of its hash
}

// assets are the files that pages need besides, by their names.
var assets = sync.OnceValue(func() map[string]asset {
	all := make(map[string]asset)
	for _, name := range []string{"portal.css", "htmx.min.js", "icon.svg"} {
		content, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		all[name] = asset{content, hex.EncodeToString(sum[:8])}
	}
	return all
})

// assetURL is where a file is, which is another when the file is.
func assetURL(name string) string { return "/asset/" + assets()[name].sum + "/" + name }

// showAsset answers with a file that pages need.
func showAsset(v *visit, _ *control.Store) error {
	name := v.r.PathValue("name")
	file, is := assets()[name]
	if !is || file.sum != v.r.PathValue("sum") {
		return control.ErrNotFound
	}
	v.w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(v.w, v.r, name, time.Time{}, bytes.NewReader(file.content))
	return nil
}

// showHealth answers that the application does.
func showHealth(v *visit, _ *control.Store) error {
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = v.w.Write([]byte("ok\n"))
	return nil
}
