package portal

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// channelsOf returns an owner's channels.
func (w *world) channelsOf(owner string) (all []control.Channel) {
	w.t.Helper()
	for c, err := range w.store.Of(owner).Channels(w.t.Context()) {
		w.ok(err)
		all = append(all, c)
	}
	return all
}

// addChannel stores a channel of an owner.
func (w *world) addChannel(owner string, kind control.ChannelKind, to string, change ...func(*control.Channel)) control.Channel {
	w.t.Helper()
	c := control.Channel{Kind: kind, Name: fmt.Sprint("channel ", len(w.channelsOf(owner))+1), Address: channel.NewAddress(to, "KEY"), State: control.ChannelActive}
	for _, f := range change {
		f(&c)
	}
	var err error
	c.N, err = w.store.Of(owner).AddChannel(w.t.Context(), c)
	w.ok(err)
	c.Owner = owner
	return c
}

func (w *world) channel(c control.Channel) control.Channel {
	w.t.Helper()
	now, err := w.store.Channel(w.t.Context(), c.N)
	w.ok(err)
	return now
}

// lastLink returns the path that the last mail leads to.
func (w *world) lastLink() string {
	w.t.Helper()
	if len(w.mails) == 0 {
		w.t.Fatal("no mail was sent")
	}
	link, is := strings.CutPrefix(regexp.MustCompile(`http://\S+/\w+/\S+`).FindString(w.mails[len(w.mails)-1].Text), w.url)
	if !is {
		w.t.Fatalf("the mail leads to %q", link)
	}
	return link
}

// A mail channel tells nobody until its address is confirmed, by the link that was mailed to it, with or without being
// logged in; another address is to be confirmed again, and a link is good for the one that it was mailed to.
func TestMailIsConfirmedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	eleni.get("/channels").wants(t, http.StatusOK, "no channels yet", "/channels/new/mail")
	eleni.submit("/channels/new/mail", "", "name", "Post", "address", "not an address", "digest_times", "25:00", "labels", "sea\nsand").
		wants(t, http.StatusUnprocessableEntity, "no mail address", "no time of day", "not an address", "25:00", "sea\nsand")
	eleni.submit("/channels/new/mail", "", "name", "Post", "address", "eleni@post.example", "digest_times", "08:00").wants(t, http.StatusSeeOther, "done=channel_mailed")
	c := w.channelsOf("eleni")[0]
	page := fmt.Sprint("/channels/", c.N)
	if _, key := c.Address.Reveal(); c.State != control.ChannelUnconfirmed || key == "" || !strings.Contains(string(c.Settings), "08:00") {
		t.Fatalf("%+v %s", c, c.Settings)
	}
	eleni.get(page).wants(t, http.StatusOK, "not confirmed yet", "eleni@post.example")
	eleni.post(page+"/resume").wants(t, http.StatusConflict)
	eleni.post(page+"/test").wants(t, http.StatusConflict)
	eleni.post(page+"/pause").wants(t, http.StatusConflict)
	first := w.lastLink()
	if to, _ := w.mails[0].Address.Reveal(); to != "eleni@post.example" {
		t.Errorf("it is mailed to %s", to)
	}
	nobody := w.browser()
	for range 2 { // a GET does not use it up
		nobody.get(first).wants(t, http.StatusOK, "eleni", "Post")
	}
	if w.channel(c).State != control.ChannelUnconfirmed {
		t.Fatal("a GET has confirmed it")
	}
	eleni.submit(page, "", "address", "other@post.example").wants(t, http.StatusSeeOther, "channel_mailed")
	nobody.post(first).wants(t, http.StatusGone)
	second := w.lastLink()
	if second == first {
		t.Fatal("no other link was mailed")
	}
	eleni.submit(page, page+"/link").wants(t, http.StatusSeeOther, "channel_mailed")
	nobody.post(w.lastLink()).wants(t, http.StatusOK, "is confirmed")
	if c = w.channel(c); c.State != control.ChannelActive {
		t.Fatalf("it is %s", c.State)
	}
	nobody.post(second).wants(t, http.StatusGone)
	eleni.post(page+"/link").wants(t, http.StatusConflict)

	_, key := c.Address.Reveal()
	eleni.submit(page, "", "name", "Mailbox").wants(t, http.StatusSeeOther, "channel_saved")
	if now := w.channel(c); now.State != control.ChannelActive || now.Name != "Mailbox" || now.Address != c.Address || string(now.Settings) != string(c.Settings) {
		t.Errorf("saved unchanged it is %+v %s", now, now.Settings)
	}
	eleni.submit(page, "", "address", "third@post.example").wants(t, http.StatusSeeOther)
	if _, other := w.channel(c).Address.Reveal(); w.channel(c).State != control.ChannelUnconfirmed || other == key {
		t.Error("another address is not confirmed anew, or is stopped by the mails to the one before")
	}
	eleni.post(w.lastLink()).wants(t, http.StatusSeeOther, page, "channel_confirmed")
	w.ok(w.store.Of("eleni").DeleteChannel(t.Context(), c.N))
	nobody.get(second).wants(t, http.StatusGone)
	nobody.get("/confirm/nothing").wants(t, http.StatusGone)
}

