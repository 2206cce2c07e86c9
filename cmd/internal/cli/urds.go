package cli

import (
	"fmt"
	"io"

	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/urdimport"
)

// ReadURDs reads a document of URDs, all or none: one problem refuses the file. A URD that names no owner gets the
// given one; without one it is refused, as is one that nothing would serve.
func (g *Globals) ReadURDs(r io.Reader, name, owner string) (urds []*xmlschema.URD, warnings []string, err error) {
	read, err := urdimport.Read(r, urdimport.Options{
		Name: name, Format: urdimport.XML, Defaults: urdimport.Defaults{Owner: owner}, Check: g.checkOwned,
	})
	if err != nil {
		return nil, nil, Wrong(err)
	}
	if problems := read.Problems(); len(problems) > 0 {
		return nil, nil, Wrong(problems)
	}
	for _, e := range read.Entries {
		for _, w := range e.Warnings {
			warnings = append(warnings, w.String())
		}
	}
	return read.URDs(), warnings, nil
}

// checkOwned finds what CheckURD does, and that a URD names no owner.
func (g *Globals) checkOwned(u *xmlschema.URD) []xmlschema.Fault {
	var faults []xmlschema.Fault
	if u.Owner == "" {
		faults = append(faults, xmlschema.Fault{Message: fmt.Sprintf("the URD of %s names no owner: give one by --owner", u.URI)})
	}
	return append(faults, g.CheckURD(u)...)
}

// CheckURD finds what could be stored and would do nothing: what nothing serves, starts at which no crawl can begin,
// interests that no page can meet.
func (g *Globals) CheckURD(u *xmlschema.URD) []xmlschema.Fault {
	faults := unserved(u, g.chooses)
	if len(faults) == 0 {
		faults = startFaults(u)
	}
	if u.Ask != "" && len(faults) == 0 && !g.asks(u) {
		faults = append(faults, xmlschema.Fault{About: "ask", Message: Unasked, Warning: true})
	}
	return append(append(faults, interestFaults(u)...), whenFaults(u)...)
}

// Unasked tells of a URD with a question that no model is asked.
const Unasked = "no model is asked: the pipeline that serves it has no stage ask before aci-emit, and all is told, unjudged"

// startFaults returns why no crawl can begin where the URD asks for it.
func startFaults(u *xmlschema.URD) []xmlschema.Fault {
	if _, _, err := control.CrawlOf(u); err != nil {
		return []xmlschema.Fault{{About: "uri", Message: err.Error()}}
	}
	return nil
}

// whenFaults returns what is wrong with the condition on a number.
func whenFaults(u *xmlschema.URD) []xmlschema.Fault {
	for i, r := range u.Select {
		if r.When == "" {
			continue
		}
		if err := annotate.CheckWhen(r.When); err != nil {
			about := fmt.Sprintf("selection/select[%d]/@when", i+1)
			return []xmlschema.Fault{{About: about, Message: fmt.Sprintf("when: %v", err), Hint: ""}}
		}
	}
	return nil
}

// interestFaults returns why no page can meet the interest, and what is probably not meant of one that it can meet.
func interestFaults(u *xmlschema.URD) (faults []xmlschema.Fault) {
	found, err := interestWarnings(u)
	if err != nil {
		return []xmlschema.Fault{{About: "keywords", Message: err.Error()}}
	}
	for _, w := range found {
		faults = append(faults, xmlschema.Fault{About: "keywords", Key: w.Keyword, Message: w.String(), Warning: !w.Useless})
	}
	return faults
}
