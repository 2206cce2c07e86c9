package render

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/andybalholm/cascadia"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"

	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
)

// Step is something that is done on a page before it is read.
type Step struct {
	Pages    string            `toml:"pages" doc:"the pages whose step it is, as a rule names them: \"host shop.example.org\", \"path /app/\"; empty: all that are rendered"`
	Click    string            `toml:"click" doc:"a CSS selector: the first element that it matches is clicked"`
	Fill     string            `toml:"fill" doc:"a CSS selector: the first field that it matches gets the value"`
	Value    string            `toml:"value" doc:"what fill writes into the field; of a list, the value or the label of the choice"`
	Scroll   string            `toml:"scroll" doc:"a CSS selector: the first element that it matches is scrolled to; or the word end, for the end of the page"`
	Wait     string            `toml:"wait" doc:"a CSS selector: the step is done when an element matches it"`
	Times    int               `toml:"times" doc:"how often it is clicked or scrolled, at most; it ends early where there is nothing more to click, or nothing more came; 0 is once"`
	Timeout  pipeline.Duration `toml:"timeout" doc:"the longest that it may take for an element to be there; 0s is 5s"`
	Optional bool              `toml:"optional" doc:"go on where the step cannot be done; otherwise the page fails"`
}

// Limits of steps.
const (
	mostSteps   = 50
	mostTimes   = 100
	stepTimeout = 5 * time.Second
	scrollEnd   = "end"
)

// words are what a step does, and the selector that it does it with. One that does not do exactly one thing does none.
func (s Step) words() (verb, selector string) {
	for _, does := range [][2]string{{"click", s.Click}, {"fill", s.Fill}, {"scroll", s.Scroll}, {"wait", s.Wait}} {
		switch {
		case does[1] == "":
		case verb != "":
			return "", ""
		default:
			verb, selector = does[0], does[1]
		}
	}
	return verb, selector
}

// validate returns the option of the step that is wrong, empty for the step as a whole.
func (s Step) validate() (option string, err error) {
	verb, selector := s.words()
	switch {
	case verb == "":
		return "", errors.New(`does one thing: click, fill, scroll or wait, as in { click = "#more" }`)
	case s.Value != "" && verb != "fill":
		return "value", fmt.Errorf("is what fill writes, and this step is a %s", verb)
	case s.Times < 0 || s.Times > mostTimes:
		return "times", fmt.Errorf("%d is not one of 0 to %d", s.Times, mostTimes)
	case s.Times > 0 && verb != "click" && verb != "scroll":
		return "times", fmt.Errorf("is for click and scroll: a %s is done once", verb)
	case s.Timeout < 0:
		return "timeout", fmt.Errorf("%v is negative", s.Timeout)
	}
	if verb != "scroll" || selector != scrollEnd {
		if _, err := cascadia.ParseGroup(selector); err != nil {
			return verb, err
		}
	}
	if _, err := s.pages(); err != nil {
		return "pages", err
	}
	return "", nil
}

// pages returns the rule that names the pages of the step; nil for all.
func (s Step) pages() (*scope.Rules, error) {
	if s.Pages == "" {
		return nil, nil
	}
	rule, err := scope.ParseRule("allow " + s.Pages)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", s.Pages, err)
	}
	return scope.ParseRules([]string{rule.Text()})
}

// validateSteps refuses steps that cannot be done, each at its place.
func (o Options) validateSteps() error {
	if len(o.Steps) > mostSteps {
		return &pipeline.OptionError{Option: "steps", Err: fmt.Errorf("%d steps are more than %d", len(o.Steps), mostSteps)}
	}
	var all []error
	for i, s := range o.Steps {
		option, err := s.validate()
		if err == nil && time.Duration(s.Timeout) >= time.Duration(o.Timeout) {
			option, err = "timeout", fmt.Errorf("%v is not less than the %v that the whole page may take (option timeout of the stage)", s.Timeout, o.Timeout)
		}
		if err == nil {
			continue
		}
		path := fmt.Sprintf("steps.%d", i)
		if option != "" {
			path += "." + option
		}
		all = append(all, &pipeline.OptionError{Option: path, Err: fmt.Errorf("step %d: %w", i+1, err)})
	}
	return errors.Join(all...)
}

// numberedStep is a step as the stage keeps it.
type numberedStep struct {
	Step
	number int // from 1, among all of the stage
	of     *scope.Rules
}