// Each kind is added by its form, shown, changed, and keeps what was typed where something is wrong.
func TestWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	for _, c := range []struct{ to, says string }{
		{"", "no http or https URL"}, {"ftp://a.example/", "no http or https URL"}, {"https:///x", "no http or https URL"}, {"https://u:p@a.example/", "with a user"},
	} {
		eleni.submit("/channels/new/webhook", "", "address", c.to).wants(t, http.StatusUnprocessableEntity, c.says)
	}
	eleni.submit("/channels/new/webhook", "", "address", "https://ntfy.example/", "format", "ntfy").wants(t, http.StatusUnprocessableEntity, "names no topic")
	eleni.submit("/channels/new/webhook", "", "address", "https://a.example/", "format", "own", "body", "{{.Titel}}").wants(t, http.StatusUnprocessableEntity, "{{.Titel}}", "no field here")
	eleni.submit("/channels/new/webhook", "", "address", "https://a.example/", "format", "own").wants(t, http.StatusUnprocessableEntity, "Write the template")
	eleni.submit("/channels/new/webhook", "", "address", "https://a.example/", "name", "").wants(t, http.StatusUnprocessableEntity, "in one line")
	made := eleni.submit("/channels/new/webhook", "", "name", "Hook", "address", "https://hooks.example/hush").wants(t, http.StatusOK, "shown here, once")
	c := w.channelsOf("eleni")[0]
	to, key := c.Address.Reveal()
	if to != "https://hooks.example/hush" || !strings.Contains(made.body, key) || c.State != control.ChannelActive {
		t.Fatalf("%s %s", to, made)
	}
	page := fmt.Sprint("/channels/", c.N)
	if got := eleni.get(page).wants(t, http.StatusOK, "https://hooks.example/hush"); strings.Contains(got.body, key) {
		t.Error("the key is shown again")
	}
	if got := eleni.get("/channels").wants(t, http.StatusOK, "hooks.example"); strings.Contains(got.body, "hush") {
		t.Error("the list shows the URL")
	}
	renewed := eleni.submit(page, page+"/renew").wants(t, http.StatusOK)
	if _, other := w.channel(c).Address.Reveal(); other == key || !strings.Contains(renewed.body, other) {
		t.Error("it has no other key")
	}
	eleni.submit("/channels/new/webhook", "", "name", "Hook", "address", "https://b.example/").wants(t, http.StatusUnprocessableEntity, "has this name")
	eleni.submit("/channels/new/webhook", "", "name", "Own", "address", "https://b.example/", "format", "own", "body", "\r\na\r\n{{.Subject}}", "method", "PUT").
		wants(t, http.StatusSeeOther, "channel_added")
	own := w.channelsOf("eleni")[1]
	if s, err := settingsOf(own); err != nil || s.Webhook.Body != "\na\n{{.Subject}}" || s.Webhook.Method != "PUT" || s.Hold != 60 {
		t.Errorf("%+v, %v", s, err)
	}
	eleni.submit(fmt.Sprint("/channels/", own.N), "").wants(t, http.StatusSeeOther, "channel_saved")
	if now := w.channel(own); string(now.Settings) != string(own.Settings) {
		t.Errorf("saved unchanged, %s became %s", own.Settings, now.Settings)
	}
	for range control.MostChannels - 2 {
		w.addChannel("eleni", control.ChannelFeed, "")
	}
	eleni.get("/channels").wants(t, http.StatusOK, "may have no more")
	eleni.post("/channels/new/feed", "name", "one too many").wants(t, http.StatusUnprocessableEntity, "may have no more")
}

