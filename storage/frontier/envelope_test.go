package frontier

import (
	"reflect"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

func someMessages() []*message {
	pass := carried{
		Crawl: webrace.Crawl{
			ID: "c", Start: "http://a.org/", Scope: webrace.ScopeDomain, Secret: "s", Levels: 3, Urgency: 2, Timing: time.Hour,
		},
		number: 7, opened: 5, landing: "http://b.org/", hops: 2, distance: 4, lands: true,
	}
	return []*message{
		{start: true, newRound: true, passes: []carried{pass}},
		{passes: []carried{pass, {Crawl: webrace.Crawl{ID: "d", Start: "http://d/"}}}, from: "http://a.org/", via: webrace.ViaLink,
			urls: []string{"http://c.org/1", "http://c.org/2"}},
		{passes: []carried{pass}, from: "http://a.org/", via: webrace.ViaRedirect, redirects: 3, permanent: true, again: true, sitemaps: 2,
			urls: []string{"http://c.org/"}, scores: []uint8{200}, changed: []int64{1e9}},
	}
}

// What is read from any bytes is written so that the same is read again.
func FuzzMessage(f *testing.F) {
	for _, m := range someMessages() {
		f.Add(m.encode())
	}
	f.Add([]byte{messageSchema})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeMessage(data)
		if err != nil {
			return
		}
		again, err := decodeMessage(m.encode())
		if err != nil {
			t.Fatalf("%+v is written as what cannot be read: %v", m, err)
		}
		if !reflect.DeepEqual(again.encode(), m.encode()) || !reflect.DeepEqual(again.passes, m.passes) || !reflect.DeepEqual(again.urls, m.urls) {
			t.Fatalf("%+v is read as %+v", m, again)
		}
	})
}

func TestAMessageIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, m := range someMessages() {
		got, err := decodeMessage(m.encode())
		if err != nil {
			t.Fatal(err)
		}
		if !m.start && m.scores == nil && got.scores != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v is read as %+v", m, got)
		}
	}
	later := someMessages()[0].encode()
	later[0]++
	if _, err := decodeMessage(later); err == nil {
		t.Error("what a later release has written is read")
	}
}
