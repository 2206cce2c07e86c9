package cli

import (
	"io"

	"github.com/webrace/webrace/xmlschema"
)

// ReadURDs reads a document of URDs, all or none: one problem refuses the file. A URD that names no owner
// gets the given one; without one it is refused.
func ReadURDs(r io.Reader, name, owner string) (urds []*xmlschema.URD, warnings []string, err error) {
	decoder := xmlschema.NewDecoder(r, xmlschema.Name(name))
	for urd := range decoder.URDs() {
		urds = append(urds, urd)
	}
	if err := decoder.Err(); err != nil {
		return nil, nil, Wrong(err)
	}
	for _, w := range decoder.Warnings() {
		warnings = append(warnings, w.String())
	}
	for i, urd := range urds {
		if urd.Owner == "" {
			urd.Owner = owner
		}
		if urd.Owner == "" {
			return nil, nil, Wrongf("%s: URD %d (%s) names no owner: give one by --owner", name, i+1, urd.URI)
		}
		if err := checkInterest(urd); err != nil {
			return nil, nil, Wrongf("%s: URD %d (%s): %w", name, i+1, urd.URI, err)
		}
	}
	return urds, warnings, nil
}
