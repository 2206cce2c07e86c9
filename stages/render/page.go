package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
)

// page is a page that is being loaded.
type page struct {
	*stage
	doc  *webrace.Document
	site scope.Matcher // what it may load from, besides allow_hosts

	ctx    context.Context // ends when the page has had its time
	beside context.Context // ends with all that goes on beside the page, which is later
	target *chromedp.Target

	answers sync.WaitGroup

	mu      sync.Mutex
	served  bool // the page itself has been given to the browser
	ready   bool // it has been read to its end
	gone    bool // its process has died
	hog     bool // it needed more memory than it may
	ended   bool // nothing more goes on beside it
	asked   int  // requests of any kind
	pending int  // requests that are being answered
	loaded  int
	bytes   int64
	quietAt time.Time // since when nothing is pending
	next    string    // where a script wanted to go
	changed chan struct{}

	requested []string // what its scripts asked for
}

func (s *stage) newPage(d *webrace.Document) *page {
	site, err := scope.New(d.URL, webrace.ScopeDomain)
	if err != nil { // then nothing is of its site
		site, _ = scope.New("http://nowhere.invalid/", webrace.ScopeHost)
	}
	return &page{stage: s, doc: d, site: site, changed: make(chan struct{}, 1)}
}

// load renders a page. Whatever the page does, it ends a little after the timeout. When ctx ends, so does the browser.
func (b *browser) load(ctx context.Context, p *page) (r *result, err error) {
	b.loaded++
	loading, giveUp := context.WithCancel(b.ctx)
	defer giveUp()
	tab, cancelTab := chromedp.NewContext(loading, chromedp.WithNewBrowserContext())
	defer cancelTab()
	defer b.killWith(ctx, giveUp)()
	if err := b.openTab(tab); err != nil {
		b.broken.Store(true)
		return nil, fmt.Errorf("open a page: %w", err)
	}
	limited, cancel := context.WithTimeout(tab, time.Duration(b.options.Timeout))
	defer cancel()
	beside, endBeside := context.WithCancel(tab)
	p.ctx, p.beside, p.target = limited, beside, chromedp.FromContext(tab).Target
	defer p.end(endBeside)
	if err := p.prepare(chromedp.FromContext(tab)); err != nil {
		b.broken.Store(true)
		return nil, fmt.Errorf("prepare a page: %w", err)
	}
	watching := b.watchMemory(limited, p)
	defer watching()
	err = p.interact(p.run())
	if step := (*StepError)(nil); errors.As(err, &step) {
		if limited.Err() != nil || p.isGone() { // it may be busy with the page, and would be long in closing it
			b.broken.Store(true)
			b.kill()
		}
		return nil, err
	}
	if err != nil {
		b.broken.Store(true) // it is busy with the page, or has lost it
		if errors.Is(err, context.DeadlineExceeded) {
			p.count("timeouts", 1)
			err = nil
		}
	}
	if err == nil {
		r, err = p.capture(tab)
	}
	if err == nil {
		r.screenshot = p.screenshot(tab, b)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.hog:
		return nil, fmt.Errorf("%w: it needs more memory than it may (option max_memory)", errPage)
	case err == nil:
		r.next, r.requested = p.next, slices.Clone(p.requested)
	}
	return r, err
}

// openTab attaches to a new page in a profile of its own.
func (b *browser) openTab(tab context.Context) error {
	limit := time.AfterFunc(graceful, func() { b.kill() })
	defer limit.Stop()
	return chromedp.Do(tab)
}

// prepare makes all that the page asks for stop, and closes the ways out.
func (p *page) prepare(c *chromedp.Context) error {
	if err := chromedp.Listen(p.beside, p.heard); err != nil {
		return err
	}
	no, none := false, int64(0)
	yes := true
	_, err := cdp.Call(p.ctx, c.Browser, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: c.BrowserContextID, EventsEnabled: &no,
	})
	for _, step := range []struct {
		method string
		params any
	}{
		{css.Disable.Method, cdp.Empty{}}, // a page could drown this program in events of these
		{dom.Disable.Method, cdp.Empty{}},
		{log.Disable.Method, cdp.Empty{}},
		{runtime.Disable.Method, cdp.Empty{}},
		{network.Enable.Method, network.EnableParams{MaxTotalBufferSize: &none, MaxResourceBufferSize: &none, MaxPostDataSize: &none}},
		{network.SetBypassServiceWorker.Method, network.SetBypassServiceWorkerParams{Bypass: yes}},
		{network.SetCacheDisabled.Method, network.SetCacheDisabledParams{CacheDisabled: yes}},
		{emulation.SetFocusEmulationEnabled.Method, emulation.SetFocusEmulationEnabledParams{Enabled: yes}},
		{emulation.SetDeviceMetricsOverride.Method, emulation.SetDeviceMetricsOverrideParams{Width: viewWidth, Height: viewHeight, DeviceScaleFactor: 1}},
		{cdpfetch.Enable.Method, cdpfetch.EnableParams{}},
	} {
		if err == nil {
			err = p.target.Call(p.ctx, step.method, step.params, nil)
		}
	}
	return err
}