func numberSteps(steps []Step) ([]numberedStep, error) {
	all := make([]numberedStep, len(steps))
	for i, s := range steps {
		of, err := s.pages()
		if err != nil {
			return nil, err
		}
		all[i] = numberedStep{s, i + 1, of}
	}
	return all, nil
}

// concerns reports whether it is a step of that page.
func (s *numberedStep) concerns(url string) bool {
	if s.of == nil {
		return true
	}
	rule, _ := s.of.Find(url)
	return rule != nil
}

// StepError names the step of a page that could not be done. The page fails with it: without the step it would show
// something else, which would pass for a change.
type StepError struct {
	Number int    // from 1, among the steps of the stage
	Step   string // what it is: click "#more"
	Err    error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d, %s: %v", e.Number, e.Step, e.Err) }
func (e *StepError) Unwrap() error { return e.Err }

// stepsOf returns the steps of the page.
func (p *page) stepsOf() (own []numberedStep) {
	for _, s := range p.steps {
		if s.concerns(p.doc.URL) {
			own = append(own, s)
		}
	}
	return own
}

// interact does the steps of the page, if it became ready; loading is why it did not. The error of a step that is not
// optional is a [StepError].
func (p *page) interact(loading error) error {
	for _, s := range p.stepsOf() {
		err := loading
		if err == nil {
			err = p.do(&s)
		}
		switch {
		case err == nil:
			p.count("steps", 1)
		case s.Optional && p.ctx.Err() == nil && !p.isGone():
			p.count("steps_skipped", 1)
		case !s.Optional:
			if p.ctx.Err() != nil {
				err = fmt.Errorf("the page had no time left for it (option timeout): %w", err)
			}
			verb, selector := s.words()
			return &StepError{s.number, fmt.Sprintf("%s %q", verb, selector), err}
		default:
			loading = err // the time is up: steps that must be done cannot be
		}
	}
	return loading
}

func (p *page) isGone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// do does a step, as often as it is to be done.
func (p *page) do(s *numberedStep) error {
	verb, selector := s.words()
	patience, height := cmp.Or(time.Duration(s.Timeout), stepTimeout), 0.0
	for n := range max(1, s.Times) {
		if n > 0 {
			patience = 0 // what the last time brought is there
		}
		got, err := p.reach(verb, selector, s.Value, patience)
		var missing problem
		switch {
		case n > 0 && errors.As(err, &missing), n > 0 && verb == "scroll" && got.Height == height:
			return nil // there is no more
		case err != nil:
			return err
		case verb == "wait":
			return nil
		}
		height = got.Height
		if verb == "click" {
			err = p.press(got.X, got.Y)
		}
		if err == nil {
			err = p.settle()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reached is what the script of the steps answers.
type reached struct {
	Problem problem `json:"problem"`
	X       float64 `json:"x"` // where to click
	Y       float64 `json:"y"`
	Height  float64 `json:"height"` // of the page, before it was scrolled
}

// problem is why a step cannot be done now.
type problem string

func (p problem) Error() string { return string(p) }

//go:embed steps.js
var stepsScript string

// reach does what a step does in the page, or finds where to click; it tries again while it cannot and has patience.
func (p *page) reach(verb, selector, value string, patience time.Duration) (got reached, err error) {
	script := fmt.Sprintf("%s(%s, %s, %s, %s)", stepsScript, quote(verb), quote(selector), quote(value), quote(scrollEnd))
	for until := time.Now().Add(patience); ; {
		got = reached{}
		err := p.evaluate(p.ctx, script, &got)
		switch {
		case err != nil:
			return got, p.orDeadline(err)
		case p.isGone():
			return got, fmt.Errorf("%w: its process died", errPage)
		case got.Problem == "":
			return got, nil
		case !time.Now().Before(until):
			return got, got.Problem
		}
		pause := time.NewTimer(min(selectorPause, time.Until(until)))
		select {
		case <-pause.C:
		case <-p.ctx.Done():
			pause.Stop()
			return got, p.ctx.Err()
		}
	}
}

// press clicks at a place, as a mouse does.
func (p *page) press(x, y float64) error {
	for _, event := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMouseMoved},
		{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, ClickCount: 1},
		{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1},
	} {
		event.X, event.Y = x, y
		if _, err := cdp.Call(p.ctx, p.target, input.DispatchMouseEvent, event); err != nil {
			return p.orDeadline(err)
		}
	}
	return nil
}

// settle waits until the page has loaded nothing for as long as one that is ready.
func (p *page) settle() error {
	p.mu.Lock()
	p.quietAt = time.Now()
	p.mu.Unlock()
	return p.until(p.idle)
}
