package delivery_test

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

// A mail leads to what it tells of, and to where it is stopped, if there is such a place, and a key for it.
func TestAMailIsComposed(t *testing.T) {
	t.Parallel()
	const site = "https://alerts.example.org/"
	to := delivery.Receiver{Channel: 7, Owner: "eleni", Address: channel.NewAddress("eleni@example.org", "KEY"), Mail: true, Site: site}
	a := aci()
	a.Explain = &xmlschema.Explain{Keywords: []xmlschema.KeywordShare{{Key: "gale", Body: 2}, {Key: "calm"}}}
	said := channel.Message{Entries: []channel.Entry{delivery.EntryOf(a, 9, site)}, More: 2}
	m, err := delivery.Compose("id", to, said)
	off := "https://alerts.example.org/off/" + channel.UnsubscribeToken(7, to.Address)
	if err != nil || m.ID != "id" || m.Owner != "eleni" || m.Transport != delivery.TransportMail || m.Entries != 3 || m.Unsubscribe != off {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, part := range []string{"https://alerts.example.org/a/9", "gale", "stop these mails"} {
		if !strings.Contains(m.Text, part) || !strings.Contains(m.HTML, part) {
			t.Errorf("%q is not in\n%s\n%s", part, m.Text, m.HTML)
		}
	}
	if strings.Contains(m.Text, "calm") {
		t.Errorf("what was not found is in\n%s", m.Text)
	}
	for name, without := range map[string]func(*delivery.Receiver){
		"site": func(r *delivery.Receiver) { r.Site = "" }, "key": func(r *delivery.Receiver) { r.Address = channel.NewAddress("eleni@example.org", "") },
	} {
		other := to
		without(&other)
		if m, err := delivery.Compose("id", other, said); err != nil || m.Unsubscribe != "" || strings.Contains(m.Text+m.HTML, "stop these") {
			t.Errorf("without a %s: %+v, %v", name, m, err)
		}
	}
	if e := delivery.EntryOf(a, 9, ""); e.Link != "" {
		t.Errorf("without a site it leads to %q", e.Link)
	}
}

// A request is signed if its body is ours; what cannot be written is an error, which shows no address.
func TestARequestIsComposed(t *testing.T) {
	t.Parallel()
	to := delivery.Receiver{Channel: 7, Address: channel.NewAddress("https://hooks.example/hush", "KEY")}
	said := channel.Message{Entries: []channel.Entry{{Title: "Gale"}}}
	for _, c := range []struct {
		hook      channel.Webhook
		body, key string
		fails     bool
	}{
		{channel.Webhook{}, `"title":"Gale"`, "KEY", false},
		{channel.Webhook{Preset: "slack"}, "Gale", "", false},
		{channel.Webhook{Body: "{{.Subject}}", Method: "PUT", MediaType: "text/plain"}, "Gale", "", false},
		{channel.Webhook{Preset: "ntfy"}, `"topic":"hush"`, "", false},
		{channel.Webhook{Body: "{{.Nothing}}"}, "", "", true},
	} {
		to.Webhook = c.hook
		m, err := delivery.Compose("id", to, said)
		if c.fails {
			if err == nil || strings.Contains(err.Error(), "hush") {
				t.Errorf("%+v: %v", c.hook, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, key := m.Address.Reveal(); key != c.key || m.Transport != delivery.TransportWebhook || !strings.Contains(string(m.Body), c.body) || m.Unsubscribe != "" {
			t.Errorf("%+v: %+v with key %q: %s", c.hook, m, key, m.Body)
		}
	}
}
