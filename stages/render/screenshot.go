package render

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/webrace/webrace"
)

// Words of the option screenshot.
const (
	showNothing = "none"
	showView    = "view"
	showPage    = "page"
)

// The size of the window that a page is shown in.
const viewWidth, viewHeight = 1280, 1024

// maxHeight is how much of a page is shown, in pixels: some pages have no end, and what they take to be drawn has.
const maxHeight = 10_000

// screenshot returns what the page looks like now; nil if that is not wanted, or cannot be had. The page goes on
// without then.
func (p *page) screenshot(tab context.Context, b *browser) *webrace.Screenshot {
	if p.options.Screenshot != showView && p.options.Screenshot != showPage {
		return nil
	}
	ctx, cancel := context.WithTimeout(tab, graceful)
	defer cancel()
	png, err := p.draw(ctx)
	switch {
	case ctx.Err() != nil:
		b.broken.Store(true) // it is still busy with it, and would be long in closing the page
		b.kill()
		fallthrough
	case err != nil:
		p.count("screenshots_failed", 1)
		p.env.Logger.Debug("there is no screenshot of a page", "url", p.doc.URL, "error", err)
	case len(png) > int(p.options.MaxScreenshot):
		p.count("screenshots_too_large", 1)
	default:
		p.count("screenshots", 1)
		return &webrace.Screenshot{PNG: png, Whole: p.options.Screenshot == showPage}
	}
	return nil
}

// draw has the browser make a PNG of the page.
func (p *page) draw(ctx context.Context) ([]byte, error) {
	params := cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng}
	if p.options.Screenshot == showPage {
		size, err := cdp.Call(ctx, p.target, cdppage.GetLayoutMetrics, cdp.Empty{})
		if err != nil {
			return nil, err
		}
		height, beyond := float64(viewHeight), true
		if size.CSSContentSize != nil {
			height = min(max(height, size.CSSContentSize.Height), maxHeight)
		}
		params.Clip = &cdppage.Viewport{Width: viewWidth, Height: height, Scale: 1}
		params.CaptureBeyondViewport = &beyond
	}
	got, err := cdp.Call(ctx, p.target, cdppage.CaptureScreenshot, params)
	if err != nil {
		return nil, err
	}
	return got.Data, nil
}
