package portal

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// A feed has the latest annotations that pass its filter, for whoever has its address; it is asked for anew only when
// it is another; and what was fetched stays unread.
func TestFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	sea := w.urd("eleni", "https://sea.example/", func(u *xmlschema.URD) { u.Labels = []string{"sea"} })
	land := w.urd("eleni", "https://land.example/")
	eleni.submit("/channels/new/feed", "", "name", "Sea", "labels", "sea", "relevance", "50").wants(t, http.StatusSeeOther, "channel_added")
	c := w.channelsOf("eleni")[0]
	path := "/feed/" + channel.FeedToken(c.N, c.Address) + ".atom"
	eleni.get(fmt.Sprint("/channels/", c.N)).wants(t, http.StatusOK, w.url+path)
	reader := w.browser()
	read := func() *gofeed.Feed {
		t.Helper()
		got := reader.get(path).wants(t, http.StatusOK)
		if got.header.Get("Set-Cookie") != "" || !strings.HasPrefix(got.header.Get("Content-Type"), "application/atom+xml") {
			t.Errorf("%v", got.header)
		}
		f, err := gofeed.NewParser().ParseString(got.body)
		w.ok(err)
		return f
	}
	if f := read(); len(f.Items) != 0 {
		t.Errorf("it has %+v", f.Items)
	}
	w.aci("eleni", land, "Land")
	w.aci("eleni", sea, "Calm", func(a *xmlschema.ACI) { a.Relevance = 49 })
	for i := range channel.MaxShown + 2 {
		w.aci("eleni", sea, fmt.Sprintf("Storm <%d>", i))
	}
	bin := w.aci("eleni", sea, "Rubbish")
	_, err := w.store.Of("eleni").Mark(t.Context(), control.Bin, bin.Seq)
	w.ok(err)
	f := read()
	if len(f.Items) != channel.MaxShown || f.Items[0].Title != "Storm <51>" || f.Items[0].Description != "Summary of Storm <51>" || !strings.HasPrefix(f.Items[0].Link, "https://page.example/") {
		t.Fatalf("it has %d, first %+v", len(f.Items), f.Items[0])
	}
	got := reader.get(path).wants(t, http.StatusOK, fmt.Sprintf(`rel="related" href="%s/a/%d"`, w.url, bin.Seq-1))
	if f.FeedLink != w.url+path {
		t.Errorf("it says that it is at %s", f.FeedLink)
	}
	etag := got.header.Get("ETag")
	if again := reader.send(http.MethodGet, path, nil, http.Header{"If-None-Match": {etag}}); again.status != http.StatusNotModified || etag == "" || again.body != "" {
		t.Errorf("%q: %v", etag, again)
	}
	if got.header.Get("Last-Modified") != "Sun, 01 Nov 2026 10:00:00 GMT" {
		t.Errorf("%v", got.header)
	}
	for i, err := range w.store.Of("eleni").Inbox(t.Context(), control.InboxFilter{States: []control.InboxState{control.Read}}) {
		t.Errorf("%v was read: %v", i.Title, err)
	}

	for _, wrong := range []string{path + "x", strings.TrimSuffix(path, ".atom"), strings.Replace(path, "-", "-A", 1), fmt.Sprintf("/feed/%d-.atom", c.N), "/feed/99-A.atom", "/feed/.atom"} {
		reader.get(wrong).wants(t, http.StatusNotFound)
	}
	page := fmt.Sprint("/channels/", c.N)
	eleni.submit(page, page+"/renew").wants(t, http.StatusSeeOther, "feed_renewed")
	reader.get(path).wants(t, http.StatusNotFound)
	c = w.channel(c)
	path = "/feed/" + channel.FeedToken(c.N, c.Address) + ".atom"
	reader.get(path).wants(t, http.StatusOK)
	eleni.submit(page, page+"/pause").wants(t, http.StatusSeeOther)
	reader.get(path).wants(t, http.StatusNotFound)
	eleni.submit(page, page+"/resume").wants(t, http.StatusSeeOther)
	w.ok(w.store.ChangeAccount(t.Context(), "eleni", func(a *control.Account) error { a.State = control.AccountLocked; return nil }))
	reader.get(path).wants(t, http.StatusNotFound)
}

// Another kind of channel is no feed, whatever its key; and what is logged of a failure holds no key.
func TestFeedKeysAreNotLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.account("eleni")
	hook := w.addChannel("eleni", control.ChannelWebhook, "https://hooks.example/")
	w.browser().get("/feed/"+channel.FeedToken(hook.N, hook.Address)+".atom").wants(t, http.StatusNotFound)
	var log bytes.Buffer
	w.site.tools.env = pipeline.NewEnv("portal", "portal", nil)
	w.site.tools.env.Logger = slog.New(slog.NewTextHandler(&log, nil))
	c := w.addChannel("eleni", control.ChannelFeed, "")
	w.ok(w.store.Close())
	w.browser().get("/feed/"+channel.FeedToken(c.N, c.Address)+".atom").wants(t, http.StatusServiceUnavailable)
	if log.Len() == 0 || strings.Contains(log.String(), "KEY") {
		t.Errorf("logged is %s", log.String())
	}
}
