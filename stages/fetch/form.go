package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// enter makes sure that the account is logged in to whose credentials the request presents, if that is done by a form.
func (x *exchange) enter(ctx context.Context) (err error) {
	if _, ok := x.grant.Form(); !ok {
		return nil
	}
	x.session, err = x.grant.Session(ctx, x.session, x.logIn)
	return err
}

// reenter logs in once more after an answer that is of nobody who is logged in, and asks again.
func (x *exchange) reenter(ctx context.Context) (*httpclient.Response, error) {
	x.count("sessions_ended")
	ask := x.again
	if !x.renewed(ctx) { // before the form is filled in with what it was filled in with before
		ask = x.onceEntered
	}
	answer, err := ask(ctx)
	if err == nil && x.isOutside(ctx, answer) {
		answer.Release()
		form, _ := x.grant.Form()
		return nil, &credentials.Refusal{Why: fmt.Sprintf("after a log-in with secret %s it does not show the sign of success (%s), which has to be on every page", x.req.Secret, form.Sign)}
	}
	return answer, err
}

// onceEntered logs in, and asks.
func (x *exchange) onceEntered(ctx context.Context) (*httpclient.Response, error) {
	if err := x.enter(ctx); err != nil {
		return nil, err
	}
	return x.once(ctx)
}

// isOutside reports whether an answer shows that nobody is logged in: by its status, because it leads to the form, or
// because the sign of success is not on the page.
func (x *exchange) isOutside(ctx context.Context, a *httpclient.Response) bool {
	form, ok := x.grant.Form()
	if !ok || samePage(x.target.URL, form.Page) {
		return false
	}
	if isRedirect(a) {
		to, err := location(x.target.URL, a.Header)
		return err == nil && samePage(to, form.Page)
	}
	return a.Status == http.StatusUnauthorized || form.Sign.Status == 0 && a.Body != nil && isHTML(a) && !shows(ctx, form.Sign, a, x.target.URL)
}

// samePage compares two URLs but for their queries.
func samePage(a, b string) bool {
	a, _, _ = strings.Cut(a, "?")
	b, _, _ = strings.Cut(b, "?")
	return a == b
}