// Buttons do what they say, from the page of the channel, and a page asks before it is removed.
func TestChannelStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	c := w.addChannel("eleni", control.ChannelMail, "eleni@post.example", func(c *control.Channel) { c.State = control.ChannelStopped })
	page := fmt.Sprint("/channels/", c.N)
	is := func(state control.ChannelState) {
		t.Helper()
		if now := w.channel(c); now.State != state {
			t.Fatalf("it is %s, want %s", now.State, state)
		}
	}
	eleni.get(page).wants(t, http.StatusOK, "five messages in a row")
	eleni.submit("/deliveries", page+"/resume").wants(t, http.StatusSeeOther, "/deliveries?done=channel_resumed")
	is(control.ChannelActive)
	eleni.submit(page, page+"/pause").wants(t, http.StatusSeeOther, page+"?done=channel_paused")
	is(control.ChannelPaused)
	eleni.get(page+"?done=channel_paused").wants(t, http.StatusOK, "The channel is paused.")
	eleni.submit(page, page+"/resume").wants(t, http.StatusSeeOther)
	is(control.ChannelActive)
	eleni.submit(page, page+"/mute", "hours", "8").wants(t, http.StatusSeeOther, "channel_muted")
	if s, err := settingsOf(w.channel(c)); err != nil || time.Until(s.MuteUntil) < 7*time.Hour || time.Until(s.MuteUntil) > 8*time.Hour {
		t.Errorf("it is muted until %v, %v", s.MuteUntil, err)
	}
	eleni.get("/channels").wants(t, http.StatusOK, "muted until")
	eleni.submit(page, page+"/mute", "hours", "0").wants(t, http.StatusSeeOther, "channel_unmuted")
	if s, _ := settingsOf(w.channel(c)); !s.MuteUntil.IsZero() {
		t.Errorf("it is muted until %v", s.MuteUntil)
	}
	for _, hours := range []string{"-1", "x", "99999999"} {
		eleni.post(page+"/mute", "hours", hours).wants(t, http.StatusBadRequest)
	}
	eleni.get(page+"/delete").wants(t, http.StatusOK, c.Name)
	is(control.ChannelActive)
	eleni.submit(page+"/delete", page+"/delete").wants(t, http.StatusSeeOther, "/channels?done=channel_deleted")
	eleni.get(page).wants(t, http.StatusNotFound)
}

// A test shows the receiver's own answer, as it came; one that is late is said to be on its way.
func TestTestOfAChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	mail, hook := w.addChannel("eleni", control.ChannelMail, "eleni@post.example"), w.addChannel("eleni", control.ChannelWebhook, "https://hooks.example/hush")
	for _, c := range []struct {
		said delivery.Result
		want string
	}{
		{delivery.Result{Taken: true}, "It was taken"}, {delivery.Result{Said: "550 <no> such mailbox"}, "550 &lt;no&gt; such mailbox"}, {delivery.Result{Passing: true, Said: "451 later"}, "another time"},
	} {
		w.said = c.said
		page := fmt.Sprint("/channels/", mail.N)
		eleni.submit(page, page+"/test").wants(t, http.StatusOK, c.want, "eleni@post.example")
	}
	m := w.mails[len(w.mails)-1]
	if !m.Once || m.Transport != delivery.TransportMail || m.Unsubscribe != w.url+"/off/"+channel.UnsubscribeToken(mail.N, mail.Address) || !strings.Contains(m.Text, "This is a test") {
		t.Errorf("sent is %+v", m)
	}
	page := fmt.Sprint("/channels/", hook.N)
	if got := eleni.submit(page, page+"/test").wants(t, http.StatusOK, "hooks.example"); strings.Contains(got.body, "hush") {
		t.Error("the test shows the URL")
	}
	m = w.mails[len(w.mails)-1]
	if to, key := m.Address.Reveal(); to != "https://hooks.example/hush" || key != "KEY" || !strings.Contains(string(m.Body), "This is a test") {
		t.Errorf("sent is %+v", m)
	}
	w.silent, w.site.tools.patience = true, time.Millisecond
	eleni.post(page+"/test").wants(t, http.StatusOK, "on its way")
	for range testsOf.burst {
		if got := eleni.post(page + "/test"); got.status == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("there may be as many tests as one likes")
}

