package portal

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/timezone"
	"github.com/webrace/webrace/storage/control"
)

// visit is a request, and who makes it.
type visit struct {
	w     http.ResponseWriter
	r     *http.Request
	tools *tools
	most  int64 // bytes of its body

	section string // of the navigation

	account   control.Account // of who has logged in; none: nobody has
	profile   profile
	previewed *previewPage // what the interest that is being written would bring; nil: it was not asked
	program   bool         // it is no browser: it came with a token
}

// refusal is an error that people are told as it is.
type refusal struct {
	status int
	key    string // of the text
	args   []any
	after  time.Duration // until another attempt makes sense; 0: it is not said
}

func (e *refusal) Error() string { return text(e.key, e.args...) }

// refuse makes a refusal.
func refuse(status int, key string, args ...any) error {
	return &refusal{status: status, key: key, args: args}
}

// form returns what was typed.
func (v *visit) form() (*form, error) {
	if err := v.r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, refuse(http.StatusRequestEntityTooLarge, "error.large", v.most>>10)
		}
		return nil, refuse(http.StatusBadRequest, "error.form")
	}
	return newForm(v.r.PostForm), nil
}

// number returns the number that a part of the path is. What is none leads nowhere.
func (v *visit) number(name string) (int64, error) {
	n, err := strconv.ParseInt(v.r.PathValue(name), 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != v.r.PathValue(name) {
		return 0, control.ErrNotFound
	}
	return n, nil
}

// see sends the browser to a page of the application, where it is said what was done.
func (v *visit) see(path, done string) error {
	if done != "" {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + "done=" + url.QueryEscape(done)
	}
	if v.isPart() {
		v.w.Header().Set("HX-Redirect", path)
		v.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// isPart reports whether a part of a page is asked for, by its script.
func (v *visit) isPart() bool { return v.r.Header.Get("HX-Request") == "true" }

// mustLogIn sends who has not logged in where they do, and then back to where they wanted.
func (v *visit) mustLogIn() error {
	switch {
	case v.program || v.r.Header.Get("Authorization") != "":
		return refuse(http.StatusUnauthorized, "error.token")
	case v.r.Method != http.MethodGet && v.r.Method != http.MethodHead:
		return refuse(http.StatusUnauthorized, "error.login")
	}
	to := "/login"
	if v.r.URL.Path != "/" {
		to += "?to=" + url.QueryEscape(v.r.URL.RequestURI())
	}
	return v.see(to, "")
}

// back returns the path of the application that a request asks to be led to afterwards; "/" if it names another's.
func back(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsFunc(to, func(r rune) bool { return r == '\\' || r < ' ' }) {
		return "/"
	}
	return to
}

// moment is how a time is shown to a person.
func (v *visit) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	zone := time.UTC
	if named, err := timezone.Load(v.profile.Zone); err == nil && v.profile.Zone != "" {
		zone = named
	}
	layout := "2 January 2006, 15:04"
	if zone == time.UTC {
		layout += " UTC"
	}
	return t.In(zone).Format(layout)
}
