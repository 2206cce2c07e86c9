// Package processor is an example of a stage that turns one value into another: redact masks mail addresses in what
// annotations quote, before they leave the house.
//
//	flow = ["acis > redact > mail-out"]
package processor

import (
	"context"
	"maps"
	"regexp"
	"sync/atomic"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Mask string `toml:"mask" doc:"what stands in the place of an address"`
}

func init() {
	annotation := pipeline.KindOf[*xmlschema.ACI]()
	pipeline.Register(pipeline.Spec{
		Type:    "redact",
		Summary: "masks mail addresses in annotations",
		Doc:     "The counter `redacted` says how many annotations had any.",
		In:      pipeline.Kinds(annotation),
		Out:     []pipeline.Port{{Kind: annotation, Doc: "the annotation, without addresses"}},
		Single:  true,
	}, Options{Mask: "[address]"}, func(o Options, env *pipeline.Env) (any, error) {
		return &stage{o, env.Counter("redacted")}, nil
	})
}

// address is what readers take for one, and no validation: rather too much is masked than too little.
var address = regexp.MustCompile(`[\w.%+-]+@[\w-]+(\.[\w-]+)+`)

type stage struct {
	options  Options
	redacted *atomic.Int64
}

// Process passes an annotation on as it is, or a copy: another branch of the flow may be reading the same value.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	aci, err := pipeline.ValueOf[*xmlschema.ACI](it)
	if err != nil {
		return err
	}
	masked := *aci
	masked.Title, masked.Summary, masked.Values = s.mask(aci.Title), s.mask(aci.Summary), maps.Clone(aci.Values)
	for name, value := range masked.Values {
		masked.Values[name] = s.mask(value)
	}
	if masked.Title == aci.Title && masked.Summary == aci.Summary && maps.Equal(masked.Values, aci.Values) {
		return out.Emit(ctx, it)
	}
	s.redacted.Add(1)
	return out.Emit(ctx, it.With(&masked))
}

func (s *stage) mask(text string) string {
	return address.ReplaceAllLiteralString(text, s.options.Mask)
}