// Whoever gets a mail stops it by one POST without anything else, as mail providers make it; a GET stops nothing, and a
// wrong token is nowhere.
func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.account("eleni")
	c := w.addChannel("eleni", control.ChannelMail, "eleni@post.example")
	hook := w.addChannel("eleni", control.ChannelWebhook, "https://hooks.example/")
	path := "/off/" + channel.UnsubscribeToken(c.N, c.Address)
	provider := w.browser()
	provider.header = http.Header{}
	for _, wrong := range []string{path + "A", path[:len(path)-1], fmt.Sprintf("/off/%d-", c.N), "/off/x", "/off/" + channel.UnsubscribeToken(hook.N, hook.Address)} {
		provider.get(wrong).wants(t, http.StatusNotFound)
		provider.send(http.MethodPost, wrong, strings.NewReader("List-Unsubscribe=One-Click"), nil).wants(t, http.StatusNotFound)
	}
	provider.get(path).wants(t, http.StatusOK, c.Name)
	if w.channel(c).State != control.ChannelActive {
		t.Fatal("a GET has stopped it")
	}
	for range 2 {
		got := provider.send(http.MethodPost, path, strings.NewReader("List-Unsubscribe=One-Click"), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
		got.wants(t, http.StatusOK, "No more mails")
		if got.header.Get("Set-Cookie") != "" {
			t.Error("it sets a cookie")
		}
	}
	if w.channel(c).State != control.ChannelPaused || w.channel(hook).State != control.ChannelActive {
		t.Error("it has not paused that channel, or another one")
	}
	unconfirmed := w.addChannel("eleni", control.ChannelMail, "other@post.example", func(c *control.Channel) { c.State = control.ChannelUnconfirmed })
	provider.send(http.MethodPost, "/off/"+channel.UnsubscribeToken(unconfirmed.N, unconfirmed.Address), nil, nil).wants(t, http.StatusOK)
	if w.channel(unconfirmed).State != control.ChannelUnconfirmed {
		t.Error("what is to be confirmed is paused, and could be started")
	}
}

// What is another's is not there, by whatever route.
func TestChannelsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.account("eleni")
	costas := w.account("costas")
	c := w.addChannel("eleni", control.ChannelMail, "eleni@post.example", func(c *control.Channel) { c.Name = "hush" })
	w.deliver(c, "m1", control.Attempt{Said: "no"})
	for _, r := range channelRoutes {
		method, path, _ := strings.Cut(r.pattern, " ")
		if r.own == nil || !strings.Contains(path, "{") {
			continue
		}
		path = strings.NewReplacer("{n}", fmt.Sprint(c.N), "{id}", "m1").Replace(path)
		got := costas.get
		if method == http.MethodPost {
			got = func(path string) answer {
				return costas.post(path, "hours", "1", "name", "x", "address", "x@y.example")
			}
		}
		if a := got(path).wants(t, http.StatusNotFound); strings.Contains(a.body, "hush") {
			t.Errorf("%s: %s", r.pattern, a)
		}
	}
	for _, path := range []string{"/channels", "/deliveries"} {
		if a := costas.get(path).wants(t, http.StatusOK); strings.Contains(a.body, "hush") {
			t.Errorf("%s shows what is another's: %s", path, a)
		}
	}
	if now := w.channel(c); now.State != control.ChannelActive || now.Name != "hush" {
		t.Errorf("it became %+v", now)
	}
}
