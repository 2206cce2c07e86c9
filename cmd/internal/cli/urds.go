package cli

import (
	"cmp"
	"fmt"
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
		faults, err := CheckInterest(urd)
		if err != nil {
			return nil, nil, Wrongf("%s: URD %s (%s): %w", name, cmp.Or(urd.ID, fmt.Sprint(i+1)), urd.URI, err)
		}
		for _, fault := range faults {
			warnings = append(warnings, fmt.Sprintf("%s: URD %s (%s): warning: %s", name, cmp.Or(urd.ID, fmt.Sprint(i+1)), urd.URI, fault))
		}
	}
	return urds, warnings, nil
}
