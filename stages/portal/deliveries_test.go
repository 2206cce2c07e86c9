package portal

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
)

// deliver makes a message of something on a channel, of which came what an attempt says.
func (w *world) deliver(c control.Channel, id string, came ...control.Attempt) {
	w.t.Helper()
	ctx := w.t.Context()
	w.ok(w.store.PutEntry(ctx, control.Entry{Channel: c.N, Key: id, Body: []byte("{}"), Due: time.Unix(1, 0)}))
	_, err := w.store.Compose(ctx, time.Now(), 99, func(int64, []string) string { return id })
	w.ok(err)
	for _, a := range came {
		a.Message = id
		_, err := w.store.Attempted(ctx, a)
		w.ok(err)
	}
}

// What was sent is shown by pages, with what receivers said; what was given up is sent again where its owner wants it.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	eleni.get("/deliveries").wants(t, http.StatusOK, "Nothing was sent yet")
	c := w.addChannel("eleni", control.ChannelMail, "eleni@post.example")
	w.deliver(c, "dead", control.Attempt{Said: "550 <no> such mailbox"})
	for i := range inDeliveries {
		w.deliver(c, fmt.Sprint("sent", i), control.Attempt{Taken: true})
	}
	w.deliver(c, "later", control.Attempt{Again: time.Now().Add(time.Hour), Said: "451 busy"})
	w.ok(w.store.PutEntry(t.Context(), control.Entry{Channel: c.N, Key: "waits", Body: []byte("{}"), Due: time.Unix(1, 0)}))
	first := eleni.get("/deliveries").wants(t, http.StatusOK, "451 busy", "again at", "/deliveries?page=2", "1 annotation waits")
	if strings.Contains(first.body, "550") || strings.Count(first.body, "<tr>") != inDeliveries+1 {
		t.Errorf("the first page is %s", first)
	}
	eleni.get("/deliveries?page=2").wants(t, http.StatusOK, "550 &lt;no&gt; such mailbox", "given up", "Newer")
	for _, page := range []string{"3", "-1", "x", "99999999999999999999"} {
		eleni.get("/deliveries?page="+page).wants(t, http.StatusOK)
	}
	eleni.submit("/deliveries?page=2", "/deliveries/dead/again").wants(t, http.StatusSeeOther, "/deliveries?page=2&done=sent_again")
	eleni.post("/deliveries/dead/again").wants(t, http.StatusNotFound)
	eleni.post("/deliveries/sent1/again").wants(t, http.StatusNotFound)
	waits := 0
	for m, err := range w.store.Messages(t.Context()) {
		w.ok(err)
		if m.ID == "dead" && m.State == control.MessageWaits {
			waits++
		}
	}
	if waits != 1 {
		t.Error("it is not sent again")
	}
}
