package admin

import (
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"

	"github.com/webrace/webrace/internal/testutil/chromium"
)

// browser is a Chromium that shows pages to a test.
type browser struct {
	*rod.Browser
	t *testing.T
}

// openBrowser starts one that looks up names by rules of its own, or skips the test.
func openBrowser(t *testing.T, rules ...string) browser {
	t.Helper()
	return browser{chromium.Open(t, rules...), t}
}

// page is one that is shown, with what its console said.
type page struct {
	*rod.Page
	t *testing.T

	mu   sync.Mutex
	said []string
}

// patience is how long a test waits for what a page has to show.
const patience = 20 * time.Second

// show opens a page. What the console prints of it that is a warning or an error fails the test.
func (b browser) show(url string, scripts bool) *page {
	b.t.Helper()
	raw, err := b.Page(proto.TargetCreateTarget{})
	if err != nil {
		b.t.Fatal(err)
	}
	p := &page{Page: raw.Timeout(3 * patience), t: b.t}
	listened := make(chan struct{})
	wait := raw.EachEvent(func(e *proto.RuntimeExceptionThrown) { p.note(e.ExceptionDetails.Text) },
		func(e *proto.LogEntryAdded) { p.note(e.Entry.Text + " " + e.Entry.URL) })
	go func() {
		defer close(listened)
		wait()
	}()
	b.t.Cleanup(func() {
		raw.Close()
		<-listened
		if len(p.said) > 0 {
			b.t.Errorf("the console says %q", p.said)
		}
	})
	if !scripts {
		p.must(proto.EmulationSetScriptExecutionDisabled{Value: true}.Call(p))
	}
	p.must(p.Navigate(url))
	p.await("main", func(s string) bool { return s != "" })
	return p
}

// visit opens a page of which it is no matter what the console prints.
func (b browser) visit(url string) *page {
	b.t.Helper()
	raw, err := b.Page(proto.TargetCreateTarget{})
	if err != nil {
		b.t.Fatal(err)
	}
	p := &page{Page: raw.Timeout(3 * patience), t: b.t}
	p.must(p.Navigate(url))
	return p
}

func (p *page) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, text)
}

func (p *page) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// text returns what an element shows; "" if there is none, also because the page is being replaced.
func (p *page) text(selector string) string {
	text, err := p.Eval(`selector => document.querySelector(selector)?.textContent.trim() ?? ""`, selector)
	if err != nil {
		return ""
	}
	return text.Value.Str()
}

// await waits until an element shows what it should.
func (p *page) await(selector string, want func(string) bool) string {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		text := p.text(selector)
		if want(text) {
			return text
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s shows %q", selector, text)
		}
	}
}
