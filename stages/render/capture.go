package render

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

//go:embed capture.js
var captureScript string

// capture returns the page's HTML as it is now. What its scripts are doing is ended.
func (p *page) capture(tab context.Context) (*result, error) {
	ctx, cancel := context.WithTimeout(tab, graceful)
	defer cancel()
	if _, err := cdp.Call(ctx, p.target, runtime.TerminateExecution, cdp.Empty{}); err != nil {
		return nil, fmt.Errorf("end its scripts: %w", err)
	}
	script := strings.Replace(captureScript, "PAGE", quote(p.doc.URL), 1)
	limit := int(p.options.MaxPage)
	var got *struct {
		HTML string `json:"html"`
		Cut  bool   `json:"cut"`
	}
	if err := p.evaluate(ctx, script+"("+strconv.Itoa(limit)+")", &got); err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	if got == nil {
		return nil, fmt.Errorf("%w: it is no HTML", errPage)
	}
	r := &result{html: []byte(got.HTML), truncated: got.Cut}
	if len(r.html) > limit {
		for limit > 0 && !utf8.RuneStart(r.html[limit]) {
			limit--
		}
		r.html, r.truncated = r.html[:limit:limit], true
	}
	return r, nil
}

// selected reports whether the page has an element that the selector matches.
func (p *page) selected() (found bool, err error) {
	err = p.evaluate(p.ctx, "document.querySelector("+quote(p.options.Selector)+") !== null", &found)
	return found, p.orDeadline(err)
}

// quote writes a string as JavaScript does.
func quote(s string) string {
	quoted, _ := json.Marshal(s) // a string can always be written
	return string(quoted)
}

// evaluate evaluates an expression in a world of its own, where a page's scripts cannot replace what the
// expression uses.
func (p *page) evaluate(ctx context.Context, expression string, into any) error {
	world, err := cdp.Call(ctx, p.target, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{
		FrameID: cdp.FrameID(p.target.TargetID), WorldName: "webrace",
	})
	if err != nil {
		return err
	}
	byValue := true
	got, err := cdp.Call(ctx, p.target, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ContextID: world.ExecutionContextID, ReturnByValue: &byValue,
		Timeout: runtime.TimeDelta(graceful / time.Millisecond),
	})
	switch {
	case err != nil:
		return err
	case got.ExceptionDetails != nil:
		return fmt.Errorf("%w: %s", errPage, got.ExceptionDetails.Text)
	}
	return json.Unmarshal(got.Result.Value, into)
}
