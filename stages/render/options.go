package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"

	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
)

// Options of the stage.
type Options struct {
	Rules     []string      `toml:"rules" doc:"which pages are always rendered, and which never; the first that matches decides: \"allow path /app/\", \"deny host docs.example.org\""`
	EmptyOnly bool          `toml:"empty_only" doc:"of pages that no rule names, render only those that have scripts and little text; false renders all"`
	EmptyText pipeline.Size `toml:"empty_text" doc:"how much text is little, without the title and navigation"`

	Load        []string          `toml:"load" doc:"what a page may load: script, xhr, fetch, stylesheet, image, font, media"`
	AllowHosts  []string          `toml:"allow_hosts" doc:"hosts, with all under them, that a page may load from besides those of its own site"`
	MaxRequests int               `toml:"max_requests" doc:"the most that a page may load"`
	MaxBytes    pipeline.Size     `toml:"max_bytes" doc:"the most that all that a page loads may have together, decompressed"`
	MaxPage     pipeline.Size     `toml:"max_page" doc:"the largest rendered page; what is longer is cut and marked as truncated"`
	Keep        pipeline.Duration `toml:"keep" doc:"how long scripts and style sheets are kept for other pages; 0s asks for them with each page"`

	Selector string            `toml:"selector" doc:"a page is ready when it has an element that this CSS selector matches; empty: when it loads nothing more"`
	Idle     pipeline.Duration `toml:"idle" doc:"how long a page must have loaded nothing to be ready"`
	Timeout  pipeline.Duration `toml:"timeout" doc:"the longest that a page may take; what there is by then is its text"`

	Steps []Step `toml:"steps" doc:"what is done on pages that are ready, one step after the other, before they are read"`

	Requests bool `toml:"requests" doc:"what scripts ask for by GET (XMLHttpRequest and fetch) is among the links of the page, within the limits that all links have"`

	Screenshot    string        `toml:"screenshot" doc:"what a rendered page looks like after its steps is stored with a new version, as PNG: view is what is seen before it is scrolled, page all of it, up to 10,000 pixels of height. What load leaves out is not seen: for a page as its readers see it, it has stylesheet and image as well" enum:"none,view,page"`
	MaxScreenshot pipeline.Size `toml:"max_screenshot" doc:"the largest screenshot; the page goes on without one that is larger"`

	Browser   string        `toml:"browser" doc:"the program that is the browser; empty: chromium or chrome, as found in PATH"`
	Sandbox   bool          `toml:"sandbox" doc:"run the browser in its sandbox; root cannot"`
	Pages     int           `toml:"pages" doc:"how many pages a browser renders before it is replaced"`
	MaxMemory pipeline.Size `toml:"max_memory" doc:"a browser that needs more memory is replaced, and its page not rendered (Linux)"`
	Fetch     string        `toml:"fetch" doc:"the fetch stage that loads what pages ask for; empty: the only one of the pipeline"`
}

var defaults = Options{
	EmptyOnly: true, EmptyText: 256,
	Load: []string{"script", "xhr", "fetch"}, MaxRequests: 100, MaxBytes: 32e6, MaxPage: 8e6,
	Keep: pipeline.Duration(10 * time.Minute), Idle: pipeline.Duration(500 * time.Millisecond), Timeout: pipeline.Duration(30 * time.Second),
	Screenshot: showNothing, MaxScreenshot: 4e6, Sandbox: true, Pages: 100, MaxMemory: 1 << 30,
}

// loadable are the words of the option load.
var loadable = []string{"script", "xhr", "fetch", "stylesheet", "image", "font", "media"}

// Validate refuses limits that let nothing through, and what cannot be read.
func (o Options) Validate() error {
	for _, n := range []struct {
		option string
		value  int64
	}{
		{"empty_text", int64(o.EmptyText)}, {"max_bytes", int64(o.MaxBytes)}, {"max_page", int64(o.MaxPage)},
		{"max_screenshot", int64(o.MaxScreenshot)},
		{"idle", int64(o.Idle)}, {"timeout", int64(o.Timeout)}, {"pages", int64(o.Pages)}, {"max_memory", int64(o.MaxMemory)},
	} {
		if n.value <= 0 {
			return &pipeline.OptionError{Option: n.option, Err: fmt.Errorf("must be more than 0")}
		}
	}
	switch {
	case o.MaxRequests < 0:
		return &pipeline.OptionError{Option: "max_requests", Err: fmt.Errorf("%d is negative", o.MaxRequests)}
	case o.Keep < 0:
		return &pipeline.OptionError{Option: "keep", Err: fmt.Errorf("%v is negative", o.Keep)}
	case o.Idle >= o.Timeout:
		return &pipeline.OptionError{Option: "idle", Err: fmt.Errorf("%v is not less than the timeout of %v: no page would ever be ready", o.Idle, o.Timeout)}
	}
	rules, err := scope.ParseRules(o.Rules)
	if err != nil {
		return &pipeline.OptionError{Option: "rules", Err: err}
	}
	for _, rule := range rules.List() {
		if rule.Verdict() == scope.Trusted {
			return &pipeline.OptionError{Option: "rules", Err: fmt.Errorf("%q: a page is rendered (allow) or not (deny)", rule.Text())}
		}
	}
	if err := o.validateWords(); err != nil {
		return err
	}
	return o.validateSteps()
}

func (o Options) validateWords() error {
	for _, word := range o.Load {
		if !slices.Contains(loadable, word) {
			return &pipeline.OptionError{Option: "load", Err: fmt.Errorf("%q is none of %s", word, strings.Join(loadable, ", "))}
		}
	}
	for _, host := range o.AllowHosts {
		if host == "" || strings.ContainsAny(host, "/*? ") {
			return &pipeline.OptionError{Option: "allow_hosts", Err: fmt.Errorf("%q is no host (as example.org)", host)}
		}
	}
	if o.Selector != "" {
		if _, err := cascadia.ParseGroup(o.Selector); err != nil {
			return &pipeline.OptionError{Option: "selector", Err: err}
		}
	}
	return nil
}
