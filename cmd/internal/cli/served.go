package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/urds"
	"github.com/webrace/webrace/xmlschema"
)

// unserved returns what of a URD nothing serves: what would be stored, and do nothing. chooses reports whether a
// pipeline of the configuration chooses the URD, and why none of those would visit its start; it is only asked of
// protocols that are not of the web.
func unserved(u *xmlschema.URD, chooses func(*xmlschema.URD) (bool, error)) (faults []xmlschema.Fault) {
	refuse := func(about, format string, args ...any) {
		faults = append(faults, xmlschema.Fault{About: about, Message: fmt.Sprintf(format, args...)})
	}
	web := u.OfTheWeb()
	var chosen bool
	var refused error
	if !web {
		chosen, refused = chooses(u)
	}
	if !web && !chosen {
		refuse("type/@protocol", "nothing serves protocol %s: http and feed are served, and what a pipeline of yours chooses "+
			"(xpath of its stage urds)", u.Protocol)
	} else if _, err := u.Start(); err != nil && !web {
		refuse("uri", "%v", err)
	} else if refused != nil {
		refuse("uri", "%v", refused)
	}
	if u.Method == xmlschema.MethodPush {
		refuse("type/@method", "nothing serves method push: no source comes by itself; leave it out, and the start is asked for "+
			"(a uri that ends in * is told of what other crawls bring)")
	}
	if u.Login != "" && (web || u.Secret == "") {
		refuse("uri/@login", "nothing serves login: a user name belongs to the credentials; store them with webrace-store secret "+
			"set NAME --kind basic --user %s, and write secret=\"NAME\"", u.Login)
	}
	if u.Group != "" && web {
		refuse("uri/@group", "nothing serves group: it is one of news, and belongs to protocol nntp; leave it out")
	}
	if message, hint := portFault(u); web && message != "" {
		faults = append(faults, xmlschema.Fault{About: "uri/@port", Message: message, Hint: hint})
	}
	return append(faults, unobeyed(u)...)
}

// usualPorts are those of the web's schemes, and otherScheme is the one of the two that a URI does not name.
var (
	usualPorts  = map[string]int{"http": 80, "https": 443}
	otherScheme = map[string]string{"http": "https", "https": "http"}
)

// portFault returns why the port beside the URI means nothing, and which was probably meant; "" if it means something.
func portFault(u *xmlschema.URD) (message, hint string) {
	prefix, watches := u.Prefix()
	parsed, err := url.Parse(prefix)
	if u.Port == 0 || err != nil {
		return "", ""
	}
	scheme, other := parsed.Scheme, otherScheme[parsed.Scheme]
	switch own := parsed.Port(); {
	case own != "" && own != strconv.Itoa(u.Port):
		return fmt.Sprintf("port %d is not asked, because the URI itself names port %s: leave one of them out", u.Port, own), ""
	case own != "" || u.Port == usualPorts[scheme]:
	case other != "" && u.Port == usualPorts[other]:
		return fmt.Sprintf("port %d is that of %s, and the URI begins with %s: nothing would answer; leave the port out, or begin the URI with %s:",
			u.Port, other, scheme, other), strconv.Itoa(usualPorts[scheme])
	case watches:
		return fmt.Sprintf("port %d is not looked at, because a URI that ends in * starts no crawl: write it within the URI", u.Port), ""
	}
	return "", ""
}

// unobeyed warns of what is stored, and changes nothing.
func unobeyed(u *xmlschema.URD) (faults []xmlschema.Fault) {
	warn := func(about, message string) {
		faults = append(faults, xmlschema.Fault{About: about, Message: message, Warning: true})
	}
	if !u.LastCheck.IsZero() {
		warn("uri/@lastcheck", "lastcheck is not obeyed: it is the frontier that knows when a source was last asked")
	}
	if _, watches := u.Prefix(); !watches {
		return faults
	}
	if u.Timing != 0 {
		warn("uri/@timing", "timing is not obeyed: a URI that ends in * starts no crawl")
	}
	if u.At != "" {
		warn("uri/@at", "at is not obeyed: a URI that ends in * starts no crawl")
	}
	if u.Secret != "" {
		warn("uri/@secret", "no request is made with the secret: a URI that ends in * starts no crawl")
	}
	if u.Scope != xmlschema.ScopeHost {
		warn("depth/@scope", "scope is not obeyed: a URI that ends in * starts no crawl")
	}
	return faults
}

// startRefuser is implemented by the options of stages that know of a start, without a visit of it, that they would
// come to nothing there.
type startRefuser interface {
	RefusesStart(u *xmlschema.URD) error
}

// chooses reports whether a pipeline of the configuration starts crawls for the URD, and why none of those that do
// would visit its start. Without a configuration that can be read, none does.
func (g *Globals) chooses(u *xmlschema.URD) (chosen bool, refused error) {
	loaded, err := g.Load(config.LoadOptions{})
	if err != nil {
		return false, nil
	}
	for _, info := range loaded.Pipelines {
		graph, err := loaded.Graph(info.Name)
		if err != nil || !starts(graph, u) {
			continue
		}
		why := refusal(graph, u)
		if why == nil {
			return true, nil
		}
		if chosen = true; refused == nil {
			refused = why
		}
	}
	return chosen, refused
}

// starts reports whether a pipeline starts crawls for the URD.
func starts(graph *pipeline.Graph, u *xmlschema.URD) bool {
	return slices.ContainsFunc(graph.Stages, func(s *pipeline.Stage) bool {
		options, ok := s.Options.(urds.Options)
		return ok && options.Chooses(context.Background(), u)
	})
}

// refusal returns why a stage of a pipeline would not visit the start of the URD; nil if it would.
func refusal(graph *pipeline.Graph, u *xmlschema.URD) error {
	for _, s := range graph.Stages {
		if options, ok := s.Options.(startRefuser); ok {
			if err := options.RefusesStart(u); err != nil {
				return err
			}
		}
	}
	return nil
}