// heard is called for each event of the page, and must not wait.
func (p *page) heard(event any) {
	switch e := event.(type) {
	case *cdpfetch.EventRequestPaused:
		if p.asks() {
			p.spawn(func() { p.answer(e) })
		} else { // it waits for an answer until the page ends
			p.count("blocked_limit", 1)
		}
	case *cdppage.EventJavascriptDialogOpening:
		p.count("blocked_dialog", 1)
		p.spawn(p.dismissDialog)
	case *network.EventWebSocketCreated:
		p.count("blocked_websocket", 1)
	case *cdppage.EventDomContentEventFired:
		p.change(func() { p.ready = p.served })
	case *cdppage.EventFrameStoppedLoading: // the only word of a page that tried to leave while it was read
		if e.FrameID == cdp.FrameID(p.target.TargetID) {
			p.change(func() { p.ready = p.ready || p.served })
		}
	case *inspector.EventTargetCrashed:
		p.change(func() { p.gone = true })
	}
}

// floodFactor is how many requests a page may make, for each that it may load, until it gets no answers.
const floodFactor = 20

// asks notes a request, and reports whether the page is to get an answer, be it a refusal.
func (p *page) asks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return p.asked <= floodFactor*(p.options.MaxRequests+1)
}

// spawn runs f beside the page, until the page ends.
func (p *page) spawn(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.answers.Go(p.env.Guard(f))
	}
}

// end ends all that goes on beside the page, and waits for it.
func (p *page) end(cancel context.CancelFunc) {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	cancel()
	p.answers.Wait()
}

func (p *page) dismissDialog() {
	_, _ = cdp.Call(p.beside, p.target, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: false})
}

// change changes what is known of the page, and wakes who waits for it.
func (p *page) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	if p.pending == 0 {
		p.quietAt = time.Now()
	}
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// run loads the page, and returns when it is ready.
func (p *page) run() error {
	got, err := cdp.Call(p.ctx, p.target, cdppage.Navigate, cdppage.NavigateParams{URL: p.doc.URL})
	switch {
	case err != nil:
		return p.orDeadline(err)
	case got.ErrorText != "":
		return fmt.Errorf("%w: %s", errPage, got.ErrorText)
	}
	return p.until(p.wait)
}

// until waits until look reports that there is nothing to wait for, which it is asked whenever something changes.
func (p *page) until(look func() (time.Duration, error)) error {
	for {
		wait, err := look()
		if err != nil || wait == 0 {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-p.changed:
			timer.Stop()
		case <-p.ctx.Done():
			timer.Stop()
			return p.ctx.Err()
		}
	}
}

// orDeadline tells a call that failed because time was up from one that failed by itself.
func (p *page) orDeadline(err error) error {
	if failure := p.ctx.Err(); failure != nil {
		return failure
	}
	return err
}

// selectorPause is how long it takes until a selector is tried again.
const selectorPause = 100 * time.Millisecond

// wait returns how long to wait before looking again, 0 if the page is ready.
func (p *page) wait() (time.Duration, error) {
	p.mu.Lock()
	ready, gone := p.ready, p.gone
	p.mu.Unlock()
	switch {
	case !gone && !ready:
		return time.Duration(p.options.Idle), nil
	case !gone && p.options.Selector != "":
		found, err := p.selected()
		if found || err != nil {
			return 0, err
		}
		return selectorPause, nil
	}
	return p.idle()
}

// idle returns how long to wait until the page will have loaded nothing for long enough.
func (p *page) idle() (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := time.Duration(p.options.Idle)
	switch {
	case p.gone:
		return 0, fmt.Errorf("%w: its process died", errPage)
	case p.pending > 0:
		return idle, nil
	}
	return max(0, idle-time.Since(p.quietAt)), nil
}

// allowed reports whether a page may load from a URL.
func (p *page) allowed(url string) bool {
	if p.site.Match(url) {
		return true
	}
	host, _ := scope.Host(url)
	return slices.ContainsFunc(p.options.AllowHosts, func(allowed string) bool {
		return host == allowed || strings.HasSuffix(host, "."+allowed)
	})
}
