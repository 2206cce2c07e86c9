package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/urds"
	"github.com/webrace/webrace/xmlschema"
)

// unserved returns what of a URD nothing serves: what would be stored, and do nothing. chooses reports whether a
// pipeline of the configuration chooses the URD; it is only asked of protocols that the shipped ones leave out.
func unserved(u *xmlschema.URD, chooses func(*xmlschema.URD) bool) (faults []xmlschema.Fault) {
	refuse := func(about, format string, args ...any) {
		faults = append(faults, xmlschema.Fault{About: about, Message: fmt.Sprintf(format, args...)})
	}
	web := u.OfTheWeb()
	if !web && !chooses(u) {
		refuse("type/@protocol", "nothing serves protocol %s: http and feed are served, and what a pipeline of yours chooses "+
			"(xpath of its stage urds)", u.Protocol)
	} else if _, err := u.Start(); err != nil && !web {
		refuse("uri", "%v", err)
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

// chooses reports whether a pipeline of the configuration starts crawls for the URD. Without a configuration that can
// be read, none does.
func (g *Globals) chooses(u *xmlschema.URD) bool {
	loaded, err := g.Load(config.LoadOptions{})
	if err != nil {
		return false
	}
	for _, info := range loaded.Pipelines {
		graph, err := loaded.Graph(info.Name)
		if err != nil {
			continue
		}
		for _, stage := range graph.Stages {
			if options, ok := stage.Options.(urds.Options); ok && options.Chooses(context.Background(), u) {
				return true
			}
		}
	}
	return false
}
