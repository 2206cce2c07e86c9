package kinds

import (
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/xmlschema"
)

func init() {
	codec.Register(codec.Codec[*xmlschema.ACI, xmlschema.Record]{
		Name: "aci", Doc: "an annotation: a document that matters to an owner, and why",
		Encode: func(a *xmlschema.ACI) (xmlschema.Record, []byte) { return a.Record(), nil },
		Decode: func(r xmlschema.Record, _ []byte) (*xmlschema.ACI, error) { return r.ACI(), nil },
	})
}
