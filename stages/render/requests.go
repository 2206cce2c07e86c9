package render

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// answer answers a request of the page, or fails it.
func (p *page) answer(e *cdpfetch.EventRequestPaused) {
	if e.ResourceType == network.ResourceTypeDocument && p.isPage(e) {
		p.fulfill(e, http.StatusOK, pageHeader(p.doc.Header), p.doc.Body)
		return
	}
	p.note(e)
	url, reason := p.refuse(e)
	if reason != "" {
		p.fail(e, reason)
		return
	}
	defer p.change(func() { p.pending-- })
	got, err := p.fetcher.Subresource(p.ctx, httpclient.SubresourceRequest{
		URL: url, Header: subresourceHeader(e.Request.Headers), Limit: p.left() + 1, Keep: p.keep(e.ResourceType),
		Secret: p.doc.Secret, Reach: p.doc.Reach,
	})
	switch {
	case err != nil:
		p.fail(e, refusal(p.ctx, err))
	case got.Truncated || !p.spend(len(got.Body)):
		p.fail(e, "bytes")
	default:
		p.count("requests", 1)
		p.count("bytes", int64(len(got.Body)))
		p.fulfill(e, got.Status, responseHeader(got.Header), got.Body)
	}
}

// note keeps the URL of data that a script asks for by GET, be it allowed to load it or not. There are no more than it
// may load.
func (p *page) note(e *cdpfetch.EventRequestPaused) {
	data := e.ResourceType == network.ResourceTypeXHR || e.ResourceType == network.ResourceTypeFetch
	if !p.options.Requests || !data || e.Request.Method != http.MethodGet {
		return
	}
	url, err := urlnorm.Parse(e.Request.URL)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requested) < p.options.MaxRequests && !slices.Contains(p.requested, url) {
		p.requested = append(p.requested, url)
	}
}

// isPage reports whether a request is for the page itself, which is the first of a document. A later one in the
// same place is a script's, which wants to leave.
func (p *page) isPage(e *cdpfetch.EventRequestPaused) bool {
	if !p.isMain(e) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.served
	p.served = true
	return first
}

func (p *page) isMain(e *cdpfetch.EventRequestPaused) bool {
	return e.FrameID == cdp.FrameID(p.target.TargetID)
}

// refuse returns the normalized URL of a request that may be made, and counts it as one that is; or the
// reason why it may not.
func (p *page) refuse(e *cdpfetch.EventRequestPaused) (url, reason string) {
	url, err := urlnorm.Parse(e.Request.URL)
	switch {
	case err != nil:
		return "", "url"
	case e.ResourceType == network.ResourceTypeDocument && p.isMain(e):
		p.change(func() {
			if p.next == "" && url != p.doc.URL && e.Request.Method == http.MethodGet {
				p.next = url
			}
		})
		return "", "navigation"
	case !slices.Contains(p.options.Load, strings.ToLower(string(e.ResourceType))):
		return "", "type"
	case e.Request.Method != http.MethodGet:
		return "", "method"
	case !p.allowed(url):
		return "", "site"
	}
	reason = "limit"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loaded < p.options.MaxRequests {
		p.loaded++
		p.pending++
		reason = ""
	}
	return url, reason
}

// refusal returns the reason for which a subresource was not got.
func refusal(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil:
		return "time"
	case errors.Is(err, httpclient.ErrRobots):
		return "robots"
	case errors.Is(err, httpclient.ErrResting):
		return "resting"
	case errors.Is(err, httpclient.ErrSecret):
		return "secret"
	case httpclient.IsRefusal(err):
		return "address"
	}
	return "network"
}

// left returns how much the page may still load.
func (p *page) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, int(int64(p.options.MaxBytes)-p.bytes))
}

// spend notes that so much was loaded, if it may be.
func (p *page) spend(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes+int64(n) > int64(p.options.MaxBytes) {
		return false
	}
	p.bytes += int64(n)
	return true
}

// keep returns how long what was loaded may serve other pages: what a program is made of, but not its data.
func (p *page) keep(t network.ResourceType) time.Duration {
	if t == network.ResourceTypeScript || t == network.ResourceTypeStylesheet {
		return time.Duration(p.options.Keep)
	}
	return 0
}

func (p *page) fail(e *cdpfetch.EventRequestPaused, reason string) {
	p.count("blocked_"+reason, 1)
	because := network.ErrorReasonBlockedByClient
	if e.ResourceType == network.ResourceTypeDocument {
		because = network.ErrorReasonAborted // any other would put a page that explains it in place of this one
	}
	_, _ = cdp.Call(p.beside, p.target, cdpfetch.FailRequest, cdpfetch.FailRequestParams{
		RequestID: e.RequestID, ErrorReason: because,
	})
}

func (p *page) fulfill(e *cdpfetch.EventRequestPaused, status int, header []*cdpfetch.HeaderEntry, body []byte) {
	_, _ = cdp.Call(p.beside, p.target, cdpfetch.FulfillRequest, cdpfetch.FulfillRequestParams{
		RequestID: e.RequestID, ResponseCode: int64(status), ResponseHeaders: header, Body: body,
	})
}

// pageFields are those of a page's header that matter to how it is shown; others would make the browser
// ask for more, or store something.
var pageFields = []string{"Content-Type", "Content-Language", "Content-Security-Policy", "Last-Modified", "Referrer-Policy"}

func pageHeader(header http.Header) (entries []*cdpfetch.HeaderEntry) {
	for _, name := range pageFields {
		for _, value := range header.Values(name) {
			entries = append(entries, &cdpfetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return entries
}

// withheld are the fields of an answer that are not true of it any more, or would make the browser store
// something.
var withheld = []string{
	"Content-Encoding", "Content-Length", "Transfer-Encoding", "Connection", "Set-Cookie", "Strict-Transport-Security", "Alt-Svc",
	"Link", "Report-To", "Reporting-Endpoints", "Nel", "Clear-Site-Data", "Service-Worker-Allowed",
}

func responseHeader(header http.Header) (entries []*cdpfetch.HeaderEntry) {
	for name, values := range header {
		if slices.Contains(withheld, name) {
			continue
		}
		for _, value := range values {
			entries = append(entries, &cdpfetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return entries
}

// passed are the fields of a request that servers decide by; the others are those of fetch.
var passed = []string{"Accept", "Origin", "X-Requested-With"}

func subresourceHeader(asked network.Headers) http.Header {
	header := make(http.Header)
	for name, value := range asked {
		text, ok := value.(string)
		if name = http.CanonicalHeaderKey(name); ok && slices.Contains(passed, name) {
			header.Set(name, text)
		}
	}
	return header
}