func isHTML(a *httpclient.Response) bool {
	switch mediatype.Of(a.Header.Get("Content-Type")) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

// shows reports whether an answer has the sign of success.
func shows(ctx context.Context, sign credentials.Sign, a *httpclient.Response, at string) bool {
	if sign.Status != 0 {
		return a.Status == sign.Status
	}
	r, err := extract.Text(a.Body, a.Header, "", at)
	if err != nil {
		return false
	}
	if sign.Text != "" {
		return strings.Contains(strings.Join(strings.Fields(string(r.Text.Bytes)), " "), strings.Join(strings.Fields(sign.Text), " "))
	}
	finder, err := selection.NewFinder(selection.CSS, sign.CSS)
	if err != nil {
		return false // it was checked when it was stored
	}
	search, err := selection.NewSearch(ctx, selection.Open(at, a.Body, r.MediaType, r.Charset, r.Text))
	if err != nil {
		return false
	}
	found, err := search.Find(finder, selection.Found{})
	return err == nil && len(found) > 0
}

// logIn gets the page with the form, fills it in, and looks for the sign of success on what that leads to.
func (x *exchange) logIn(ctx context.Context, form credentials.Form, password func() string, jar *credentials.Jar) error {
	x.count("logins")
	v := &visitor{exchange: x, jar: jar}
	page, at, err := v.walk(ctx, step{method: http.MethodGet, url: form.Page})
	if err != nil {
		return err
	}
	filled, err := fillIn(form, password(), page, at)
	page.Release()
	if err != nil {
		return v.refused(err.Error())
	}
	answer, at, err := v.walk(ctx, filled)
	if err != nil {
		return err
	}
	defer answer.Release()
	switch {
	case shows(ctx, form.Sign, answer, at):
		return nil
	case asksForCode(answer.Body):
		return v.refused("it asks for a second factor, which nobody is there to give: log in with a browser, and store its cookies (--kind cookie)")
	case answer.Status >= 400:
		return v.refused("it answers " + httpclient.StatusText(answer.Status))
	}
	return v.refused("what it leads to does not show the sign of success (" + form.Sign.String() + "): is the password right?")
}

// visitor fills a form in for an exchange.
type visitor struct {
	*exchange
	jar *credentials.Jar
}

// step is one request of a visitor.
type step struct {
	method, url string // normalized
	body        []byte // of a form
}

// refused reports that the form was not taken, once to the operator.
func (v *visitor) refused(why string) error {
	v.count("logins_refused")
	return &credentials.Refusal{Why: fmt.Sprintf("the log-in with secret %s failed: %s", v.req.Secret, why)}
}

// stepsOfLogin is how many redirects in a row are followed on the way to a form and from it.
const stepsOfLogin = 5

// walk makes a request, and follows where it leads to.
func (v *visitor) walk(ctx context.Context, s step) (a *httpclient.Response, at string, err error) {
	for range stepsOfLogin + 1 {
		t, err := httpclient.ParseTarget(s.url)
		switch {
		case err != nil:
			return nil, "", v.refused("it leads to what is no http or https URL")
		case !v.grant.Admits(t.Scheme, t.Host):
			return nil, "", v.refused(fmt.Sprintf("it leads to %s, which the secret is not for (webrace-store secret set %s --host … names more hosts)", t.Origin(), v.req.Secret))
		}
		t.Method, t.Body = s.method, s.body
		if a, err = v.ask(ctx, t); err != nil {
			return nil, "", err
		}
		if !isRedirect(a) {
			return a, s.url, nil
		}
		to, err := location(s.url, a.Header)
		status := a.Status
		a.Release()
		if err != nil {
			return nil, "", v.refused(err.Error())
		}
		again := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
		if s.url = to; !again || urlnorm.Origin(to) != t.Origin() {
			s.method, s.body = http.MethodGet, nil
		}
	}
	return nil, "", v.refused(fmt.Sprintf("it leads through more than %d redirects", stepsOfLogin))
}

// ask makes one request in a slot of the host, with the cookies that there are. It waits for as long as the host may
// want to rest between two requests: who comes back to the queue with a form half filled in begins anew.
func (v *visitor) ask(ctx context.Context, t httpclient.Target) (*httpclient.Response, error) {
	v.limiter.shared.Store(true)
	slot, err := v.limiter.take(ctx, t.Host, patience+time.Duration(v.options.MaxCrawlDelay))
	if err != nil {
		return nil, err
	}
	fields := make(http.Header, 2)
	if cookies := v.jar.Field(place(t)); cookies != "" {
		fields.Set("Cookie", cookies)
	}
	if t.Method == http.MethodPost {
		fields.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	began := time.Now()
	a, err := v.client.Get(ctx, t, fields, int(v.options.MaxBody))
	v.endSlot(slot, a, err, began, v.crawlDelay)
	if err != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	v.env.Counter("cookies_refused").Add(int64(v.jar.Keep(place(t), a.Header)))
	return a, nil
}

// fillIn makes the request that sends the form of a page.
func fillIn(form credentials.Form, password string, page *httpclient.Response, at string) (step, error) {
	if page.Body == nil {
		return step{}, errors.New("the page of the form answers " + httpclient.StatusText(page.Status))
	}
	found, err := findForm(page.Body, form.Password)
	if err != nil {
		return step{}, err
	}
	if found.method != http.MethodPost {
		return step{}, errors.New("the form is sent by GET, which would write the password into a URL")
	}
	base, err := urlnorm.NewBase(at)
	if err == nil && found.base != "" {
		base, err = base.Rebase([]byte(found.base))
	}
	to := at
	if err == nil && strings.TrimSpace(found.action) != "" {
		to, err = base.Resolve([]byte(found.action))
	}
	if err != nil {
		return step{}, errors.New("the form is sent to what is no http or https URL")
	}
	values := found.values
	for name, value := range form.Fields {
		values.Set(name, value)
	}
	values.Set(form.Password, password)
	return step{http.MethodPost, to, []byte(values.Encode())}, nil
}
