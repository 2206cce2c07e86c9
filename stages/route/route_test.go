package route

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/xmlschema"
)

var byType = Options{Routes: []Port{
	{Name: "rdf", When: `media_type in ["text/turtle", "application/rdf+xml"]`},
	{Name: "large", When: `len(body) > 3`},
	{Name: "html", When: `media_type == "text/html"`},
}, Kind: "document"}

func page(media, body string) *webrace.Document {
	return &webrace.Document{MediaType: media, Body: []byte(body)}
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "route", Options: byType, Inputs: []any{page("text/html", "a"), page("text/turtle", "b"), page("x", "")}})
}

func TestTheFirstConditionThatIsMetDecides(t *testing.T) {
	turtle, large, small, image := page("text/turtle", "12345"), page("text/html", "12345"), page("text/html", "1"), page("image/png", "1")
	got := stagetest.Try(t, stagetest.Case{Type: "route", Options: byType, Inputs: []any{turtle, large, small, image}})
	want := map[string][]any{"rdf": {turtle}, "large": {large}, "html": {small}, "other": {image}}
	if !reflect.DeepEqual(got.Out, want) {
		t.Errorf("got %v, want %v", got.Out, want)
	}
}

func TestAnnotationsAreRoutedByXPath(t *testing.T) {
	o := Options{Routes: []Port{{Name: "mine", XPath: `/aci[@owner='eleni']`}}}
	mine, other := &xmlschema.ACI{ID: "1", Owner: "eleni"}, &xmlschema.ACI{ID: "2", Owner: "anna"}
	got := stagetest.Try(t, stagetest.Case{Type: "route", Options: o, Inputs: []any{mine, other, "no annotation"}})
	if want := map[string][]any{"mine": {mine}, "other": {other, "no annotation"}}; !reflect.DeepEqual(got.Out, want) {
		t.Errorf("got %v, want %v", got.Out, want)
	}
}

func TestAConditionThatCannotBeEvaluatedFailsTheItem(t *testing.T) {
	o := Options{Routes: []Port{{Name: "a", When: `value > 1`}}}
	got := stagetest.Try(t, stagetest.Case{Type: "route", Options: o, Inputs: []any{2, "x"}})
	if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), "port a") || len(got.Out["a"]) != 1 {
		t.Errorf("failures %v, out %v", got.Failures, got.Out)
	}
}

func TestPortsAreThoseOfTheOptions(t *testing.T) {
	text := `version = 1
[pipeline.p]
flow = ["lines > r", "r.b > drop", "r.other > print"]
[pipeline.p.stage.r]
type = "route"
ports = [{ name = "a", when = "url == ''" }]
`
	_, err := config.Parse("p.toml", []byte(text), config.LoadOptions{})
	if err == nil || !strings.Contains(err.Error(), `has no output port "b"`) {
		t.Errorf("got %v", err)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	one := func(p Port) Options { return Options{Routes: []Port{p}} }
	for name, c := range map[string]struct {
		options      Options
		option, says string
	}{
		"no port":                  {Options{}, "ports", "name a port"},
		"no name":                  {one(Port{When: "true"}), "ports", "name of its own"},
		"other":                    {one(Port{Name: "other", When: "true"}), "ports", "name of its own"},
		"twice":                    {Options{Routes: []Port{{Name: "a", When: "true"}, {Name: "a", When: "true"}}}, "ports", "name of its own"},
		"no condition":             {one(Port{Name: "a"}), "ports.0", "exactly one"},
		"two conditions":           {one(Port{Name: "a", When: "true", XPath: "/a"}), "ports.0", "exactly one"},
		"no expression":            {one(Port{Name: "a", When: "url =="}), "ports.0.when", "port a: expression"},
		"no XPath":                 {one(Port{Name: "a", XPath: "/a["}), "ports.0.xpath", "port a: compile xpath"},
		"no condition, but a text": {one(Port{Name: "a", When: "'x'"}), "ports.0.when", "gives a text"},
		"a typo":                   {Options{Routes: []Port{{Name: "a", When: "medai_type == ''"}}, Kind: "document"}, "ports.0.when", "did you mean media_type?"},
		"no kind":                  {Options{Routes: []Port{{Name: "a", When: "true"}}, Kind: "dokument"}, "kind", "did you mean document?"},
	} {
		var fault *pipeline.OptionError
		if err := c.options.Validate(); !errors.As(err, &fault) || fault.Option != c.option || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want a fault of %s: %s", name, err, c.option, c.says)
		}
	}
	if err := byType.Validate(); err != nil {
		t.Error(err)
	}
}
